//! A plan for products with a vector whose types are known at run time only.

use std::fmt::Debug;

use sparrow::{Event, Offset, Op, Plan, Product, Queue, Stages, Value, Workspace};

use crate::any_matrix::{AnyMatrix, typed};
use crate::buffer::{Scalar, array};
use crate::failure::Result;
use crate::info::{Facts, Texts};
use crate::{sparrow_buffer, sparrow_scalar};

/// A plan of some type.
pub(crate) trait AnyPlan: Debug + Send + Sync {
    /// What is told of it.
    fn facts(&self) -> Facts;

    /// A new workspace.
    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace>;

    /// Brings copies of the values up to date.
    fn update_values_blocking(&mut self, queue: &Queue, matrix: &dyn AnyMatrix) -> Result<()>;

    /// Enqueues the product.
    ///
    /// # Safety
    /// Buffers are NULL or valid.
    unsafe fn launch(&self, launch: VectorLaunch<'_>) -> Result<Event>;

    /// Enqueues the product after what is in the queue, without an event; `launch.wait` is empty.
    ///
    /// # Safety
    /// As [`AnyPlan::launch`].
    unsafe fn launch_unobserved(&self, launch: VectorLaunch<'_>) -> Result<()>;

    /// Makes the product.
    ///
    /// # Safety
    /// As [`AnyPlan::launch`].
    unsafe fn launch_blocking(&self, launch: VectorLaunch<'_>) -> Result<Stages>;
}

/// One product y = alpha A x + beta y, as the application asks for it.
#[derive(Debug)]
pub(crate) struct VectorLaunch<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) alpha: sparrow_scalar,
    pub(crate) a: &'a dyn AnyMatrix,
    pub(crate) x: sparrow_buffer,
    pub(crate) beta: sparrow_scalar,
    pub(crate) y: sparrow_buffer,
    pub(crate) wait: &'a [Event],
}

/// A plan of the Rust face, with what it was asked to multiply.
#[derive(Debug)]
pub(crate) struct VectorPlan<V, O> {
    plan: Plan<V, O>,
    op: Op,
}

impl<V: Value, O: Offset> VectorPlan<V, O> {
    pub(crate) fn new(plan: Plan<V, O>, op: Op) -> Self {
        VectorPlan { plan, op }
    }

    /// Has `work` launch the product: the operands as arrays of this plan's types.
    ///
    /// # Safety
    /// Buffers are NULL or valid.
    unsafe fn with_operands<T>(
        &self,
        launch: VectorLaunch<'_>,
        work: impl FnOnce(
            &Plan<V, O>,
            &Queue,
            &mut Workspace,
            Product<'_, V, O>,
            &[Event],
        ) -> sparrow::Result<T>,
    ) -> Result<T> {
        let VectorLaunch { queue, workspace, alpha, a, x, beta, y, wait } = launch;
        let a = typed::<V, O>(a)?;
        let (of_x, of_y) = match self.op {
            Op::Normal => (a.cols(), a.rows()),
            Op::Transpose => (a.rows(), a.cols()),
        };
        let context = queue.context();
        // SAFETY: the caller's promise.
        let (x, mut y, alpha, beta) = unsafe {
            (
                array(context, x, of_x, "product->x")?,
                array(context, y, of_y, "product->y")?,
                Scalar::new(context, alpha, "product->alpha")?,
                Scalar::new(context, beta, "product->beta")?,
            )
        };
        let (alpha, beta) = (alpha.coefficient(), beta.coefficient());
        let product = Product { alpha, a, x: &x, beta, y: &mut y };
        Ok(work(&self.plan, queue, workspace, product, wait)?)
    }
}

impl<V: Value, O: Offset> AnyPlan for VectorPlan<V, O> {
    fn facts(&self) -> Facts {
        let plan = &self.plan;
        let texts = Texts {
            algorithm: plan.algorithm().name(),
            variant: plan.variant(),
            reason: &plan.choice().reason,
            parameters: plan.parameters(),
        };
        let bytes = (plan.plan_bytes(), plan.workspace_bytes());
        Facts::new(texts, bytes, plan.is_repeatable())
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        Ok(self.plan.workspace_blocking(queue)?)
    }

    fn update_values_blocking(&mut self, queue: &Queue, matrix: &dyn AnyMatrix) -> Result<()> {
        Ok(self.plan.update_values_blocking(queue, typed(matrix)?)?)
    }

    unsafe fn launch(&self, launch: VectorLaunch<'_>) -> Result<Event> {
        // SAFETY: the caller's promise.
        unsafe { self.with_operands(launch, Plan::launch) }
    }

    unsafe fn launch_unobserved(&self, launch: VectorLaunch<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            self.with_operands(launch, |plan, queue, workspace, product, _wait| {
                plan.launch_unobserved(queue, workspace, product)
            })
        }
    }

    unsafe fn launch_blocking(&self, launch: VectorLaunch<'_>) -> Result<Stages> {
        // SAFETY: the caller's promise.
        unsafe { self.with_operands(launch, Plan::launch_blocking) }
    }
}
