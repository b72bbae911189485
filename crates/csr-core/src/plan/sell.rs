//! Sliced ELL for CPU devices (`cl/spmv/sell.cl`): how a pattern is laid out in slices, and slices in chunks.
//!
//! A slice is [`SellRules::slice_rows`] neighbouring rows. It is a strip, padded to its longest row, where that makes at
//! most a quarter more of it, or as much again if no row has more than 8 nonzeros; otherwise its rows lie one after
//! another. So they do where rows of [`SellRules::slice_rows`] nonzeros or more share their columns with others, as the
//! unknowns of a mesh's node do, so that half of the columns at most are left: two to four such rows are a node, whose
//! columns are stored once. Everything but values is in one stream of 16-bit words, in the order in which the kernel
//! reads it:
//!
//! | what | words |
//! |---|---|
//! | header of a strip | kind, runs, full iterations, iterations of the tail, lowest column (2) |
//! | header of rows | kind, which rows have the columns of the row before (a bit each), 0, 0, lowest column (2) |
//! | strip: each run | the first row's column (2) |
//! | strip: each full iteration | a column of each row (1 or 2 each) |
//! | strip: each iteration of the tail | which rows have a nonzero, a bit each (2); a column of each row (1 or 2 each) |
//! | rows: lengths | 2 each |
//! | rows: columns, of a node once | 1 or 2 each, then up to an even index |
//!
//! The values of a node are interleaved, as many of each of its rows as a slice has rows, then what is left of each.
//! Columns take one word, counted from the slice's lowest, where they fit; what takes two lies at an even index.
//!
//! Kreutzer, Hager, Wellein, Fehske and Bishop, "A unified sparse matrix data format" (2014), without its sorting:
//! rows keep their order, so neither x nor y is permuted.

mod slice;

use bytemuck::Pod;

use crate::check::check_length;
use crate::memory::{with_capacity, zeroed};
use crate::parallel;
use crate::{Error, Offset, PatternView, Result};
use slice::{Shape, Slice};

/// 16-bit words of a slice's header.
pub(crate) const HEADER_WORDS: usize = 6;
/// In a header's first word: columns take two words.
pub(crate) const WIDE: u16 = 1;
/// In a header's first word: rows lie one after another.
pub(crate) const ROWS: u16 = 2;
/// The most rows of a node: what vector registers hold the sums of.
pub(crate) const NODE_ROWS: usize = 4;
/// Slices that one task of the host looks at.
const SLICES_A_TASK: usize = 4096;

/// How a pattern is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SellRules {
    /// Rows of a slice: 4, 8 or 16.
    pub slice_rows: u32,
    /// Chunks, each an item's share: as many, or fewer where there are not so many slices.
    pub chunks: u32,
}

/// Where a chunk begins, as the kernel reads it (`cl/spmv/sell_slice.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct SellChunk {
    /// Its first value.
    pub value: u64,
    /// Its first word.
    pub word: u64,
    /// Its first iteration.
    pub iteration: u64,
    /// Its first slice.
    pub slice: u32,
    /// 0.
    pub unused: u32,
}

/// How a pattern lies in slices, and how much memory that takes.
#[derive(Clone, Debug)]
pub struct SellLayout<'a, O> {
    pattern: PatternView<'a, O>,
    slice_rows: u32,
    shapes: Vec<Shape>,
    chunks: Vec<SellChunk>,
    size: Size,
}

impl<'a, O: Offset> SellLayout<'a, O> {
    /// Lays out a pattern. `value_bytes` is what a value takes, by which chunks are made equal.
    ///
    /// # Errors
    /// Slices of other numbers of rows than 4, 8 and 16, no chunks, or no memory.
    pub fn new(pattern: PatternView<'a, O>, rules: SellRules, value_bytes: usize) -> Result<Self> {
        let SellRules { slice_rows, chunks } = rules;
        if chunks == 0 {
            let what = "the number of chunks";
            return Err(Error::TooSmall { what, value: 0, limit: 1 });
        }
        let shapes = match slice_rows {
            4 => shapes::<O, 4>(pattern)?,
            8 => shapes::<O, 8>(pattern)?,
            16 => shapes::<O, 16>(pattern)?,
            other => return Err(wrong_rows(other)),
        };
        let mut ends = with_capacity("the ends of sliced ELL's slices", shapes.len())?;
        let mut size = Size::default();
        for shape in &shapes {
            size = size + shape.size;
            ends.push(size);
        }
        let chunks = cut(&ends, chunks as usize, value_bytes);
        Ok(SellLayout { pattern, slice_rows, shapes, chunks, size })
    }

