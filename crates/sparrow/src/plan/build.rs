//! How a plan comes about: chosen or asked for, then bound.

use cl_kernels::{Algorithm, Choice, DeviceType, Planned, select_where};
use cl_runtime::spmv::{Bound, ReorderedSpmv, VectorOrder, promised_coding_blocking};
use cl_runtime::{AnyMatrix, AnyReorderedMatrix, AnyTransposedMatrix, Queue};
use csr_core::{AnyPatternView, Reordering};

use super::bind::{bind, fit, tables};
use super::recording::new_stamp;
use super::{AnyPlan, Op, PlanOptions, choose, measure};
use crate::{Result, RuntimeError};

/// What refuses what is found for each pattern.
const FOR_ANY: &str = "a plan for any pattern";

impl AnyPlan {
    pub(super) fn build_transposed(
        queue: &Queue,
        matrix: &AnyMatrix,
        pattern: Option<AnyPatternView<'_>>,
        options: &PlanOptions,
    ) -> Result<Self> {
        let transposed = AnyTransposedMatrix::new_blocking(queue, matrix, pattern)?;
        Self::build(queue, matrix, None, Some(transposed), options)
    }

    pub(super) fn build(
        queue: &Queue,
        matrix: &AnyMatrix,
        pattern: Option<AnyPatternView<'_>>,
        transposed: Option<AnyTransposedMatrix>,
        options: &PlanOptions,
    ) -> Result<Self> {
        let order = options.order;
        let (of_copy, reordered) =
            Self::in_another_order(queue, matrix, pattern, transposed.as_ref(), options)?;
        let options = &of_copy;
        let ids = (matrix.pattern_id(), matrix.values_id());
        let inner = transposed.as_ref().map_or(matrix, AnyTransposedMatrix::matrix);
        let inner = reordered.as_ref().map_or(inner, AnyReorderedMatrix::matrix);
        let pattern = pattern.filter(|_| reordered.is_none());
        let one = |choice: &Choice, ids, options: &PlanOptions| {
            Self::build_one(queue, inner, pattern, ids, choice, options)
        };
        let of_tables = |products| {
            choose::by_tables(
                &tables(options),
                &fit(queue, inner, options),
                inner,
                products,
                options,
            )
        };
        let plan = match (&options.choice, options.algorithm) {
            // Its hyper-parameters are asked for: they are no rule's, of which what does not fit is left out.
            (Some(choice), _) => {
                let choice = Choice { parameters: Vec::new(), ..choice.clone() };
                one(&choice, ids, &options.pinned())?
            }
            (None, Some(algorithm)) => one(&Choice::by_name(algorithm), ids, options)?,
            (None, None) => match options.measured_products() {
                0 => one(&of_tables(options.reuse), ids, options)?,
                most => {
                    let fit = fit(queue, inner, options);
                    // What the first values promise: a plan looks at all of them.
                    let tables = tables(options);
                    let cache_bytes = tables.cache_bytes(fit.device);
                    let coding = promised_coding_blocking(queue, inner, cache_bytes)?;
                    let contenders =
                        choose::contenders(&tables, &fit, inner, coding, options, most);
                    let own_ids = (inner.pattern_id(), inner.values_id());
                    let found = measure::fastest(
                        queue,
                        inner,
                        contenders,
                        (most, cache_bytes),
                        options,
                        |one_of| one(&one_of.choice, own_ids, options),
                    )?;
                    // What was timed is a plan of the copy itself. Of one in another order all else is told to what runs it.
                    match (&transposed, &reordered) {
                        (None, None) => found,
                        (_, Some(_)) => AnyPlan { pattern_id: Some(ids.0), ..found },
                        (Some(_), None) => AnyPlan {
                            measured_products: found.measured_products,
                            ..one(&found.choice, ids, options)?
                        },
                    }
                }
            },
        };
        let plan = AnyPlan { transposed, ..plan };
        match reordered {
            None => Ok(plan),
            Some(copy) => {
                let spmv = ReorderedSpmv::new(queue, plan.spmv, copy, order, ids.1)?;
                Ok(AnyPlan { spmv: Box::new(spmv), ..plan })
            }
        }
    }

