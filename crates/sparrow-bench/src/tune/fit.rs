//! Rules from timings: a decision list, as short as the losses allow.
//!
//! A tree is grown from one leaf. At each step the leaf is cut in two, at a figure of the matrices, where most is
//! gained; a leaf takes the candidate that loses least on its matrices. The loss of a candidate on a matrix grows with
//! the logarithm of its cost over the best, and with the square of that: a matrix that is twice as slow as it could be
//! is worse than many that are slower by a little.
//!
//! Times are noisy, and with many candidates and few matrices a leaf is right by luck. So only a few candidates take
//! part, each of which gains something over those before it; and how many leaves there may be is found by holding out:
//! rules fitted without a ninth of the kinds of matrices are weighed on that ninth, for each ninth in turn.
//!
//! The tree is written as a list. At each branch one side comes first, with its comparison; the other needs none, for
//! whatever is left has come from there.

use cl_kernels::{Comparison, Condition, Feature, Features, Side};

/// A matrix: its figures, and what each candidate loses on it; infinite where the candidate fails or is unknown.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// What rules ask.
    pub(super) features: Features,
    /// Its kind: those of a kind are held out together.
    pub(super) kind: usize,
    /// The cost of each candidate over that of the best, minus 1 or so: see [`loss`].
    pub(super) losses: Vec<f64>,
}

/// What a cost of `ratio` times the best loses. Beyond twice the best the square grows no further: one matrix that no
/// rule suits must not decide about all others.
pub(super) fn loss(ratio: f64) -> f64 {
    let log = ratio.max(1.0).ln();
    log + 2.0 * log.min(0.7).powi(2)
}

/// When growing stops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Leaves at most.
    leaves: usize,
    /// Matrices of a leaf at least.
    cases: usize,
    /// What a cut gains at least, summed over matrices.
    gain: f64,
}

/// Leaves at most, in any case.
const LEAVES: usize = 8;

/// Candidates that take part, at most; and what each of them gains at least, in the mean.
const PORTFOLIO: usize = 8;
const PORTFOLIO_GAIN: f64 = 0.004;

/// A list of fewer rules is taken where it loses no more than this beyond the best number, in the mean, held out.
const SIMPLER: f64 = 0.003;

impl Growth {
    fn new(leaves: usize, count: usize) -> Self {
        Growth { leaves, cases: if count < 8 { 1 } else { 2 }, gain: 0.02 + 0.001 * count as f64 }
    }
}

/// A rule: on which matrices which candidate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    /// Where it holds, and no rule before it does.
    pub(super) when: Condition,
    /// The candidate's place among the losses.
    pub(super) candidate: usize,
}

/// The features that cuts may be at, the likeliest to mean something first: among cuts that gain alike, the first
/// counts.
const PREFERRED: [Feature; 7] = [
    Feature::MeanRow,
    Feature::Unevenness,
    Feature::LongestShare,
    Feature::CacheShare,
    Feature::Nnz,
    Feature::LongestRow,
    Feature::Rows,
];

enum Tree {
    Leaf { cases: Vec<usize>, candidate: usize, loss: f64 },
    Branch { feature: Feature, limit: f64, below: Box<Tree>, above: Box<Tree> },
}

struct Cut {
    feature: Feature,
    limit: f64,
    gain: f64,
}

/// What [`fit`] finds.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The rules; none without a candidate that is known on every matrix.
    pub(super) list: Vec<Leaf>,
    /// What is lost in the mean where matrices like these were held out; 0 where there are too few to hold any out.
    pub(super) held_out_loss: f64,
}

/// A short list that loses little, on these matrices and on others.
pub(super) fn fit(cases: &[Case]) -> Fit {
    let portfolio = portfolio(cases);
    let of_portfolio = |case: &Case| Case {
        losses: portfolio.iter().map(|&candidate| case.losses[candidate]).collect(),
        ..case.clone()
    };
    let cases: Vec<_> = cases.iter().map(of_portfolio).collect();
    let losses: Vec<f64> = (1..=LEAVES).map(|leaves| held_out_loss(&cases, leaves)).collect();
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let leaves = losses.iter().position(|loss| *loss <= least + SIMPLER).unwrap_or(0);
    let mut list = grow(&cases, &Growth::new(leaves + 1, cases.len()));
    list.iter_mut().for_each(|leaf| leaf.candidate = portfolio[leaf.candidate]);
    Fit { list, held_out_loss: losses.get(leaves).copied().unwrap_or(0.0) }
}

