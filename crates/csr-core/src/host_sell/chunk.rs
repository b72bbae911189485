//! One chunk of a matrix in sliced ELL, multiplied by one thread.
//!
//! The loops are plain ones over arrays of [`LANES`] elements. They are compiled once for each width of vectors that
//! the processor may have, with everything that is called in them, which is therefore inlined.

use prefetch_index::prefetch_index;

use super::source::{Narrow, Source, WINDOW, Wide, Window, gather, pair, zero};
use crate::plan::sell::{HEADER_WORDS, NODE_ROWS, ROWS, WIDE};
use crate::{Accumulator, Value};

/// Rows of a slice.
pub(super) const LANES: usize = 16;

type Lanes<A> = [A; LANES];

/// Short rows of at most as many nonzeros are summed without a loop, whose end no processor would foresee: a row of 5
/// takes 8 products, 3 of them for nothing, and half the time.
const FEW: usize = 8;

/// A chunk of A, x, and the rows of y that are this chunk's.
pub struct Chunk<'a, V: Value> {
    pub(super) alpha: V::Accum,
    pub(super) beta: V::Accum,
    pub(super) x: &'a [V::Accum],
    pub(super) words: &'a [u16],
    pub(super) values: &'a [V],
    pub(super) y: &'a mut [V::Accum],
}

/// Multiplies a chunk.
pub(crate) fn multiply_chunk<V: Value>(chunk: Chunk<'_, V>) {
    if has_slow_gathers() {
        with_loads(chunk);
    } else {
        with_gathers(chunk);
    }
}

/// Whether an instruction that gathers takes longer than a load for each lane: AMD's processors, which alone have
/// SSE4a.
fn has_slow_gathers() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("sse4a");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Vectors of 512 bits, for which the compiler gathers by instruction, where there are such.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl"))]
pub(super) fn with_gathers<V: Value>(chunk: Chunk<'_, V>) {
    multiversion::target::match_target! {
        "x86_64+avx512f+avx512bw+avx512dq+avx512vl" => multiply_slices(chunk),
        _ => with_loads(chunk),
    }
}

/// Vectors of 256 bits at most, for which it loads each lane. AVX2 has nothing for these loops: compiled for it they
/// are the same instructions.
#[multiversion::multiversion(targets("x86_64+avx"))]
pub(super) fn with_loads<V: Value>(chunk: Chunk<'_, V>) {
    multiply_slices(chunk);
}

#[inline(always)]
fn multiply_slices<V: Value>(chunk: Chunk<'_, V>) {
    let Chunk { alpha, beta, x, words, values, y } = chunk;
    let mut stream = Stream { words, values };
    for y in y.chunks_mut(LANES) {
        let slice = Header::read(stream.words(HEADER_WORDS));
        // A narrow column is counted from the slice's lowest. Where less of x than a window is after that, the window
        // is its end.
        let from_base = x.get(slice.base..).unwrap_or_default();
        let shift = WINDOW.saturating_sub(from_base.len());
        let window = from_base.first_chunk().or_else(|| x.last_chunk());
        let count = y.len();
        let sums = match window {
            // The compiler must see that there is an element, or it checks each column.
            _ if slice.is_wide && !x.is_empty() => {
                sums::<V, _>(&mut stream, &slice, x, Wide(x), count)
            }
            Some(window) => {
                let window = Window { x: window, shift: shift as u16 };
                sums::<V, _>(&mut stream, &slice, x, window, count)
            }
            None if from_base.is_empty() => {
                sums::<V, _>(&mut stream, &slice, x, Narrow(&[zero()]), count)
            }
            None => sums::<V, _>(&mut stream, &slice, x, Narrow(from_base), count),
        };
        for (y, sum) in y.iter_mut().zip(sums) {
            *y = if beta == zero() { alpha * sum } else { alpha * sum + beta * *y };
        }
    }
}

/// What is left of the chunk.
struct Stream<'a, V> {
    words: &'a [u16],
    values: &'a [V],
}

impl<'a, V> Stream<'a, V> {
    #[inline(always)]
    fn words(&mut self, count: usize) -> &'a [u16] {
        let (words, rest) = self.words.split_at(count);
        self.words = rest;
        words
    }

    #[inline(always)]
    fn values(&mut self, count: usize) -> &'a [V] {
        let (values, rest) = self.values.split_at(count);
        self.values = rest;
        values
    }
}

/// A slice's first words.
struct Header {
    is_strip: bool,
    is_wide: bool,
    runs: usize,
    /// Rows that have the columns of the row before, a bit each, unless it is a strip.
    shared: u16,
    full: usize,
    tail: usize,
    base: usize,
}

