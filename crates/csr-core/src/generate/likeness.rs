//! Synthetic likenesses of the papers' matrices, made from their published figures.
//!
//! A likeness keeps rows, columns, nonzeros, shortest and longest row, the spread of row lengths and how
//! columns lie; it is not the matrix and is never printed under its bare name. At another scale it keeps
//! mean and spread while rows, columns and giant rows grow or shrink together.

use super::assemble::{Rows, assemble};
use super::columns::{Pattern, Placement};
use super::lengths::{LONG_ROW, RowLengths, Shape, Tail};
use super::random::{Purpose, Random, class_seed};
use super::stencil::{Grid, neighbourhood};
use crate::memory::with_capacity;
use crate::{Csr, Offset, Result, Value};

/// One row of the table: what is published of a matrix, and the rules that make another like it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Likeness {
    pub(super) name: &'static str,
    /// What the papers call it where that differs, or empty.
    pub(super) also: &'static str,
    /// The papers that use it, or empty for a matrix that is defined here and imitates none.
    pub(super) papers: &'static str,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) nnz: u64,
    pub(super) shortest: u32,
    pub(super) longest: u32,
    pub(super) sigma: f64,
    pub(super) placement: Placement,
    pub(super) tail: Tail,
}

/// The grid of the five-point class: its points are the rows of mc2depi.
const FIVE_POINT_GRID: Grid = Grid([1, 513, 1025]);

impl Likeness {
    /// Rows, columns and what the row lengths promise at a scale, 1 being the published size.
    pub(super) fn scaled(&self, scale: f64) -> (usize, usize, Shape) {
        let times = |size: usize| ((size as f64 * scale).round() as usize).max(1);
        let grid = FIVE_POINT_GRID.scaled(scale);
        let (rows, cols) = match self.placement {
            Placement::FivePoint => (grid.points(), grid.points()),
            _ => (times(self.rows), times(self.cols)),
        };
        let widest = cols.min(u32::MAX as usize) as u32;
        let longest = self.longest_at(scale, rows).clamp(1, widest);
        let shortest = match self.placement {
            Placement::All => longest,
            _ => self.shortest.min(longest),
        };
        // A matrix too narrow for its mean row is at most half full.
        let mean = self.nnz as f64 / self.rows as f64;
        let mean = if self.placement == Placement::All { cols as f64 } else { mean };
        let fitting = mean.min((0.5 * f64::from(widest)).max(f64::from(shortest)));
        let run = match self.placement {
            Placement::Near { run, .. } => run,
            Placement::All | Placement::FivePoint => 1,
        };
        let nnz = match self.placement {
            Placement::FivePoint => (4 * rows - 2 * (grid.0[1] + grid.0[2])) as u64,
            _ if scale == 1.0 => self.nnz,
            _ => (fitting * rows as f64).round() as u64,
        };
        let shape = Shape { rows, nnz, shortest, longest, sigma: self.sigma, tail: self.tail, run };
        (rows, cols, shape)
    }

    fn longest_at(&self, scale: f64, rows: usize) -> u32 {
        let scaled = (f64::from(self.longest) * scale).round() as u32;
        match self.tail {
            _ if self.placement == Placement::All => scaled,
            Tail::None => self.longest,
            Tail::Giants { .. } => scaled.max(self.shortest),
            // One row never holds more than half of what the long rows hold together.
            Tail::Long { nnz_share, .. } => {
                let held = self.nnz as f64 * nnz_share * rows as f64 / self.rows as f64;
                self.longest.min(scaled.max((0.5 * held) as u32).max(LONG_ROW + 1))
            }
        }
    }

    pub(super) fn generate<V: Value, O: Offset>(&self, scale: f64, seed: u64) -> Result<Csr<V, O>> {
        let seed = class_seed(self.name, seed);
        let (rows, cols, shape) = self.scaled(scale);
        // Before the lengths of all rows are drawn, which takes its time.
        drop(with_capacity::<V>("the values", usize::try_from(shape.nnz).unwrap_or(usize::MAX))?);
        match self.placement {
            Placement::All => assemble(rows, cols, &Dense { cols, seed }),
            Placement::FivePoint => {
                let grid = FIVE_POINT_GRID.scaled(scale);
                let offsets = neighbourhood(true, |distance| distance == 1);
                assemble(rows, cols, &Mesh { grid, offsets, seed })
            }
            Placement::Near { band, run, far_share, far } => {
                let pattern = Pattern { rows, cols, band, run, far_share, far };
                // Giant rows share no node's pattern and lie anywhere.
                let giant = Pattern { run: 1, far_share: 1.0, ..pattern };
                let lengths = RowLengths::new(&shape, seed);
                assemble(rows, cols, &Scattered { seed, lengths, pattern, giant })
            }
        }
    }
}

fn fill_values<V: Value>(seed: u64, row: usize, values: &mut [V]) {
    let mut random = Random::new(seed, Purpose::Values, row as u64);
    values.fill_with(|| V::from_f64(random.value()));
}

struct Dense {
    cols: usize,
    seed: u64,
}

impl Rows for Dense {
    type Scratch = ();

    fn length(&self, _row: usize) -> usize {
        self.cols
    }

    fn fill<V: Value>(&self, row: usize, (): &mut (), columns: &mut [u32], values: &mut [V]) {
        columns.iter_mut().zip(0..).for_each(|(column, k)| *column = k);
        fill_values(self.seed, row, values);
    }
}

struct Mesh {
    grid: Grid,
    offsets: Vec<[i8; 3]>,
    seed: u64,
}

impl Mesh {
    fn neighbours(&self, row: usize) -> impl Iterator<Item = usize> {
        let at = self.grid.coordinates(row);
        self.offsets.iter().filter_map(move |&offset| self.grid.neighbour(at, offset))
    }
}

impl Rows for Mesh {
    type Scratch = ();

    fn length(&self, row: usize) -> usize {
        self.neighbours(row).count()
    }

    fn fill<V: Value>(&self, row: usize, (): &mut (), columns: &mut [u32], values: &mut [V]) {
        for (column, point) in columns.iter_mut().zip(self.neighbours(row)) {
            *column = point as u32;
        }
        fill_values(self.seed, row, values);
    }
}

struct Scattered {
    seed: u64,
    lengths: RowLengths,
    pattern: Pattern,
    giant: Pattern,
}

/// The pattern of the node whose rows are being filled, and scratch to draw the next.
#[derive(Default)]
struct NodePattern {
    node: Option<usize>,
    columns: Vec<u32>,
    slots: Vec<u32>,
}

impl Rows for Scattered {
    type Scratch = NodePattern;

    fn length(&self, row: usize) -> usize {
        self.lengths.of(row)
    }

    fn fill<V: Value>(
        &self,
        row: usize,
        scratch: &mut NodePattern,
        columns: &mut [u32],
        values: &mut [V],
    ) {
        fill_values(self.seed, row, values);
        let run = self.pattern.run as usize;
        let node = row / run;
        let random = |index: usize| Random::new(self.seed, Purpose::Columns, index as u64);
        if self.lengths.is_giant(row) {
            self.giant.draw(row, &mut random(node * run), &mut scratch.slots, columns);
        } else if run == 1 {
            self.pattern.draw(row, &mut random(row), &mut scratch.slots, columns);
        } else {
            if scratch.node != Some(node) {
                scratch.columns.resize(columns.len(), 0);
                let first = node * run;
                let NodePattern { columns, slots, .. } = scratch;
                self.pattern.draw(first, &mut random(first), slots, columns);
                scratch.node = Some(node);
            }
            columns.copy_from_slice(&scratch.columns);
        }
    }
}
