//! `row_lengths`: what rules ask of row lengths (`cl/format/row_lengths.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/row_lengths.cl";

/// Words of the result: the longest row, low and high word of what rows take in step, and changes of length.
pub const WORDS: usize = 4;

parameters! {
    /// Parameters of `row_lengths`.
    pub struct RowLengthsKernel for "row_lengths" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `row_lengths`.
    pub struct Arguments<M> for "row_lengths" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The result, 0 before: [`WORDS`] words.
        lengths: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernel_looks_at_as_many_rows_in_step_as_the_host() {
        let source = crate::kernel_source(super::SOURCE).unwrap();
        assert!(source.contains(&format!("#define BUNDLE {} ", csr_core::RowLengths::BUNDLE)));
    }
}
