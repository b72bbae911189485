//! `spgemm_sets`: rows of C for CPU devices, an item each, with a set of columns an item (`cl/spgemm/spgemm_sets.cl`).

use csr_core::{OffsetType, ValueType};

use crate::arguments::arguments;
use crate::parameters::parameters;
use crate::{Accumulate, Array, KernelKey};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_sets.cl";

parameters! {
    /// Parameters of `spgemm_sets`.
    pub struct SpgemmSets for "spgemm_sets" {
        /// Rows an item takes at a time.
        chunk_rows: [4, 16, 64],
    }
}

impl Default for SpgemmSets {
    /// Few, as rows may take very different times.
    fn default() -> Self {
        SpgemmSets { chunk_rows: 16 }
    }
}

/// The program of both passes, which prefetches rows of B or not.
pub fn key((value_type, offset_type): (ValueType, OffsetType), prefetches: bool) -> KernelKey {
    let parameters = SpgemmSets::default();
    KernelKey::new(SOURCE, value_type, offset_type, Accumulate::Plain, false, &parameters)
        .prefetching(prefetches)
}

/// 64-bit words of a set of so many columns: two for 64 columns, one for each 64 of these, and one for each 64 of those;
/// a multiple of what a core's caches move at once, so that no two items write to the same.
pub fn set_words(cols: usize) -> usize {
    let columns = cols.div_ceil(64).max(1);
    let filled = columns.div_ceil(64);
    (2 * columns + filled + filled.div_ceil(64)).next_multiple_of(16)
}

arguments! {
    /// Arguments of the kernel `count_in_sets`.
    pub struct CountArguments<M> for "count_in_sets" {
        /// Rows of A and C.
        rows: u32,
        /// Columns of B and C.
        cols: u32,
        /// Words of a set: [`set_words`].
        set_words: u64,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Row offsets of B.
        b_offsets: Array<M>,
        /// Columns of B, in any order.
        b_columns: Array<M>,
        /// One word, 0 before: how often items took rows.
        cursor: Array<M>,
        /// A set an item: `set_words` each.
        sets: Array<M>,
        /// The result: the entries of each row of C.
        counts: Array<M>,
        /// The result, 0 before: low and high word of the number of products.
        product_words: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `fill_from_sets`.
    pub struct FillArguments<M> for "fill_from_sets" {
        /// Rows of A and C.
        rows: u32,
        /// Columns of B and C.
        cols: u32,
        /// Words of a set: [`set_words`].
        set_words: u64,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Values of A.
        a_values: Array<M>,
        /// Row offsets of B.
        b_offsets: Array<M>,
        /// Columns of B, in any order.
        b_columns: Array<M>,
        /// Values of B.
        b_values: Array<M>,
        /// One word, 0 before: how often items took rows.
        cursor: Array<M>,
        /// A set an item: `set_words` each.
        sets: Array<M>,
        /// Row offsets of C: rows + 1.
        c_offsets: Array<M>,
        /// The result: columns of C.
        c_columns: Array<M>,
        /// The result: values of C.
        c_values: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::gpu;
    use crate::{DeviceTraits, DeviceType, Tables};

    #[test]
    fn rows_of_b_are_prefetched_where_a_processor_computes() {
        let options = |platform: &str| {
            let platform = platform.to_owned();
            let device = DeviceTraits { device_type: DeviceType::Cpu, platform, ..gpu() };
            let prefetches = Tables::untuned().prefetches(&device);
            key((ValueType::F32, OffsetType::U32), prefetches).build_options()
        };
        assert!(options("Portable Computing Language").contains("-DPREFETCH"));
        assert!(!options("Oclgrind").contains("-DPREFETCH"));
    }

    #[test]
    fn a_set_has_words_for_its_columns_and_two_levels_above() {
        assert_eq!(set_words(0), 16);
        // 7 words and 6 more.
        assert_eq!(set_words(64 * 6), 16);
        // 64 x 64 pairs, 64 and 1.
        assert_eq!(set_words(64 * 64 * 64), (2 * 4096 + 64 + 1usize).next_multiple_of(16));
        assert_eq!(set_words(64 * 64 * 64 + 1), (2 * 4097 + 65 + 2usize).next_multiple_of(16));
    }
}
