//! Judging the automatic choice: compared with the best of everything that the tuner has on its list, and with no
//! tuning.
//!
//! In a first run every candidate is timed on the matrix, in turn with a reference. In a second the best few of that
//! are timed again, in turn, with the automatic choice, with what would run untuned, and with the best once more: how
//! far that is from itself is what times on this machine are worth.

use std::collections::BTreeSet;

use cl_kernels::{Reuse, Tables};
use csr_core::AnyCsrView;
use serde::{Deserialize, Serialize};
use sparrow::{PlanOptions, Queue};

use super::Candidate;
use super::timing::median;
use super::trial::{Contender, Ground, launches, rounded, setup_us};
use crate::MeasureError;

/// The form's name.
pub const JUDGE_SCHEMA: &str = "sparrow-judge/1";

/// Candidates of the first run that are timed again.
const FINALISTS: usize = 5;

/// Rounds of each run.
const FIRST_ROUNDS: usize = 3;
const SECOND_ROUNDS: usize = 11;

/// A prime above the entrants and the rounds of the second run.
const TURNS: usize = 13;

/// A sample has as many launches as products follow, as far as these many times the least span of a sample go: a CPU
/// learns by some tens of products where rows end, so the tenth product costs more than the fiftieth.
const MOST_LONGER: f64 = 10.0;

/// A candidate this many times as slow as the best so far is timed no further.
const GIVE_UP: f64 = 2.0;

/// How the automatic choice did on one matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// [`JUDGE_SCHEMA`].
    pub schema: String,
    /// Version of Sparrow.
    pub version: String,
    /// The device's name.
    pub device: String,
    /// The platform's name.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// Name of the matrix.
    pub matrix: String,
    /// Rows of A.
    pub rows: u64,
    /// Nonzeros of A.
    pub nnz: u64,
    /// What A stores.
    pub value_type: String,
    /// How many products follow: a set-up counts by its part of each.
    pub products: String,
    /// Candidates of the first run.
    pub candidates: usize,
    /// Of these, how many did not verify or could not run.
    pub failed: usize,
    /// The best of all.
    pub best: String,
    /// Microseconds of its product, with its part of the set-up.
    pub best_us: f64,
    /// What was chosen.
    pub auto: String,
    /// Its time over that of the best.
    pub auto_over_best: f64,
    /// Those of the first run that were timed again, the likeliest first.
    pub finalists: Vec<Finalist>,
    /// The time of the best over its own, taken twice in turn; 1 on a quiet machine.
    pub best_over_itself: f64,
    /// What would run without tables of this device.
    pub untuned: String,
    /// Its time over that of what was chosen.
    pub untuned_over_auto: f64,
}

/// A candidate that was timed with the automatic choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finalist {
    /// Algorithm and hyper-parameters.
    pub candidate: String,
    /// Its time over that of the best.
    pub over_best: f64,
}

/// What is judged by: the list of the tuner, the tables that choose, and what a sample takes.
#[derive(Clone, Debug)]
pub struct Judge {
    /// Every candidate that the tuner has tried.
    pub list: BTreeSet<Candidate>,
    /// The tables of the automatic choice.
    pub tables: Tables,
    /// How many products follow; a sample has as many launches where ten times [`Judge::sample_ms`] hold them.
    pub products: Reuse,
    /// Milliseconds of a sample, at least.
    pub sample_ms: f64,
}

struct Entrant {
    contender: Contender,
    setup_us: f64,
    launches: u32,
    samples_us: Vec<f64>,
}

