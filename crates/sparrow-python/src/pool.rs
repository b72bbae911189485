//! A plan that any number of threads launch: with a workspace for each launch that is being set up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use sparrow::{AnyArray, AnyMatrix, AnyPlan, AnySpmmPlan, Queue, Workspace};

use crate::errors::Result;

/// Workspaces that are kept for the next launches, at most.
const KEPT: usize = 8;

/// What plans of both kinds have in common.
pub(crate) trait Planned: Send + Sync {
    /// A workspace for launches in a queue.
    ///
    /// # Errors
    /// The driver's own.
    fn new_workspace(&self, queue: &Queue) -> sparrow::Result<Workspace>;

    /// Brings a copy of the values up to date, where the plan keeps one.
    ///
    /// # Errors
    /// The driver's own.
    fn update(&mut self, queue: &Queue, matrix: &AnyMatrix) -> sparrow::Result<()>;
}

impl Planned for AnyPlan {
    fn new_workspace(&self, queue: &Queue) -> sparrow::Result<Workspace> {
        self.workspace_blocking(queue)
    }

    fn update(&mut self, queue: &Queue, matrix: &AnyMatrix) -> sparrow::Result<()> {
        self.update_values_blocking(queue, matrix)
    }
}

impl Planned for AnySpmmPlan {
    fn new_workspace(&self, queue: &Queue) -> sparrow::Result<Workspace> {
        self.workspace_blocking(queue)
    }

    fn update(&mut self, queue: &Queue, matrix: &AnyMatrix) -> sparrow::Result<()> {
        self.update_values_blocking(queue, matrix)
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
    /// For a plan of a matrix as it is.
    pub(crate) fn new(plan: P, matrix: &AnyMatrix) -> Self {
        let values = AtomicU64::new(matrix.values_id());
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
        matrix: &AnyMatrix,
        launch: impl FnOnce(&P, &mut Slot) -> Result<T>,
    ) -> Result<T> {
        if self.values.load(Ordering::Acquire) != matrix.values_id() {
            let mut plan = self.plan.write().unwrap_or_else(PoisonError::into_inner);
            plan.update(queue, matrix)?;
            self.values.store(matrix.values_id(), Ordering::Release);
        }
        let plan = self.plan.read().unwrap_or_else(PoisonError::into_inner);
        let mut slot = match self.take(queue) {
            Some(slot) => slot,
            None => Slot { queue: queue.clone(), workspace: plan.new_workspace(queue)?, staged: None },
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