    /// Where each chunk begins, and after them an entry that ends the last.
    pub fn chunks(&self) -> &[SellChunk] {
        &self.chunks
    }

    /// Whether every slice is a strip, and no rows lie one after another.
    pub fn is_all_strips(&self) -> bool {
        self.shapes.iter().all(|shape| shape.is_strip)
    }

    /// Whether every column is stored in 16 bits.
    pub fn is_all_narrow(&self) -> bool {
        self.shapes.iter().all(|shape| !shape.is_wide)
    }

    /// How many words the kernel reads besides values.
    pub fn words(&self) -> usize {
        self.size.words
    }

    /// Iterations over all strips.
    pub fn iterations(&self) -> usize {
        self.size.iterations
    }

    /// Values, padding included.
    pub fn elements(&self) -> usize {
        self.size.values
    }

    /// Writes what the kernel reads besides values into `words`, and into `nonzero_order` which nonzero of its row each
    /// iteration over a strip takes, strip by strip.
    ///
    /// # Errors
    /// Arrays of other lengths than [`SellLayout::words`] and [`SellLayout::iterations`].
    pub fn fill(&self, words: &mut [u16], nonzero_order: &mut [u16]) -> Result<()> {
        for (what, found, expected) in [
            ("the array of sliced ELL's words", words.len(), self.words()),
            ("the array of sliced ELL's order of nonzeros", nonzero_order.len(), self.iterations()),
        ] {
            check_length(what, found, expected)?;
        }
        match self.slice_rows {
            4 => self.fill_lanes::<4>(words, nonzero_order),
            8 => self.fill_lanes::<8>(words, nonzero_order),
            16 => self.fill_lanes::<16>(words, nonzero_order),
            other => return Err(wrong_rows(other)),
        }
        Ok(())
    }

    fn fill_lanes<const LANES: usize>(&self, mut words: &mut [u16], mut nonzero_order: &mut [u16]) {
        let mut shares = Vec::new();
        for chunk in self.chunks.windows(2) {
            let (own, rest) = words.split_at_mut((chunk[1].word - chunk[0].word) as usize);
            words = rest;
            let (own_order, rest) =
                nonzero_order.split_at_mut((chunk[1].iteration - chunk[0].iteration) as usize);
            nonzero_order = rest;
            shares.push((chunk[0].slice as usize..chunk[1].slice as usize, own, own_order));
        }
        parallel::for_each(&mut shares, |(slices, words, nonzero_order)| {
            let (mut words, mut nonzero_order) = (&mut **words, &mut **nonzero_order);
            for number in slices.clone() {
                let shape = &self.shapes[number];
                let (own, rest) = words.split_at_mut(shape.size.words);
                words = rest;
                let (own_order, rest) = nonzero_order.split_at_mut(shape.size.iterations);
                nonzero_order = rest;
                let slice = Slice::<LANES>::new(self.pattern, number);
                slice.write(shape, own, own_order);
            }
        });
    }

    /// Words and the order of nonzeros as [`SellLayout::fill`] writes them, in arrays of their own.
    ///
    /// # Errors
    /// No memory for them.
    pub fn filled(&self) -> Result<(Vec<u16>, Vec<u16>)> {
        let mut words = zeroed("sliced ELL's words", self.words())?;
        let mut nonzero_order = zeroed("sliced ELL's order of nonzeros", self.iterations())?;
        self.fill(&mut words, &mut nonzero_order)?;
        Ok((words, nonzero_order))
    }

