//! One slice of sliced ELL: what is made of it, and how its words are written.

use bytemuck::Pod;

use super::{HEADER_WORDS, NODE_ROWS, ROWS, Size, WIDE};
use crate::{Offset, PatternView};

/// Rows of at most so many nonzeros are padded further than others: one by one, each would end where no processor foresees
/// it.
const SHORT: usize = 8;

/// LANES neighbouring rows that share a vector; the last slice may have fewer.
pub(super) struct Slice<'a, const LANES: usize> {
    /// Columns of all rows, one row after another.
    columns: &'a [u32],
    /// Columns of each; none where there is no row.
    rows: [&'a [u32]; LANES],
    row_count: usize,
    /// The slice's first nonzero, counted in the matrix.
    first: usize,
}

/// What is made of a slice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub(super) size: Size,
    /// The lowest column.
    base: u32,
    /// Iterations in which every lane has a nonzero; of strips alone, as all iterations and runs.
    shortest: u16,
    longest: u16,
    runs: u16,
    /// Rows that have the columns of the row before, a bit each; of rows that lie one after another alone.
    shared: u16,
    pub(super) is_strip: bool,
    pub(super) is_wide: bool,
}

impl Shape {
    /// Words of a column.
    fn column_words(&self) -> usize {
        if self.is_wide { 2 } else { 1 }
    }
}

impl<'a, const LANES: usize> Slice<'a, LANES> {
    pub(super) fn new<O: Offset>(pattern: PatternView<'a, O>, number: usize) -> Self {
        let first_row = number * LANES;
        let row_count = LANES.min(pattern.rows() - first_row);
        let offsets = &pattern.offsets()[first_row..=first_row + row_count];
        let mut rows = [&[][..]; LANES];
        for (row, range) in rows.iter_mut().zip(offsets.windows(2)) {
            *row = &pattern.columns()[range[0].to_usize()..range[1].to_usize()];
        }
        let first = offsets[0].to_usize();
        let columns = &pattern.columns()[first..offsets[row_count].to_usize()];
        Slice { columns, rows, row_count, first }
    }

    /// For each of the `shortest` iterations in which every lane has a nonzero, whether the lanes' columns are
    /// neighbours (c, c + 1, c + 2, ...). Where they are not, the second lane mostly says so.
    fn runs(&self, shortest: usize) -> impl Iterator<Item = bool> {
        let rows = self.rows.map(|row| &row[..shortest]);
        (0..shortest).map(move |nonzero| {
            let first = rows[0][nonzero];
            (1..LANES).all(|lane| rows[lane][nonzero].checked_sub(first) == Some(lane as u32))
        })
    }

    /// Which rows share the columns of the row before them, a bit each: at most [`NODE_ROWS`] have the same.
    fn shared(&self) -> u16 {
        let mut shared = 0;
        let mut rows_of_node = 1;
        for row in 1..self.row_count {
            if rows_of_node < NODE_ROWS && self.rows[row] == self.rows[row - 1] {
                shared |= 1 << row;
                rows_of_node += 1;
            } else {
                rows_of_node = 1;
            }
        }
        shared
    }

