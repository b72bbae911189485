//! What runs for a plan's options: what was asked for, what tables say, or of a few what is fastest on the matrix.

use cl_kernels::{
    Algorithm, Choice, Cost, DeviceType, Estimate, Fit, MatrixShape, Planned, Reuse, Tables,
    estimate_of, estimates_where, select_saying_how, select_where, tiles_estimate,
};
use cl_runtime::AnyMatrix;
use cl_runtime::spmv::Planning;
use csr_core::ValueCoding;

use super::PlanOptions;
use super::measure::{Contender, are_enough};

/// Candidates that are timed, at most: more would have too few products each.
const MOST_TIMED: usize = 4;

/// An algorithm that is estimated at up to so many times the least is timed before more hyper-parameters of one that is
/// timed anyway: estimates of two algorithms err by more than those of one with other hyper-parameters.
const NEARLY_LEAST: f64 = 1.1;

/// Where the device is estimated to need less than this part of what the host takes for a launch, timing costs more than a
/// copy could gain: of 27 such products of real matrices on an H200 `sell_sigma` made none faster. (The model has a launch
/// as it is in a bad moment, 1.3 to 1.6 times a good one.)
const WITHIN_LAUNCH: f64 = 0.75;

/// Bytes of columns and values from which on a CPU device times candidates: a program takes half a second to compile, and
/// 1,000 products by some tens of GB/s should take as long.
const LEAST_TIMED_BYTES: usize = 16 << 20;

/// Whether candidates are timed on a device that rules alone know.
fn is_worth_timing_by_rules(fit: &Fit<'_>, matrix: &AnyMatrix) -> bool {
    let nonzero = size_of::<u32>() + fit.value_type.size_bytes();
    fit.device.device_type == DeviceType::Cpu && matrix.nnz() * nonzero >= LEAST_TIMED_BYTES
}

/// What CPU devices time besides what rules say, which were read from other processors: `csr_pieces`, and where rows are
/// short and none is half of a core's share, `csr_scalar`. With longer ones that can take a hundred times as long.
fn as_it_is_on_cpus(compute_units: u32, shape: &MatrixShape) -> Vec<Algorithm> {
    let is_short = shape.mean_row() < MOST_OF_SCALAR_ROWS;
    let units = u64::from(compute_units.max(1));
    let is_even = shape.longest_row.saturating_mul(2 * units) < shape.nnz;
    let scalar = (is_short && is_even).then_some(Algorithm::CsrScalar);
    [Algorithm::CsrPieces].into_iter().chain(scalar).collect()
}

/// Nonzeros of a row, in the mean, with which one by one may be as fast as several at once.
const MOST_OF_SCALAR_ROWS: f64 = 9.0;

/// Whether nothing hinders an algorithm on the device, where the plan shall be computed.
fn may_run<'a>(fit: &'a Fit<'a>, options: &'a PlanOptions) -> impl Fn(Algorithm) -> bool + 'a {
    move |algorithm| {
        let spec = algorithm.spec();
        let on_device = options.planning == Planning::OnDevice;
        !(on_device && spec.planned == Planned::OnHost) && spec.check_device(fit).is_ok()
    }
}

/// What tables choose for so many products.
pub(super) fn by_tables(
    tables: &Tables,
    fit: &Fit<'_>,
    matrix: &AnyMatrix,
    products: Reuse,
    options: &PlanOptions,
) -> Choice {
    select_where(tables, fit, &matrix.shape(), products, may_run(fit, options))
}

/// The estimates in the order in which they are timed, the least first: before another of the same algorithm the best of
/// each other algorithm that is nearly as good.
fn in_order_of_interest(estimated: &[Estimate]) -> Vec<&Estimate> {
    let total = |one: &Estimate| one.cost.total_ns(Reuse::Many);
    let is_of_interest = |(at, one): &(usize, &Estimate)| {
        let is_first = estimated[..*at].iter().all(|other| other.algorithm != one.algorithm);
        is_first && total(one) <= NEARLY_LEAST * total(&estimated[0])
    };
    let (first, rest): (Vec<_>, Vec<_>) = estimated.iter().enumerate().partition(is_of_interest);
    first.into_iter().chain(rest).map(|(_, one)| one).collect()
}

/// Whether a launch takes the host much longer than a product takes the device.
fn is_within_launch(cost: &Cost) -> bool {
    cost.device_ns < WITHIN_LAUNCH * cost.host_ns
}

