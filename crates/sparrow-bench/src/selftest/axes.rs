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
    /// Two programs an algorithm, f32 with u32 offsets in plain and compensated sums, with alpha, beta,
    /// placement and content in turn. For kernels that are broken on purpose and built anew each time.
    Brief,
    /// A quarter of the cover: any two values of different axes are combined, each with every algorithm; a shape has
    /// one combination of each algorithm, so that types go round over shapes and algorithms. For interpreters.
    Quarter,
    /// Half of the cover: any two values of different axes are combined, each with every algorithm. For devices that
    /// compile or run slowly, next to one that has the whole, or the other half.
    Half,
    /// The half of the cover that [`Extent::Half`] leaves out: no program of a configuration is in both.
    /// Of batches it has the cases with a user's hyper-parameters, and the half those with small ones; of SpMM all of a cover
    /// where the half leaves a configuration out.
    OtherHalf,
    /// A cover: any two values of different axes are combined, each with every algorithm on every shape.
    Cover,
    /// Everything kernels are compiled for, on every shape; alpha, beta, placement and content vary
    /// along. For interpreters.
    Programs,
    /// The product of value and offset types, sums, alpha and beta on every shape, each in buffers and once
    /// more in sub-buffers; where scalars lie and what the numbers are vary along.
    Full,
}

impl Extent {
    /// Whether it is for devices that compile or run slowly, next to one that has more: what a user gets, which has
    /// larger groups and no other code, is left out then.
    pub fn is_for_slow_devices(self) -> bool {
        matches!(self, Extent::Quarter | Extent::Half)
    }