    /// Of rows that lie one after another, those whose columns are stored: the first of each node.
    fn leaders(&self, shared: u16) -> impl Iterator<Item = &'a [u32]> {
        let rows = self.rows.into_iter().take(self.row_count).enumerate();
        rows.filter(move |(row, _)| shared >> row & 1 == 0).map(|(_, row)| row)
    }

    /// What is made of it.
    pub(super) fn shape(&self) -> Shape {
        let lengths = self.rows.map(<[u32]>::len);
        let nnz = self.columns.len();
        let longest = lengths.into_iter().max().unwrap_or(0);
        let shortest = lengths.into_iter().min().unwrap_or(0);
        let (lowest, highest) = self
            .columns
            .iter()
            .fold((u32::MAX, 0), |(low, high), &column| (low.min(column), high.max(column)));
        let base = lowest.min(highest);
        let is_wide = highest - base > u32::from(u16::MAX);
        let column_words = if is_wide { 2 } else { 1 };
        let elements = longest * LANES;
        let is_even = elements * 4 <= nnz * 5 || longest <= SHORT && elements <= nnz * 2;
        let fits_strip = is_even && longest <= usize::from(u16::MAX);
        let runs =
            if fits_strip { self.runs(shortest).filter(|is_run| *is_run).count() } else { 0 };
        let iteration_words = LANES * column_words;
        let words = HEADER_WORDS
            + 2 * runs
            + iteration_words * (shortest - runs)
            + (2 + iteration_words) * (longest - shortest);
        let shared = self.shared();
        let stored: usize = self.leaders(shared).map(<[u32]>::len).sum();
        let words_of_rows = HEADER_WORDS + 2 * self.row_count + stored * column_words;
        // Rows that do not fill a vector are faster side by side, and runs take less than columns of nodes.
        let are_nodes = stored * 2 <= nnz && nnz >= LANES * self.row_count && words_of_rows < words;
        let is_strip = fits_strip && !are_nodes;
        if !is_strip {
            let words = words_of_rows.next_multiple_of(2);
            let size = Size { values: nnz, words, iterations: 0 };
            return Shape { size, base, shared, is_wide, ..Shape::default() };
        }
        let size = Size { values: elements, words, iterations: longest };
        // Iterations over a strip fit 16 bits.
        let [shortest, longest, runs] = [shortest, longest, runs].map(|count| count as u16);
        Shape { size, base, shortest, longest, runs, shared: 0, is_strip, is_wide }
    }

    /// Writes its words and order of nonzeros, as many as `shape` says.
    pub(super) fn write(&self, shape: &Shape, words: &mut [u16], nonzero_order: &mut [u16]) {
        let kind = if shape.is_wide { WIDE } else { 0 } | if shape.is_strip { 0 } else { ROWS };
        let (header, words) = words.split_at_mut(HEADER_WORDS);
        let Shape { shortest, longest, runs, shared, .. } = *shape;
        let runs_or_shared = if shape.is_strip { runs } else { shared };
        header[..4].copy_from_slice(&[kind, runs_or_shared, shortest - runs, longest - shortest]);
        put_pair(&mut header[4..], shape.base);
        if shape.is_strip {
            order_nonzeros(self.runs(usize::from(shortest)), shape, nonzero_order);
            self.write_strip(shape, words, nonzero_order);
        } else {
            let (lengths, words) = words.split_at_mut(2 * self.row_count);
            for (pair, row) in lengths.chunks_exact_mut(2).zip(&self.rows) {
                put_pair(pair, row.len() as u32);
            }
            let mut rest = words;
            for row in self.leaders(shared) {
                let (words, others) = rest.split_at_mut(shape.column_words() * row.len());
                put_columns(words, row.iter().copied(), shape);
                rest = others;
            }
            rest.fill(0);
        }
    }

    fn write_strip(&self, shape: &Shape, words: &mut [u16], nonzero_order: &[u16]) {
        let (shortest, runs) = (usize::from(shape.shortest), usize::from(shape.runs));
        let iteration_words = shape.column_words() * LANES;
        let (run_words, words) = words.split_at_mut(2 * runs);
        for (pair, nonzero) in run_words.chunks_exact_mut(2).zip(nonzero_order) {
            put_pair(pair, self.rows[0][usize::from(*nonzero)]);
        }
        let (full_words, tail_words) = words.split_at_mut(iteration_words * (shortest - runs));
        let rows = self.rows.map(|row| &row[..shortest]);
        for (words, nonzero) in
            full_words.chunks_exact_mut(iteration_words).zip(&nonzero_order[runs..])
        {
            put_columns(words, rows.iter().map(|row| row[usize::from(*nonzero)]), shape);
        }
        for (words, nonzero) in
            tail_words.chunks_exact_mut(2 + iteration_words).zip(&nonzero_order[shortest..])
        {
            let columns = self.rows.map(|row| row.get(usize::from(*nonzero)).copied());
            let mask =
                (0..LANES).fold(0, |mask, lane| mask | u32::from(columns[lane].is_some()) << lane);
            put_pair(words, mask);
            let padded = columns.into_iter().map(|column| column.unwrap_or(shape.base));
            put_columns(&mut words[2..], padded, shape);
        }
    }

    /// Writes its values, out of those of the whole matrix, in the order that `nonzero_order` tells; padding is 0.
    pub(super) fn write_values<V: Pod>(
        &self,
        shape: &Shape,
        nonzero_order: &[u16],
        of_matrix: &[V],
        values: &mut [V],
    ) {
        let mut rest = &of_matrix[self.first..][..self.columns.len()];
        if !shape.is_strip {
            self.write_values_of_nodes(shape.shared, rest, values);
            return;
        }
        let rows = self.rows.map(|row| {
            let (own, others) = rest.split_at(row.len());
            rest = others;
            own
        });
        for (values, nonzero) in values.chunks_exact_mut(LANES).zip(nonzero_order) {
            for (value, row) in values.iter_mut().zip(&rows) {
                *value = row.get(usize::from(*nonzero)).copied().unwrap_or(V::zeroed());
            }
        }
    }

    /// Values of rows that lie one after another: of a node interleaved, LANES of each row, then what is left of each.
    fn write_values_of_nodes<V: Pod>(&self, shared: u16, mut source: &[V], mut target: &mut [V]) {
        let mut row = 0;
        while row < self.row_count {
            let rows = 1 + (u32::from(shared) >> (row + 1)).trailing_ones() as usize;
            let length = self.rows[row].len();
            let (own, others) = source.split_at(rows * length);
            source = others;
            let (own_target, others) = target.split_at_mut(rows * length);
            target = others;
            row += rows;
            let whole = length - length % LANES;
            let (whole_target, mut rest_target) = own_target.split_at_mut(rows * whole);
            for (part, target) in whole_target.chunks_exact_mut(rows * LANES).enumerate() {
                for (row, target) in target.chunks_exact_mut(LANES).enumerate() {
                    target.copy_from_slice(&own[row * length + part * LANES..][..LANES]);
                }
            }
            for row in own.chunks_exact(length.max(1)) {
                let (target, others) = rest_target.split_at_mut(length - whole);
                target.copy_from_slice(&row[whole..]);
                rest_target = others;
            }
        }
    }
}

