//! The host's product by a copy of the matrix in sliced ELL: what CPU devices run as `sell`, without OpenCL.

mod chunk;
mod source;

use rayon::prelude::*;

use crate::check::check_length;
use crate::memory::zeroed;
use crate::plan::sell::{SellChunk, SellLayout, SellRules};
use crate::{AnyPatternView, CsrView, Offset, Result, Value, for_pattern};
use chunk::LANES;
pub(crate) use chunk::{Chunk, multiply_chunk};

/// Chunks are dealt to threads as these get done; enough of them that the last ones are short.
const CHUNKS: u32 = 64;

/// A matrix, copied into sliced ELL ([`crate::plan::sell`]) for many products on the host.
///
/// Rows of similar length lie in strips of 16, a vector's lane each; where the rows' columns are neighbours, one column
/// stands for all; other columns take 16 bits where they fit, and rows that share their columns, as the unknowns of a
/// mesh's node do, store them once. So a nonzero of a grid takes 4.3 bytes in f32 instead of 8, of such a mesh 4.8,
/// and of most others 6. The copy takes as many bytes besides the matrix, and as long to make as
/// some 3 to 60 products. Rows are never cut: one that is longer than a thread's share holds the others up.
///
/// y has the same bits at every call, whatever the number of threads: a row's sum depends on its slice alone. The
/// sum's order is not [`crate::product`]'s.
#[derive(Clone, Debug)]
pub struct HostSell<V> {
    rows: usize,
    cols: usize,
    chunks: Vec<SellChunk>,
    words: Vec<u16>,
    values: Vec<V>,
}

impl<V: Value> HostSell<V> {
    /// Copies `a`.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new<O: Offset>(a: CsrView<'_, V, O>) -> Result<Self> {
        V::copy_into_sell(a.pattern().into(), a.values())
    }

    /// Bytes of the copy.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.chunks) + size_of_val(&*self.words) + size_of_val(&*self.values)
    }

    /// Computes y = alpha A x + beta y in the accumulator type, as [`crate::product`] does, parallel over chunks.
    ///
    /// # Errors
    /// x is not `cols` long, or y not `rows`.
    pub fn product(
        &self,
        alpha: V::Accum,
        x: &[V::Accum],
        beta: V::Accum,
        y: &mut [V::Accum],
    ) -> Result<()> {
        self.product_by(V::multiply_chunk, alpha, x, beta, y)
    }

    /// The same by one of the forms that the product of a chunk is compiled in.
    fn product_by(
        &self,
        multiply: impl Fn(Chunk<'_, V>) + Sync + Send,
        alpha: V::Accum,
        x: &[V::Accum],
        beta: V::Accum,
        mut y: &mut [V::Accum],
    ) -> Result<()> {
        check_length("x", x.len(), self.cols)?;
        check_length("y", y.len(), self.rows)?;
        let mut chunks = Vec::with_capacity(self.chunks.len());
        for bounds in self.chunks.windows(2) {
            let [from, to] = [&bounds[0], &bounds[1]];
            let rows = (to.slice - from.slice) as usize * LANES;
            let (own, rest) = y.split_at_mut(rows.min(y.len()));
            y = rest;
            chunks.push(Chunk {
                alpha,
                beta,
                x,
                words: &self.words[from.word as usize..to.word as usize],
                values: &self.values[from.value as usize..to.value as usize],
                y: own,
            });
        }
        chunks.into_par_iter().with_max_len(1).for_each(multiply);
        Ok(())
    }
}

/// Copies a matrix: its pattern, and a value for each nonzero.
pub(crate) fn copy_into_sell<V: Value>(
    pattern: AnyPatternView<'_>,
    values: &[V],
) -> Result<HostSell<V>> {
    let rules = SellRules { slice_rows: LANES as u32, chunks: CHUNKS };
    for_pattern!(pattern, pattern => {
        let layout = SellLayout::new(pattern, rules, size_of::<V>())?;
        let (words, nonzero_order) = layout.filled()?;
        let mut copied = zeroed("sliced ELL's values", layout.elements())?;
        layout.fill_values(values, &nonzero_order, &mut copied)?;
        let chunks = layout.chunks().to_vec();
        let (rows, cols) = (pattern.rows(), pattern.cols());
        Ok(HostSell { rows, cols, chunks, words, values: copied })
    })
}

#[cfg(test)]
mod tests;
