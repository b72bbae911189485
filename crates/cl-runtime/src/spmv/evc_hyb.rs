//! Binds and launches `evc_hyb`.

use std::sync::Arc;

use cl_kernels::evc_hyb::{Arguments, EvcHyb as Parameters, FEATURE_PERMUTED, SOURCE};
use cl_kernels::{Algorithm, Checked, DeviceType, KernelKey, Variant};
use csr_core::evc_hyb::{EvcHybOptions, EvcHybPattern, EvcHybStatistics};
use csr_core::plan::evc_hyb::TaskRules;
use csr_core::{AnyPatternView, for_pattern};

use super::evc_hyb_plan::{DeviceEvcHyb, VectorOrder};
use super::value_coding::FoundCoding;
use super::{
    BindRequest, Bound, CopiedValues, Operands, Planning, Specialisation, Spmv, ValueOrder,
    Workspace,
};
use crate::launch::{After, Size};
use crate::workspace::OwnerId;
use crate::{AnyArray, AnyMatrix, DeviceArray, Event, Program, Queue, Result};

/// `evc_hyb`, ready to launch: a sorted, padded copy of the matrix.
#[derive(Debug)]
struct EvcHyb {
    owner: OwnerId,
    program: Arc<Program>,
    group_size: usize,
    variant: Variant,
    plan: DeviceEvcHyb,
    values: CopiedValues,
}

/// `evc_hyb` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let variant = request.variant.or_default(Algorithm::EvcHyb);
    let BindRequest { queue, matrix, specialisation, values_id, .. } = *request;
    let plan = plan_blocking(request, variant, &parameters)?;
    let spmv =
        EvcHyb::new_blocking(queue, specialisation, parameters, variant, plan, matrix, values_id)?;
    Ok(Bound::new(spmv, *parameters))
}

/// The pattern converted, where the plan shall be made.
fn plan_blocking(
    request: &BindRequest<'_>,
    variant: Variant,
    parameters: &Parameters,
) -> Result<DeviceEvcHyb> {
    let BindRequest { queue, matrix, order, .. } = *request;
    let format = match variant {
        Variant::SortedCsr => EvcHybOptions { longest_short_row: None, alignment: 1 },
        _ => EvcHybOptions {
            longest_short_row: Some(parameters.longest_short_row as usize),
            alignment: parameters.alignment as usize,
        },
    };
    let rules = TaskRules {
        group_size: parameters.group_size,
        nnz_per_item: parameters.nnz_per_item,
        rows_per_item: parameters.rows_per_item,
        long_nnz_per_item: parameters.long_nnz_per_item,
    };
    // A CPU device's memory is the host's, which sorts faster; to others the way is longer than the sort.
    let on_host = match request.planning {
        Planning::Automatic => request.context().device().traits().device_type == DeviceType::Cpu,
        Planning::OnHost => true,
        Planning::OnDevice => false,
    };
    let upload = |pattern: AnyPatternView<'_>| -> Result<DeviceEvcHyb> {
        let converted = for_pattern!(pattern, pattern => EvcHybPattern::new(pattern, &format))?;
        DeviceEvcHyb::upload_blocking(queue, &converted, &format, &rules, order)
    };
    match (on_host, request.pattern) {
        (false, _) => DeviceEvcHyb::convert_blocking(queue, matrix, &format, &rules, order),
        (true, Some(pattern)) => upload(pattern),
        (true, None) => matrix.with_host_pattern_blocking(queue, upload),
    }
}

impl EvcHyb {
    /// Builds the program and arranges the values of `matrix`, whose pattern `plan` is of; `values_id` says whose they
    /// are.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build, no memory for the copy.
    fn new_blocking(
        queue: &Queue,
        specialisation: Specialisation,
        parameters: Checked<Parameters>,
        variant: Variant,
        plan: DeviceEvcHyb,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<Self> {
        queue.context().check_value_type(specialisation.value_type)?;
        let mut key = specialisation.key(SOURCE, &*parameters);
        if plan.order() != VectorOrder::Original {
            key = key.with_feature(FEATURE_PERMUTED);
        }
        let program = queue.context().program(&key)?;
        let found = FoundCoding::as_they_are();
        let values = CopiedValues::new_blocking(queue, &plan, matrix, values_id, found)?;
        let group_size = parameters.group_size as usize;
        Ok(EvcHyb { owner: OwnerId::new(), program, group_size, variant, plan, values })
    }
}

impl ValueOrder for DeviceEvcHyb {
    fn elements(&self) -> usize {
        DeviceEvcHyb::elements(self)
    }

    fn move_blocking(
        &self,
        queue: &Queue,
        matrix: &AnyMatrix,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<()> {
        let types = (matrix.value_type(), matrix.offset_type());
        let (offsets, source) = (matrix.offsets().argument(), source.argument());
        self.arrange_blocking(queue, types, offsets, source, None, target.argument())
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for EvcHyb {
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

    fn copied_values(&self) -> Option<&CopiedValues> {
        Some(&self.values)
    }

    fn copied_values_mut(&mut self) -> Option<(&mut CopiedValues, &dyn ValueOrder)> {
        Some((&mut self.values, &self.plan))
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
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let size = Size { groups: self.plan.tasks().len(), group_size: self.group_size };
        let arguments = Arguments {
            tasks: self.plan.tasks().argument(),
            row_order: self.plan.row_order().argument(),
            row_lengths: self.plan.row_lengths().argument(),
            long_starts: self.plan.long_starts().argument(),
            columns: self.plan.columns().argument(),
            values: self.values.array().argument(),
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
        };
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        workspace
            .run(self.owner, queue, after, |mut parts| unsafe { parts.launch(0, &arguments, size) })
    }
}