    /// Writes the matrix's values, or what stands for them, into `target` as strips and rows have them, padding as 0;
    /// `nonzero_order` is what [`SellLayout::fill`] wrote.
    ///
    /// # Errors
    /// Arrays of other lengths than the pattern's nonzeros, [`SellLayout::iterations`] and [`SellLayout::elements`].
    pub fn fill_values<V: Pod + Send + Sync>(
        &self,
        values: &[V],
        nonzero_order: &[u16],
        target: &mut [V],
    ) -> Result<()> {
        for (what, found, expected) in [
            ("the array of values", values.len(), self.pattern.nnz()),
            ("the array of sliced ELL's order of nonzeros", nonzero_order.len(), self.iterations()),
            ("the array of sliced ELL's values", target.len(), self.elements()),
        ] {
            check_length(what, found, expected)?;
        }
        match self.slice_rows {
            4 => self.fill_lanes_of_values::<V, 4>(values, nonzero_order, target),
            8 => self.fill_lanes_of_values::<V, 8>(values, nonzero_order, target),
            16 => self.fill_lanes_of_values::<V, 16>(values, nonzero_order, target),
            other => return Err(wrong_rows(other)),
        }
        Ok(())
    }

    fn fill_lanes_of_values<V: Pod + Send + Sync, const LANES: usize>(
        &self,
        values: &[V],
        nonzero_order: &[u16],
        mut target: &mut [V],
    ) {
        let mut shares = Vec::new();
        for chunk in self.chunks.windows(2) {
            let (own, rest) = target.split_at_mut((chunk[1].value - chunk[0].value) as usize);
            target = rest;
            let nonzero_order =
                &nonzero_order[chunk[0].iteration as usize..chunk[1].iteration as usize];
            shares.push((chunk[0].slice as usize..chunk[1].slice as usize, nonzero_order, own));
        }
        parallel::for_each(&mut shares, |(slices, nonzero_order, target)| {
            let (mut nonzero_order, mut target) = (&**nonzero_order, &mut **target);
            for number in slices.clone() {
                let shape = &self.shapes[number];
                let (own_order, rest) = nonzero_order.split_at(shape.size.iterations);
                nonzero_order = rest;
                let (own, rest) = target.split_at_mut(shape.size.values);
                target = rest;
                Slice::<LANES>::new(self.pattern, number)
                    .write_values(shape, own_order, values, own);
            }
        });
    }
}

/// What becomes of each slice.
fn shapes<O: Offset, const LANES: usize>(pattern: PatternView<'_, O>) -> Result<Vec<Shape>> {
    let slices = pattern.rows().div_ceil(LANES);
    let mut shapes = with_capacity("the slices of sliced ELL", slices)?;
    shapes.resize(slices, Shape::default());
    parallel::for_each_chunk(&mut shapes, SLICES_A_TASK, |first, shapes| {
        for (at, shape) in shapes.iter_mut().enumerate() {
            let slice = Slice::<LANES>::new(pattern, first + at);
            *shape = slice.shape();
        }
    });
    Ok(shapes)
}

fn wrong_rows(slice_rows: u32) -> Error {
    let (what, value) = ("slice_rows", u64::from(slice_rows));
    Error::NoneOf { what, value, allowed: "4, 8 and 16" }
}

/// What a slice, or all before its end, take of each stream.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    values: usize,
    words: usize,
    iterations: usize,
}

impl std::ops::Add for Size {
    type Output = Size;

    fn add(self, other: Size) -> Size {
        Size {
            values: self.values + other.values,
            words: self.words + other.words,
            iterations: self.iterations + other.iterations,
        }
    }
}

/// Cuts slices, whose ends are given, into `count` chunks of about equal bytes.
fn cut(ends: &[Size], count: usize, value_bytes: usize) -> Vec<SellChunk> {
    let bytes = |end: &Size| end.values * value_bytes + end.words * 2;
    let total = ends.last().map_or(0, bytes) as u128;
    let count = count.min(ends.len());
    let start = |slice: usize| {
        let before = if slice == 0 { Size::default() } else { ends[slice - 1] };
        SellChunk {
            value: before.values as u64,
            word: before.words as u64,
            iteration: before.iterations as u64,
            slice: slice as u32,
            unused: 0,
        }
    };
    let mut chunks: Vec<_> = (0..count)
        .map(|chunk| {
            let boundary = (total * chunk as u128 / count as u128) as usize;
            start(if chunk == 0 { 0 } else { ends.partition_point(|end| bytes(end) <= boundary) })
        })
        .collect();
    chunks.push(start(ends.len()));
    chunks
}

#[cfg(test)]
mod tests;
