//! `segmented_sum`: equal nonzeros an item, rows put together afterwards (`cl/spmv/segmented_sum.cl`;
//! Liu and Vinter 2015).

use csr_core::ValueType;

use crate::arguments::arguments;
use crate::parameters::parameters;
use crate::{Accumulate, Array, DeviceTraits, DeviceType, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/segmented_sum.cl";

/// Most rows of a range that stage 2 looks at as one (`PIECE_ROWS`).
pub const PIECE_ROWS: usize = 2048;

/// Compiles one launch without a second stage (`cl/spmv/segmented_sum_fused.h`).
pub const FEATURE_FUSED: &str = "FUSED";

/// 32-bit words of the workspace of [`FEATURE_FUSED`]: for each group two accumulators of `sum_words` words that
/// travel to other groups, and a counter.
pub fn fused_words(groups: usize, sum_words: usize) -> usize {
    groups * (2 * sum_words + 1)
}

/// What stage 1 leaves for stage 2 and where it lies, in 32-bit words: the kernels' `left_over_t`.
///
/// One after another: `heads` and `tails`, an accumulator a bunch each; `borders`, two; `speculator`, ranges
/// of rows of two words; `head_rows`, a word a bunch and one more; `counters`, three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceLayout {
    /// Bunches.
    pub bunches: usize,
    /// Ranges of rows there is room for.
    pub capacity: usize,
    /// Words of an accumulator.
    pub sum_words: usize,
}

impl WorkspaceLayout {
    /// The first word of the tails; heads come first.
    pub fn tails(&self) -> usize {
        self.bunches * self.sum_words
    }

    /// The first word of the two borders: what a piece of a matrix has of the row it begins in the middle
    /// of, and of the row that goes on behind it.
    pub fn borders(&self) -> usize {
        2 * self.bunches * self.sum_words
    }

    /// The first word of the ranges: misplaced ones from the front, left ones from the back.
    pub fn speculator(&self) -> usize {
        self.borders() + 2 * self.sum_words
    }

    /// The first of the rows that heads belong to.
    pub fn head_rows(&self) -> usize {
        self.speculator() + 2 * self.capacity
    }

    /// The first of the counters: misplaced ranges, left ranges, arrivals of stage 2.
    pub fn counters(&self) -> usize {
        self.head_rows() + self.bunches + 1
    }

    /// Words of all of it.
    pub fn words(&self) -> usize {
        self.counters() + 3
    }
}

parameters! {
    /// Parameters of `segmented_sum` (the paper's Table 1: T, W, S, B).
    pub struct SegmentedSum for "segmented_sum" {
        /// T: items that share a tile, as many as the device runs in step: a power of two, 4 to 64.
        bunch_size: [4, 8, 16, 32, 64],
        /// W: nonzeros of a tile for each of its items: 1 to 32.
        nnz_per_item: [4, 8, 12, 16, 20, 24],
        /// S: tiles a bunch takes one after another, at most: 1 to 64. Fewer where a matrix has so few tiles
        /// that the device would not be full.
        tiles_per_bunch: [1, 2, 4, 6, 8, 12],
        /// B: bunches of a work-group.
        bunches_per_group: [1, 2, 4, 5, 8, 16],
    }
}

impl SegmentedSum {
    /// Sane values for a device nothing is known of but its SIMD width: near those of the paper's Table 1, with
    /// fewer bunches where local memory or groups are small.
    pub fn default_for(
        device: &DeviceTraits,
        value_type: ValueType,
        accumulate: Accumulate,
    ) -> Self {
        let bunch_size = 1 << device.simd_width.clamp(8, 64).ilog2();
        let mut parameters = Self::usual(bunch_size);
        if device.device_type == DeviceType::Cpu && accumulate == Accumulate::Compensated {
            // Intel's compiler may crash on more of these, unrolled (docs/portability.md, "Intel's CPU runtime").
            parameters.nnz_per_item = 4;
        }
        while parameters.bunches_per_group > 1
            && parameters.check(device, value_type, accumulate).is_err()
        {
            parameters.bunches_per_group /= 2;
        }
        parameters
    }

    /// For items that run in step by `bunch_size`: groups of 128, or of eight bunches.
    pub(crate) fn usual(bunch_size: u32) -> Self {
        SegmentedSum {
            bunch_size,
            nnz_per_item: 8,
            tiles_per_bunch: 8,
            bunches_per_group: (128 / bunch_size).clamp(1, 8),
        }
    }

    /// Items of a work-group.
    pub fn group_size(&self) -> usize {
        self.bunch_size as usize * self.bunches_per_group as usize
    }

    /// Nonzeros of a tile.
    pub fn tile(&self) -> usize {
        self.bunch_size as usize * self.nnz_per_item as usize
    }

