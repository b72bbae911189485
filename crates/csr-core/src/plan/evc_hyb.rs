//! The plan of EVC-HYB (Guo, Gropp, Olson, section 2.1): where rows in order of length are split, how short ones lie,
//! and what each work-group takes. All of it follows from how many rows are how long, which a device can count.

use std::ops::Range;

/// Where a matrix is split, and what its parts are aligned to. The default is the paper's.
///
/// Without short rows and aligned to 1 it is the predecessor (Guo and Gropp, "Adaptive thread distributions for SpMV
/// on a GPU", 2012): CSR in order of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvcHybOptions {
    /// Nonzeros of the longest row that is short; `None` where all are long.
    pub longest_short_row: Option<usize>,
    /// Rows of a strip and elements of a long row are multiples of it; at least 1.
    pub alignment: usize,
}

impl Default for EvcHybOptions {
    fn default() -> Self {
        EvcHybOptions { longest_short_row: Some(128), alignment: 32 }
    }
}

/// Short rows that are stored column by column: element `k` of the strip's row `r` is at `start + k * rows + r`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The index of its first row, in order of length.
    pub first: usize,
    /// Its rows.
    pub rows: usize,
    /// Elements of each row, padding included.
    pub width: usize,
    /// Where its elements begin.
    pub start: usize,
    /// Of its rows, how many are shorter than it is wide: its first ones, which were left of shorter lengths.
    pub carried: usize,
}

/// How work is given to items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRules {
    /// Items of a work-group: a power of two.
    pub group_size: u32,
    /// Elements of short rows that an item takes, about: of several rows, or of its share in one. At most those of
    /// the longest short row count, so that with 128 an item has rows by length as published.
    pub nnz_per_item: u32,
    /// The most short rows that an item takes.
    pub rows_per_item: u32,
    /// Elements of a long row that an item takes; twice as many items take a row twice as long.
    pub long_nnz_per_item: u32,
}

/// How many rows have at most so many nonzeros, for the lengths that a plan asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowCounts {
    /// Lengths, ascending.
    boundaries: Vec<u32>,
    /// Rows that are shorter than each.
    shorter: Vec<u32>,
    rows: usize,
}

impl RowCounts {
    /// The lengths of which the split wants to know how many rows are shorter.
    pub fn boundaries_of_split(longest_row: usize, options: &EvcHybOptions) -> Vec<u32> {
        let widths = short_widths(longest_row, options);
        widths.map_while(|width| u32::try_from(width as u64 + 1).ok()).collect()
    }

    /// And those of which tasks want to know.
    pub fn boundaries(longest_row: usize, options: &EvcHybOptions, rules: &TaskRules) -> Vec<u32> {
        let of_classes = class_limits(rules).map(|(_, most)| most + 1);
        let mut boundaries = Self::boundaries_of_split(longest_row, options);
        boundaries.extend(of_classes.map_while(|boundary| u32::try_from(boundary).ok()));
        boundaries.sort_unstable();
        boundaries.dedup();
        boundaries
    }

    /// Counts, one for each of `boundaries`.
    pub fn new(rows: usize, boundaries: Vec<u32>, shorter: Vec<u32>) -> Self {
        RowCounts { boundaries, shorter, rows }
    }

    /// Counts from ascending lengths.
    pub fn of_lengths(row_lengths: &[u32], boundaries: Vec<u32>) -> Self {
        let shorter_than = |boundary: &u32| row_lengths.partition_point(|length| length < boundary);
        let shorter = boundaries.iter().map(|boundary| shorter_than(boundary) as u32).collect();
        RowCounts { boundaries, shorter, rows: row_lengths.len() }
    }

    /// Rows of at most `most` nonzeros; of those lengths that were not asked about, all rows.
    fn up_to(&self, most: u64) -> usize {
        match self.boundaries.binary_search_by(|boundary| u64::from(*boundary).cmp(&(most + 1))) {
            Ok(at) => self.shorter[at] as usize,
            Err(_) => self.rows,
        }
    }
}

