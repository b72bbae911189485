//! Iterations on a device, by kernels and a plan.

use cl_runtime::solver::{Iterations, Kept, Limits, Multiply, Norms, Snapshot};
use cl_runtime::spmv::Workspace;
use cl_runtime::{AnyArray, AnyMatrix, NoEvent, Queue};
use csr_core::{Number, ValueType};

use super::drive::Engine;
use crate::{AnyOperands, AnyPlan, Error, Result};

/// A solver's own, and the operands of a solve.
pub(super) struct OnDevice<'a> {
    pub(super) queue: &'a Queue,
    pub(super) plan: &'a AnyPlan,
    pub(super) workspace: &'a mut Workspace,
    pub(super) iterations: &'a mut Iterations,
    pub(super) a: &'a AnyMatrix,
    pub(super) b: &'a AnyArray,
    pub(super) x: &'a AnyArray,
}

/// The product that iterations ask for.
fn multiplication<'m>(
    queue: &'m Queue,
    plan: &'m AnyPlan,
    workspace: &'m mut Workspace,
    a: &'m AnyMatrix,
    value_type: ValueType,
) -> impl FnMut(Multiply, &AnyArray, &mut AnyArray) -> Result<(), Error> + 'm {
    move |what, x, y| {
        let (alpha, beta) = match what {
            Multiply::Operands => (1.0, 0.0),
            Multiply::Residual => (-1.0, 1.0),
        };
        let (alpha, beta) = (Number::of(value_type, alpha), Number::of(value_type, beta));
        let product = AnyOperands { alpha: alpha.into(), a, x, beta: beta.into(), y };
        if queue.in_order().is_some() {
            return plan.launch(queue, workspace, product, NoEvent);
        }
        let event = plan.launch(queue, workspace, product, &[])?;
        Ok(queue.settle_blocking(&event)?)
    }
}

impl Engine for OnDevice<'_> {
    fn start(&mut self) -> Result<(Norms, Norms)> {
        let OnDevice { queue, plan, workspace, iterations, a, b, x } = self;
        let mut multiply = multiplication(queue, plan, workspace, a, iterations.value_type());
        iterations.start_blocking(queue, x, b, &mut multiply)
    }

    fn iterate(&mut self, done: u32, count: u32, limits: &Limits) -> Result<()> {
        let OnDevice { queue, plan, workspace, iterations, a, .. } = self;
        let mut multiply = multiplication(queue, plan, workspace, a, iterations.value_type());
        (0..count).try_for_each(|slot| {
            iterations.iterate(queue, done + slot + 1, slot, limits, &mut multiply)
        })
    }

    fn snapshot(&mut self) -> Result<Snapshot> {
        Ok(self.iterations.snapshot_blocking(self.queue)?)
    }

    fn residual(&mut self, of: Kept) -> Result<Norms> {
        let OnDevice { queue, plan, workspace, iterations, a, b, .. } = self;
        let mut multiply = multiplication(queue, plan, workspace, a, iterations.value_type());
        iterations.residual_blocking(queue, b, of, &mut multiply)
    }

    fn restart(&mut self) -> Result<()> {
        Ok(self.iterations.restart_blocking(self.queue)?)
    }
}
