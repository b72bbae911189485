//! Where each problem of a batch lies in the arrays that all of them share.

use std::ops::Range;

use crate::{Error, Result, are, counted};

/// The most entries of one problem: kernels count them in 32 bits, and look a few steps beyond the last.
const MOST_ENTRIES: u32 = u32::MAX - (1 << 16);

/// How a problem's matrix is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Compressed rows: `rows + 1` row offsets, counted from any number on.
    Csr,
    /// Coordinates in the order of their rows: a row index for each entry.
    Coo,
    /// Rows of `width` places; see [`super::Ell`].
    Ell {
        /// Places of each row.
        width: u32,
    },
    /// Slices of 32 neighbouring rows, each with a width of its own; `rows / 32 + 1`, rounded up, slice starts,
    /// counted from any number on. Places of a slice lie as in ELL, 32 side by side.
    SlicedEll,
}

/// One problem: its size, and the first element of each of its arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Rows of A.
    pub rows: u32,
    /// Columns of A.
    pub cols: u32,
    /// Entries stored, places of padding included.
    pub entries: u32,
    /// How A is stored.
    pub format: Format,
    /// The first row offset (CSR), row index (COO) or slice start (sliced ELL).
    pub index: u64,
    /// The first column index.
    pub columns: u64,
    /// The first value.
    pub values: u64,
    /// The first element of x.
    pub x: u64,
    /// The first element of y.
    pub y: u64,
}

/// Lengths of the arrays that the problems of a batch share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Row offsets.
    pub offsets: usize,
    /// Row indices and slice starts.
    pub indices: usize,
    /// Column indices.
    pub columns: usize,
    /// Values.
    pub values: usize,
}

impl Problem {
    /// Elements of the index array that the problem takes.
    pub fn index_len(&self) -> u64 {
        match self.format {
            Format::Csr => u64::from(self.rows) + 1,
            Format::Coo => u64::from(self.entries),
            Format::Ell { .. } => 0,
            Format::SlicedEll => u64::from(self.rows.div_ceil(32)) + 1,
        }
    }

    /// Those that no other problem may have in part: the last row offset or slice start may be the next one's first.
    fn own_index_len(&self) -> u64 {
        match self.format {
            Format::Coo => self.index_len(),
            _ => self.index_len().saturating_sub(1),
        }
    }

    /// Its elements of y.
    pub fn y_range(&self) -> Range<u64> {
        self.y..self.y.saturating_add(u64::from(self.rows))
    }

    /// Its elements of x.
    pub fn x_range(&self) -> Range<u64> {
        self.x..self.x.saturating_add(u64::from(self.cols))
    }
}

/// What the elements are called that `Problem::index` is the first of.
fn index_array(format: Format) -> &'static str {
    match format {
        Format::Csr => "row offsets",
        Format::Coo => "row indices",
        Format::Ell { .. } | Format::SlicedEll => "slice starts",
    }
}

/// Refuses problems that reach beyond the arrays, or share what cannot be shared: elements of y, or a part of
/// another's matrix. A whole pattern, values and x may be shared.
///
/// # Errors
/// The first such problem, by its index.
pub fn check_problems(problems: &[Problem], lengths: Lengths) -> Result<()> {
    for (index, problem) in problems.iter().enumerate() {
        let of_index = match problem.format {
            Format::Csr => lengths.offsets,
            _ => lengths.indices,
        };
        let entries = u64::from(problem.entries);
        let ranges = [
            (index_array(problem.format), problem.index, problem.index_len(), of_index),
            ("columns", problem.columns, entries, lengths.columns),
            ("values", problem.values, entries, lengths.values),
        ];
        for (array, start, len, limit) in ranges {
            let end = start.checked_add(len);
            if end.is_none_or(|end| end > limit as u64) {
                let rule = format!("the array of {array} has {limit}, and {len} are needed");
                return Err(Error::ProblemRange { index, what: array, start, rule });
            }
        }
        if problem.entries > MOST_ENTRIES {
            let rule = format!("one problem has at most {MOST_ENTRIES}");
            return Err(Error::ProblemEntries { index, entries, rule });
        }
        if entries > 0 && (problem.rows == 0 || problem.cols == 0) {
            let rule = format!("a matrix of {} x {} has none", problem.rows, problem.cols);
            return Err(Error::ProblemEntries { index, entries, rule });
        }
        if let Format::Ell { width } = problem.format
            && u64::from(width) * u64::from(problem.rows) != entries
        {
            let (rows, slots) = (counted(problem.rows, "row"), counted(width, "slot"));
            let rule = format!("{rows} of {slots} {} stored", are(problem.rows));
            return Err(Error::ProblemEntries { index, entries, rule });
        }
    }
    refuse_overlaps(problems, "y", &Problem::y_range, false)?;
    for array in ["row offsets", "row indices", "slice starts"] {
        let range = |p: &Problem| p.index..p.index + p.own_index_len();
        let of_array = |p: &Problem| if index_array(p.format) == array { range(p) } else { 0..0 };
        refuse_overlaps(problems, array, &of_array, true)?;
    }
    refuse_overlaps(problems, "columns", &|p| p.columns..p.columns + u64::from(p.entries), true)?;
    refuse_overlaps(problems, "values", &|p| p.values..p.values + u64::from(p.entries), true)
}

