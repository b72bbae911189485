//! How often the choice between the algorithms of SpMM was right: compared with an oracle that knows both times.

use sparrow::SpmmAlgorithm;

use crate::record::Record;

/// Times within this share of each other are a tie.
const TIE: f64 = 0.03;

/// What the choice gained or lost on matrices where it and both algorithms were timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpmmChoices {
    /// Matrices, value types and numbers of columns.
    pub cases: usize,
    /// Of those, where the faster algorithm was chosen, or both were as fast.
    pub right: usize,
    /// Geometric mean of the chosen algorithm's time over the faster one's.
    pub loss: f64,
}

/// Judges by the times of the two algorithms, of which the choice is one: its own timing would add noise. The choice is
/// that of a form ("", or "published"). `None` without cases.
pub fn spmm_choices(records: &[Record], variant: &str) -> Option<SpmmChoices> {
    let mut choices = SpmmChoices { cases: 0, right: 0, loss: 1.0 };
    let mut logarithms = 0.0;
    for choice in
        records.iter().filter(|record| record.algorithm == "spmm" && record.variant == variant)
    {
        let Some(of_choice) = choice.spmm() else { continue };
        let others = records.iter().filter(|record| {
            let is_same = (&record.matrix, &record.value_type, &record.device)
                == (&choice.matrix, &choice.value_type, &choice.device);
            let dense = record.spmm().map(|spmm| (spmm.columns, &spmm.layout_b, &spmm.layout_c));
            let wanted = (of_choice.columns, &of_choice.layout_b, &of_choice.layout_c);
            let is_form = record.variant == variant;
            is_same
                && is_form
                && dense == Some(wanted)
                && record.algorithm.parse::<SpmmAlgorithm>().is_ok()
        });
        let times: Vec<_> =
            others.filter_map(|other| Some((other.algorithm.as_str(), other.median_us?))).collect();
        let chosen = times.iter().find(|(name, _)| *name == of_choice.chosen);
        let Some((_, chosen)) = chosen else { continue };
        if times.len() < 2 {
            continue;
        }
        let fastest = times.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        choices.cases += 1;
        choices.right += usize::from(*chosen <= fastest * (1.0 + TIE));
        logarithms += (chosen / fastest).ln();
    }
    if choices.cases == 0 {
        return None;
    }
    choices.loss = (logarithms / choices.cases as f64).exp();
    Some(choices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Details, SpmmRecord};
    use crate::samples::sample;

    fn timed(matrix: &str, algorithm: &str, chosen: &str, time: f64) -> Record {
        let spmm = SpmmRecord {
            columns: 32,
            layout_b: "row".to_owned(),
            layout_c: "row".to_owned(),
            chosen: chosen.to_owned(),
            mean_inode: 1.0,
            single_us: None,
        };
        let names = (matrix.to_owned(), algorithm.to_owned());
        let (matrix, algorithm) = names;
        let median_us = Some(time);
        Record {
            matrix,
            algorithm,
            median_us,
            ..sample("x", "y").with_details(Details::Spmm(spmm))
        }
    }

    #[test]
    fn the_choice_is_judged_by_the_times_of_what_it_chose_from() {
        let mut records = Vec::new();
        // Right, a tie, and wrong by a factor of four.
        for (matrix, times) in [("a", [10.0, 20.0]), ("b", [10.2, 10.0]), ("c", [40.0, 10.0])] {
            records.push(timed(matrix, "spmm", "spmm_row_split", 99.0));
            records.push(timed(matrix, "spmm_row_split", "spmm_row_split", times[0]));
            records.push(timed(matrix, "spmm_merge", "spmm_merge", times[1]));
        }
        // Nothing to compare with.
        records.push(timed("d", "spmm", "spmm_merge", 1.0));
        let found = spmm_choices(&records, "").unwrap();
        assert_eq!((found.cases, found.right), (3, 2));
        assert!((found.loss - (1.02f64 * 4.0).cbrt()).abs() < 1e-12, "{}", found.loss);
        assert_eq!(spmm_choices(&records[9..], ""), None);
        // The published rule is judged by the published algorithms.
        assert_eq!(spmm_choices(&records, "published"), None);
        for (algorithm, time) in [("spmm", 9.0), ("spmm_row_split", 40.0), ("spmm_merge", 20.0)] {
            let mut record = timed("a", algorithm, "spmm_row_split", time);
            record.variant = "published".to_owned();
            records.push(record);
        }
        let published = spmm_choices(&records, "published").unwrap();
        assert_eq!((published.cases, published.right, published.loss), (1, 0, 2.0));
        assert_eq!(spmm_choices(&records, "").unwrap(), found);
    }
}
