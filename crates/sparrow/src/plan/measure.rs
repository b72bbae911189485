//! Where many products follow: the best few are timed on the matrix itself, by a bounded number of products.
//!
//! What would run where some tens follow is among them, and stays unless another is clearly faster: so a plan for many
//! products is not slower.

use std::time::Instant;

use cl_kernels::{Choice, DeviceType, Reuse};
use cl_runtime::spmv::Workspace;
use cl_runtime::{After, AnyArray, AnyMatrix, Queue};
use csr_core::{Number, ValueType};

use super::{AnyCoefficient, AnyOperands, AnyPlan, PlanOptions};
use crate::Result;

/// Samples of a candidate: the least counts, which other work on the machine has disturbed least. The first is of one
/// launch, and says how many the others need.
const ROUNDS: u32 = 3;

/// Those of a CPU device, which other work disturbs more, where there are products for as many.
const ROUNDS_ON_CPUS: u32 = 5;

/// Nanoseconds of a sample that are enough to tell candidates apart: launches of large matrices need no company.
const ENOUGH_NS: f64 = 60e3;

/// How many are timed on besides the first candidate: the best of the others by their first samples.
const FINALISTS: usize = 1;

/// Those of a CPU device, where other work may have disturbed first samples.
const FINALISTS_ON_CPUS: usize = 3;

/// What took so many times the least in its first sample is not timed on, but for the first candidate.
const FAR_BEHIND: f64 = 1.5;

/// Nanoseconds that a sample of one launch is longer than a launch among others.
const ALONE_NS: f64 = 10e3;

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
    most_finalists: usize,
    /// Whether plans drive one another's arrays out of the last cache.
    is_beyond_cache: bool,
}

impl<'a> Ground<'a> {
    fn new(
        queue: &'a Queue,
        matrix: &'a AnyMatrix,
        cache_bytes: u64,
        options: &PlanOptions,
    ) -> Result<Self> {
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
        let (most_rounds, most_finalists) = match queue.context().device().traits().device_type {
            DeviceType::Cpu => (ROUNDS_ON_CPUS, FINALISTS_ON_CPUS),
            _ => (ROUNDS, FINALISTS),
        };
        let nonzero = size_of::<u32>() + matrix.value_type().size_bytes();
        // A, and copies of it.
        let bytes = 3 * matrix.nnz() as u64 * nonzero as u64;
        let is_beyond_cache = bytes > cache_bytes;
        Ok(Ground {
            queue,
            matrix,
            x,
            y,
            zero,
            element,
            most_rounds,
            most_finalists,
            is_beyond_cache,
        })
    }

    /// Nanoseconds of a product among `launches`. Where plans drive one another out of the cache, one launch goes before
    /// that is not counted: after another plan's it loads from memory what later ones find in the cache, and less of A,
    /// which other plans read too, than of a copy.
    fn sample(&mut self, one: &mut Entrant, launches: u32) -> Result<f64> {
        if self.is_beyond_cache {
            self.launch(one, 1)?;
        }
        let start = Instant::now();
        self.launch(one, launches)?;
        let ns = start.elapsed().as_nanos() as f64 / f64::from(launches);
        tracing::debug!(choice = %one.plan.choice, launches, us = ns / 1e3, "timed");
        Ok(ns)
    }

