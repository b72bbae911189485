//! A plan that any number of threads launch: with a workspace for each launch that is being set up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use sparrow::{AnyArray, AnyBatch, AnyMatrix, AnyPlan, AnySpmmPlan, BatchPlan, Queue, Workspace};

use crate::errors::Result;

/// Workspaces that are kept for the next launches, at most.
const KEPT: usize = 8;

/// What plans of all kinds have in common.
pub(crate) trait Planned: Send + Sync {
    /// What they multiply.
    type Operand;

    /// Changes whenever the operand's values do, where the plan may have a copy of them.
    fn values_id(operand: &Self::Operand) -> u64;

    /// A workspace for launches in a queue.
    ///
    /// # Errors
    /// The driver's own.
    fn new_workspace(&self, queue: &Queue) -> sparrow::Result<Workspace>;

    /// Brings a copy of the values up to date, where the plan keeps one.
    ///
    /// # Errors
    /// The driver's own.
    fn update(&mut self, queue: &Queue, operand: &Self::Operand) -> sparrow::Result<()>;
}

impl Planned for AnyPlan {
    type Operand = AnyMatrix;

    fn values_id(matrix: &AnyMatrix) -> u64 {
        matrix.values_id()
    }

    fn new_workspace(&self, queue: &Queue) -> sparrow::Result<Workspace> {
        self.workspace_blocking(queue)
    }

    fn update(&mut self, queue: &Queue, matrix: &AnyMatrix) -> sparrow::Result<()> {
        self.update_values_blocking(queue, matrix)
    }
}

impl Planned for AnySpmmPlan {
    type Operand = AnyMatrix;

    fn values_id(matrix: &AnyMatrix) -> u64 {
        matrix.values_id()
    }

    fn new_workspace(&self, queue: &Queue) -> sparrow::Result<Workspace> {
        self.workspace_blocking(queue)
    }

    fn update(&mut self, queue: &Queue, matrix: &AnyMatrix) -> sparrow::Result<()> {
        self.update_values_blocking(queue, matrix)
    }
}

impl Planned for BatchPlan {
    type Operand = AnyBatch;

    fn values_id(_batch: &AnyBatch) -> u64 {
        // It copies columns at most.
        0
    }

    fn new_workspace(&self, queue: &Queue) -> sparrow::Result<Workspace> {
        self.workspace_blocking(queue)
    }

    fn update(&mut self, _queue: &Queue, _batch: &AnyBatch) -> sparrow::Result<()> {
        Ok(())
    }
}

/// What a launch needs beside its operands.
#[derive(Debug)]
pub(crate) struct Slot {
    queue: Queue,
    pub(crate) workspace: Workspace,
    /// x and y on a device that has its own memory, for products of arrays in the host's.
    pub(crate) staged: Option<(AnyArray, AnyArray)>,
}

/// A plan with its workspaces.
#[derive(Debug)]
pub(crate) struct Pool<P> {
    plan: RwLock<P>,
    slots: Mutex<Vec<Slot>>,
    /// The values that the plan may have a copy of.
    values: AtomicU64,
}

impl<P: Planned> Pool<P> {
    /// For a plan of an operand as it is.
    pub(crate) fn new(plan: P, operand: &P::Operand) -> Self {
        let values = AtomicU64::new(P::values_id(operand));
        Pool { plan: RwLock::new(plan), slots: Mutex::new(Vec::new()), values }
    }

    /// Looks at the plan.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&P) -> T) -> T {
        look(&self.plan.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs `launch` with the plan, a copy of whose values is brought up to date first, and with a slot of the queue.
    ///
    /// # Errors
    /// The driver's own, and those of `launch`.
    pub(crate) fn with_slot<T>(
        &self,
        queue: &Queue,
        operand: &P::Operand,
        launch: impl FnOnce(&P, &mut Slot) -> Result<T>,
    ) -> Result<T> {
        let values = P::values_id(operand);
        if self.values.load(Ordering::Acquire) != values {
            let mut plan = self.plan.write().unwrap_or_else(PoisonError::into_inner);
            plan.update(queue, operand)?;
            self.values.store(values, Ordering::Release);
        }
        let plan = self.plan.read().unwrap_or_else(PoisonError::into_inner);
        let mut slot = match self.take(queue) {
            Some(slot) => slot,
            None => {
                Slot { queue: queue.clone(), workspace: plan.new_workspace(queue)?, staged: None }
            }
        };
        let launched = launch(&plan, &mut slot);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= KEPT {
            slots.remove(0);
        }
        slots.push(slot);
        launched
    }

    /// A slot that was used in the queue last, so that nothing waits for another one.
    fn take(&self, queue: &Queue) -> Option<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let index = slots.iter().rposition(|slot| slot.queue.as_raw() == queue.as_raw())?;
        Some(slots.remove(index))
    }
}
