//! Binds and launches `hyb`: compressed rows brought into slots and entries on the device.

use cl_kernels::hyb::Hyb as Parameters;
use cl_kernels::hyb_plan::{HybPlan, PlanArguments, SOURCE as PLAN_SOURCE, ValuesArguments};
use cl_kernels::{Accumulate, Algorithm, Array, KernelKey};
use csr_core::plan::hyb::{HybRules, HybSplit};
use csr_core::{for_offsets, for_pattern};

use super::hyb_parts::{HybOperands, HybParts, HybProduct};
use super::{BindRequest, Bound, Operands, Planning, Spmv, Workspace};
use crate::launch::{After, LaunchSequence};
use crate::raw::Memory;
use crate::scratch::{any_for_a_kernel_to_write, for_a_kernel_to_write};
use crate::{DeviceArray, Error, Event, Queue, Result};

/// `hyb`, ready to launch: a copy of the matrix in two parts.
#[derive(Debug)]
struct Hyb {
    product: HybProduct,
    /// Nonzeros beyond the slots before each row, for new values.
    rest_offsets: DeviceArray<u32>,
    /// Of the kernels that fill the copy.
    plan_key: KernelKey,
    plan_group_size: usize,
    values_id: u64,
}

/// [`crate::AnyMatrix::values_id`] of no matrix.
const NO_VALUES: u64 = 0;

/// `hyb` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let BindRequest { queue, matrix, specialisation, .. } = *request;
    let rules = HybRules { least_rows: parameters.least_rows as usize };
    let split = match (request.planning, request.pattern) {
        (Planning::OnDevice, _) => {
            let text = "hyb is split on the host: its plan cannot be made on the device";
            return Err(Error::Mismatch(text.to_owned()));
        }
        (_, Some(pattern)) => {
            for_pattern!(pattern, pattern => HybSplit::new(pattern.offsets(), rules)?)
        }
        (_, None) => matrix.with_host_offsets_blocking(queue, |offsets| -> Result<_> {
            Ok(for_offsets!(offsets, offsets => HybSplit::new(offsets, rules)?))
        })?,
    };
    let traits = queue.context().device().traits();
    let plan = HybPlan::default_for(traits);
    plan.check(traits)?;
    let (rows, slots) = (matrix.rows(), matrix.rows().saturating_mul(split.width));
    let value_type = matrix.value_type();
    let parts = HybParts {
        rows,
        cols: matrix.cols(),
        width: split.width,
        pitch: rows,
        columns: for_a_kernel_to_write(queue, slots)?,
        values: any_for_a_kernel_to_write(queue, value_type, slots)?,
        entry_rows: for_a_kernel_to_write(queue, split.rest())?,
        entry_columns: for_a_kernel_to_write(queue, split.rest())?,
        entry_values: any_for_a_kernel_to_write(queue, value_type, split.rest())?,
    };
    let plain = Accumulate::Plain;
    let mut found = Hyb {
        product: HybProduct::new(queue.context(), specialisation, parameters, parts)?,
        rest_offsets: DeviceArray::upload_blocking(queue, &split.rest_offsets)?,
        plan_key: KernelKey::new(
            PLAN_SOURCE,
            value_type,
            matrix.offset_type(),
            plain,
            false,
            &plan,
        ),
        plan_group_size: plan.group_size as usize,
        values_id: NO_VALUES,
    };
    let (offsets, columns) = (matrix.offsets().argument(), matrix.columns().argument());
    found.fill_pattern_blocking(queue, offsets, columns)?;
    let values = matrix.values().argument();
    found.update_values_blocking(queue, offsets, values, request.values_id)?;
    Ok(Bound::new(found, *parameters))
}

impl Hyb {
    /// Moves columns, and rows of the entries.
    fn fill_pattern_blocking(
        &mut self,
        queue: &Queue,
        offsets: Array<&Memory>,
        columns: Array<&Memory>,
    ) -> Result<()> {
        let program = queue.context().program(&self.plan_key)?;
        let parts = self.product.parts_mut();
        let arguments = PlanArguments {
            rows: parts.rows as u32,
            width: parts.width as u32,
            pitch: parts.pitch as u64,
            offsets,
            rest_offsets: self.rest_offsets.argument(),
            source: columns,
            slot_columns: parts.columns.argument(),
            rest_rows: parts.entry_rows.argument(),
            rest_columns: parts.entry_columns.argument(),
        };
        let mut sequence = LaunchSequence::new(queue, &program, self.plan_group_size);
        let groups = sequence.groups(parts.rows);
        // SAFETY: the arrays of the parts were made for these rows, and the others are the matrix's.
        #[expect(unsafe_code, reason = "launches on arrays of its own and of a matrix")]
        let filled = unsafe { sequence.run(&arguments, groups)? };
        filled.wait()
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for Hyb {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Hyb
    }

    fn key(&self) -> &KernelKey {
        self.product.key()
    }

    fn plan_bytes(&self) -> usize {
        self.product.parts().size_bytes() + self.rest_offsets.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.product.workspace_bytes()
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
        // Until the wait ends well, it is unknown which values the copy holds.
        self.values_id = NO_VALUES;
        let program = queue.context().program(&self.plan_key)?;
        let parts = self.product.parts_mut();
        let arguments = ValuesArguments {
            rows: parts.rows as u32,
            width: parts.width as u32,
            pitch: parts.pitch as u64,
            offsets,
            rest_offsets: self.rest_offsets.argument(),
            source: values,
            slot_values: parts.values.argument(),
            rest_values: parts.entry_values.argument(),
        };
        let mut sequence = LaunchSequence::new(queue, &program, self.plan_group_size);
        let groups = sequence.groups(parts.rows);
        // SAFETY: as for the pattern.
        let moved = unsafe { sequence.run(&arguments, groups)? };
        moved.wait()?;
        self.values_id = values_id;
        Ok(())
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        self.product.workspace_blocking(queue)
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let Operands { x, y, alpha, beta, .. } = *operands;
        let operands = HybOperands { x, y, alpha, beta };
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        unsafe { self.product.launch(queue, workspace, &operands, after) }
    }
}