    /// Launches, and waits for them.
    fn launch(&mut self, one: &mut Entrant, launches: u32) -> Result<()> {
        let Entrant { plan, workspace, .. } = one;
        for _ in 0..launches {
            let zero = Number::of(self.element, 0.0);
            let coefficient = || match &self.zero {
                Some(array) => AnyCoefficient::Device(array),
                None => AnyCoefficient::Value(zero),
            };
            let (alpha, beta) = (coefficient(), coefficient());
            let product = AnyOperands { alpha, a: self.matrix, x: &self.x, beta, y: &mut self.y };
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
        Ok(())
    }

    /// The first sample of a plan, of a launch after one by which its program is loaded.
    fn first_sample(&mut self, one: &mut Entrant) -> Result<()> {
        self.launch(one, 1)?;
        let start = Instant::now();
        self.launch(one, 1)?;
        one.least_ns = start.elapsed().as_nanos() as f64;
        Ok(())
    }

    /// Takes further samples of plans one after the other, by `most` products at most; none of a single plan. Returns how
    /// many products it took.
    fn further_samples(&mut self, finalists: &mut [Entrant], most: u32) -> Result<u32> {
        if finalists.len() < 2 {
            return Ok(0);
        }
        let each = most / finalists.len() as u32;
        let uncounted = u32::from(self.is_beyond_cache);
        let least = least_of(finalists);
        let (rounds, launches) = samples_of(least, each, uncounted, self.most_rounds - 1);
        for _ in 0..rounds {
            for one in &mut *finalists {
                let sample = self.sample(one, launches)?;
                one.least_ns = one.least_ns.min(sample);
            }
        }
        Ok(finalists.len() as u32 * rounds * (uncounted + launches))
    }
}

/// Products of a first sample.
const OF_FIRST_SAMPLE: u32 = 2;

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
        self.least_ns + self.setup_ns / f64::from(Reuse::Many.count())
    }
}

/// What may run, with what it should cost where that is known.
#[derive(Debug)]
pub(super) struct Contender {
    pub(super) choice: Choice,
    /// Nanoseconds of its set-up, as estimated; 0 where nothing is known.
    pub(super) setup_ns: f64,
    /// Nanoseconds of a product that it promises, where it is timed only if that is clearly less than the others take.
    pub(super) promised_ns: Option<f64>,
}

/// Whether so many products are enough to time so many plans.
pub(super) fn are_enough(products: u32, plans: usize) -> bool {
    products / plans.max(1) as u32 > ROUNDS
}

/// The plan of the fastest of `contenders`, timed by `most` products at most, warm-up included; the first of them where
/// another cannot be made or is not clearly faster. `cache_bytes` are those of the device's last cache; `build` makes a plan
/// of `matrix`.
///
/// # Errors
/// The first cannot be made, or the device fails.
pub(super) fn fastest(
    queue: &Queue,
    matrix: &AnyMatrix,
    contenders: Vec<Contender>,
    (most, cache_bytes): (u32, u64),
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
    if entrants.len() + late.len() < 2 || !are_enough(most, entrants.len() + late.len()) {
        return Ok(entrants.swap_remove(0).plan);
    }
    let mut ground = Ground::new(queue, matrix, cache_bytes, options)?;
    for one in &mut entrants {
        ground.first_sample(one)?;
    }
    for contender in &late {
        if !is_worth_timing(contender, least_of(&entrants) - ALONE_NS) {
            continue;
        }
        let timed = make(contender).and_then(|mut one| {
            ground.first_sample(&mut one)?;
            Ok(one)
        });
        match timed {
            Ok(one) => entrants.push(one),
            Err(error) => tracing::debug!(choice = %contender.choice, %error, "is not timed"),
        }
    }
    let of_first = OF_FIRST_SAMPLE * entrants.len() as u32;
    let mut finalists = entrants;
    let others = leave_finalists(&mut finalists, ground.most_finalists);
    let products = of_first + ground.further_samples(&mut finalists, most - of_first)?;
    Ok(chosen(finalists, others, products))
}

/// Leaves the first, and `most` of the others that are the best by their first samples. Returns how many went.
fn leave_finalists(entrants: &mut Vec<Entrant>, most: usize) -> usize {
    let all = entrants.len();
    let samples: Vec<_> = entrants.iter().map(|one| (one.least_ns, one.cost_ns())).collect();
    let stay = finalists(&samples, most);
    let mut indices = 0..all;
    entrants.retain(|_| indices.next().is_some_and(|at| stay.contains(&at)));
    all - entrants.len()
}