impl Header {
    #[inline(always)]
    fn read(words: &[u16]) -> Self {
        let [kind, runs, full, tail] = [0, 1, 2, 3].map(|at| words[at]);
        let shared = runs;
        let [runs, full, tail] = [runs, full, tail].map(usize::from);
        let base = pair(&words[4..]) as usize;
        Header {
            is_strip: kind & ROWS == 0,
            is_wide: kind & WIDE != 0,
            runs,
            shared,
            full,
            tail,
            base,
        }
    }
}

/// Prefetch distances in bytes of values and words: as on CPU devices, and for their reasons
/// (`cl/item/prefetch.h`).
const VALUES_PREFETCH_DISTANCE: usize = 1024;
const WORDS_PREFETCH_DISTANCE: usize = 512;

/// Prefetches the lines of as many elements, `bytes` after `these`.
#[inline(always)]
fn prefetch<T>(these: &[T], bytes: usize) {
    const LINE_BYTES: usize = 64;
    for line in 0..size_of_val(these).div_ceil(LINE_BYTES) {
        prefetch_index(these, (bytes + LINE_BYTES * line) / size_of::<T>());
    }
}

/// Prefetches what is read some iterations later, where this iteration reads `values` and `words`.
#[inline(always)]
fn prefetch_iteration<V>(values: &[V], words: &[u16]) {
    prefetch(values, VALUES_PREFETCH_DISTANCE);
    prefetch(words, WORDS_PREFETCH_DISTANCE);
}

/// Adds an iteration's products.
#[inline(always)]
fn add_products<V: Value, const COUNT: usize>(
    sums: &mut [V::Accum; COUNT],
    values: &[V; COUNT],
    x: &[V::Accum; COUNT],
) {
    for ((sum, value), x) in sums.iter_mut().zip(values).zip(x) {
        *sum += value.to_accum() * *x;
    }
}

/// The sums of a slice's `count` rows.
#[inline(always)]
fn sums<V: Value, S: Source<V::Accum>>(
    stream: &mut Stream<'_, V>,
    slice: &Header,
    x: &[V::Accum],
    source: S,
    count: usize,
) -> Lanes<V::Accum> {
    if slice.is_strip {
        strip::<V, S>(stream, slice, x, source)
    } else {
        rows::<V, S>(stream, slice, source, count)
    }
}

/// Those of a strip, a lane each. Columns of runs are counted in `x`, others in `source`.
#[inline(always)]
fn strip<V: Value, S: Source<V::Accum>>(
    stream: &mut Stream<'_, V>,
    slice: &Header,
    x: &[V::Accum],
    source: S,
) -> Lanes<V::Accum> {
    let mut sums = [zero(); LANES];
    let run_words = stream.words(2 * slice.runs);
    let run_values = stream.values(LANES * slice.runs);
    for (words, values) in run_words.chunks_exact(2).zip(run_values.as_chunks().0) {
        let its_x = x.get(pair(words) as usize..).and_then(|x| x.first_chunk());
        if let Some(its_x) = its_x {
            prefetch_iteration(values, words);
            add_products(&mut sums, values, its_x);
        }
    }
    let full_words = stream.words(S::WORDS * LANES * slice.full);
    let full_values = stream.values(LANES * slice.full);
    let full = full_words.chunks_exact(S::WORDS * LANES).zip(full_values.as_chunks().0);
    for (words, values) in full {
        prefetch_iteration(values, words);
        add_products(&mut sums, values, &gather(source, words));
    }
    let tail_words = stream.words((2 + S::WORDS * LANES) * slice.tail);
    let tail_values = stream.values(LANES * slice.tail);
    let tail = tail_words.chunks_exact(2 + S::WORDS * LANES).zip(tail_values.as_chunks().0);
    for (words, values) in tail {
        let mask = pair(words);
        let mut its_x = gather(source, &words[2..]);
        // Padding must not make a NaN of an infinity of x.
        for (lane, x) in its_x.iter_mut().enumerate() {
            *x = if mask >> lane & 1 != 0 { *x } else { zero() };
        }
        prefetch_iteration(values, words);
        add_products(&mut sums, values, &its_x);
    }
    sums
}

