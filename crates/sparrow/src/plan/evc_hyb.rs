//! EVC-HYB for a plan: where it is converted, and with what.

use cl_kernels::evc_hyb::EvcHyb as Parameters;
use cl_kernels::{Algorithm, DeviceType, Variant};
use cl_runtime::spmv::{DeviceEvcHyb, EvcHyb, Specialisation, Spmv};
use cl_runtime::{Matrix, Queue};
use csr_core::evc_hyb::{EvcHybOptions, EvcHybPattern};
use csr_core::plan::evc_hyb::TaskRules;
use csr_core::{Offset, PatternView, Value};

use super::{PlanOptions, Planning};
use crate::Result;

/// Converts `matrix`, whose pattern the host may have too.
pub(super) fn convert_blocking<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    pattern: Option<PatternView<'_, O>>,
    values_id: u64,
    specialisation: Specialisation,
    parameters: Parameters,
    options: &PlanOptions,
) -> Result<Box<dyn Spmv>> {
    let device = queue.context().device().traits();
    // Before rows are cut by them.
    parameters.check(device, V::TYPE, options.accumulate)?;
    let variant = options.variant.or_usual(Algorithm::EvcHyb);
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
    let on_host = match options.planning {
        Planning::Automatic => device.device_type == DeviceType::Cpu,
        Planning::OnHost => true,
        Planning::OnDevice => false,
    };
    let upload = |pattern: PatternView<'_, O>| -> Result<DeviceEvcHyb> {
        let converted = EvcHybPattern::new(pattern, &format)?;
        Ok(DeviceEvcHyb::upload_blocking(queue, &converted, &format, &rules, options.order)?)
    };
    let plan = match (on_host, pattern) {
        (false, _) => {
            DeviceEvcHyb::convert_blocking(queue, matrix, &format, &rules, options.order)?
        }
        (true, Some(pattern)) => upload(pattern)?,
        (true, None) => matrix.with_host_pattern_blocking(queue, upload)?,
    };
    let spmv =
        EvcHyb::new_blocking(queue, specialisation, parameters, variant, plan, matrix, values_id)?;
    Ok(Box::new(spmv))
}