/// Where rows in order of length lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvcHybShape {
    /// Rows.
    pub rows: usize,
    /// The short ones.
    pub strips: Vec<Strip>,
    /// The index of the first row that is in no strip.
    pub split_row: usize,
    /// Elements in strips, padding included: the first long row begins after them.
    pub short_elements: usize,
}

impl EvcHybShape {
    /// Splits rows of which `counts` knows how many are how long.
    pub fn new(longest_row: usize, options: &EvcHybOptions, counts: &RowCounts) -> Self {
        let (mut strips, mut first, mut start) = (Vec::new(), 0, 0);
        let mut narrower = 0;
        for width in short_widths(longest_row, options) {
            let beyond = counts.up_to(width as u64);
            let rows = (beyond - first) / options.alignment * options.alignment;
            if rows > 0 {
                strips.push(Strip { first, rows, width, start, carried: narrower - first });
                first += rows;
                start += rows * width;
            }
            narrower = beyond;
        }
        EvcHybShape { rows: counts.rows, strips, split_row: first, short_elements: start }
    }

    /// What each work-group takes, longest rows first, so that those which take longest begin first.
    pub fn tasks(&self, counts: &RowCounts, rules: &TaskRules) -> Vec<Task> {
        let mut tasks = Vec::new();
        let longest = self.strips.last().map_or(1, |strip| strip.width.max(1));
        let nnz_per_item = (rules.nnz_per_item as usize).clamp(1, longest);
        for strip in &self.strips {
            let width = strip.width.max(1);
            let items_per_row = width.div_ceil(nnz_per_item).next_power_of_two() as u32;
            let items_per_row = items_per_row.min(rules.group_size);
            let most_rows = rules.rows_per_item as usize;
            let rows_per_item = 1 << (nnz_per_item / width).min(most_rows).max(1).ilog2();
            let rows_per_group = (rules.group_size / items_per_row) as usize * rows_per_item;
            tasks.extend((0..strip.rows).step_by(rows_per_group).map(|row| Task {
                start: (strip.start + row) as u64,
                first: (strip.first + row) as u32,
                rows: rows_per_group.min(strip.rows - row) as u32,
                stride: strip.rows as u32,
                width: strip.width as u32,
                carried: strip.carried.saturating_sub(row).min(rows_per_group) as u32,
                items_log: items_per_row.ilog2(),
            }));
        }
        let mut first = self.split_row;
        for (items_per_row, most) in class_limits(rules) {
            let beyond = match items_per_row == rules.group_size {
                true => self.rows,
                false => counts.up_to(most).max(first),
            };
            let rows_per_group = (rules.group_size / items_per_row) as usize;
            tasks.extend((first..beyond).step_by(rows_per_group).map(|row| {
                let rows = rows_per_group.min(beyond - row) as u32;
                Task {
                    start: (row - self.split_row) as u64,
                    first: row as u32,
                    rows,
                    stride: 0,
                    width: 0,
                    carried: rows,
                    items_log: items_per_row.ilog2(),
                }
            }));
            first = beyond;
        }
        tasks.reverse();
        tasks
    }
}

/// The lengths of short rows.
fn short_widths(longest_row: usize, options: &EvcHybOptions) -> Range<usize> {
    options.longest_short_row.map_or(0..0, |most| 0..most.min(longest_row) + 1)
}

/// How many items a long row has, and the most nonzeros for which they are enough; the last are a whole group, which
/// takes all that are longer.
fn class_limits(rules: &TaskRules) -> impl Iterator<Item = (u32, u64)> + use<> {
    let TaskRules { group_size, long_nnz_per_item, .. } = *rules;
    let classes = 0..=group_size.max(1).ilog2();
    classes.map(move |class| (1 << class, u64::from(long_nnz_per_item) << class))
}