/// The candidates that are worth having: first the one that loses least everywhere, then, one by one, what gains most
/// beside those before it.
fn portfolio(cases: &[Case]) -> Vec<usize> {
    let count = cases.first().map_or(0, |case| case.losses.len());
    let mut chosen: Vec<usize> = Vec::new();
    let mut now: Vec<f64> = vec![f64::INFINITY; cases.len()];
    while chosen.len() < PORTFOLIO {
        let with = |candidate: usize| -> f64 {
            cases.iter().zip(&now).map(|(case, now)| case.losses[candidate].min(*now)).sum()
        };
        let candidates = (0..count).map(|candidate| (candidate, with(candidate)));
        let Some((candidate, loss)) = candidates.min_by(|(_, a), (_, b)| a.total_cmp(b)) else {
            break;
        };
        let before: f64 = now.iter().sum();
        let is_worth_it = chosen.is_empty() || before - loss > PORTFOLIO_GAIN * cases.len() as f64;
        if !is_worth_it || !loss.is_finite() && before.is_finite() {
            break;
        }
        chosen.push(candidate);
        for (case, now) in cases.iter().zip(&mut now) {
            *now = now.min(case.losses[candidate]);
        }
    }
    chosen
}

/// The mean loss on kinds of matrices that the rules were fitted without, each part in turn.
fn held_out_loss(cases: &[Case], leaves: usize) -> f64 {
    const PARTS: usize = 9;
    let mut losses = Vec::new();
    for part in 0..PARTS {
        let (out, kept): (Vec<Case>, Vec<Case>) =
            cases.iter().cloned().partition(|case| case.kind % PARTS == part);
        if kept.is_empty() {
            continue;
        }
        let list = grow(&kept, &Growth::new(leaves, kept.len()));
        losses.extend(out.iter().map(|case| loss_of(&list, case)));
    }
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

/// What a list loses on a matrix.
pub(super) fn loss_of(list: &[Leaf], case: &Case) -> f64 {
    let leaf = list.iter().find(|leaf| leaf.when.holds(&case.features));
    leaf.map_or(f64::INFINITY, |leaf| case.losses[leaf.candidate])
}

/// The list of a tree that grew as long as it may.
fn grow(cases: &[Case], growth: &Growth) -> Vec<Leaf> {
    let all: Vec<usize> = (0..cases.len()).collect();
    let Some(mut tree) = Tree::leaf(cases, all) else { return Vec::new() };
    while tree.leaves() < growth.leaves && tree.grow(cases, growth) {}
    let mut list = Vec::new();
    tree.write(&mut Vec::new(), &mut list);
    list
}

impl Tree {
    fn leaf(cases: &[Case], of: Vec<usize>) -> Option<Tree> {
        let (candidate, loss) = best_of(cases, &of)?;
        Some(Tree::Leaf { cases: of, candidate, loss })
    }

    fn leaves(&self) -> usize {
        match self {
            Tree::Leaf { .. } => 1,
            Tree::Branch { below, above, .. } => below.leaves() + above.leaves(),
        }
    }

    /// The gain of the best cut of any leaf.
    fn best_gain(&self, cases: &[Case], growth: &Growth) -> f64 {
        match self {
            Tree::Leaf { cases: of, loss, .. } => {
                best_cut(cases, of, *loss, growth).map_or(0.0, |cut| cut.gain)
            }
            Tree::Branch { below, above, .. } => {
                below.best_gain(cases, growth).max(above.best_gain(cases, growth))
            }
        }
    }

    /// Makes the best cut there is; whether it was worth it.
    fn grow(&mut self, cases: &[Case], growth: &Growth) -> bool {
        match self {
            Tree::Leaf { cases: of, loss, .. } => {
                let Some(cut) = best_cut(cases, of, *loss, growth) else { return false };
                let is_below = |&case: &usize| cases[case].features.get(cut.feature) < cut.limit;
                let (below, above) = of.iter().copied().partition(is_below);
                let sides = (Tree::leaf(cases, below), Tree::leaf(cases, above));
                let (Some(below), Some(above)) = sides else { return false };
                let (below, above) = (Box::new(below), Box::new(above));
                *self = Tree::Branch { feature: cut.feature, limit: cut.limit, below, above };
                true
            }
            Tree::Branch { below, above, .. } => {
                let gains = (below.best_gain(cases, growth), above.best_gain(cases, growth));
                if gains.0 >= gains.1 {
                    below.grow(cases, growth)
                } else {
                    above.grow(cases, growth)
                }
            }
        }
    }

    fn write(&self, path: &mut Vec<Comparison>, list: &mut Vec<Leaf>) {
        match self {
            Tree::Leaf { candidate, .. } => {
                list.push(Leaf { when: tightest(path), candidate: *candidate });
            }
            Tree::Branch { feature, limit, below, above } => {
                // The simpler side first: its rules carry the comparison.
                let (side, first, rest) = match below.leaves() <= above.leaves() {
                    true => (Side::Below, below, above),
                    false => (Side::AtLeast, above, below),
                };
                path.push(Comparison { feature: *feature, side, limit: *limit });
                first.write(path, list);
                path.pop();
                rest.write(path, list);
            }
        }
    }
}

/// Of comparisons of one feature on one side, the one that implies the others.
fn tightest(path: &[Comparison]) -> Condition {
    let mut kept: Vec<Comparison> = Vec::new();
    for &one in path {
        match kept.iter_mut().find(|kept| kept.feature == one.feature && kept.side == one.side) {
            Some(kept) if one.side == Side::AtLeast => kept.limit = kept.limit.max(one.limit),
            Some(kept) => kept.limit = kept.limit.min(one.limit),
            None => kept.push(one),
        }
    }
    Condition(kept)
}

/// The candidate that loses least on these cases, and what it loses.
fn best_of(cases: &[Case], of: &[usize]) -> Option<(usize, f64)> {
    let candidates = cases.first()?.losses.len();
    let sum = |candidate: usize| of.iter().map(|&case| cases[case].losses[candidate]).sum::<f64>();
    (0..candidates)
        .map(|candidate| (candidate, sum(candidate)))
        .filter(|(_, loss)| loss.is_finite())
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// The cut of these cases that gains most, if any gains enough.
fn best_cut(cases: &[Case], of: &[usize], loss: f64, growth: &Growth) -> Option<Cut> {
    let mut best: Option<Cut> = None;
    for feature in PREFERRED {
        let figure = |case: usize| cases[case].features.get(feature);
        let mut sorted = of.to_vec();
        sorted.sort_by(|&a, &b| figure(a).total_cmp(&figure(b)));
        for cut in growth.cases..(sorted.len() + 1).saturating_sub(growth.cases) {
            let (last, next) = (figure(sorted[cut - 1]), figure(sorted[cut]));
            let Some(limit) = between(last, next) else { continue };
            let sides = (best_of(cases, &sorted[..cut]), best_of(cases, &sorted[cut..]));
            let (Some((_, below)), Some((_, above))) = sides else { continue };
            let gain = loss - below - above;
            // A later feature must gain more by a tenth.
            if gain >= growth.gain && best.as_ref().is_none_or(|best| gain > 1.1 * best.gain) {
                best = Some(Cut { feature, limit, gain });
            }
        }
    }
    best
}

/// A short number above `low` and not above `high`, near their geometric mean; `None` where there is no room.
fn between(low: f64, high: f64) -> Option<f64> {
    if low >= high {
        return None;
    }
    let middle = if low > 0.0 { (low * high).sqrt() } else { high / 2.0 };
    (1..=8).find_map(|digits| {
        let limit: f64 = format!("{middle:.*e}", digits - 1).parse().ok()?;
        (low < limit && limit <= high).then_some(limit)
    })
}

#[cfg(test)]
mod tests {
    use cl_kernels::MatrixShape;
    use csr_core::ValueType;

    use super::*;

    /// A matrix of this mean row, whose longest is `skew` times as long, and the ratios of candidates on it.
    fn case(mean_row: u64, skew: u64, ratios: &[f64]) -> Case {
        let (rows, nnz) = (10_000, 10_000 * mean_row);
        let longest_row = mean_row * skew;
        let shape = MatrixShape { rows, nnz, longest_row, in_step: nnz * skew.min(8) };
        let features = Features::of(&shape, ValueType::F32, 8, 1 << 20);
        let kind = (mean_row * 31 + skew) as usize;
        Case { features, kind, losses: ratios.iter().copied().map(loss).collect() }
    }

    fn words(list: &[Leaf]) -> Vec<(String, usize)> {
        list.iter().map(|leaf| (leaf.when.to_string(), leaf.candidate)).collect()
    }

    #[test]
    fn one_candidate_that_is_nowhere_much_worse_is_the_only_rule() {
        let cases: Vec<_> = (1..12).map(|k| case(k, 1, &[1.005, 1.0, 2.0])).collect();
        assert_eq!(words(&fit(&cases).list), [(String::new(), 1)]);
    }

    #[test]
    fn short_rows_and_long_ones_get_their_own_rules_and_skew_its_own() {
        let mut cases = Vec::new();
        for mean_row in [2, 4, 8, 30, 60, 120] {
            let is_short = mean_row < 10;
            let (short, long) = if is_short { (1.0, 1.4) } else { (1.5, 1.0) };
            cases.push(case(mean_row, 1, &[short, long, 1.9]));
            cases.push(case(mean_row, 2, &[short, long, 1.9]));
            cases.push(case(mean_row, 500, &[5.0, 4.0, 1.0]));
        }
        let list = fit(&cases).list;
        let chosen: Vec<_> = list.iter().map(|leaf| leaf.candidate).collect();
        assert_eq!(list.len(), 3, "{:?}", words(&list));
        assert!(chosen.contains(&0) && chosen.contains(&1) && chosen.contains(&2));
        assert!(list.last().unwrap().when.is_empty());
        // Whoever reads the list from the top finds the best everywhere.
        for case in &cases {
            let leaf = list.iter().find(|leaf| leaf.when.holds(&case.features)).unwrap();
            assert_eq!(case.losses[leaf.candidate], 0.0, "{:?}", words(&list));
        }
    }

    #[test]
    fn a_candidate_that_fails_somewhere_is_not_taken_there() {
        let cases = [case(2, 1, &[f64::INFINITY, 1.2]), case(50, 1, &[1.0, 1.3])];
        let list = grow(&cases, &Growth::new(8, 2));
        let taken = |case: &Case| list.iter().find(|leaf| leaf.when.holds(&case.features)).unwrap();
        assert_eq!(taken(&cases[0]).candidate, 1);
        assert_eq!(taken(&cases[1]).candidate, 0);
    }

    #[test]
    fn noise_makes_no_rules() {
        // Three percent up and down, by no figure of the matrices.
        let cases: Vec<_> = (0..24u64)
            .map(|k| {
                let noise =
                    |salt: u64| 1.0 + 0.03 * ((k * 2654435761 + salt * 40503) % 97) as f64 / 97.0;
                case(2 + k * 5, 1 + k % 3, &[noise(1), noise(2), noise(3)])
            })
            .collect();
        assert_eq!(fit(&cases).list.len(), 1);
    }

    #[test]
    fn limits_are_short_numbers_between_figures() {
        assert_eq!(between(2.0, 50.0), Some(10.0));
        assert_eq!(between(0.0, 3.0), Some(2.0));
        assert_eq!(between(12.41, 12.43), Some(12.42));
        assert_eq!(between(5.0, 5.0), None);
    }
}
