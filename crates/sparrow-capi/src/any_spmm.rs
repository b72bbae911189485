//! A plan for products with a dense matrix whose types are known at run time only.

use std::fmt::Debug;

use sparrow::{DenseProduct, Event, Offset, Queue, SpmmPlan, Value, Workspace};

use crate::any_matrix::{AnyMatrix, typed};
use crate::buffer::{Scalar, array};
use crate::failure::Result;
use crate::info::{Facts, Texts};
use crate::options::DenseOptions;
use crate::types::ForDense;
use crate::{sparrow_buffer, sparrow_scalar};

/// A plan of some type.
pub(crate) trait AnySpmmPlan: Debug + Send + Sync {
    /// What is told of it.
    fn facts(&self) -> Facts;

    /// A new workspace.
    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace>;

    /// Brings the transposed copy up to date.
    fn update_values_blocking(&mut self, queue: &Queue, matrix: &dyn AnyMatrix) -> Result<()>;

    /// Enqueues the product.
    ///
    /// # Safety
    /// Buffers are NULL or valid.
    unsafe fn launch(&self, launch: DenseLaunch<'_>) -> Result<Event>;
}

/// One product C = alpha A B + beta C, as the application asks for it.
#[derive(Debug)]
pub(crate) struct DenseLaunch<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) alpha: sparrow_scalar,
    pub(crate) a: &'a dyn AnyMatrix,
    pub(crate) b: sparrow_buffer,
    pub(crate) beta: sparrow_scalar,
    pub(crate) c: sparrow_buffer,
    pub(crate) wait: &'a [Event],
}

/// A plan of the Rust face, with the elements that B and C span.
#[derive(Debug)]
struct DensePlan<V, O, D> {
    plan: SpmmPlan<V, O, D>,
    b_span: usize,
    c_span: usize,
}

impl<V: Value, O: Offset, D: Value<Accum = V::Accum>> AnySpmmPlan for DensePlan<V, O, D> {
    fn facts(&self) -> Facts {
        let plan = &self.plan;
        let texts = Texts {
            algorithm: plan.algorithm_name(),
            variant: "",
            reason: &plan.choice().reason,
            parameters: &plan.parameters(),
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

    unsafe fn launch(&self, launch: DenseLaunch<'_>) -> Result<Event> {
        let DenseLaunch { queue, workspace, alpha, a, b, beta, c, wait } = launch;
        let a = typed::<V, O>(a)?;
        let context = queue.context();
        // SAFETY: the caller's promise.
        let (b, mut c, alpha, beta) = unsafe {
            (
                array::<D>(context, b, self.b_span, "product->b")?,
                array(context, c, self.c_span, "product->c")?,
                Scalar::new(context, alpha, "product->alpha")?,
                Scalar::new(context, beta, "product->beta")?,
            )
        };
        let (alpha, beta) = (alpha.coefficient(), beta.coefficient());
        let product = DenseProduct { alpha, a, b: &b, beta, c: &mut c };
        Ok(self.plan.launch(queue, workspace, product, wait)?)
    }
}

/// Plans for a matrix and the shapes of B and C.
pub(crate) struct PlanDense<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) matrix: &'a dyn AnyMatrix,
    pub(crate) options: &'a DenseOptions,
}

impl ForDense for PlanDense<'_> {
    type Output = Result<Box<dyn AnySpmmPlan>>;

    fn run<V: Value, O: Offset, D: Value<Accum = V::Accum>>(self) -> Self::Output {
        let PlanDense { queue, matrix, options } = self;
        let DenseOptions { b, c, options, .. } = options;
        let matrix = typed::<V, O>(matrix)?;
        let plan = SpmmPlan::<V, O, D>::new_blocking(queue, matrix, *b, *c, options)?;
        Ok(Box::new(DensePlan { plan, b_span: b.span(), c_span: c.span() }))
    }
}
