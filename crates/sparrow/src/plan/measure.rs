//! Where many products follow: the best few are timed on the matrix itself, by a bounded number of products.
//!
//! What would run where some tens follow is among them, and stays unless another is clearly faster: so a plan for many
//! products is not slower.

use std::time::Instant;

use cl_kernels::{DeviceType, Products};
use cl_runtime::spmv::Workspace;
use cl_runtime::{After, AnyArray, AnyMatrix, Queue};
use csr_core::{Number, ValueType};

use super::choose::Contender;
use super::{AnyCoefficient, AnyPlan, AnyProduct, PlanOptions};
use crate::Result;

/// Samples of a candidate after a first launch: the least counts, which other work on the machine has disturbed least.
/// The first sample is one launch, and says how many the others need.
const ROUNDS: u32 = 3;

/// Those of a CPU device, which other work disturbs more, where there are products for as many.
const ROUNDS_ON_CPUS: u32 = 5;

/// Nanoseconds of a sample that are enough to tell candidates apart: launches of large matrices need no company.
const ENOUGH_NS: f64 = 100e3;

/// What took so many times the least in the first sample is not sampled again.
const FAR_BEHIND: f64 = 1.5;

/// What is not faster than the first by this much is not taken: times of a few launches are worth no more.
const CLEARLY: f64 = 0.97;

/// What promises a product in less than this part of what the others take is worth being made and timed.
const WORTH: f64 = 0.8;

/// Where samples are taken: vectors of zeros, and coefficients on the device where the plan takes them so.
struct Ground<'a> {
    queue: &'a Queue,
    matrix: &'a AnyMatrix,
    x: AnyArray,
    y: AnyArray,
    zero: Option<AnyArray>,
    element: ValueType,
    most_rounds: u32,
}

impl<'a> Ground<'a> {
    fn new(queue: &'a Queue, matrix: &'a AnyMatrix, options: &PlanOptions) -> Result<Self> {
        let element = matrix.value_type().accumulator();
        let zeros = |len: usize| -> Result<AnyArray> {
            let mut array = AnyArray::allocate(queue.context(), element, len)?;
            if queue.context().device().traits().is_written_by_host() {
                array.write_bytes_blocking(queue, &vec![0; len * element.size_bytes()])?;
            } else {
                array.fill_bytes(queue, &[0; 8][..element.size_bytes()])?;
            }
            Ok(array)
        };
        let zero = options.scalars_on_device.then(|| zeros(1)).transpose()?;
        let (x, y) = (zeros(matrix.cols())?, zeros(matrix.rows())?);
        queue.finish_blocking()?;
        let most_rounds = match queue.context().device().traits().device_type {
            DeviceType::Cpu => ROUNDS_ON_CPUS,
            _ => ROUNDS,
        };
        Ok(Ground { queue, matrix, x, y, zero, element, most_rounds })
    }

    /// Nanoseconds of a product among `launches`.
    fn sample(&mut self, plan: &AnyPlan, workspace: &mut Workspace, launches: u32) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..launches {
            let zero = Number::of(self.element, 0.0);
            let coefficient = || match &self.zero {
                Some(array) => AnyCoefficient::Device(array),
                None => AnyCoefficient::Value(zero),
            };
            let (alpha, beta) = (coefficient(), coefficient());
            let product = AnyProduct { alpha, a: self.matrix, x: &self.x, beta, y: &mut self.y };
            if self.queue.in_order().is_some() {
                plan.enqueue(self.queue, workspace, &product, After::Queue)?;
            } else if let Some(event) =
                plan.enqueue(self.queue, workspace, &product, After::Events(&[]))?
            {
                // The workspace serves one launch at a time.
                event.wait()?;
            }
        }
        self.queue.finish_blocking()?;
        Ok(start.elapsed().as_nanos() as f64 / f64::from(launches))
    }
}

impl Ground<'_> {
    /// Times plans in turn by `most` products each at most, after a launch of each: programs may be loaded by it, and A
    /// comes into the cache. Returns how many products there were.
    fn time(&mut self, entrants: &mut [Entrant], most: u32) -> Result<u32> {
        for one in &mut *entrants {
            self.sample(&one.plan, &mut one.workspace, 1)?;
        }
        let mut products = entrants.len() as u32;
        let mut launches = 1;
        let rounds = self.most_rounds.min(most - 1).max(ROUNDS);
        for round in 0..rounds {
            let least = least_of(entrants);
            for one in entrants.iter_mut().filter(|one| !is_far_behind(one.least_ns, least)) {
                let sample = self.sample(&one.plan, &mut one.workspace, launches)?;
                one.least_ns = one.least_ns.min(sample);
                products += launches;
            }
            if round == 0 {
                launches = launches_of_sample(least_of(entrants), most, rounds);
            }
        }
        Ok(products)
    }
}

/// A plan that is timed.
struct Entrant {
    plan: AnyPlan,
    workspace: Workspace,
    setup_ns: f64,
    least_ns: f64,
}

impl Entrant {
    /// What each of many products costs.
    fn cost_ns(&self) -> f64 {
        self.least_ns + self.setup_ns / f64::from(Products::Many.count())
    }
}

/// Whether so many products are enough to time so many plans.
pub(super) fn are_enough(products: u32, plans: usize) -> bool {
    products / plans.max(1) as u32 > ROUNDS
}

