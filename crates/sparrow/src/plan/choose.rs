//! What runs for a plan's options: what was asked for, what tables say, or of a few what is fastest on the matrix.

use cl_kernels::{
    Algorithm, Choice, Cost, Estimate, Fit, Planned, Products, Tables, estimates_where,
    select_where, tiles_estimate,
};
use cl_runtime::AnyMatrix;
use cl_runtime::spmv::Planning;
use csr_core::ValueCoding;

use super::PlanOptions;

/// Candidates that are timed, at most: more would have too few products each.
const MOST_TIMED: usize = 4;

/// What may run, with what it should cost where that is known.
#[derive(Debug)]
pub(super) struct Contender {
    pub(super) choice: Choice,
    /// Nanoseconds of its set-up, as estimated; 0 where nothing is known.
    pub(super) setup_ns: f64,
    /// Nanoseconds of a product that it promises, where it is timed only if that is clearly less than the others take.
    pub(super) promised_ns: Option<f64>,
}

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
    products: Products,
    options: &PlanOptions,
) -> Choice {
    select_where(tables, fit, &matrix.shape(), products, may_run(fit, options))
}

/// What is timed where many products follow: what some tens would take, which comes first, what the tables say of many,
/// and the best by the cost model; at last `csr_tiles`, whose copy takes long, and of which the others' times say whether it
/// is worth making. Copies of A are estimated to store values in `coding`. Where tables have no numbers of a model,
/// rules for many products decide alone.
pub(super) fn contenders(
    tables: &Tables,
    fit: &Fit<'_>,
    matrix: &AnyMatrix,
    coding: ValueCoding,
    options: &PlanOptions,
) -> Vec<Contender> {
    let of = |products| by_tables(tables, fit, matrix, products, options);
    let shape = matrix.shape();
    let may = may_run(fit, options);
    let estimated = estimates_where(tables, fit, &shape, Products::Many, coding, may);
    let setup_ns = |choice: &Choice| {
        let same =
            estimated.iter().find(|one| choice.is_same(&Choice::of_estimate(one, String::new())));
        same.map_or(0.0, |Estimate { cost: Cost { setup_ns, .. }, .. }| *setup_ns)
    };
    if estimated.is_empty() {
        return vec![Contender { choice: of(Products::Many), setup_ns: 0.0, promised_ns: None }];
    }
    let best = estimated.iter().map(|one| Choice::of_estimate(one, String::new()));
    let mut found: Vec<Contender> = Vec::with_capacity(MOST_TIMED);
    for choice in [of(Products::Several), of(Products::Many)].into_iter().chain(best) {
        let is_new = !found.iter().any(|one| one.choice.is_same(&choice));
        if is_new && found.len() < MOST_TIMED {
            let setup_ns = setup_ns(&choice);
            found.push(Contender { choice, setup_ns, promised_ns: None });
        }
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