/// What a work-group takes: `evc_hyb_task_t` of `cl/spmv/evc_hyb_task.h`, which says what the fields are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the kernel's header is where they are read, and says it")]
pub struct Task {
    pub start: u64,
    pub first: u32,
    pub rows: u32,
    pub stride: u32,
    pub width: u32,
    pub carried: u32,
    pub items_log: u32,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shape_and_tasks(
        lengths: &[u32],
        options: &EvcHybOptions,
        rules: &TaskRules,
    ) -> (EvcHybShape, Vec<Task>) {
        let longest = lengths.last().map_or(0, |length| *length as usize);
        let boundaries = RowCounts::boundaries(longest, options, rules);
        let counts = RowCounts::of_lengths(lengths, boundaries);
        let shape = EvcHybShape::new(longest, options, &counts);
        let tasks = shape.tasks(&counts, rules);
        (shape, tasks)
    }

    proptest! {
        #[test]
        fn tasks_have_every_row_once_with_items_by_length(
            mut lengths in prop::collection::vec(prop_oneof![4 => 0u32..9, 1 => 0u32..300], 0..400),
            longest_short_row in prop::option::of(0usize..40),
            alignment in 1usize..9,
            group_log in 0u32..6,
            nnz_per_item in 1u32..40,
        ) {
            lengths.sort_unstable();
            let options = EvcHybOptions { longest_short_row, alignment };
            let group_size = 1 << group_log;
            let rules = TaskRules { group_size, nnz_per_item, rows_per_item: 4, long_nnz_per_item: nnz_per_item };
            let (shape, tasks) = shape_and_tasks(&lengths, &options, &rules);
            let mut first = lengths.len();
            for task in &tasks {
                first -= task.rows as usize;
                prop_assert_eq!(first, task.first as usize);
                prop_assert!(task.rows > 0 && group_size >> task.items_log > 0);
                let own = &lengths[first..first + task.rows as usize];
                let longest = *own.last().unwrap();
                if task.stride == 0 {
                    prop_assert!(first >= shape.split_row && task.rows <= group_size);
                    let enough = (1u32 << task.items_log) == group_size || longest <= nnz_per_item * (1u32 << task.items_log);
                    prop_assert!(enough, "{} items for {}", 1u32 << task.items_log, longest);
                } else {
                    prop_assert!(own[task.carried as usize..].iter().all(|&length| length == task.width));
                    prop_assert!(longest <= task.width);
                    let elements = longest.div_ceil(1u32 << task.items_log);
                    prop_assert!((1u32 << task.items_log) == group_size || elements <= nnz_per_item.max(1));
                }
            }
            prop_assert_eq!(first, 0);
        }
    }

    #[test]
    fn items_take_rows_by_length_as_published() {
        // One row an item from half of the longest on, two from a quarter on, and so on.
        let mut lengths = Vec::new();
        for length in [128u32, 65, 64, 33, 32, 3] {
            lengths.extend([length; 32768]);
        }
        lengths.sort_unstable();
        let rules = TaskRules {
            group_size: 256,
            nnz_per_item: 128,
            rows_per_item: 128,
            long_nnz_per_item: 8,
        };
        let (_, tasks) = shape_and_tasks(&lengths, &EvcHybOptions::default(), &rules);
        let rows_per_item = |width| {
            let task = tasks.iter().find(|task| task.width == width).unwrap();
            assert_eq!(task.items_log, 0);
            task.rows / 256
        };
        assert_eq!([128, 65, 64, 33, 32, 3].map(rows_per_item), [1, 1, 2, 2, 4, 32]);
    }

    #[test]
    fn items_share_rows_that_are_longer_than_they_take() {
        let rules =
            TaskRules { group_size: 128, nnz_per_item: 16, rows_per_item: 1, long_nnz_per_item: 8 };
        let (_, tasks) = shape_and_tasks(&[33; 64], &EvcHybOptions::default(), &rules);
        assert_eq!((1 << tasks[0].items_log, tasks[0].rows, tasks.len()), (4, 32, 2));
    }
}
