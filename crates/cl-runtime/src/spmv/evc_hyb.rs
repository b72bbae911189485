//! Binds and launches `evc_hyb`.

use std::sync::Arc;

use cl_kernels::evc_hyb::{Arguments, EvcHyb as Parameters, FEATURE_PERMUTED, SOURCE};
use cl_kernels::{Algorithm, Array, KernelKey, Variant};
use csr_core::evc_hyb::EvcHybStatistics;
use csr_core::{Offset, Value};

use super::evc_hyb_plan::{DeviceEvcHyb, VectorOrder};
use super::workspace::{OwnerId, for_a_kernel_to_write};
use super::{Operands, Specialisation, Spmv, Workspace, check_value_type};
use crate::launch::{Size, launch};
use crate::raw::Memory;
use crate::{DeviceArray, Event, Matrix, Program, Queue, Result};

/// `evc_hyb`, ready to launch: a sorted, padded copy of the matrix.
#[derive(Debug)]
pub struct EvcHyb<V, O> {
    owner: OwnerId,
    program: Arc<Program>,
    group_size: usize,
    variant: Variant,
    plan: DeviceEvcHyb,
    values: DeviceArray<V>,
    /// Of the values the copy was made from.
    values_id: u64,
    offsets: std::marker::PhantomData<O>,
}

/// [`Matrix::values_id`] of no matrix.
const NOBODYS: u64 = 0;

impl<V: Value, O: Offset> EvcHyb<V, O> {
    /// Builds the program and arranges the values of `matrix`, whose pattern `plan` is of; `values_id` says whose they
    /// are.
    ///
    /// # Errors
    /// Parameters that break a rule, a device without the value type, a kernel that does not build, no memory for the
    /// copy.
    pub fn new_blocking(
        queue: &Queue,
        specialisation: Specialisation,
        parameters: Parameters,
        variant: Variant,
        plan: DeviceEvcHyb,
        matrix: &Matrix<V, O>,
        values_id: u64,
    ) -> Result<Self> {
        let Specialisation { value_type, accumulate, .. } = specialisation;
        check_value_type(queue.context(), value_type)?;
        parameters.check(queue.context().device().traits(), value_type, accumulate)?;
        let mut key = specialisation.key(SOURCE, &parameters.kernel());
        if plan.order() != VectorOrder::Original {
            key = key.with_feature(FEATURE_PERMUTED);
        }
        let program = queue.context().program(&key)?;
        let mut found = EvcHyb {
            owner: OwnerId::new(),
            program,
            group_size: parameters.group_size as usize,
            variant,
            values: for_a_kernel_to_write(queue, plan.elements())?,
            plan,
            values_id: NOBODYS,
            offsets: std::marker::PhantomData,
        };
        let (offsets, values) = (matrix.offsets().argument(), matrix.values().argument());
        found.update_values_blocking(queue, offsets, values, values_id)?;
        Ok(found)
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl<V: Value, O: Offset> Spmv for EvcHyb<V, O> {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EvcHyb
    }

    fn variant(&self) -> &'static str {
        self.variant.name()
    }

    fn key(&self) -> &KernelKey {
        self.program.key()
    }

    fn plan_bytes(&self) -> usize {
        self.plan.size_bytes() + self.values.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        0
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn values_id(&self) -> Option<u64> {
        Some(self.values_id)
    }

    fn update_values_blocking(
        &mut self,
        queue: &Queue,
        offsets: Array<&Memory>,
        values: Array<&Memory>,
        values_id: u64,
    ) -> Result<()> {
        // Until the wait ends well, nobody knows whose values the copy holds.
        self.values_id = NOBODYS;
        let target = self.values.argument();
        self.plan.arrange_blocking::<O>(queue, V::TYPE, offsets, values, None, target)?;
        self.values_id = values_id;
        Ok(())
    }

    fn row_order(&self) -> Option<&DeviceArray<u32>> {
        Some(self.plan.row_order())
    }

    fn evc_hyb_statistics(&self) -> Option<EvcHybStatistics> {
        Some(self.plan.statistics())
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("evc_hyb")?];
        Workspace::new_blocking(queue, self.owner, kernels, 0)
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Event> {
        let size = Size { groups: self.plan.tasks().len(), group_size: self.group_size };
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        workspace.run(self.owner, queue, wait, |parts| unsafe {
            let arguments = Arguments {
                tasks: self.plan.tasks().argument(),
                row_order: self.plan.row_order().argument(),
                row_lengths: self.plan.row_lengths().argument(),
                long_starts: self.plan.long_starts().argument(),
                columns: self.plan.columns().argument(),
                values: self.values.argument(),
                x: operands.x,
                y: operands.y,
                alpha: operands.alpha,
                beta: operands.beta,
            };
            launch(queue, &mut parts.kernels[0], &arguments, size, &parts.wait)
        })
    }
}