/// Those of rows that lie one after another, [`LANES`] products of a row at a time.
#[inline(always)]
fn rows<V: Value, S: Source<V::Accum>>(
    stream: &mut Stream<'_, V>,
    slice: &Header,
    source: S,
    count: usize,
) -> Lanes<V::Accum> {
    let mut totals = [zero(); LANES];
    let lengths = stream.words(2 * count);
    let mut stored = 0;
    let mut row = 0;
    while row < count {
        let length = pair(&lengths[2 * row..]) as usize;
        stored += length;
        let rows_of_node = 1 + (u32::from(slice.shared) >> (row + 1)).trailing_ones() as usize;
        let totals = &mut totals[row..];
        match rows_of_node {
            1 => match short_row(stream, source, length) {
                Some(sum) => {
                    totals[0] = sum;
                    stream.values(length);
                    stream.words(S::WORDS * length);
                }
                None => node::<V, S, 1>(stream, source, length, totals),
            },
            2 => node::<V, S, 2>(stream, source, length, totals),
            3 => node::<V, S, 3>(stream, source, length, totals),
            _ => node::<V, S, NODE_ROWS>(stream, source, length, totals),
        }
        row += rows_of_node;
    }
    // 32-bit numbers lie at even words.
    stream.words((S::WORDS * stored) & 1);
    totals
}

/// Those of a node: of COUNT rows of `length` nonzeros that have the same columns. An element of x is loaded once for
/// all.
#[inline(always)]
fn node<V: Value, S: Source<V::Accum>, const COUNT: usize>(
    stream: &mut Stream<'_, V>,
    source: S,
    length: usize,
    totals: &mut [V::Accum],
) {
    // Sums that registers hold: of several rows, or of one row in several vectors that do not wait for one another.
    if COUNT == 1 {
        node_by_parts::<V, S, COUNT, LANES>(stream, source, length, totals);
    } else {
        node_by_parts::<V, S, COUNT, { LANES / 2 }>(stream, source, length, totals);
    }
}

/// The same, PART lanes of an iteration at a time.
#[inline(always)]
fn node_by_parts<V: Value, S: Source<V::Accum>, const COUNT: usize, const PART: usize>(
    stream: &mut Stream<'_, V>,
    source: S,
    length: usize,
    totals: &mut [V::Accum],
) {
    let (iterations, rest) = (length / LANES, length % LANES);
    let whole_values = stream.values(COUNT * LANES * iterations);
    let whole_words = stream.words(S::WORDS * LANES * iterations);
    let mut sums = [[zero(); PART]; COUNT];
    let iteration_words = whole_words.chunks_exact(S::WORDS * LANES);
    for (words, values) in iteration_words.zip(whole_values.chunks_exact(COUNT * LANES)) {
        prefetch_iteration(values, words);
        for (part, words) in words.chunks_exact(S::WORDS * PART).enumerate() {
            let x = gather(source, words);
            for (sums, row) in sums.iter_mut().zip(values.as_chunks::<LANES>().0) {
                add_products(sums, &row.as_chunks::<PART>().0[part], &x);
            }
        }
    }
    let rest_values: [&[V]; COUNT] = std::array::from_fn(|_| stream.values(rest));
    let mut rest_sums = [zero::<V::Accum>(); COUNT];
    let rest_words = stream.words(S::WORDS * rest);
    for (at, words) in rest_words.chunks_exact(S::WORDS).enumerate() {
        let x = source.element(words);
        for (sum, row) in rest_sums.iter_mut().zip(&rest_values) {
            *sum += row[at].to_accum() * x;
        }
    }
    for ((total, sums), rest) in totals.iter_mut().zip(sums).zip(rest_sums) {
        *total = if iterations == 0 { rest } else { add_lanes(in_order(sums)) + rest };
    }
}

/// The sum of the next row, if it is a short one of which as many as [`FEW`] nonzeros may be read: those after it
/// count nothing.
#[inline(always)]
fn short_row<V: Value, S: Source<V::Accum>>(
    stream: &Stream<'_, V>,
    source: S,
    length: usize,
) -> Option<V::Accum> {
    if !S::NAMES_ANY || length > FEW {
        return None;
    }
    let values = stream.values.first_chunk::<FEW>()?;
    let words = stream.words.get(..S::WORDS * FEW)?;
    let mut sums = [zero::<V::Accum>(); FEW];
    let iterations = values.iter().zip(words.chunks_exact(S::WORDS)).enumerate();
    for (sum, (lane, (value, words))) in sums.iter_mut().zip(iterations) {
        let product = value.to_accum() * source.element(words);
        *sum = if lane < length { product } else { zero() };
    }
    Some(add_lanes(sums))
}

/// Sums as they are. The compiler is told that they lie in memory, lane by lane, before they are added up: else it
/// arranges the lanes of the loop before by the order in which these are added, and permutes every load.
#[inline(always)]
fn in_order<A: Accumulator, const COUNT: usize>(sums: [A; COUNT]) -> [A; COUNT] {
    std::hint::black_box(sums)
}

/// Their sum, by halves.
#[inline(always)]
fn add_lanes<A: Accumulator, const COUNT: usize>(mut sums: [A; COUNT]) -> A {
    let mut width = COUNT / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}
