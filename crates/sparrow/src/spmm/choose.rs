//! Which algorithm a plan takes, with its hyper-parameters.

use cl_kernels::spmm::{SpmmAlgorithm, SpmmSwitch, SpmmVariant, published_choice};
use cl_kernels::spmm_merge::SpmmMerge;
use cl_kernels::spmm_nonzero_split::SpmmNonzeroSplit;
use cl_kernels::spmm_row_split::SpmmRowSplit;
use cl_runtime::spmm::{DenseOperands, RowFacts, SpmmParameters};
use cl_runtime::{AnyMatrix, Queue};
use csr_core::{DenseShape, Layout, ValueType};

use super::SpmmOptions;
use crate::tables::Resolver;
use crate::{AnyPlan, Error, PlanOptions, Result, RuntimeError, default_tables};

/// Whether B and C are one column each that lies side by side, in the type sums are made in, and nothing was asked for
/// that only SpMM has.
pub(super) fn is_vector(
    dense: &DenseOperands,
    value_type: ValueType,
    options: &SpmmOptions,
) -> bool {
    let is_packed = |shape: &DenseShape| {
        shape.cols() == 1 && (shape.layout() == Layout::ColumnMajor || shape.leading() == 1)
    };
    options.algorithm.is_none()
        && options.variant == SpmmVariant::Default
        && options.parameters.is_empty()
        && dense.b_type == value_type.accumulator()
        && is_packed(&dense.b)
        && is_packed(&dense.c)
}

/// A plan for one column.
pub(super) fn vector_plan(
    queue: &Queue,
    matrix: &AnyMatrix,
    options: &SpmmOptions,
) -> Result<AnyPlan> {
    let options = PlanOptions {
        scalars_on_device: options.scalars_on_device,
        tables: options.tables.clone(),
        ..PlanOptions::default()
    };
    AnyPlan::new_blocking(queue, matrix, &options)
}

/// What [`choose`] chose.
pub(super) struct Chosen {
    pub(super) parameters: SpmmParameters,
    /// What was seen of the matrix, where it was looked at.
    pub(super) facts: Option<RowFacts>,
    pub(super) reason: String,
}

/// The algorithm with its hyper-parameters, for a C of so many columns, and why it was chosen.
pub(super) fn choose(
    queue: &Queue,
    matrix: &AnyMatrix,
    columns: usize,
    options: &SpmmOptions,
) -> Result<Chosen> {
    let (device, value_type) = (queue.context().device().traits(), matrix.value_type());
    let tables = options.tables.clone().unwrap_or_else(default_tables);
    let asked = options.parameters.as_slice();
    let resolver = Resolver { tables: &tables, device, value_type, rule: &[], asked };
    let is_published = options.variant == SpmmVariant::Published;
    let row_split = || {
        let defaults = SpmmRowSplit::default_for(device, value_type);
        let parameters = resolver.resolve(defaults, |parameters| parameters.check(device))?;
        Ok::<_, Error>(if is_published { parameters.published() } else { parameters })
    };
    let (algorithm, facts, reason) = match options.algorithm {
        Some(algorithm) => (algorithm, None, "asked for by name".to_owned()),
        None if is_published => {
            let (algorithm, reason) = published_choice(matrix.rows() as u64, matrix.nnz() as u64);
            (algorithm, None, reason)
        }
        None => {
            let defaults = SpmmSwitch::default_for(device);
            let (switch, _) = tables.parameters(device, value_type, defaults, |_| Ok(()));
            let facts = RowFacts::find_blocking(queue, matrix, &row_split()?)?;
            let row_bytes = (columns * value_type.accumulator().size_bytes()) as u64;
            let (mut algorithm, mut reason) = switch.select(&facts.shape, row_bytes);
            if algorithm == SpmmAlgorithm::Merge
                && let Err(rule) =
                    SpmmMerge::default_for(device, value_type).check(device, value_type)
            {
                algorithm = SpmmAlgorithm::RowSplit;
                reason = format!("{reason}; but {rule}");
            }
            (algorithm, Some(facts), reason)
        }
    };
    let facts = if is_published { Some(RowFacts::as_they_come(matrix)) } else { facts };
    let parameters = match algorithm {
        SpmmAlgorithm::RowSplit => SpmmParameters::RowSplit(row_split()?),
        SpmmAlgorithm::Merge if is_published => {
            let defaults = SpmmNonzeroSplit::default_for(device, value_type);
            let check = |parameters: &SpmmNonzeroSplit| parameters.check(device, value_type);
            SpmmParameters::NonzeroSplit(resolver.resolve(defaults, check)?)
        }
        SpmmAlgorithm::Merge => {
            let defaults = SpmmMerge::default_for(device, value_type);
            let check = |parameters: &SpmmMerge| parameters.check(device, value_type);
            SpmmParameters::Merge(resolver.resolve(defaults, check)?)
        }
        other => {
            let rule = "it has no launch";
            return Err(RuntimeError::combination(other, "a plan", rule).into());
        }
    };
    Ok(Chosen { parameters, facts, reason })
}
