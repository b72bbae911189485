//! Strided ranges: problems alike and equally far apart, of which a plan need not list each.

use super::Problem;

/// Problems that follow each other, of one size and format, each of whose arrays begins as far behind that of the
/// problem before as with all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedRange {
    /// The first problem's index.
    pub first: u32,
    /// Problems.
    pub count: u32,
    /// From one problem to the next.
    pub steps: Steps,
}

/// From one problem to the next: elements of each array, in the arithmetic of 64 bits, where a step back is one far
/// ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Row offsets, row indices or slice starts.
    pub index: u64,
    /// Column indices.
    pub columns: u64,
    /// Values.
    pub values: u64,
    /// Elements of x.
    pub x: u64,
    /// Elements of y.
    pub y: u64,
}

impl Steps {
    fn between(one: &Problem, next: &Problem) -> Self {
        Steps {
            index: next.index.wrapping_sub(one.index),
            columns: next.columns.wrapping_sub(one.columns),
            values: next.values.wrapping_sub(one.values),
            x: next.x.wrapping_sub(one.x),
            y: next.y.wrapping_sub(one.y),
        }
    }
}

/// The strided ranges of a batch, in its order; `None` where they are more than `most`, which is found out early.
pub fn find_ranges(problems: &[Problem], most: usize) -> Option<Vec<StridedRange>> {
    let mut ranges: Vec<StridedRange> = Vec::new();
    for (index, problem) in problems.iter().enumerate() {
        if let (Some(last), Some(before)) = (ranges.last_mut(), index.checked_sub(1)) {
            let before = &problems[before];
            let steps = Steps::between(before, problem);
            let is_alike = (before.rows, before.cols, before.entries, before.format)
                == (problem.rows, problem.cols, problem.entries, problem.format);
            if is_alike && (last.count == 1 || last.steps == steps) {
                last.steps = steps;
                last.count += 1;
                continue;
            }
        }
        if ranges.len() == most {
            return None;
        }
        ranges.push(StridedRange { first: index as u32, count: 1, steps: Steps::default() });
    }
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Format;

    fn problem(rows: u32, at: u64) -> Problem {
        let (cols, entries, format) = (3, 4, Format::Csr);
        Problem {
            rows,
            cols,
            entries,
            format,
            index: 3 * at,
            columns: 0,
            values: 4 * at,
            x: 9,
            y: 2 * at,
        }
    }

    fn found(problems: &[Problem]) -> Vec<(u32, u32)> {
        let ranges = find_ranges(problems, 9).unwrap();
        ranges.iter().map(|range| (range.first, range.count)).collect()
    }

    #[test]
    fn problems_alike_and_equally_far_apart_are_one_range() {
        let problems: Vec<_> = (5..9).map(|at| problem(2, at)).collect();
        let ranges = find_ranges(&problems, 1).unwrap();
        let steps = Steps { index: 3, columns: 0, values: 4, x: 0, y: 2 };
        assert_eq!(ranges, [StridedRange { first: 0, count: 4, steps }]);
        assert_eq!(find_ranges(&[], 1), Some(vec![]));
        let backwards: Vec<_> = problems.into_iter().rev().collect();
        let ranges = find_ranges(&backwards, 1).unwrap();
        assert_eq!(ranges[0].steps.values, 4u64.wrapping_neg());
    }

    #[test]
    fn another_size_or_a_gap_begins_another_and_too_many_are_none() {
        let mut problems: Vec<_> = (0..7).map(|at| problem(2, at)).collect();
        problems[3].rows = 1;
        assert_eq!(found(&problems), [(0, 3), (3, 1), (4, 3)]);
        problems[3].rows = 2;
        problems[5].y = 99;
        assert_eq!(found(&problems), [(0, 5), (5, 2)]);
        problems[6].x = 1;
        assert_eq!(found(&problems), [(0, 5), (5, 2)]);
        problems[5].cols = 1;
        assert_eq!(found(&problems), [(0, 5), (5, 1), (6, 1)]);
        assert_eq!(find_ranges(&problems, 2), None);
    }
}