    /// The matrix, or its transposed copy, in another order, if one is asked for, and options for a plan of that: without
    /// the order of vectors, which is then the copy's.
    fn in_another_order(
        queue: &Queue,
        matrix: &AnyMatrix,
        pattern: Option<AnyPatternView<'_>>,
        transposed: Option<&AnyTransposedMatrix>,
        options: &PlanOptions,
    ) -> Result<(PlanOptions, Option<AnyReorderedMatrix>)> {
        if options.reordering == Reordering::None {
            return Ok((options.clone(), None));
        }
        let (matrix, pattern) = match transposed {
            None => (matrix, pattern),
            Some(transposed) => (transposed.matrix(), None),
        };
        options.order.check_shape(matrix)?;
        let copy = AnyReorderedMatrix::new_blocking(queue, matrix, pattern, options.reordering)?;
        Ok((PlanOptions { order: VectorOrder::Original, ..options.clone() }, Some(copy)))
    }

    /// A plan of a matrix by a choice; ids are those of the matrix that launches come with.
    fn build_one(
        queue: &Queue,
        matrix: &AnyMatrix,
        pattern: Option<AnyPatternView<'_>>,
        (pattern_id, values_id): (u64, u64),
        choice: &Choice,
        options: &PlanOptions,
    ) -> Result<Self> {
        let bound = bind(queue, matrix, pattern, values_id, choice, options)?;
        Ok(Self::of_bound(queue, matrix, bound, choice.reason.clone(), Some(pattern_id)))
    }

    /// What was bound, with all that it runs with as its choice.
    fn of_bound(
        queue: &Queue,
        matrix: &AnyMatrix,
        Bound { spmv, parameters }: Bound,
        reason: String,
        pattern_id: Option<u64>,
    ) -> Self {
        let pair = |text: &str| {
            let (name, value) = text.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        let choice = Choice {
            algorithm: spmv.algorithm(),
            variant: spmv.variant().parse().ok(),
            parameters: parameters.split(',').filter_map(pair).collect(),
            reason,
        };
        AnyPlan {
            spmv,
            choice,
            parameters,
            context: queue.context().clone(),
            pattern_id,
            transposed: None,
            types: matrix.types(),
            measured_products: 0,
            stamp: new_stamp(),
        }
    }

    pub(super) fn build_for_any_pattern(
        queue: &Queue,
        like: &AnyMatrix,
        options: &PlanOptions,
    ) -> Result<Self> {
        let device = queue.context().device().traits();
        let is_free = |one: Algorithm| one.spec().planned == Planned::Never;
        let pinned = options.pinned();
        let options = if options.choice.is_some() { &pinned } else { options };
        let choice = match options.algorithm {
            Some(algorithm) => Choice::by_name(algorithm),
            None => {
                let (fit, products) = (fit(queue, like, options), options.reuse);
                let may = |algorithm: Algorithm| algorithm.spec().check_device(&fit).is_ok();
                let (tables, shape) = (tables(options), like.shape());
                let found = select_where(&tables, &fit, &shape, products, may);
                let default = match device.device_type {
                    DeviceType::Cpu => Algorithm::CsrScalar,
                    _ => Algorithm::CsrVector,
                };
                if is_free(found.algorithm) { found } else { Choice::by_name(default) }
            }
        };
        if options.reordering != Reordering::None {
            let what = format_args!("the reordering {}", options.reordering);
            let rule = "its order is found for each pattern";
            return Err(RuntimeError::combination(what, FOR_ANY, rule).into());
        }
        if !is_free(choice.algorithm) || options.op != Op::Normal {
            let free = Algorithm::ALL.into_iter().filter(|one| is_free(*one)).map(Algorithm::name);
            let what = match options.op {
                Op::Normal => choice.algorithm.to_string(),
                Op::Transpose => format!("{} of a transposed matrix", choice.algorithm),
            };
            let rule = format_args!(
                "it needs a plan of its own for each pattern, and {} of a matrix as it is do not",
                free.collect::<Vec<_>>().join(" and ")
            );
            return Err(RuntimeError::combination(what, FOR_ANY, rule).into());
        }
        let bound = bind(queue, like, None, like.values_id(), &choice, options)?;
        Ok(Self::of_bound(queue, like, bound, choice.reason, None))
    }
}
