//! Where the columns of a likeness lie: near the diagonal or anywhere, in runs, distinct and ascending.
//!
//! Everything happens in *slots*: slot `s` is the run of columns `s * run .. (s + 1) * run`, as the
//! unknowns of one mesh node are. Slots are drawn, sorted and pushed apart where they coincide; they
//! stop at the matrix' edges and never wrap round.

use std::ops::Range;

use super::random::Random;

/// Where the columns of a row may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Placement {
    /// Every column of the matrix.
    All,
    /// The five-point stencil of a grid without its centre.
    FivePoint,
    /// `far_share` of the nonzeros anywhere, the rest within `band` of the diagonal.
    Near { band: u32, run: u32, far_share: f64, far: Far },
}

/// How nonzeros that may lie anywhere are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Far {
    /// Every column alike.
    Uniform,
    /// Crowded to low columns: column c is drawn in proportion to c^(-2/3), which is a power-law
    /// graph whose in-degrees have the exponent 5/2.
    Skewed,
}

impl Far {
    fn position(self, unit: f64) -> f64 {
        match self {
            Far::Uniform => unit,
            Far::Skewed => unit * unit * unit,
        }
    }
}

/// Size of a matrix and the rule of its columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) band: u32,
    pub(super) run: u32,
    pub(super) far_share: f64,
    pub(super) far: Far,
}

impl Pattern {
    /// Writes `columns.len()` columns of the rows that start at `row`; there are no more than cols.
    pub(super) fn draw(
        &self,
        row: usize,
        random: &mut Random,
        slots: &mut Vec<u32>,
        columns: &mut [u32],
    ) {
        let run = self.run as usize;
        let total = self.cols.div_ceil(run);
        let count = columns.len().div_ceil(run);
        let mut far = (self.far_share * count as f64 + random.unit()) as usize;
        let mut window = self.window(row);
        if self.far_share > 0.0 {
            // A long row overflows to far columns before it fills the band solid.
            far = far.max(count.saturating_sub(window.len() / 2));
        }
        let far = far.min(count);
        let near = count - far;
        widen(&mut window, near, total);
        slots.clear();
        draw_slots(slots, near, window, Far::Uniform, random);
        if far > 0 {
            draw_slots(slots, far, 0..total, self.far, random);
            slots.sort_unstable();
            separate(slots, 0..total);
        }
        let last = self.cols - 1;
        for (run_columns, &slot) in columns.chunks_mut(run).zip(slots.iter()) {
            for (k, column) in run_columns.iter_mut().enumerate() {
                *column = (slot as usize * run + k).min(last) as u32;
            }
        }
        // The run at the right edge may be cut short by it.
        separate(columns, 0..self.cols);
    }

    /// The slots that lie wholly within the band around the diagonal of a row.
    fn window(&self, row: usize) -> Range<usize> {
        let (run, band) = (self.run as usize, self.band as usize);
        let diagonal = (row as u64 * self.cols as u64 / self.rows as u64) as usize;
        let first = diagonal.saturating_sub(band).div_ceil(run);
        let end = (diagonal + band + 1).min(self.cols) / run;
        first..end.max(first)
    }
}

/// Widens for `count` slots, on both sides where the edges allow.
fn widen(window: &mut Range<usize>, count: usize, total: usize) {
    let missing = count.saturating_sub(window.len());
    if missing > 0 {
        window.end = (window.end + missing.div_ceil(2)).min(total);
        window.start = window.end.saturating_sub(count).min(window.start);
        window.end = window.end.max(window.start + count).min(total);
    }
}

/// Rows longer than this are drawn in order, one from each of `count` equal parts, instead of sorted.
const SORTED_DRAWS: usize = 1 << 10;