/// The plan of the fastest of `contenders`, timed by `most` products at most, warm-up included; the first of them where
/// another cannot be made or is not clearly faster. `build` makes a plan of `matrix`.
///
/// # Errors
/// The first cannot be made, or the device fails.
pub(super) fn fastest(
    queue: &Queue,
    matrix: &AnyMatrix,
    contenders: Vec<Contender>,
    most: u32,
    options: &PlanOptions,
    build: impl Fn(&Contender) -> Result<AnyPlan>,
) -> Result<AnyPlan> {
    let (late, first): (Vec<_>, Vec<_>) =
        contenders.into_iter().partition(|one| one.promised_ns.is_some());
    let make = |contender: &Contender| -> Result<Entrant> {
        let plan = build(contender)?;
        let workspace = plan.workspace_blocking(queue)?;
        Ok(Entrant { plan, workspace, setup_ns: contender.setup_ns, least_ns: f64::INFINITY })
    };
    let mut entrants: Vec<Entrant> = Vec::with_capacity(first.len() + late.len());
    for contender in &first {
        match make(contender) {
            // Tables may have changed one into the other.
            Ok(one) if entrants.iter().any(|e| e.plan.choice.is_same(&one.plan.choice)) => {}
            Ok(one) => entrants.push(one),
            Err(error) if entrants.is_empty() => return Err(error),
            Err(error) => tracing::debug!(choice = %contender.choice, %error, "is not timed"),
        }
    }
    // Those that are timed at once come first where products do not suffice for all.
    let has_late = are_enough(most, entrants.len() + late.len());
    let late = if has_late { late } else { Vec::new() };
    let most_entrants = entrants.len() + late.len();
    let each = most / most_entrants.max(1) as u32;
    if most_entrants > 1 && are_enough(most, most_entrants) {
        let mut ground = Ground::new(queue, matrix, options)?;
        let mut products = ground.time(&mut entrants, each)?;
        for contender in &late {
            if !is_worth_timing(contender, least_of(&entrants)) {
                continue;
            }
            let timed = make(contender).and_then(|mut one| {
                products += ground.time(std::slice::from_mut(&mut one), each)?;
                Ok(one)
            });
            match timed {
                Ok(one) => entrants.push(one),
                Err(error) => tracing::debug!(choice = %contender.choice, %error, "is not timed"),
            }
        }
        return Ok(chosen(entrants, products));
    }
    Ok(entrants.swap_remove(0).plan)
}

/// The least time of all.
fn least_of(entrants: &[Entrant]) -> f64 {
    entrants.iter().map(|one| one.least_ns).fold(f64::INFINITY, f64::min)
}

/// Whether a plan need not be sampled again; infinity is of one that was not yet.
fn is_far_behind(own_ns: f64, least_ns: f64) -> bool {
    own_ns.is_finite() && own_ns > FAR_BEHIND * least_ns
}

/// Launches of a sample where one takes about `launch_ns`, of `most` products of a plan in so many rounds: one was before
/// the samples, and one was the first of them.
fn launches_of_sample(launch_ns: f64, most: u32, rounds: u32) -> u32 {
    let spare = most.saturating_sub(2) / (rounds - 1);
    ((ENOUGH_NS / launch_ns).ceil() as u32).clamp(1, spare.max(1))
}

/// Whether what a contender promises is clearly less than `least_ns`, the least that others take.
fn is_worth_timing(contender: &Contender, least_ns: f64) -> bool {
    contender.promised_ns.is_none_or(|promised| promised < WORTH * least_ns)
}

/// The plan of the least cost, which says how it was found.
fn chosen(mut entrants: Vec<Entrant>, products: u32) -> AnyPlan {
    let texts =
        entrants.iter().map(|one| format!("{} {:.1} µs", one.plan.choice, one.cost_ns() / 1e3));
    let reason = format!(
        "timed on the matrix by {products} products: {}",
        texts.collect::<Vec<_>>().join(", ")
    );
    let costs: Vec<_> = entrants.iter().map(Entrant::cost_ns).collect();
    let best = clearly_least(&costs);
    let mut plan = entrants.swap_remove(best).plan;
    plan.choice.reason = reason;
    plan.measured_products = products;
    plan
}

/// The index of the least cost, or of the first where none is clearly less.
fn clearly_least(costs: &[f64]) -> usize {
    let least = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    least.filter(|&at| costs[at] < CLEARLY * costs[0]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use cl_kernels::{Algorithm, Choice};

    use super::*;

    #[test]
    fn samples_of_large_matrices_are_few_launches_and_never_more_than_there_is_room_for() {
        assert_eq!(launches_of_sample(200e3, 10, 3), 1);
        assert_eq!(launches_of_sample(40e3, 10, 3), 3);
        assert_eq!(launches_of_sample(5e3, 10, 3), 4);
        assert_eq!(launches_of_sample(5e3, 10, 5), 2);
        assert_eq!(launches_of_sample(f64::INFINITY, 10, 3), 1);
        assert_eq!(launches_of_sample(5e3, 3, 3), 1);
    }

    #[test]
    fn what_is_far_behind_is_not_sampled_again_but_all_are_once() {
        assert!(!is_far_behind(f64::INFINITY, f64::INFINITY));
        assert!(!is_far_behind(14.0, 10.0));
        assert!(is_far_behind(16.0, 10.0));
    }

    #[test]
    fn a_copy_that_takes_long_is_made_where_it_promises_a_fifth() {
        let promising = |promised_ns| {
            let choice = Choice::by_name(Algorithm::CsrTiles);
            is_worth_timing(&Contender { choice, setup_ns: 0.0, promised_ns }, 100.0)
        };
        assert!(promising(Some(79.0)) && promising(None));
        assert!(!promising(Some(81.0)));
    }

    #[test]
    fn what_some_tens_of_products_take_stays_unless_another_is_clearly_faster() {
        assert_eq!(clearly_least(&[10.0, 9.9, 9.8]), 0);
        assert_eq!(clearly_least(&[10.0, 9.0, 9.5]), 1);
        assert_eq!(clearly_least(&[10.0, 30.0, 8.0]), 2);
        assert_eq!(clearly_least(&[10.0]), 0);
    }
}