/// Refuses ranges that overlap; the same range twice is allowed where it `may_be_shared`.
fn refuse_overlaps(
    problems: &[Problem],
    what: &'static str,
    range: &dyn Fn(&Problem) -> Range<u64>,
    may_be_shared: bool,
) -> Result<()> {
    let mut ranges: Vec<_> = problems.iter().map(range).enumerate().collect();
    ranges.retain(|(_, range)| !range.is_empty());
    if ranges.is_sorted_by(|(_, a), (_, b)| a.end <= b.start) {
        return Ok(());
    }
    ranges.sort_by_key(|(_, range)| (range.start, range.end));
    for pair in ranges.windows(2) {
        let [(first, before), (second, after)] = pair else { continue };
        if before.end > after.start && !(may_be_shared && before == after) {
            let (index, other) = (*first.max(second), *first.min(second));
            let rule = format!("problem {other} has {}..{} of the same", before.start, before.end);
            return Err(Error::ProblemRange { index, what, start: after.start, rule });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(at: u64) -> Problem {
        Problem {
            rows: 2,
            cols: 3,
            entries: 4,
            format: Format::Csr,
            index: 3 * at,
            columns: 4 * at,
            values: 4 * at,
            x: 0,
            y: 2 * at,
        }
    }

    const LENGTHS: Lengths = Lengths { offsets: 9, indices: 0, columns: 12, values: 12 };

    fn refusal(problems: &[Problem]) -> String {
        check_problems(problems, LENGTHS).unwrap_err().to_string()
    }

    #[test]
    fn problems_side_by_side_and_of_one_pattern_are_allowed() {
        let side_by_side: Vec<_> = (0..3).map(problem).collect();
        check_problems(&side_by_side, LENGTHS).unwrap();
        let one_pattern: Vec<_> =
            (0..3).map(|at| Problem { index: 0, columns: 0, ..problem(at) }).collect();
        check_problems(&one_pattern, LENGTHS).unwrap();
        let one_array_of_offsets: Vec<_> =
            (0..3).map(|at| Problem { index: 2 * at, ..problem(at) }).collect();
        check_problems(&one_array_of_offsets, LENGTHS).unwrap();
    }

    #[test]
    fn a_problem_beyond_the_end_is_named_with_the_array() {
        assert_eq!(
            refusal(&[problem(0), problem(1), problem(3)]),
            "problem 2: row offsets from 9 on, but the array of row offsets has 9, and 3 are needed"
        );
        let beyond = Problem { values: u64::MAX, ..problem(1) };
        assert!(
            refusal(&[problem(0), beyond])
                .starts_with("problem 1: values from 18446744073709551615")
        );
    }

    #[test]
    fn problems_that_share_y_or_a_part_of_a_matrix_are_named() {
        assert_eq!(
            refusal(&[problem(0), Problem { y: 1, ..problem(1) }]),
            "problem 1: y from 1 on, but problem 0 has 0..2 of the same"
        );
        assert!(refusal(&[problem(0), Problem { y: 0, ..problem(1) }]).starts_with("problem 1: y"));
        let shifted = Problem { columns: 2, ..problem(1) };
        assert!(refusal(&[problem(0), shifted]).contains("columns from 2 on"));
        let shifted = Problem { index: 1, ..problem(1) };
        assert_eq!(
            refusal(&[problem(0), shifted]),
            "problem 1: row offsets from 1 on, but problem 0 has 0..2 of the same"
        );
    }

    #[test]
    fn row_indices_and_slice_starts_that_overlap_are_named() {
        let lengths = Lengths { indices: 9, ..LENGTHS };
        let at = |format, rows, index, number: u32| {
            let y = u64::from(rows * number);
            Problem { format, rows, index, y, ..problem(number.into()) }
        };
        let refusal = |format, rows, index| {
            check_problems(&[at(format, rows, 0, 0), at(format, rows, index, 1)], lengths)
                .map_err(|error| error.to_string())
        };
        let indices = refusal(Format::Coo, 2, 3).unwrap_err();
        assert_eq!(indices, "problem 1: row indices from 3 on, but problem 0 has 0..4 of the same");
        let starts = refusal(Format::SlicedEll, 40, 1).unwrap_err();
        assert_eq!(starts, "problem 1: slice starts from 1 on, but problem 0 has 0..2 of the same");
        for (format, behind) in [(Format::Coo, 4), (Format::SlicedEll, 2)] {
            assert_eq!(refusal(format, 40, behind), Ok(()));
            assert_eq!(refusal(format, 40, 0), Ok(()), "one pattern");
        }
    }

    #[test]
    fn entries_of_a_matrix_without_rows_or_columns_are_refused() {
        for empty in [Problem { rows: 0, ..problem(0) }, Problem { cols: 0, ..problem(0) }] {
            assert!(refusal(&[empty]).contains("has none"));
        }
    }

    #[test]
    fn more_entries_than_kernels_count_are_refused() {
        let lengths = Lengths { columns: 1 << 33, values: 1 << 33, ..LENGTHS };
        let most = Problem { entries: MOST_ENTRIES, ..problem(0) };
        check_problems(&[most], lengths).unwrap();
        let error = check_problems(&[Problem { entries: u32::MAX, ..most }], lengths).unwrap_err();
        assert!(error.to_string().contains("one problem has at most 4294901759"), "{error}");
    }

    #[test]
    fn a_width_that_does_not_fit_the_entries_is_refused() {
        let ell = Problem { format: Format::Ell { width: 3 }, ..problem(0) };
        assert!(refusal(&[ell]).contains("2 rows of 3 slots"));
    }
}
