//! What was measured: times of programs on matrices, rounds folded into one, and how they compare.

use serde::{Deserialize, Serialize};

/// Who is compared with others.
pub(super) const OURS: &str = "Sparrow";

/// One algorithm of one program on one matrix, in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Timing {
    /// "Sparrow", "MKL".
    pub(super) program: String,
    pub(super) version: String,
    pub(super) device: String,
    pub(super) algorithm: String,
    pub(super) median_us: f64,
    pub(super) setup_us: f64,
    /// Whether its y keeps the bound of every row.
    pub(super) verified: bool,
    pub(super) error_in_tolerance: Option<f64>,
}

/// All that was measured on a matrix in a value type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Case {
    pub(super) matrix: String,
    pub(super) rows: u64,
    pub(super) cols: u64,
    pub(super) nnz: u64,
    pub(super) value_type: String,
    /// Of every round.
    pub(super) timings: Vec<Timing>,
}

/// A program's best algorithm on a matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Best {
    pub(super) algorithm: String,
    pub(super) median_us: f64,
    pub(super) setup_us: f64,
    /// How far its rounds lie apart, as a share of their median.
    pub(super) spread: f64,
}

/// What is known of a program on a matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Standing {
    /// It did not run.
    Absent,
    /// Every result it gave was wrong.
    Wrong,
    Best(Best),
}

impl Case {
    /// The program's fastest algorithm: of each that was right in every round the median of the rounds' medians, of
    /// those the least.
    pub(super) fn standing(&self, program: &str) -> Standing {
        let of_program = |timing: &&Timing| timing.program == program;
        let mut algorithms: Vec<&str> = Vec::new();
        for timing in self.timings.iter().filter(of_program) {
            if !algorithms.contains(&timing.algorithm.as_str()) {
                algorithms.push(&timing.algorithm);
            }
        }
        if algorithms.is_empty() {
            return Standing::Absent;
        }
        let folded = algorithms.into_iter().filter_map(|algorithm| {
            let rounds = self.timings.iter().filter(of_program);
            let rounds: Vec<_> = rounds.filter(|timing| timing.algorithm == algorithm).collect();
            let times = rounds.iter().map(|timing| timing.median_us);
            let median_us = median(times.clone());
            let (least, most) =
                (times.clone().fold(f64::INFINITY, f64::min), times.fold(0.0, f64::max));
            rounds.iter().all(|timing| timing.verified).then(|| Best {
                algorithm: algorithm.to_owned(),
                median_us,
                setup_us: median(rounds.iter().map(|timing| timing.setup_us)),
                spread: (most - least) / median_us,
            })
        });
        let best = folded.min_by(|a, b| a.median_us.total_cmp(&b.median_us));
        best.map_or(Standing::Wrong, Standing::Best)
    }

    /// How many times as fast as `peer` Sparrow is, where both have a right result.
    pub(super) fn times_as_fast(&self, peer: &str) -> Option<f64> {
        match (self.standing(OURS), self.standing(peer)) {
            (Standing::Best(ours), Standing::Best(theirs)) => {
                Some(theirs.median_us / ours.median_us)
            }
            _ => None,
        }
    }
}

/// The programs that were timed, with their versions; Sparrow first.
pub(super) fn programs(cases: &[Case]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for timing in cases.iter().flat_map(|case| &case.timings) {
        if !found.iter().any(|(program, _)| *program == timing.program) {
            found.push((timing.program.clone(), timing.version.clone()));
        }
    }
    found.sort_by_key(|(program, _)| program != OURS);
    found
}

/// The geometric mean; none of nothing.
pub(super) fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

/// The median; of an even number the mean of the two in the middle.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [] => f64::NAN,
        _ => f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::compare) fn timing(program: &str, algorithm: &str, median_us: f64) -> Timing {
        Timing {
            program: program.to_owned(),
            version: "1.0".to_owned(),
            device: "a device".to_owned(),
            algorithm: algorithm.to_owned(),
            median_us,
            setup_us: 2.0 * median_us,
            verified: true,
            error_in_tolerance: Some(0.1),
        }
    }

    pub(in crate::compare) fn case(matrix: &str, timings: Vec<Timing>) -> Case {
        let value_type = "f32".to_owned();
        Case { matrix: matrix.to_owned(), rows: 10, cols: 10, nnz: 50, value_type, timings }
    }

    #[test]
    fn an_algorithm_stands_by_the_median_of_its_rounds_and_a_program_by_its_best() {
        let times = [("a", 9.0), ("b", 8.0), ("a", 5.0), ("b", 8.5), ("a", 7.0), ("b", 8.0)];
        let timings = times.map(|(algorithm, us)| timing("MKL", algorithm, us)).to_vec();
        let case = case("m", [timings, vec![timing(OURS, "sell", 3.5)]].concat());
        let Standing::Best(best) = case.standing("MKL") else { panic!("it ran") };
        assert_eq!((best.algorithm.as_str(), best.median_us, best.setup_us), ("a", 7.0, 14.0));
        assert_eq!(best.spread, 4.0 / 7.0);
        assert_eq!(case.times_as_fast("MKL"), Some(2.0));
        assert_eq!(case.standing("cuSPARSE"), Standing::Absent);
        assert_eq!(case.times_as_fast("cuSPARSE"), None);
    }

    #[test]
    fn an_algorithm_that_was_wrong_once_does_not_count() {
        let wrong = Timing { verified: false, ..timing("MKL", "a", 1.0) };
        let timings = vec![timing("MKL", "a", 1.0), wrong.clone(), timing("MKL", "b", 4.0)];
        let Standing::Best(best) = case("m", timings).standing("MKL") else { panic!("b is right") };
        assert_eq!(best.algorithm, "b");
        assert_eq!(case("m", vec![wrong]).standing("MKL"), Standing::Wrong);
    }

    #[test]
    fn means_are_geometric_and_nothing_has_none() {
        assert!((geometric_mean(&[0.5, 8.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(median([3.0, 1.0, 2.0, 10.0].into_iter()), 2.5);
    }

    #[test]
    fn sparrow_is_named_first_and_each_program_once() {
        let timings =
            vec![timing("MKL", "a", 1.0), timing(OURS, "b", 1.0), timing("MKL", "c", 1.0)];
        let names: Vec<_> =
            programs(&[case("m", timings)]).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [OURS, "MKL"]);
    }
}