    /// The word in records.
    pub fn name(self) -> &'static str {
        match self {
            Extent::Brief => "brief",
            Extent::Quarter => "a quarter of the cover",
            Extent::Half => "half of the cover",
            Extent::OtherHalf => "other half of the cover",
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

/// Values of each axis, in the order of [`Axes`].
const SIZES: [usize; 8] = [4, 2, 2, 2, 4, 4, 4, 2];

/// The first of them are what programs are built for.
const PROGRAM_AXES: usize = 4;

/// The axes of a product: 0 where an axis keeps its first value, 1 where it varies along. A placement of 2 is
/// buffers, and sub-buffers whose element offset varies along.
const BRIEF: [usize; 8] = [0, 0, 2, 0, 1, 4, 4, 2];
const PROGRAMS: [usize; 8] = [4, 2, 2, 2, 1, 1, 1, 1];
const FULL: [usize; 8] = [4, 2, 2, 1, 4, 4, 2, 1];

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

/// What a cover takes of one configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Which other configurations share its programs: those of the same number.
    pub(super) family: usize,
    /// Combinations on each shape: four of a whole cover, two of half of it, one of a quarter.
    pub(super) choices: usize,
}

/// The combinations for each configuration on each shape, configurations slowest; the same every time.
pub(super) fn combinations(extent: Extent, parts: &[Part], shapes: usize) -> Vec<Vec<Axes>> {
    let slots = parts.len() * shapes;
    let choices = match extent {
        Extent::Brief => products(slots, &BRIEF),
        Extent::Quarter => cover(&with(parts, 1), shapes),
        Extent::Half => cover(&with(parts, 2), shapes),
        Extent::OtherHalf => cover(&others(&with(parts, 2)), shapes),
        Extent::Cover => cover(parts, shapes),
        Extent::Programs => products(slots, &PROGRAMS),
        Extent::Full => products(slots, &FULL),
    };
    choices.iter().map(|slot| slot.iter().map(Axes::of).collect()).collect()
}

/// The same with so many combinations on each shape.
fn with(parts: &[Part], choices: usize) -> Vec<Part> {
    parts.iter().map(|part| Part { choices, ..*part }).collect()
}

/// Families whose half is what these leave out: a value type that has one offset type and one way of summing in the one
/// has the others in the other. An odd number of them further, types are exchanged; what is half of it, ways of
/// summing.
fn others(parts: &[Part]) -> Vec<Part> {
    let other = |family: usize| family + if family.is_multiple_of(2) { 3 } else { 5 };
    parts.iter().map(|part| Part { family: other(part.family), ..*part }).collect()
}

/// Every choice from axes of `sizes`, the last axis fastest.
fn product(sizes: &[usize; SIZES.len()]) -> impl Iterator<Item = Choice> {
    let sizes = sizes.map(|size| size.max(1));
    (0..sizes.iter().product()).map(move |mut number: usize| {
        let mut choice = [0; SIZES.len()];
        for axis in (0..sizes.len()).rev() {
            choice[axis] = number % sizes[axis];
            number /= sizes[axis];
        }
        choice
    })
}

/// The product of `sizes` in each slot. The other axes advance from choice to choice and from slot to slot,
/// by steps coprime to all their sizes.
fn products(slots: usize, sizes: &[usize; SIZES.len()]) -> Vec<Vec<Choice>> {
    let walk = |slot: usize, (number, mut choice): (usize, Choice)| {
        let mut rest = 37 * number + 29 * slot + number / 128;
        for axis in 0..SIZES.len() {
            let others = SIZES[axis] + 1 - sizes[axis].max(1);
            let is_rest = choice[axis] > 0 && sizes[axis] < SIZES[axis];
            if sizes[axis] == 1 || is_rest {
                choice[axis] += rest % others;
                rest /= others;
            }
        }
        choice
    };
    let numbered = || product(sizes).enumerate();
    (0..slots).map(|slot| numbered().map(|choice| walk(slot, choice)).collect()).collect()
}

/// Four choices a slot, in which it sees every value of every axis; or, of half of the cover, two, in which slots side by
/// side see two value types each; or one, in which four of them see one each.
///
/// Building a program takes longer than many launches, so a configuration has eight of the 32 programs, or four, and
/// a slot as many as it has choices: rows of an orthogonal array, in which any two values of different axes are
/// combined. The other axes are chosen greedily, so that those values come together that were combined least.
/// Configurations of one family have the same programs, which are built once.
fn cover(parts: &[Part], shapes: usize) -> Vec<Vec<Choice>> {
    let mut pairs_seen = PairsSeen::default();
    let mut slot = |number: usize| -> Vec<Choice> {
        let (part, shape) = (parts[number / shapes], number % shapes);
        let Part { family, choices } = part;
        let mut seen = [[0_usize; 4]; SIZES.len()];
        (0..choices)
            .map(|nth| {
                let value = (nth + (family + shape) * choices) % 4;
                // With one choice, offset types do not go with ways of summing.
                let offset = match choices {
                    1 => (value + family / 4) % 2,
                    _ => ([0, 1, 1, 0][value] + shape) % 2,
                };
                // Of eight programs, or of four, of which every second offset type is gone.
                let [accumulate, scalars] = match choices {
                    4 => [value + offset + family, value / 2 + offset + family / 2],
                    _ => [value / 2 + family / 2, value / 2 + value + family / 2],
                }
                .map(|sum| sum % 2);
                let mut choice = [value, offset, accumulate, scalars, 0, 0, 0, 0];
                for axis in PROGRAM_AXES..SIZES.len() {
                    let cost = |value: usize| {
                        let turned = (value + number) % SIZES[axis];
                        (seen[axis][value], pairs_seen.with(&choice[..axis], axis, value), turned)
                    };
                    let best = (0..SIZES[axis]).min_by_key(|&value| cost(value)).unwrap_or(0);
                    choice[axis] = best;
                    seen[axis][best] += 1;
                }
                pairs_seen.note(&choice);
                choice
            })
            .collect()
    };
    (0..parts.len() * shapes).map(&mut slot).collect()
}

/// How often any two values of different axes were combined.
#[derive(Default)]
struct PairsSeen {
    counts: std::collections::HashMap<(usize, usize, usize, usize), usize>,
}

impl PairsSeen {
    /// How often `value` was combined with what is chosen, the rarest combination first.
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

    /// Four configurations, each of a family of its own.
    fn parts(choices: usize) -> Vec<Part> {
        (0..4).map(|family| Part { family, choices }).collect()
    }

    fn programs(configuration: &[Vec<Choice>]) -> HashSet<&[usize]> {
        configuration.iter().flatten().map(|choice| &choice[..PROGRAM_AXES]).collect()
    }