/// What is timed where many products follow: what some tens would take, which comes first, what the tables say of many,
/// and the best by the cost model; at last `csr_tiles`, whose copy takes long, and of which the others' times say whether it
/// is worth making. Copies of A are estimated to store values in `coding`. Where tables have no numbers of a model, a CPU
/// device times what the rules say and what leaves A as it is, if A is large. Where nothing is timed, or `most` products
/// are too few for that, what the tables say of many products alone; where a launch takes much longer than a product, and no
/// rule says what many products take, what some tens would take.
pub(super) fn contenders(
    tables: &Tables,
    fit: &Fit<'_>,
    matrix: &AnyMatrix,
    coding: ValueCoding,
    options: &PlanOptions,
    most: u32,
) -> Vec<Contender> {
    let shape = matrix.shape();
    let may = may_run(fit, options);
    let estimated = estimates_where(tables, fit, &shape, Reuse::Many, coding, &may);
    let setup_ns = |choice: &Choice| {
        let same =
            estimated.iter().find(|one| choice.is_same(&Choice::of_estimate(one, String::new())));
        same.map_or(0.0, |Estimate { cost: Cost { setup_ns, .. }, .. }| *setup_ns)
    };
    let best: Vec<Choice> = match estimated.is_empty() {
        false => {
            let in_order = in_order_of_interest(&estimated).into_iter();
            in_order.map(|one| Choice::of_estimate(one, String::new())).collect()
        }
        true if is_worth_timing_by_rules(fit, matrix) => {
            let as_it_is = as_it_is_on_cpus(fit.device.compute_units, &shape).into_iter();
            as_it_is.filter(|one| may(*one)).map(Choice::by_name).collect()
        }
        true => Vec::new(),
    };
    let is_timed = !best.is_empty();
    let several = by_tables(tables, fit, matrix, Reuse::Several, options);
    let (many, is_by_rule) = select_saying_how(tables, fit, &shape, Reuse::Many, &may);
    let of_several = estimate_of(tables, fit, &shape, &several);
    let has_rule = is_by_rule && !many.is_same(&several);
    if !has_rule && of_several.is_some_and(|one| is_within_launch(&one.cost)) {
        let reason = format!("{}; nothing is timed, since a launch takes longer", several.reason);
        let choice = Choice { reason, ..several };
        return vec![Contender { choice, setup_ns: 0.0, promised_ns: None }];
    }
    let mut found: Vec<Contender> = Vec::with_capacity(MOST_TIMED);
    for choice in [several, many.clone()].into_iter().chain(best) {
        let is_new = !found.iter().any(|one| one.choice.is_same(&choice));
        if is_new && found.len() < MOST_TIMED {
            let setup_ns = setup_ns(&choice);
            found.push(Contender { choice, setup_ns, promised_ns: None });
        }
    }
    if !(is_timed && are_enough(most, found.len())) {
        return vec![Contender { choice: many, setup_ns: 0.0, promised_ns: None }];
    }
    let tiles = Algorithm::CsrTiles;
    if may_run(fit, options)(tiles) && found.iter().all(|one| one.choice.algorithm != tiles) {
        found.extend(tiles_estimate(tables, fit, &shape, matrix.cols(), coding).map(|estimate| {
            Contender {
                choice: Choice::of_estimate(&estimate, String::new()),
                setup_ns: estimate.cost.setup_ns,
                promised_ns: Some(estimate.cost.product_ns()),
            }
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use cl_kernels::NamedParameters;
    use cl_kernels::csr_flat::CsrFlat;

    use super::*;

    #[test]
    fn another_algorithm_is_timed_before_other_hyper_parameters_if_it_is_nearly_as_good() {
        let of = |algorithm, device_ns| Estimate {
            algorithm,
            parameters: NamedParameters::of(&CsrFlat::default()),
            cost: Cost { host_ns: 0.0, device_ns, setup_ns: 0.0 },
        };
        let (flat, copy) = (Algorithm::CsrFlat, Algorithm::SellSigma);
        let order = |estimated: &[Estimate]| -> Vec<_> {
            let in_order = in_order_of_interest(estimated).into_iter();
            in_order.map(|one| (one.algorithm, one.cost.device_ns)).collect()
        };
        let near = [of(flat, 100.0), of(flat, 102.0), of(copy, 109.0), of(copy, 110.0)];
        assert_eq!(order(&near), [(flat, 100.0), (copy, 109.0), (flat, 102.0), (copy, 110.0)]);
        let far = [of(flat, 100.0), of(flat, 102.0), of(copy, 111.0)];
        assert_eq!(order(&far), [(flat, 100.0), (flat, 102.0), (copy, 111.0)]);
        assert_eq!(order(&[]), []);
    }

    #[test]
    fn items_with_a_row_each_are_timed_on_cpus_where_rows_are_short_and_none_is_long() {
        let shape = |nnz, longest_row| MatrixShape {
            rows: 1_000_000,
            nnz,
            longest_row,
            in_step: nnz,
            changes: 0,
        };
        let (csr_pieces, scalar) = (Algorithm::CsrPieces, Algorithm::CsrScalar);
        let of = |nnz, longest_row| as_it_is_on_cpus(2, &shape(nnz, longest_row));
        assert_eq!(of(5_000_000, 100), [csr_pieces, scalar]);
        assert_eq!(of(9_000_000, 100), [csr_pieces]);
        // Half of what one of two cores has.
        assert_eq!(of(5_000_000, 1_250_000), [csr_pieces]);
        assert_eq!(of(5_000_000, u64::MAX), [csr_pieces]);
    }
}
