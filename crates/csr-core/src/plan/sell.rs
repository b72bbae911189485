//! Sliced ELL for CPU devices (`cl/spmv/sell.cl`): how a pattern is laid out in slices, and slices in pieces.
//!
//! A slice is [`SellRules::slice_rows`] neighbouring rows. It is a strip, padded to its longest row, where that makes at
//! most a quarter more of it; otherwise its rows lie one after another. Everything but values is in one stream of
//! 16-bit words, in the order in which the kernel reads it:
//!
//! | what | words |
//! |---|---|
//! | header | kind, runs, full steps, steps of the tail, lowest column (2) |
//! | strip: each run | the first row's column (2) |
//! | strip: each full step | a column of each row (1 or 2 each) |
//! | strip: each step of the tail | which rows have a nonzero, a bit each (2); a column of each row (1 or 2 each) |
//! | rows: lengths | 2 each |
//! | rows: columns | 1 or 2 each, then up to an even place |
//!
//! Columns take one word, counted from the slice's lowest, where they fit; what takes two lies at an even place.
//!
//! Kreutzer, Hager, Wellein, Fehske and Bishop, "A unified sparse matrix data format" (2014), without its sorting:
//! rows keep their places, so neither x nor y is permuted.

use rayon::prelude::*;

use crate::memory::{room, zeroed};
use crate::{Error, Offset, PatternView, Result};

/// Rows of a slice at most.
const MOST_ROWS: usize = 16;
/// 16-bit words of a slice's header.
const HEADER_WORDS: usize = 6;
/// In a header's first word: columns take two words.
const WIDE: u16 = 1;
/// In a header's first word: rows lie one after another.
const ROWS: u16 = 2;
/// Slices that one task of the host looks at.
const SLICES_A_TASK: usize = 4096;

/// How a pattern is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SellRules {
    /// Rows of a slice: 1 to 16.
    pub slice_rows: u32,
    /// Pieces, each an item's share: as many, or fewer where there are not so many slices.
    pub pieces: u32,
}

/// Where a piece begins, as the kernel reads it (`cl/spmv/sell_slice.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct SellPiece {
    /// Its first value.
    pub value: u64,
    /// Its first word.
    pub word: u64,
    /// Its first step.
    pub step: u64,
    /// Its first slice.
    pub slice: u32,
    /// 0.
    pub unused: u32,
}

/// A pattern in slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellPattern {
    pieces: Vec<SellPiece>,
    words: Vec<u16>,
    steps: Vec<u16>,
}

impl SellPattern {
    /// Lays out a pattern. `value_bytes` is what a value takes, by which pieces are made equal.
    ///
    /// # Errors
    /// Slices of no rows or of more than 16, no pieces, or no memory.
    pub fn new<O: Offset>(
        pattern: PatternView<'_, O>,
        rules: SellRules,
        value_bytes: usize,
    ) -> Result<Self> {
        for (what, value, most) in [
            ("slice_rows", rules.slice_rows, MOST_ROWS as u32),
            ("the number of pieces", rules.pieces, u32::MAX),
        ] {
            let value = u64::from(value);
            if value == 0 {
                return Err(Error::TooSmall { what, value, limit: 1 });
            }
            if value > u64::from(most) {
                return Err(Error::TooLarge { what, value, limit: most.into() });
            }
        }
        let slice_rows = rules.slice_rows as usize;
        let slices = pattern.rows().div_ceil(slice_rows);
        let shape_of = |slice: usize| Slice::new(pattern, slice, slice_rows).shape();
        let mut ends = room("the slices of sliced ELL", slices)?;
        ends.resize(slices, Size::default());
        ends.par_chunks_mut(SLICES_A_TASK).enumerate().for_each(|(task, ends)| {
            for (at, end) in ends.iter_mut().enumerate() {
                *end = shape_of(task * SLICES_A_TASK + at).size;
            }
        });
        let mut total = Size::default();
        for end in &mut ends {
            total = total + *end;
            *end = total;
        }
        let pieces = pieces(&ends, rules.pieces as usize, value_bytes);
        let mut words = zeroed("the words of sliced ELL", total.words)?;
        let mut steps = zeroed("the steps of sliced ELL", total.steps)?;
        let (mut words_left, mut steps_left) = (&mut words[..], &mut steps[..]);
        let mut shares = Vec::new();
        for piece in pieces.windows(2) {
            let (own, rest) = words_left.split_at_mut((piece[1].word - piece[0].word) as usize);
            words_left = rest;
            let (own_steps, rest) =
                steps_left.split_at_mut((piece[1].step - piece[0].step) as usize);
            steps_left = rest;
            shares.push((piece[0].slice as usize..piece[1].slice as usize, own, own_steps));
        }
        shares.into_par_iter().for_each(|(slices, words, steps)| {
            let (mut word, mut step) = (0, 0);
            for number in slices {
                let slice = Slice::new(pattern, number, slice_rows);
                let shape = slice.shape();
                let Size { words: word_count, steps: step_count, .. } = shape.size;
                let steps = &mut steps[step..step + step_count];
                slice.write(&shape, &mut words[word..word + word_count], steps);
                word += word_count;
                step += step_count;
            }
        });
        Ok(SellPattern { pieces, words, steps })
    }