    #[test]
    fn a_cover_has_every_pair_and_every_slot_sees_every_value() {
        let choices = cover(&parts(4), 20);
        assert_eq!(pairs(&choices), all_pairs());
        for slot in &choices {
            for (axis, &size) in SIZES.iter().enumerate() {
                let seen: HashSet<_> = slot.iter().map(|choice| choice[axis]).collect();
                assert_eq!(seen.len(), size, "axis {axis} of {slot:?}");
            }
        }
        assert_eq!(cover(&parts(4), 20), choices);
        for configuration in choices.chunks(20) {
            assert_eq!(programs(configuration).len(), 8);
        }
    }

    #[test]
    fn a_family_has_the_programs_of_one_configuration_and_every_pair_still_meets() {
        for (choices, expected) in [(4, 8), (2, 4)] {
            let parts = [0, 0, 0, 1, 2].map(|family| Part { family, choices });
            let choices = cover(&parts, 20);
            assert_eq!(pairs(&choices), all_pairs());
            assert_eq!(programs(&choices[..60]).len(), expected);
            assert_ne!(programs(&choices[..60]), programs(&choices[60..80]));
            // What is no program's differs from one of them to the next.
            assert_ne!(choices[..20], choices[20..40]);
        }
    }

    #[test]
    fn half_and_a_quarter_have_every_pair_and_every_configuration_sees_every_value() {
        for choices in [2, 1] {
            // As many algorithms as there are, or nearly.
            let parts: Vec<_> = (0..13).map(|family| Part { family, choices }).collect();
            let slots = cover(&parts, 20);
            assert_eq!(pairs(&slots), all_pairs());
            assert!(slots.iter().all(|slot| slot.len() == choices));
            check_values(&slots);
        }
        let choices = cover(&parts(2), 20);
        assert_eq!(pairs(&choices), all_pairs());
        check_values(&choices);
    }

    fn check_values(choices: &[Vec<Choice>]) {
        for configuration in choices.chunks(20) {
            let of_it = || configuration.iter().flatten();
            for (axis, &size) in SIZES.iter().enumerate() {
                let seen: HashSet<_> = of_it().map(|choice| choice[axis]).collect();
                assert_eq!(seen.len(), size, "axis {axis}");
            }
            let programs = programs(configuration);
            assert_eq!(programs.len(), 4);
            // Each offset type with each way of summing.
            let sums: HashSet<_> = programs.iter().map(|program| &program[1..3]).collect();
            assert_eq!(sums.len(), 4);
        }
    }

    #[test]
    fn both_halves_have_every_program_of_the_cover_once() {
        let parts = parts(4);
        let halves = with(&parts, 2);
        let [half, other, whole] =
            [&halves, &others(&halves), &parts].map(|parts| cover(parts, 20));
        assert_eq!(pairs(&other), all_pairs());
        for number in 0..parts.len() {
            let of = |choices: &[Vec<Choice>]| -> HashSet<Vec<usize>> {
                let own = programs(&choices[20 * number..][..20]);
                own.into_iter().map(<[usize]>::to_vec).collect()
            };
            let (half, other) = (of(&half), of(&other));
            assert!(half.is_disjoint(&other), "{half:?} {other:?}");
            assert_eq!(half.len() + other.len(), of(&whole).len());
            // With a value type, both offset types and both ways of summing are there.
            for axis in [1, 2] {
                let both = half.union(&other).map(|program| (program[0], program[axis]));
                assert_eq!(both.collect::<HashSet<_>>().len(), 8, "configuration {number}");
            }
        }
    }

    #[test]
    fn a_product_has_every_choice_of_its_axes_in_each_slot_and_every_pair_of_all() {
        for sizes in [PROGRAMS, FULL] {
            let choices = products(16, &sizes);
            assert_eq!(pairs(&choices), all_pairs(), "{sizes:?}");
            let fixed = |choice: &Choice| -> Vec<usize> {
                let of_axis = |axis: usize| match sizes[axis] {
                    1 => 0,
                    size => choice[axis].min(size - 1),
                };
                (0..SIZES.len()).map(of_axis).collect()
            };
            for slot in &choices {
                let distinct: HashSet<_> = slot.iter().map(fixed).collect();
                assert_eq!(distinct.len(), sizes.iter().product::<usize>());
            }
        }
    }
}
