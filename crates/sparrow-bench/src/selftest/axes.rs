//! What a product is specialised by besides algorithm and shape, and which combinations are run.

use csr_core::{OffsetType, ValueType};
use sparrow::Accumulate;

use super::Placement;

/// What the numbers of a case are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Between -1 and 1.
    Finite,
    /// The same, but for an infinity and a NaN in A and another infinity in x: they must reach the rows
    /// that depend on them and no others.
    NonFinite,
}

/// One combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// What A stores.
    pub value_type: ValueType,
    /// What row offsets are.
    pub offset_type: OffsetType,
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Whether alpha and beta are read on the device.
    pub scalars_on_device: bool,
    /// Scales A x.
    pub alpha: f64,
    /// Scales y.
    pub beta: f64,
    /// Where the arrays lie.
    pub placement: Placement,
    /// What the numbers are.
    pub content: Content,
}

/// Which combinations are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A cover: any two values of different axes meet, and each meets every algorithm on every shape.
    Cover,
    /// Everything kernels are compiled for, on every shape; alpha, beta, placement and content vary
    /// along. For interpreters.
    Programs,
    /// The whole product.
    Full,
}

impl Extent {
    /// The word in records.
    pub fn name(self) -> &'static str {
        match self {
            Extent::Cover => "cover",
            Extent::Programs => "programs",
            Extent::Full => "full",
        }
    }
}

const OFFSET_TYPES: [OffsetType; 2] = [OffsetType::U32, OffsetType::U64];
const ACCUMULATES: [Accumulate; 2] = [Accumulate::Plain, Accumulate::Compensated];
const ALPHAS: [f64; 4] = [1.0, 0.0, -1.0, 2.5];
const BETAS: [f64; 4] = [0.0, 1.0, -1.0, 0.5];
const PLACEMENTS: [Placement; 4] = [
    Placement::Buffers,
    Placement::SubBuffers(1),
    Placement::SubBuffers(3),
    Placement::SubBuffers(5),
];
const CONTENTS: [Content; 2] = [Content::Finite, Content::NonFinite];

/// Values of each axis; the first four are what a program is built for.
const SIZES: [usize; 8] = [4, 2, 2, 2, 4, 4, 4, 2];
const PROGRAM_AXES: usize = 4;

type Choice = [usize; SIZES.len()];

impl Axes {
    fn of(choice: &Choice) -> Self {
        let [value, offset, accumulate, scalars, alpha, beta, placement, content] = *choice;
        Axes {
            value_type: ValueType::ALL[value],
            offset_type: OFFSET_TYPES[offset],
            accumulate: ACCUMULATES[accumulate],
            scalars_on_device: scalars == 1,
            alpha: ALPHAS[alpha],
            beta: BETAS[beta],
            placement: PLACEMENTS[placement],
            content: CONTENTS[content],
        }
    }
}

/// The combinations that each of `slots` (algorithms on shapes) is run with; the same every time.
pub(super) fn combinations(extent: Extent, slots: usize) -> Vec<Vec<Axes>> {
    let choices = match extent {
        Extent::Cover => cover(slots),
        Extent::Programs => programs(slots),
        Extent::Full => vec![product(&SIZES).collect(); slots],
    };
    choices.iter().map(|slot| slot.iter().map(Axes::of).collect()).collect()
}

/// Every choice from axes of `sizes`, first axis slowest.
fn product(sizes: &[usize]) -> impl Iterator<Item = Choice> {
    let sizes: Vec<usize> = sizes.to_vec();
    (0..sizes.iter().product()).map(move |number| {
        let mut choice = [0; SIZES.len()];
        let mut rest = number;
        for axis in (0..sizes.len()).rev() {
            choice[axis] = rest % sizes[axis];
            rest /= sizes[axis];
        }
        choice
    })
}