/// Judges the choice for one matrix.
///
/// # Errors
/// The device fails, or the automatic choice itself does not verify.
pub fn judge(
    queue: &Queue,
    name: &str,
    matrix: AnyCsrView<'_>,
    by: &Judge,
) -> Result<Judgement, MeasureError> {
    let mut ground = Ground::new(queue, matrix)?;
    let auto = |tables: &Tables| PlanOptions {
        reuse: by.products,
        tables: Some(tables.clone()),
        ..PlanOptions::default()
    };
    let (auto, untuned) = (auto(&by.tables), auto(&Tables::untuned()));
    let mut reference = entrant(&mut ground, queue, &untuned, by)??;
    let reference_us = ground.sample_us(queue, &mut reference.contender, reference.launches)?;

    let mut costs = Vec::new();
    let mut failed = 0;
    let mut best = f64::INFINITY;
    let list = by.list.iter().filter(|candidate| candidate.may_be_chosen(by.products));
    let mut candidates = 0;
    for candidate in list {
        candidates += 1;
        let options = candidate.plan_options(&by.tables);
        let Ok(Ok(mut one)) = entrant(&mut ground, queue, &options, by) else {
            failed += 1;
            continue;
        };
        let mut ratios = Vec::new();
        for _ in 0..FIRST_ROUNDS {
            let reference_us =
                ground.sample_us(queue, &mut reference.contender, reference.launches)?;
            ratios.push(ground.sample_us(queue, &mut one.contender, one.launches)? / reference_us);
            if median(&ratios) > GIVE_UP * best {
                break;
            }
        }
        let cost = median(&ratios) + one.setup_us / f64::from(by.products.count()) / reference_us;
        best = best.min(cost);
        costs.push((cost, candidate));
    }
    costs.sort_by(|(a, _), (b, _)| a.total_cmp(b));

    // The chosen, the untuned, the finalists, and the first of them once more.
    let finalists: Vec<_> = costs.iter().take(FINALISTS).map(|(_, one)| (*one).clone()).collect();
    let mut entrants = vec![entrant(&mut ground, queue, &auto, by)??, reference];
    entrants[1].samples_us.clear();
    for candidate in finalists.iter().chain(finalists.first()) {
        let options = candidate.plan_options(&by.tables);
        entrants.push(entrant(&mut ground, queue, &options, by)??);
    }
    for round in 0..SECOND_ROUNDS {
        for place in turns(round, entrants.len()) {
            let one = &mut entrants[place];
            let sample = ground.sample_us(queue, &mut one.contender, one.launches)?;
            one.samples_us.push(sample);
        }
    }
    let count = f64::from(by.products.count());
    let over = |a: usize, b: usize| {
        let cost = |one: &Entrant, round: usize| one.samples_us[round] + one.setup_us / count;
        let ratios =
            (0..SECOND_ROUNDS).map(|round| cost(&entrants[a], round) / cost(&entrants[b], round));
        median(&ratios.collect::<Vec<_>>())
    };
    let twin = entrants.len() - 1;
    // By ratios to the chosen: what is slow for a while is slow for all.
    let best = (0..twin).min_by(|&a, &b| over(a, 0).total_cmp(&over(b, 0))).unwrap_or(0);
    let shape = ground.shape();
    let traits = queue.context().device().traits();
    let text = |place: usize| entrants[place].contender.candidate().to_string();
    Ok(Judgement {
        schema: JUDGE_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        matrix: name.to_owned(),
        rows: shape.rows,
        nnz: shape.nnz,
        value_type: matrix.value_type().to_string(),
        products: by.products.to_string(),
        candidates,
        failed,
        best: text(best),
        best_us: rounded(median(&entrants[best].samples_us) + entrants[best].setup_us / count),
        auto: text(0),
        auto_over_best: over(0, best),
        finalists: (2..twin)
            .map(|place| Finalist { candidate: text(place), over_best: over(place, best) })
            .collect(),
        best_over_itself: if finalists.is_empty() { 1.0 } else { over(twin, 2) },
        untuned: text(1),
        untuned_over_auto: over(1, 0),
    })
}

/// The order of `entrants` in a round: after another one in each. A processor knows where rows end when the same
/// kernel went before, so none may always come after its like.
fn turns(round: usize, entrants: usize) -> impl Iterator<Item = usize> {
    (0..TURNS)
        .map(move |turn| (turn * (round + 1) + round) % TURNS)
        .filter(move |&place| place < entrants)
}

/// A plan that was verified; inside, what is wrong with it.
fn entrant(
    ground: &mut Ground,
    queue: &Queue,
    options: &PlanOptions,
    by: &Judge,
) -> Result<Result<Entrant, MeasureError>, MeasureError> {
    let mut contender = match ground.contender(queue, options) {
        Ok(contender) => contender,
        Err(error) => return Ok(Err(error)),
    };
    if let Some(message) = ground.verify(queue, &mut contender)? {
        let candidate = contender.candidate().to_string();
        return Ok(Err(MeasureError::Wrong { candidate, message }));
    }
    let setup_us = setup_us(|| ground.contender(queue, options))?;
    let once_us = ground.sample_us(queue, &mut contender, 1)?;
    let least_us = by.sample_ms * 1e3;
    let following_us = f64::from(by.products.count()) * once_us;
    let launches = launches(following_us.clamp(least_us, MOST_LONGER * least_us), once_us);
    Ok(Ok(Entrant { contender, setup_us, launches, samples_us: Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_has_one_turn_a_round_and_seldom_the_same_before() {
        let entrants = FINALISTS + 3;
        let mut befores = vec![BTreeSet::new(); entrants];
        for round in 0..SECOND_ROUNDS {
            let order: Vec<_> = turns(round, entrants).collect();
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), entrants);
            for pair in order.windows(2) {
                befores[pair[1]].insert(pair[0]);
            }
        }
        assert!(befores.iter().all(|others| others.len() >= entrants / 2), "{befores:?}");
    }
}
