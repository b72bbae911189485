//! Binds and launches `hyb`: compressed rows brought into slots and entries on the device.

use cl_kernels::hyb::Hyb as Parameters;
use cl_kernels::hyb_plan::{HybPlan, PlanArguments, SOURCE as PLAN_SOURCE, ValuesArguments};
use cl_kernels::{Accumulate, Algorithm, KernelKey};
use csr_core::plan::hyb::{HybRules, HybSplit};
use csr_core::{for_offsets, for_pattern};

use super::hyb_parts::{HybOperands, HybParts, HybProduct};
use super::value_coding::FoundCoding;
use super::{BindRequest, Bound, CopiedValues, Operands, Planning, Spmv, ValueOrder, Workspace};
use crate::launch::{After, LaunchSequence};
use crate::scratch::for_a_kernel_to_write;
use crate::{AnyArray, AnyMatrix, DeviceArray, Error, Event, Queue, Result};

/// `hyb`, ready to launch: a copy of the matrix in two parts.
#[derive(Debug)]
struct Hyb {
    product: HybProduct,
    /// Those of the slots and then those of the entries, which are parts of the product.
    values: CopiedValues,
    order: HybOrder,
}

/// How nonzeros get into slots and entries.
#[derive(Debug)]
struct HybOrder {
    rows: usize,
    width: usize,
    /// Slots and entries.
    elements: usize,
    /// Nonzeros beyond the slots before each row.
    rest_offsets: DeviceArray<u32>,
    /// Of the kernels that fill the copy.
    plan_key: KernelKey,
    plan_group_size: usize,
}

/// `hyb` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let BindRequest { queue, matrix, specialisation, .. } = *request;
    let rules = HybRules { least_rows: parameters.least_rows as usize };
    let split = match (request.planning, request.pattern) {
        (Planning::OnDevice, _) => {
            let rule = "it is split on the host";
            return Err(Error::combination("a plan made on the device", "hyb", rule));
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
    let (plain, offset_type) = (Accumulate::Plain, matrix.offset_type());
    let order = HybOrder {
        rows,
        width: split.width,
        elements: slots + split.rest(),
        rest_offsets: DeviceArray::upload_blocking(queue, &split.rest_offsets)?,
        plan_key: KernelKey::new(PLAN_SOURCE, value_type, offset_type, plain, false, &plan),
        plan_group_size: plan.group_size as usize,
    };
    let found = FoundCoding::as_they_are();
    let values = CopiedValues::new_blocking(queue, &order, matrix, request.values_id, found)?;
    let all = values.array();
    let parts = HybParts {
        rows,
        cols: matrix.cols(),
        width: split.width,
        pitch: rows,
        columns: for_a_kernel_to_write(queue, slots)?,
        values: all.slice(0..slots)?,
        entry_rows: for_a_kernel_to_write(queue, split.rest())?,
        entry_columns: for_a_kernel_to_write(queue, split.rest())?,
        entry_values: all.slice(slots..all.len())?,
    };
    let product = HybProduct::new(queue.context(), specialisation, parameters, parts)?;
    order.fill_pattern_blocking(queue, matrix, product.parts())?;
    Ok(Bound::new(Hyb { product, values, order }, *parameters))
}

impl HybOrder {
    /// Moves columns, and rows of the entries.
    fn fill_pattern_blocking(
        &self,
        queue: &Queue,
        matrix: &AnyMatrix,
        parts: &HybParts,
    ) -> Result<()> {
        let program = queue.context().program(&self.plan_key)?;
        let arguments = PlanArguments {
            rows: parts.rows as u32,
            width: parts.width as u32,
            pitch: parts.pitch as u64,
            offsets: matrix.offsets().argument(),
            rest_offsets: self.rest_offsets.argument(),
            source: matrix.columns().argument(),
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

impl ValueOrder for HybOrder {
    fn elements(&self) -> usize {
        self.elements
    }

    fn move_blocking(
        &self,
        queue: &Queue,
        matrix: &AnyMatrix,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<()> {
        let program = queue.context().program(&self.plan_key)?;
        let slots = self.rows * self.width;
        let rest = target.slice(slots..target.len())?;
        let arguments = ValuesArguments {
            rows: self.rows as u32,
            width: self.width as u32,
            pitch: self.rows as u64,
            offsets: matrix.offsets().argument(),
            rest_offsets: self.rest_offsets.argument(),
            source: source.argument(),
            slot_values: target.argument(),
            rest_values: rest.argument(),
        };
        let mut sequence = LaunchSequence::new(queue, &program, self.plan_group_size);
        let groups = sequence.groups(self.rows);
        // SAFETY: a value for each slot and entry of this plan; offsets and values were made or checked for it.
        #[expect(unsafe_code, reason = "launches on arrays of its own and of a matrix")]
        let moved = unsafe { sequence.run(&arguments, groups)? };
        moved.wait()
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
        self.product.parts().size_bytes() + self.order.rest_offsets.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.product.workspace_bytes()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn copied_values(&self) -> Option<&CopiedValues> {
        Some(&self.values)
    }

    fn copied_values_mut(&mut self) -> Option<(&mut CopiedValues, &dyn ValueOrder)> {
        Some((&mut self.values, &self.order))
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
