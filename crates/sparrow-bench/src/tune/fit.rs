//! Rules from timings: a decision list, as short as the losses allow.
//!
//! The list begins with one rule, the candidate that loses least on all matrices. Then, one by one, exceptions are put
//! before it: where one or two figures of the matrices lie on one side of a limit, another candidate. Each is the one
//! that gains most. Where a tree would say the same on both sides of a branch, a list says it once, after the
//! exceptions.
//!
//! The loss of a candidate on a matrix grows with the logarithm of its cost over the best, and with the square of that:
//! a matrix that is twice as slow as it could be is worse than many that are slower by a little.
//!
//! Times are noisy, and with many candidates and few matrices a rule is right by luck. So only a few candidates take
//! part, each of which gains something over those before it; limits lie in the widest gaps; a rule covers several
//! matrices; and how many rules there are is found by holding out: rules fitted without some kinds of matrices are
//! weighed on those.

use cl_kernels::{Comparison, Condition, Features};

use super::cuts::Grid;

/// A matrix: its figures, and what each candidate loses on it; infinite where the candidate fails.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// What rules ask.
    pub(super) features: Features,
    /// Its kind: those of a kind are held out together.
    pub(super) kind: usize,
    /// What each candidate loses: see [`loss`](super::loss::loss).
    pub(super) losses: Vec<f64>,
}

/// Rules at most, in any case.
const RULES: usize = 12;

/// Candidates that take part, at most; and what each of them gains at least, in the mean.
const PORTFOLIO: usize = 8;
const PORTFOLIO_GAIN: f64 = 0.004;

/// What a rule gains at least, summed over matrices.
const RULE_GAIN: f64 = 0.1;

/// A list of fewer rules is taken where it loses no more than this beyond the best number, in the mean, held out.
const SIMPLER: f64 = 0.003;

/// Parts into which kinds of matrices are dealt, to be held out in turn.
const PARTS: usize = 30;

/// No loss of a rule's candidate on a matrix counts more: a candidate that fails there.
const FAILS: f64 = 1e3;

/// A rule: on which matrices which candidate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause {
    /// Where it holds, and no rule before it does.
    pub(super) when: Condition,
    /// The candidate's index among the losses.
    pub(super) candidate: usize,
}

/// What [`fit`] finds.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The rules; none without a candidate that works on every matrix.
    pub(super) list: Vec<Clause>,
    /// The candidate that each matrix gets of rules that its kind was held out of.
    pub(super) held_out: Vec<usize>,
}

/// A short list that loses little, on these matrices and on others.
pub(super) fn fit(cases: &[Case]) -> Fit {
    let portfolio = portfolio(cases);
    let of_portfolio = |case: &Case| Case {
        losses: portfolio.iter().map(|&candidate| case.losses[candidate]).collect(),
        ..case.clone()
    };
    let cases: Vec<_> = cases.iter().map(of_portfolio).collect();
    let lists = lists_without(&cases);
    let list_for = |case: &Case, rules| last(&lists[case.kind % PARTS], rules);
    let loss_with = |rules: usize| {
        let losses = cases.iter().map(|case| loss_of(list_for(case, rules), case).min(FAILS));
        losses.sum::<f64>() / cases.len().max(1) as f64
    };
    let losses: Vec<f64> = (1..=RULES).map(loss_with).collect();
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let rules = 1 + losses.iter().position(|loss| *loss <= least + SIMPLER).unwrap_or(0);
    let in_portfolio = |clause: &Clause| Clause {
        candidate: portfolio[clause.candidate],
        when: clause.when.clone(),
    };
    let of_all = |case: &Case| {
        let clause = clause_for(list_for(case, rules), case);
        clause.map(|clause| portfolio[clause.candidate])
    };
    Fit {
        list: last(&grow(&cases.iter().collect::<Vec<_>>()), rules)
            .iter()
            .map(in_portfolio)
            .collect(),
        held_out: cases.iter().filter_map(of_all).collect(),
    }
}