/// The indices of those that stay, by time and cost of each first sample.
fn finalists(samples: &[(f64, f64)], most: usize) -> Vec<usize> {
    let least = samples.iter().map(|(ns, _)| *ns).fold(f64::INFINITY, f64::min);
    let mut others: Vec<_> = (1..samples.len()).collect();
    others.retain(|&at| samples[at].0 <= FAR_BEHIND * least);
    others.sort_by(|&a, &b| samples[a].1.total_cmp(&samples[b].1));
    std::iter::once(0).chain(others.into_iter().take(most)).collect()
}

/// The least time of all.
fn least_of(entrants: &[Entrant]) -> f64 {
    entrants.iter().map(|one| one.least_ns).fold(f64::INFINITY, f64::min)
}

/// Further samples, and launches of each that are counted, where a launch takes about `launch_ns`, a plan has `left` products
/// and a sample `uncounted` ones besides: as many as are enough, if so many are left.
fn samples_of(launch_ns: f64, left: u32, uncounted: u32, most_rounds: u32) -> (u32, u32) {
    let rounds = (left / (1 + uncounted)).min(most_rounds);
    let most = left.checked_div(rounds).map_or(1, |of_round| of_round - uncounted);
    (rounds, ((ENOUGH_NS / launch_ns).ceil() as u32).clamp(1, most))
}

/// Whether what a contender promises is clearly less than `least_ns`, the least that others take.
fn is_worth_timing(contender: &Contender, least_ns: f64) -> bool {
    contender.promised_ns.is_none_or(|promised| promised < WORTH * least_ns)
}

/// The plan of the least cost, which says how it was found; `others` were not timed on after a first sample.
fn chosen(mut finalists: Vec<Entrant>, others: usize, products: u32) -> AnyPlan {
    let texts =
        finalists.iter().map(|one| format!("{} {:.1} µs", one.plan.choice, one.cost_ns() / 1e3));
    let texts = texts.collect::<Vec<_>>().join(", ");
    let slower = match others {
        0 => String::new(),
        _ => format!("; {others} more were left after a first sample"),
    };
    let reason = format!("timed on the matrix by {products} products: {texts}{slower}");
    let costs: Vec<_> = finalists.iter().map(Entrant::cost_ns).collect();
    let best = clearly_least(&costs);
    let mut plan = finalists.swap_remove(best).plan;
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
    use cl_kernels::Algorithm;

    use super::*;

    #[test]
    fn samples_are_as_many_as_are_enough_and_never_beyond_what_is_left() {
        assert_eq!(samples_of(200e3, 10, 1, 2), (2, 1));
        assert_eq!(samples_of(40e3, 10, 1, 2), (2, 2));
        assert_eq!(samples_of(5e3, 10, 1, 2), (2, 4));
        assert_eq!(samples_of(5e3, 10, 0, 2), (2, 5));
        assert_eq!(samples_of(5e3, 10, 1, 4), (4, 1));
        assert_eq!(samples_of(f64::INFINITY, 10, 1, 2), (2, 1));
        for (left, uncounted) in (0..40).flat_map(|left| [(left, 0), (left, 1)]) {
            let (rounds, launches) = samples_of(5e3, left, uncounted, 4);
            assert!(launches >= 1 && rounds * (uncounted + launches) <= left);
        }
    }

    #[test]
    fn the_first_is_timed_on_with_the_best_others_that_are_not_far_behind() {
        let samples = [(16.0, 16.0), (10.0, 13.0), (11.0, 12.0), (14.0, 14.0), (15.1, 15.1)];
        assert_eq!(finalists(&samples, 1), [0, 2]);
        assert_eq!(finalists(&samples, 3), [0, 2, 1, 3]);
        assert_eq!(finalists(&samples, 9), [0, 2, 1, 3]);
        // All but the first are far slower, or there is no other.
        assert_eq!(finalists(&[(10.0, 10.0), (15.5, 15.5)], 1), [0]);
        assert_eq!(finalists(&[(10.0, 10.0)], 1), [0]);
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