/// Runs first, then what every lane has, then the tail.
fn order_nonzeros(are_runs: impl Iterator<Item = bool>, shape: &Shape, nonzero_order: &mut [u16]) {
    let (mut run_at, mut full_at) = (0, usize::from(shape.runs));
    for (nonzero, is_run) in are_runs.enumerate() {
        let index = if is_run { &mut run_at } else { &mut full_at };
        nonzero_order[*index] = nonzero as u16;
        *index += 1;
    }
    for (nonzero, index) in nonzero_order.iter_mut().enumerate().skip(usize::from(shape.shortest)) {
        *index = nonzero as u16;
    }
}

/// As the device reads 32 bits: it shares the host's memory, and its order of bytes.
fn put_pair(words: &mut [u16], number: u32) {
    words[..2].copy_from_slice(&bytemuck::cast::<u32, [u16; 2]>(number));
}

fn put_columns(words: &mut [u16], columns: impl Iterator<Item = u32>, shape: &Shape) {
    if shape.is_wide {
        words.chunks_exact_mut(2).zip(columns).for_each(|(pair, column)| put_pair(pair, column));
    } else {
        let narrow = |column: u32| (column - shape.base) as u16;
        words.iter_mut().zip(columns).for_each(|(word, column)| *word = narrow(column));
    }
}