/// The candidates that are worth having: first the one that loses least everywhere, then, one by one, what gains most
/// in addition to those before it.
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

/// For each part of the kinds of matrices, the longest list of all others.
fn lists_without(cases: &[Case]) -> Vec<Vec<Clause>> {
    let others = |part| cases.iter().filter(move |case| case.kind % PARTS != part);
    (0..PARTS).map(|part| grow(&others(part).collect::<Vec<_>>())).collect()
}

/// The list of so many rules. Exceptions come first, so it is the end of the longest one.
fn last(list: &[Clause], rules: usize) -> &[Clause] {
    &list[list.len().saturating_sub(rules)..]
}

fn clause_for<'a>(list: &'a [Clause], case: &Case) -> Option<&'a Clause> {
    list.iter().find(|clause| clause.when.holds(&case.features))
}

/// What a list loses on a matrix.
pub(super) fn loss_of(list: &[Clause], case: &Case) -> f64 {
    clause_for(list, case).map_or(f64::INFINITY, |clause| case.losses[clause.candidate])
}

/// The longest list: the best candidate of all, and exceptions before it as long as they gain enough.
fn grow(cases: &[&Case]) -> Vec<Clause> {
    let Some(default) = best_of(cases) else { return Vec::new() };
    let mut list = vec![Clause { when: Condition::default(), candidate: default }];
    let mut now: Vec<f64> = cases.iter().map(|case| case.losses[default]).collect();
    let grid = Grid::new(cases.iter().map(|case| &case.features));
    while list.len() < RULES {
        let Some(exception) = best_exception(cases, &now, &grid, RULE_GAIN) else { break };
        for (case, now) in cases.iter().zip(&mut now) {
            if exception.when.holds(&case.features) {
                *now = case.losses[exception.candidate];
            }
        }
        list.insert(0, exception);
    }
    list
}

/// The candidate that loses least on these cases and fails on none.
fn best_of(cases: &[&Case]) -> Option<usize> {
    let candidates = cases.first()?.losses.len();
    let sum = |candidate: usize| cases.iter().map(|case| case.losses[candidate]).sum::<f64>();
    (0..candidates)
        .map(|candidate| (candidate, sum(candidate)))
        .filter(|(_, loss)| loss.is_finite())
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(candidate, _)| candidate)
}

