//! An algorithm's hyper-parameters resolved from tables, rules and wishes, for `cl-runtime` to bind it.

use cl_kernels::{Algorithm, Choice, Fit, NamedParameters, Tables, Variant};
use cl_runtime::spmv::{BindRequest, Bound, SegmentedSum, Specialisation};
use cl_runtime::{AnyMatrix, Queue};
use csr_core::AnyPatternView;

use super::PlanOptions;
use crate::tables::Resolver;
use crate::{Result, default_tables};

/// Resolves the hyper-parameters of `choice`, builds its program, and computes its plan; `pattern` is the matrix's,
/// where the host has it, and `values_id` says whose values they are.
pub(super) fn bind(
    queue: &Queue,
    matrix: &AnyMatrix,
    pattern: Option<AnyPatternView<'_>>,
    values_id: u64,
    choice: &Choice,
    options: &PlanOptions,
) -> Result<Bound> {
    // A variant that was asked for goes over a rule's; the default is no wish.
    let variant = match choice.variant {
        Some(variant) if options.variant == Variant::default() => variant,
        _ => options.variant,
    };
    let specialisation = Specialisation {
        value_type: matrix.value_type(),
        offset_type: matrix.offset_type(),
        accumulate: options.accumulate,
        scalars_on_device: options.scalars_on_device,
        experiment: options.experiment,
    };
    let fit = fit(queue, matrix, options);
    let tables = tables(options);
    let parameters = resolve(choice.algorithm, &tables, &choice.parameters, &fit, options)?;
    let request = BindRequest {
        queue,
        matrix,
        pattern,
        values_id,
        specialisation,
        variant,
        parameters: &parameters,
        planning: options.planning,
        order: options.order,
        groups_progress: tables.groups_progress(fit.device),
        prefetches: tables.prefetches(fit.device),
        cache_bytes: tables.cache_bytes(fit.device),
    };
    Ok(cl_runtime::spmv::bind(choice.algorithm, &request)?)
}

/// `segmented_sum` as options ask for it, whatever rules say of it: products that two devices share are cut at its tiles.
pub(crate) fn segmented_sum(
    queue: &Queue,
    matrix: &AnyMatrix,
    specialisation: Specialisation,
    options: &PlanOptions,
) -> Result<SegmentedSum> {
    let fit = fit(queue, matrix, options);
    let tables = tables(options);
    let parameters = resolve(Algorithm::SegmentedSum, &tables, &[], &fit, options)?;
    let request = BindRequest {
        queue,
        matrix,
        pattern: None,
        values_id: matrix.values_id(),
        specialisation,
        variant: options.variant,
        parameters: &parameters,
        planning: options.planning,
        order: options.order,
        groups_progress: false,
        prefetches: tables.prefetches(fit.device),
        cache_bytes: tables.cache_bytes(fit.device),
    };
    Ok(SegmentedSum::bind(&request)?)
}

/// What hyper-parameters for a matrix are fitted to.
pub(super) fn fit<'a>(queue: &'a Queue, matrix: &AnyMatrix, options: &PlanOptions) -> Fit<'a> {
    Fit {
        device: queue.context().device().traits(),
        value_type: matrix.value_type(),
        accumulate: options.accumulate,
        mean_row: matrix.shape().mean_row(),
    }
}

/// The defaults of `algorithm` that fit, under what tables, a rule and the options say.
fn resolve(
    algorithm: Algorithm,
    tables: &Tables,
    rule: &[(String, u32)],
    fit: &Fit<'_>,
    options: &PlanOptions,
) -> Result<NamedParameters> {
    let Fit { device, value_type, .. } = *fit;
    let resolver = Resolver { tables, device, value_type, rule, asked: &options.parameters };
    let check = |named: &NamedParameters| algorithm.check_parameters(named.entries(), fit);
    resolver.resolve_named(algorithm.default_parameters(fit), &check)
}

/// The device tables that count.
pub(crate) fn tables(options: &PlanOptions) -> Tables {
    options.tables.clone().unwrap_or_else(default_tables)
}