    /// Checks the parameters against the kernel's rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
        accumulate: Accumulate,
    ) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "segmented_sum";
        let refuse = |name, value: u32, rule: String| {
            let value = u64::from(value);
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        if !self.bunch_size.is_power_of_two() || !(4..=64).contains(&self.bunch_size) {
            let rule = "it must be a power of two, 4 to 64".to_owned();
            return refuse("bunch_size", self.bunch_size, rule);
        }
        if !(1..=32).contains(&self.nnz_per_item) {
            let rule = "it must be 1 to 32, the bits of a word".to_owned();
            return refuse("nnz_per_item", self.nnz_per_item, rule);
        }
        if !(1..=64).contains(&self.tiles_per_bunch) {
            return refuse(
                "tiles_per_bunch",
                self.tiles_per_bunch,
                "it must be 1 to 64".to_owned(),
            );
        }
        let most = device.max_group_size / u64::from(self.bunch_size);
        if !(1..=most).contains(&u64::from(self.bunches_per_group)) {
            let rule = format!(
                "{} allows groups of {} items: 1 to {most} bunches of {}",
                device.name, device.max_group_size, self.bunch_size
            );
            return refuse("bunches_per_group", self.bunches_per_group, rule);
        }
        // Products with a place between items, and leads; for a bunch its head and its tail. Two words an item;
        // for a tile its row, the row's rest, a mark, and one for each of its items; for a bunch its row, and a
        // few for the group.
        let items = self.group_size() as u64;
        let bunches = u64::from(self.bunches_per_group);
        let sums = items * (u64::from(self.nnz_per_item) + 2) + 2 * bunches;
        let tiles = bunches * u64::from(self.tiles_per_bunch);
        let words = 2 * items + tiles * (u64::from(self.bunch_size) + 3) + bunches + 20;
        // As sums of f32, two of which a sum of f64 has room for.
        let words_as_sums = words / (value_type.accumulator().size_bytes() as u64 / 4) + 1;
        device.check_local_sums(
            ALGORITHM,
            "nnz_per_item",
            sums + words_as_sums,
            value_type,
            accumulate,
        )
    }
}

arguments! {
    /// Arguments of the kernel `segmented_sum`: stage 1.
    pub struct Arguments<M> for "segmented_sum" {
        /// Rows of A.
        rows: u32,
        /// Nonzeros of A.
        nnz: u64,
        /// The first tile of the matrix that is computed.
        first_tile: u32,
        /// How many tiles are.
        tiles: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
        /// Tiles a bunch takes: the parameter of that name, or fewer.
        tiles_per_bunch: u32,
        /// Bunches that there is room for.
        room: u32,
        /// Ranges of rows that there is room for.
        capacity: u32,
        /// 0, which the compiler must not know: it ties the order of atomics to data.
        zero: u32,
        /// What is left for stage 2, as [`WorkspaceLayout`] says.
        scratch: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `segmented_sum_stage2`.
    pub struct Stage2Arguments<M> for "segmented_sum_stage2" {
        /// Tiles of stage 1.
        tiles: u32,
        /// Tiles of a bunch.
        tiles_per_bunch: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
        /// Bunches that there is room for.
        room: u32,
        /// Ranges of rows that there is room for.
        capacity: u32,
        /// 0, which the compiler must not know: it ties the order of atomics to data.
        zero: u32,
        /// As stage 1 left it; counters are 0 afterwards.
        scratch: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::gpu;

    #[test]
    fn the_defaults_fit_every_simd_width_and_type() {
        for simd_width in [1, 4, 8, 16, 32, 64, 128] {
            let device = DeviceTraits { simd_width, local_bytes: 32 << 10, ..gpu() };
            for value_type in ValueType::ALL {
                for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
                    let parameters = SegmentedSum::default_for(&device, value_type, accumulate);
                    assert_eq!(parameters.check(&device, value_type, accumulate), Ok(()));
                }
            }
        }
    }

    #[test]
    fn compensated_sums_on_a_cpu_stay_below_what_crashes_a_compiler() {
        let device = DeviceTraits { device_type: DeviceType::Cpu, simd_width: 16, ..gpu() };
        let items = |device: &DeviceTraits, accumulate| {
            SegmentedSum::default_for(device, ValueType::F64, accumulate).nnz_per_item
        };
        assert_eq!(items(&device, Accumulate::Compensated), 4);
        assert_eq!(items(&device, Accumulate::Plain), 8);
        assert_eq!(items(&gpu(), Accumulate::Compensated), 8);
    }

    #[test]
    fn the_kernel_has_the_same_constants() {
        let source = crate::kernel_source(SOURCE).unwrap();
        let value_of = |name: &str| {
            let define = format!("#define {name} ");
            let line = source.lines().find_map(|line| line.strip_prefix(&define)).unwrap();
            line.split_whitespace().next().unwrap().to_owned()
        };
        assert_eq!(value_of("PIECE_ROWS"), PIECE_ROWS.to_string());
        assert_eq!(value_of("NO_ROW"), format!("{:#x}u", csr_core::segmented_sum::NO_ROW));
    }

    #[test]
    fn a_tile_never_has_more_nonzeros_than_a_piece_has_rows() {
        let largest = SegmentedSum {
            bunch_size: 64,
            nnz_per_item: 32,
            tiles_per_bunch: 1,
            bunches_per_group: 1,
        };
        assert!(largest.tile() <= PIECE_ROWS);
    }
}