/// The rule that gains most before a list that loses this `now`, if any gains enough: every candidate, where one or two
/// comparisons hold. Each comparison must gain half as much as a rule.
pub(super) fn best_exception(
    cases: &[&Case],
    now: &[f64],
    grid: &Grid,
    rule_gain: f64,
) -> Option<Clause> {
    let all: Vec<usize> = (0..cases.len()).collect();
    let mut best_gain = 0.0;
    let mut best = None;
    for candidate in 0..cases.first()?.losses.len() {
        let gain = |(case, now): (&&Case, &f64)| (now - case.losses[candidate]).max(-FAILS);
        let gains: Vec<f64> = cases.iter().zip(now).map(gain).collect();
        let mut weigh = |comparisons: &[Comparison], gain: f64| {
            let gain = gain - rule_gain - 0.5 * rule_gain * comparisons.len() as f64;
            // Of sums of the same figures in another order, the first.
            if gain > best_gain + 1e-9 {
                best_gain = gain;
                best = Some(Clause { when: Condition(comparisons.to_vec()), candidate });
            }
            best_gain
        };
        for one in grid.sides(&all, &gains) {
            let least = weigh(&[one.comparison], one.gain);
            let through: Vec<usize> = all
                .iter()
                .copied()
                .filter(|&case| one.comparison.holds(&cases[case].features))
                .collect();
            let most: f64 = through.iter().map(|&case| gains[case].max(0.0)).sum();
            if most <= least {
                continue;
            }
            for two in grid.sides(&through, &gains) {
                weigh(&[one.comparison, two.comparison], two.gain);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use cl_kernels::MatrixShape;
    use csr_core::ValueType;

    use super::super::loss::loss;
    use super::*;

    /// A matrix of this mean row, whose longest is `skew` times as long, and the ratios of candidates on it.
    fn case(mean_row: u64, skew: u64, ratios: &[f64]) -> Case {
        case_of(10_000, mean_row, skew, ratios)
    }

    fn case_of(rows: u64, mean_row: u64, skew: u64, ratios: &[f64]) -> Case {
        let nnz = rows * mean_row;
        let longest_row = mean_row * skew;
        let shape = MatrixShape { rows, nnz, longest_row, in_step: nnz * skew.min(8), changes: 0 };
        let features = Features::of(&shape, ValueType::F32, 8, 1 << 20);
        let kind = (mean_row * 31 + skew) as usize;
        Case { features, kind, losses: ratios.iter().map(|ratio| loss(*ratio, 1.0)).collect() }
    }

    fn words(list: &[Clause]) -> Vec<(String, usize)> {
        list.iter().map(|clause| (clause.when.to_string(), clause.candidate)).collect()
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
        let chosen: Vec<_> = list.iter().map(|clause| clause.candidate).collect();
        assert_eq!(list.len(), 3, "{:?}", words(&list));
        assert!(chosen.contains(&0) && chosen.contains(&1) && chosen.contains(&2));
        assert!(list.last().unwrap().when.is_empty());
        // A choice that reads the list from the top finds the best everywhere.
        for case in &cases {
            assert_eq!(loss_of(&list, case), 0.0, "{:?}", words(&list));
        }
    }

    #[test]
    fn what_is_best_where_two_figures_agree_is_one_exception_and_the_rest_is_said_once() {
        // Skewed matrices of few nonzeros suit one candidate; all others go by the mean row alone.
        let mut cases = Vec::new();
        for mean_row in [2, 3, 4, 6, 20, 30, 45, 60] {
            for skew in [1, 2, 6, 8] {
                for nnz in [10_000, 30_000, 1_000_000, 3_000_000] {
                    let (short, long) = if mean_row < 10 { (1.0, 1.9) } else { (1.9, 1.0) };
                    let ratios = match skew > 4 && nnz < 100_000 {
                        true => [2.0, 2.0, 1.0],
                        false => [short, long, 2.0],
                    };
                    cases.push(case_of(nnz / mean_row, mean_row, skew, &ratios));
                }
            }
        }
        let list = fit(&cases).list;
        assert_eq!(list.len(), 3, "{:?}", words(&list));
        assert_eq!((list[0].candidate, list[0].when.0.len()), (2, 2), "{:?}", words(&list));
        assert!(cases.iter().all(|case| loss_of(&list, case) == 0.0), "{:?}", words(&list));
    }

    #[test]
    fn what_was_held_out_gets_what_the_others_suggest() {
        let mut cases: Vec<_> = (2..20u64)
            .flat_map(|k| [case(k, 1, &[1.0, 1.5]), case(30 * k, 1, &[1.5, 1.0])])
            .collect();
        for (kind, case) in cases.iter_mut().enumerate() {
            case.kind = kind;
        }
        // One of the short ones is unlike its kind: no rule is made of it, and its own kind does not help it.
        cases[20].losses = vec![loss(2.0, 1.0), 0.0];
        let fit = fit(&cases);
        assert_eq!(fit.held_out.len(), cases.len());
        assert_eq!(fit.held_out[20], 0);
        let losses = cases.iter().zip(&fit.held_out).map(|(case, one)| case.losses[*one]);
        assert_eq!(losses.filter(|loss| *loss == 0.0).count(), cases.len() - 1);
    }

    #[test]
    fn a_candidate_that_fails_somewhere_is_not_taken_there() {
        let cases = [case(2, 1, &[f64::INFINITY, 1.2]), case(50, 1, &[1.0, 1.3])];
        let list = grow(&cases.each_ref());
        assert_eq!(clause_for(&list, &cases[0]).unwrap().candidate, 1);
        assert_eq!(clause_for(&list, &cases[1]).unwrap().candidate, 0);
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
}