/// Appends `count` distinct slots of `range` in ascending order.
fn draw_slots(
    slots: &mut Vec<u32>,
    count: usize,
    range: Range<usize>,
    far: Far,
    random: &mut Random,
) {
    let start = slots.len();
    let width = range.len() as f64;
    let slot = |unit: f64| (range.start + (far.position(unit) * width) as usize) as u32;
    if count <= SORTED_DRAWS {
        slots.extend((0..count).map(|_| slot(random.unit())));
        slots[start..].sort_unstable();
    } else {
        let part = 1.0 / count as f64;
        slots.extend((0..count).map(|k| slot(((k as f64 + random.unit()) * part).min(1.0))));
    }
    separate(&mut slots[start..], range);
}

/// Makes ascending numbers strictly ascending inside `range`, which holds all of them.
fn separate(ascending: &mut [u32], range: Range<usize>) {
    debug_assert!(ascending.len() <= range.len());
    let mut least = range.start as u32;
    for number in ascending.iter_mut() {
        *number = (*number).max(least);
        least = *number + 1;
    }
    let mut limit = range.end as u32;
    for number in ascending.iter_mut().rev() {
        if *number < limit {
            break;
        }
        *number = limit - 1;
        limit = *number;
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Purpose;
    use super::*;

    const PATTERN: Pattern =
        Pattern { rows: 1000, cols: 1000, band: 90, run: 3, far_share: 0.0, far: Far::Uniform };

    fn draw(pattern: &Pattern, row: usize, length: usize) -> Vec<u32> {
        let mut columns = vec![0; length];
        let mut random = Random::new(9, Purpose::Columns, row as u64);
        pattern.draw(row, &mut random, &mut Vec::new(), &mut columns);
        assert!(columns.is_sorted_by(|a, b| a < b), "row {row}: {columns:?}");
        assert!(columns.iter().all(|&column| (column as usize) < pattern.cols));
        columns
    }

    #[test]
    fn band_columns_stay_within_the_band_and_stop_at_the_edges() {
        for row in (0..1000).step_by(3) {
            for column in draw(&PATTERN, row, 21) {
                assert!(row.abs_diff(column as usize) <= 90, "row {row}, column {column}");
            }
        }
    }

    #[test]
    fn columns_come_in_aligned_runs() {
        for run in draw(&PATTERN, 500, 21).chunks(3) {
            assert!(run[0] % 3 == 0 && run[1] == run[0] + 1 && run[2] == run[0] + 2, "{run:?}");
        }
    }

    #[test]
    fn rows_fit_up_to_every_column() {
        for length in [0, 1, 60, 61, 400, 998, 999, 1000] {
            for row in [0, 499, 999] {
                draw(&PATTERN, row, length);
                draw(&Pattern { far_share: 0.4, far: Far::Skewed, ..PATTERN }, row, length);
                draw(&Pattern { cols: 1001, run: 7, ..PATTERN }, row, length);
            }
        }
    }

    #[test]
    fn far_share_leaves_the_band_and_skew_crowds_low_columns() {
        let pattern = Pattern { rows: 100_000, cols: 100_000, run: 1, far_share: 0.3, ..PATTERN };
        let skewed = Pattern { far: Far::Skewed, ..pattern };
        let mut far = 0;
        let mut low = [0; 2];
        for row in (30_000..31_000).chain(60_000..61_000) {
            let columns = draw(&pattern, row, 20);
            far += columns.iter().filter(|&&column| row.abs_diff(column as usize) > 90).count();
            low[0] += columns.iter().filter(|&&column| column < 12_500).count();
            low[1] += draw(&skewed, row, 20).iter().filter(|&&column| column < 12_500).count();
        }
        assert!((far as f64 / 40_000.0 - 0.3).abs() < 0.01, "{far}");
        // An eighth of the columns gets an eighth of the far nonzeros, and half when skewed.
        assert!((low[0] as f64 / 12_000.0 - 0.125).abs() < 0.02, "{low:?}");
        assert!((low[1] as f64 / 12_000.0 - 0.5).abs() < 0.02, "{low:?}");
    }

    #[test]
    fn the_band_follows_the_diagonal_of_a_rectangle() {
        let pattern = Pattern { cols: 100, band: 5, run: 1, ..PATTERN };
        assert!(draw(&pattern, 500, 4).iter().all(|&column| column.abs_diff(50) <= 5));
    }
}