/// Every program in each slot; the other axes walk on from program to program and from slot to slot, by
/// steps coprime to their product.
fn programs(slots: usize) -> Vec<Vec<Choice>> {
    let walk = |slot: usize, (program, mut choice): (usize, Choice)| {
        let mut rest = 37 * program + 29 * slot;
        for axis in PROGRAM_AXES..SIZES.len() {
            choice[axis] = rest % SIZES[axis];
            rest /= SIZES[axis];
        }
        choice
    };
    let programs = || product(&SIZES[..PROGRAM_AXES]).enumerate();
    (0..slots).map(|slot| programs().map(|program| walk(slot, program)).collect()).collect()
}

/// Greedy: each slot sees every value of every axis in as many combinations as the largest axis has
/// values, and takes those values together that have met least.
fn cover(slots: usize) -> Vec<Vec<Choice>> {
    let mut meetings = Meetings::default();
    let largest = SIZES.into_iter().max().unwrap_or(0);
    let mut slot = |number: usize| -> Vec<Choice> {
        let mut seen = [[0_usize; 4]; SIZES.len()];
        (0..largest)
            .map(|step| {
                let mut choice = [0; SIZES.len()];
                for axis in 0..SIZES.len() {
                    let cost = |value: usize| {
                        let turned = (value + number + step) % SIZES[axis];
                        (seen[axis][value], meetings.with(&choice[..axis], axis, value), turned)
                    };
                    let best = (0..SIZES[axis]).min_by_key(|&value| cost(value)).unwrap_or(0);
                    choice[axis] = best;
                    seen[axis][best] += 1;
                }
                meetings.note(&choice);
                choice
            })
            .collect()
    };
    (0..slots).map(&mut slot).collect()
}

/// How often any two values of different axes have met.
#[derive(Default)]
struct Meetings {
    counts: std::collections::HashMap<(usize, usize, usize, usize), usize>,
}

impl Meetings {
    /// How often `value` has met what is chosen, the rarest meeting first.
    fn with(&self, chosen: &[usize], axis: usize, value: usize) -> (usize, usize) {
        let met = chosen
            .iter()
            .enumerate()
            .map(|(other, &its)| self.counts.get(&(other, its, axis, value)).copied().unwrap_or(0));
        (met.clone().min().unwrap_or(0), met.sum())
    }

    fn note(&mut self, choice: &Choice) {
        for axis in 0..choice.len() {
            for other in 0..axis {
                let key = (other, choice[other], axis, choice[axis]);
                *self.counts.entry(key).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn pairs(choices: &[Vec<Choice>]) -> usize {
        let mut met = HashSet::new();
        for choice in choices.iter().flatten() {
            for axis in 0..choice.len() {
                for other in 0..axis {
                    met.insert((other, choice[other], axis, choice[axis]));
                }
            }
        }
        met.len()
    }

    fn all_pairs() -> usize {
        (0..SIZES.len()).flat_map(|a| (0..a).map(move |b| SIZES[a] * SIZES[b])).sum()
    }

    #[test]
    fn a_cover_has_every_pair_and_every_slot_sees_every_value() {
        let choices = cover(12);
        assert_eq!(pairs(&choices), all_pairs());
        for slot in &choices {
            for (axis, &size) in SIZES.iter().enumerate() {
                let seen: HashSet<_> = slot.iter().map(|choice| choice[axis]).collect();
                assert_eq!(seen.len(), size, "axis {axis} of {slot:?}");
            }
        }
        assert_eq!(cover(12), choices);
    }

    #[test]
    fn the_whole_product_has_every_choice_once() {
        let all: HashSet<Choice> = product(&SIZES).collect();
        assert_eq!(all.len(), SIZES.iter().product::<usize>());
    }

    #[test]
    fn every_program_meets_every_pair_of_the_rest_in_time() {
        let choices = programs(16);
        assert_eq!(pairs(&choices), all_pairs());
        assert!(choices.iter().all(|slot| slot.len() == 32));
    }
}