    /// Where each piece begins, and behind them an entry that ends the last.
    pub fn pieces(&self) -> &[SellPiece] {
        &self.pieces
    }

    /// What the kernel reads beside values.
    pub fn words(&self) -> &[u16] {
        &self.words
    }

    /// Which nonzero of its row each step of a strip takes, strip by strip.
    pub fn steps(&self) -> &[u16] {
        &self.steps
    }

    /// Values, padding included.
    pub fn elements(&self) -> usize {
        self.pieces.last().map_or(0, |end| end.value as usize)
    }
}

/// What a slice, or all before its end, take of each stream.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    values: usize,
    words: usize,
    steps: usize,
}

impl std::ops::Add for Size {
    type Output = Size;

    fn add(self, other: Size) -> Size {
        Size {
            values: self.values + other.values,
            words: self.words + other.words,
            steps: self.steps + other.steps,
        }
    }
}

/// Cuts slices, whose ends are given, into `count` pieces of about equal bytes.
fn pieces(ends: &[Size], count: usize, value_bytes: usize) -> Vec<SellPiece> {
    let bytes = |end: &Size| end.values * value_bytes + end.words * 2;
    let total = ends.last().map_or(0, bytes) as u128;
    let count = count.min(ends.len());
    let start = |slice: usize| {
        let before = if slice == 0 { Size::default() } else { ends[slice - 1] };
        SellPiece {
            value: before.values as u64,
            word: before.words as u64,
            step: before.steps as u64,
            slice: slice as u32,
            unused: 0,
        }
    };
    let mut pieces: Vec<_> = (0..count)
        .map(|piece| {
            let border = (total * piece as u128 / count as u128) as usize;
            start(if piece == 0 { 0 } else { ends.partition_point(|end| bytes(end) <= border) })
        })
        .collect();
    pieces.push(start(ends.len()));
    pieces
}

/// Rows of a pattern that share a vector.
struct Slice<'a> {
    columns: &'a [u32],
    rows: usize,
    /// Where the nonzeros of each row begin, and those of the last end.
    starts: [usize; MOST_ROWS + 1],
    /// Lanes, of which the last slice may leave some without a row.
    lanes: usize,
}

/// What is made of a slice.
struct Shape {
    is_wide: bool,
    is_strip: bool,
    /// The lowest column.
    base: u32,
    /// Steps that every lane has.
    shortest: usize,
    /// All steps.
    longest: usize,
    runs: usize,
    size: Size,
}

impl<'a> Slice<'a> {
    fn new<O: Offset>(pattern: PatternView<'a, O>, number: usize, lanes: usize) -> Self {
        let first_row = number * lanes;
        let rows = lanes.min(pattern.rows() - first_row);
        let mut starts = [0; MOST_ROWS + 1];
        for (start, offset) in
            starts.iter_mut().zip(&pattern.offsets()[first_row..=first_row + rows])
        {
            *start = offset.to_usize();
        }
        Slice { columns: pattern.columns(), rows, starts, lanes }
    }

    /// Where a lane's nonzeros are.
    fn range(&self, lane: usize) -> std::ops::Range<usize> {
        self.starts[lane]..self.starts[lane + 1]
    }

