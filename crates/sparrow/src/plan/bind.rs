//! An algorithm with its hyper-parameters, built and bound to a pattern: one arm an algorithm.

use cl_kernels::csr_adaptive::CsrAdaptive as AdaptiveParameters;
use cl_kernels::csr_flat::CsrFlat as FlatParameters;
use cl_kernels::csr_pieces::CsrPieces as PiecesParameters;
use cl_kernels::csr_scalar::CsrScalar as ScalarParameters;
use cl_kernels::csr_vector::CsrVector as VectorParameters;
use cl_kernels::evc_hyb::EvcHyb as EvcHybParameters;
use cl_kernels::segmented_sum::SegmentedSum as SegmentedSumParameters;
use cl_kernels::sell::Sell as SellParameters;
use cl_kernels::sell_sigma::SellSigma as SellSigmaParameters;
use cl_kernels::{Algorithm, Choice, DeviceType, Tables, Variant};
use cl_runtime::spmv::{
    CsrAdaptive, CsrFlat, CsrPieces, CsrScalar, CsrVector, DevicePieces, DeviceRowBlocks,
    SegmentedSum, Sell, SellSigma, Specialisation, Spmv, VectorOrder,
};
use cl_runtime::{Matrix, Queue};
use csr_core::plan::csr_adaptive::{RowBlockRules, RowBlocks};
use csr_core::plan::csr_flat::PieceRules;
use csr_core::{Offset, PatternView, Value};

use super::evc_hyb;
use super::{PlanOptions, Planning};
use crate::tables::Resolver;
use crate::{Error, Result, usual_tables};

/// What [`bind`] makes.
pub(super) struct Bound {
    /// Ready to launch.
    pub(super) spmv: Box<dyn Spmv>,
    /// The hyper-parameters as text.
    pub(super) parameters: String,
}

/// Resolves the hyper-parameters of `algorithm`, builds its program, and computes its plan; `pattern` is
/// the matrix's, where the host has it, and `values_id` says whose values they are.
pub(super) fn bind<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    pattern: Option<PatternView<'_, O>>,
    values_id: u64,
    choice: &Choice,
    options: &PlanOptions,
) -> Result<Bound> {
    let algorithm = choice.algorithm;
    // A variant that was asked for goes over a rule's; the default is no wish.
    let variant = match choice.variant {
        Some(variant) if options.variant == Variant::default() => variant,
        _ => options.variant,
    };
    let options = &PlanOptions { variant, ..options.clone() };
    let device = queue.context().device().traits();
    let specialisation = Specialisation {
        value_type: V::TYPE,
        offset_type: O::TYPE,
        accumulate: options.accumulate,
        scalars_on_device: options.scalars_on_device,
        experiment: options.experiment,
    };
    let tables = tables(options);
    let resolver = Resolver {
        tables: &tables,
        device,
        value_type: V::TYPE,
        rule: &choice.parameters,
        asked: &options.parameters,
    };
    let accumulate = options.accumulate;
    if options.order != VectorOrder::Original && algorithm != Algorithm::EvcHyb {
        return Err(Error::Mismatch(format!(
            "{algorithm} keeps rows as they are: vectors in another order are for evc_hyb"
        )));
    }
    let (spmv, parameters): (Box<dyn Spmv>, String) = match algorithm {
        Algorithm::CsrScalar => {
            let defaults = ScalarParameters::default();
            let parameters = resolver.resolve(defaults, |p| p.check(device))?;
            let spmv = CsrScalar::new(queue.context(), specialisation, parameters)?;
            (Box::new(spmv), parameters.to_string())
        }
        Algorithm::CsrVector => {
            let shape = matrix.shape();
            let mean_row = shape.nnz as f64 / (shape.rows.max(1)) as f64;
            let defaults = VectorParameters::default_for_mean_row(mean_row);
            let check = |p: &VectorParameters| p.check(device, V::TYPE, accumulate);
            let parameters = resolver.resolve(defaults, check)?;
            let spmv = CsrVector::new(queue.context(), specialisation, parameters)?;
            (Box::new(spmv), parameters.to_string())
        }
        Algorithm::CsrAdaptive => {
            let defaults = AdaptiveParameters::default_for(V::TYPE);
            let check = |p: &AdaptiveParameters| p.check(device, V::TYPE, accumulate);
            let parameters = resolver.resolve(defaults, check)?;
            // Before rows are cut by them.
            check(&parameters)?;
            let rules = variant.rules(&parameters);
            let offsets = pattern.map(|pattern| pattern.offsets());
            let row_blocks = row_blocks(queue, matrix, offsets, options.planning, rules)?;
            let spmv = CsrAdaptive::new(
                queue.context(),
                specialisation,
                parameters,
                variant,
                tables.groups_progress(device),
                row_blocks,
            )?;
            (Box::new(spmv), variant.parameters(parameters).to_string())
        }
        Algorithm::CsrFlat => {
            let check = |p: &FlatParameters| p.check(device, V::TYPE, accumulate);
            let parameters = resolver.resolve(FlatParameters::default(), check)?;
            // Before the pattern is cut by them.
            check(&parameters)?;
            let sum_words = specialisation.sum_words();
            let pieces = pieces(queue, matrix, parameters.rules(), sum_words)?;
            let context = queue.context();
            let spmv = CsrFlat::new(context, specialisation, parameters, matrix.nnz(), pieces)?;
            (Box::new(spmv), parameters.to_string())
        }
        Algorithm::SegmentedSum => {
            let (spmv, parameters) =
                segmented_sum_by(queue, matrix, specialisation, variant, &resolver)?;
            (Box::new(spmv), parameters)
        }
        Algorithm::EvcHyb => {
            let defaults = EvcHybParameters::usual(device.device_type);
            let check = |p: &EvcHybParameters| p.check(device, V::TYPE, accumulate);
            let parameters = resolver.resolve(defaults, check)?;
            let spmv = evc_hyb::convert_blocking(
                queue,
                matrix,
                pattern,
                values_id,
                specialisation,
                parameters,
                options,
            )?;
            (spmv, parameters.to_string())
        }
        Algorithm::CsrPieces => {
            let defaults = PiecesParameters::default();
            let parameters = resolver.resolve(defaults, PiecesParameters::check)?;
            let context = queue.context();
            let spmv = CsrPieces::new(context, specialisation, parameters, matrix.nnz())?;
            (Box::new(spmv), parameters.to_string())
        }
        Algorithm::Sell => {
            let parameters = resolver.resolve(SellParameters::default(), SellParameters::check)?;
            let bind = |pattern: PatternView<'_, O>| -> Result<Sell<V, O>> {
                Ok(Sell::new_blocking(
                    queue,
                    specialisation,
                    parameters,
                    pattern,
                    matrix,
                    values_id,
                )?)
            };
            let spmv = match (options.planning, pattern) {
                (Planning::OnDevice, _) => {
                    let text =
                        "sell is laid out on the host: its plan cannot be made on the device";
                    return Err(Error::Mismatch(text.to_owned()));
                }
                (_, Some(pattern)) => bind(pattern)?,
                (_, None) => matrix.with_host_pattern_blocking(queue, bind)?,
            };
            (Box::new(spmv), parameters.to_string())
        }
        Algorithm::SellSigma => {
            let defaults = SellSigmaParameters::default();
            let parameters = resolver.resolve(defaults, |p| p.check(device))?;
            let spmv =
                SellSigma::new_blocking(queue, specialisation, parameters, matrix, values_id)?;
            (Box::new(spmv), parameters.to_string())
        }
        other => return Err(Error::Mismatch(format!("{other} has no launch"))),
    };
    Ok(Bound { spmv, parameters })
}

/// `segmented_sum` as options ask for it, whatever rules say of it; and its hyper-parameters as text.
pub(crate) fn segmented_sum<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    specialisation: Specialisation,
    options: &PlanOptions,
) -> Result<(SegmentedSum, String)> {
    let resolver = Resolver {
        tables: &tables(options),
        device: queue.context().device().traits(),
        value_type: V::TYPE,
        rule: &[],
        asked: &options.parameters,
    };
    segmented_sum_by(queue, matrix, specialisation, options.variant, &resolver)
}

fn segmented_sum_by<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    specialisation: Specialisation,
    variant: Variant,
    resolver: &Resolver<'_>,
) -> Result<(SegmentedSum, String)> {
    let device = queue.context().device().traits();
    let accumulate = specialisation.accumulate;
    let defaults = SegmentedSumParameters::default_for(device, V::TYPE, accumulate);
    let check = |p: &SegmentedSumParameters| p.check(device, V::TYPE, accumulate);
    let parameters = resolver.resolve(defaults, check)?;
    let spmv = SegmentedSum::new(
        queue.context(),
        specialisation,
        parameters,
        variant,
        matrix.rows(),
        matrix.nnz(),
    )?;
    Ok((spmv, parameters.to_string()))
}

/// The device tables that count.
pub(crate) fn tables(options: &PlanOptions) -> Tables {
    options.tables.clone().unwrap_or_else(usual_tables)
}

/// Where pieces begin. A CPU device's memory is the host's, which finds them faster.
fn pieces<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    rules: PieceRules,
    sum_words: usize,
) -> Result<DevicePieces> {
    if queue.context().device().traits().device_type == DeviceType::Cpu {
        return matrix.with_host_offsets_blocking(queue, |offsets| {
            Ok(DevicePieces::upload_blocking(queue, offsets, rules, sum_words)?)
        });
    }
    Ok(DevicePieces::find(queue, matrix.offsets(), matrix.nnz(), rules, sum_words)?)
}

/// Row blocks, cut where `planning` says. A CPU device's memory is the host's, and the host cuts faster.
fn row_blocks<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    offsets: Option<&[O]>,
    planning: Planning,
    rules: RowBlockRules,
) -> Result<DeviceRowBlocks> {
    let is_cpu = queue.context().device().traits().device_type == DeviceType::Cpu;
    let on_host = match planning {
        Planning::Automatic => offsets.is_some() || is_cpu,
        Planning::OnHost => true,
        Planning::OnDevice => false,
    };
    if !on_host {
        let offsets = matrix.offsets();
        return Ok(DeviceRowBlocks::cut_blocking(queue, offsets, matrix.nnz(), rules)?);
    }
    let row_blocks = match offsets {
        Some(offsets) => RowBlocks::from_offsets(offsets, rules)?,
        None => matrix.with_host_offsets_blocking(queue, |offsets| -> Result<_> {
            Ok(RowBlocks::from_offsets(offsets, rules)?)
        })?,
    };
    Ok(DeviceRowBlocks::upload_blocking(queue, &row_blocks)?)
}