    fn row(&self, lane: usize) -> &'a [u32] {
        &self.columns[self.range(lane)]
    }

    /// Whether all lanes have a nonzero at `step`, and the columns are neighbours.
    fn is_run(&self, step: usize) -> bool {
        let first = self.columns[self.starts[0] + step];
        (1..self.lanes).all(|lane| {
            self.columns[self.starts[lane] + step].checked_sub(first) == Some(lane as u32)
        })
    }

    fn shape(&self) -> Shape {
        let lengths = || (0..self.rows).map(|lane| self.range(lane).len());
        let longest = lengths().max().unwrap_or(0);
        let shortest = if self.rows < self.lanes { 0 } else { lengths().min().unwrap_or(0) };
        let nnz: usize = lengths().sum();
        let own = &self.columns[self.starts[0]..self.starts[self.rows]];
        let base = own.iter().min().copied().unwrap_or(0);
        let highest = own.iter().max().copied().unwrap_or(0);
        let is_wide = highest - base > u32::from(u16::MAX);
        let column_words = if is_wide { 2 } else { 1 };
        let is_strip = longest * self.lanes * 4 <= nnz * 5 && longest <= usize::from(u16::MAX);
        let (runs, size);
        if is_strip {
            runs = (0..shortest).filter(|step| self.is_run(*step)).count();
            let of_step = self.lanes * column_words;
            let words = HEADER_WORDS
                + 2 * runs
                + of_step * (shortest - runs)
                + (2 + of_step) * (longest - shortest);
            size = Size { values: longest * self.lanes, words, steps: longest };
        } else {
            runs = 0;
            let words = HEADER_WORDS + 2 * self.rows + nnz * column_words;
            size = Size { values: nnz, words: words.next_multiple_of(2), steps: 0 };
        }
        Shape { is_wide, is_strip, base, shortest, longest, runs, size }
    }

    fn write(&self, shape: &Shape, words: &mut [u16], steps: &mut [u16]) {
        let mut words = Words { words, at: 0 };
        let kind = if shape.is_wide { WIDE } else { 0 } | if shape.is_strip { 0 } else { ROWS };
        words.put(kind);
        if !shape.is_strip {
            [0; 3].into_iter().for_each(|none| words.put(none));
            words.put_pair(shape.base);
            (0..self.rows).for_each(|lane| words.put_pair(self.range(lane).len() as u32));
            (0..self.rows)
                .flat_map(|lane| self.row(lane))
                .for_each(|column| words.put_column(*column, shape));
            return;
        }
        let (shortest, longest) = (shape.shortest, shape.longest);
        for count in [shape.runs, shortest - shape.runs, longest - shortest] {
            words.put(count as u16);
        }
        words.put_pair(shape.base);
        // Runs first, then what every lane has, then the tail.
        let (mut run_at, mut full_at) = (0, shape.runs);
        for step in 0..shortest {
            let place = if self.is_run(step) { &mut run_at } else { &mut full_at };
            steps[*place] = step as u16;
            *place += 1;
        }
        (shortest..longest).for_each(|step| steps[step] = step as u16);
        for step in &steps[..shape.runs] {
            words.put_pair(self.row(0)[usize::from(*step)]);
        }
        for step in &steps[shape.runs..shortest] {
            (0..self.lanes)
                .for_each(|lane| words.put_column(self.row(lane)[usize::from(*step)], shape));
        }
        for step in shortest..longest {
            let column = |lane: usize| match lane < self.rows {
                true => self.row(lane).get(step).copied(),
                false => None,
            };
            let mask = (0..self.lanes)
                .filter(|lane| column(*lane).is_some())
                .fold(0, |mask, lane| mask | 1 << lane);
            words.put_pair(mask);
            (0..self.lanes)
                .for_each(|lane| words.put_column(column(lane).unwrap_or(shape.base), shape));
        }
    }
}

/// Where words are written, one after another.
struct Words<'a> {
    words: &'a mut [u16],
    at: usize,
}

impl Words<'_> {
    fn put(&mut self, word: u16) {
        self.words[self.at] = word;
        self.at += 1;
    }

    /// As the device reads 32 bits: it shares the host's memory, and its order of bytes.
    fn put_pair(&mut self, number: u32) {
        let pair: [u16; 2] = bytemuck::cast(number);
        pair.into_iter().for_each(|word| self.put(word));
    }

    fn put_column(&mut self, column: u32, shape: &Shape) {
        if shape.is_wide {
            self.put_pair(column);
        } else {
            self.put((column - shape.base) as u16);
        }
    }
}

#[cfg(test)]
mod tests;
