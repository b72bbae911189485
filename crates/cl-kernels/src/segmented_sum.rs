//! `segmented_sum`: equal nonzeros an item, rows put together afterwards (`cl/spmv/segmented_sum.cl`;
//! Liu and Vinter 2015).

use crate::algorithm_spec::{KernelSpec, TEST_TILE, Trial};
use crate::arguments::arguments;
use crate::fit::nearest;
use crate::parameters::parameters;
use crate::storage::{Storage, StorageFormat};
use crate::{
    Accumulate, AlgorithmSpec, Array, DeviceType, Fit, FittedParameters, ParameterError, Scalar,
    Variant,
};
use csr_core::counted;

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/segmented_sum.cl";

/// [`SegmentedSum::chunk_rows`] of groups of 32 items and more.
pub const CHUNK_ROWS: usize = 2048;

/// Compiles one launch without a second stage (`cl/spmv/segmented_sum_fused.h`).
pub const FEATURE_FUSED: &str = "FUSED";

/// 32-bit words of the workspace of [`FEATURE_FUSED`]: for each group two accumulators of `sum_words` words that
/// travel to other groups, and a counter.
pub fn fused_words(groups: usize, sum_words: usize) -> usize {
    groups * (2 * sum_words + 1)
}

/// What stage 1 leaves for stage 2 and where it lies, in 32-bit words: the kernels' `left_over_t`.
///
/// One after another: `heads` and `tails`, an accumulator a bunch each; `boundaries`, two; `speculator`, ranges
/// of rows of two words; `head_rows`, a word a bunch and one more; `counters`, four words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceLayout {
    /// Bunches.
    pub bunches: usize,
    /// Ranges of rows there is capacity for.
    pub capacity: usize,
    /// Words of an accumulator.
    pub sum_words: usize,
}

impl WorkspaceLayout {
    /// The first word of the tails; heads come first.
    pub fn tails(&self) -> usize {
        self.bunches * self.sum_words
    }

    /// The first word of the two boundaries: the sums that a part of a matrix has of the row it begins in the middle
    /// of, and of the row that continues after it.
    pub fn boundaries(&self) -> usize {
        2 * self.bunches * self.sum_words
    }

    /// The first word of the ranges: misplaced ones from the front, left ones from the back.
    pub fn speculator(&self) -> usize {
        self.boundaries() + 2 * self.sum_words
    }

    /// The first of the rows that heads belong to.
    pub fn head_rows(&self) -> usize {
        self.speculator() + 2 * self.capacity
    }

    /// The first of the counters: misplaced ranges, left ranges, dirty tiles that those are of, arrivals of stage 2. A
    /// misplaced range is a dirty tile, too.
    pub fn counters(&self) -> usize {
        self.head_rows() + self.bunches + 1
    }

    /// Words of all of it.
    pub fn words(&self) -> usize {
        self.counters() + 4
    }
}

parameters! {
    /// Parameters of `segmented_sum` (the paper's Table 1: T, W, S, B).
    pub struct SegmentedSum for "segmented_sum" {
        /// T: items that share a tile, as many as the device runs in step: a power of two, 1 to 64.
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
    /// For items that run in step by `bunch_size`: groups of 128, or of eight bunches.
    fn in_step_by(bunch_size: u32) -> Self {
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

    /// Most rows of a range that stage 2 looks at as one (`CHUNK_ROWS`).
    pub fn chunk_rows(&self) -> usize {
        if self.group_size() >= 32 { CHUNK_ROWS } else { self.tile().max(32) }
    }

    /// Nonzeros of a tile.
    pub fn tile(&self) -> usize {
        self.bunch_size as usize * self.nnz_per_item as usize
    }
}

impl FittedParameters for SegmentedSum {
    /// By the SIMD width, near those of the paper's Table 1; fewer bunches where local memory or groups are small.
    fn fitted(fit: &Fit<'_>) -> Self {
        let bunch_size = 1 << fit.device.simd_width.clamp(8, 64).ilog2();
        let mut wanted = Self::in_step_by(bunch_size);
        if fit.device.device_type == DeviceType::Cpu && fit.accumulate == Accumulate::Compensated {
            // Intel's compiler may crash on more of these, unrolled (docs/portability.md, "Intel's CPU runtime").
            wanted.nnz_per_item = 4;
        }
        let shrinking = ["bunches_per_group", "tiles_per_bunch", "nnz_per_item", "bunch_size"];
        nearest(wanted, &shrinking, fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "segmented_sum";
        let device = fit.device;
        let refuse = |name, value: u32, rule: String| {
            let value = u64::from(value);
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        if !self.bunch_size.is_power_of_two() || !(1..=64).contains(&self.bunch_size) {
            let rule = "it must be a power of two, 1 to 64".to_owned();
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
                "{} allows groups of {}: 1 to {most} bunches of {}",
                device.name,
                counted(device.max_group_size, "item"),
                self.bunch_size
            );
            return refuse("bunches_per_group", self.bunches_per_group, rule);
        }
        // Products padded by one an item, and leads; for a bunch its head and its tail. Two words an item;
        // for a tile its row, the row's rest, a mark, and one for each of its items; for a bunch its row, and a
        // few for the group.
        let items = self.group_size() as u64;
        let bunches = u64::from(self.bunches_per_group);
        let sums = items * (u64::from(self.nnz_per_item) + 2) + 2 * bunches;
        let tiles = bunches * u64::from(self.tiles_per_bunch);
        let words = 2 * items + tiles * (u64::from(self.bunch_size) + 3) + bunches + 20;
        // As sums of f32, two of which have the size of a sum of f64.
        let words_as_sums = words / (fit.value_type.accumulator().size_bytes() as u64 / 4) + 1;
        let named = ("nnz_per_item", self.nnz_per_item.into());
        fit.check_local_sums(ALGORITHM, named, sums + words_as_sums)
    }
}

/// What `segmented_sum` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    variants: &[Variant::Fused, Variant::Device, Variant::Cpu],
    default_variant: Variant::Fused,
    // PoCL takes 5 s on two cores: the loops over W are long.
    build_weight: 7,
    // Offsets are read once for boundaries, once for empty rows or by stage 2.
    storage: Storage {
        format: StorageFormat::Csr,
        offset_reads: 2,
        staged: &[Variant::Device, Variant::Cpu],
    },
    trials: |_| vec![Trial::Variant(Variant::Device)],
    test_parameters: &[
        ("bunch_size", 8),
        ("nnz_per_item", TEST_TILE / 8),
        ("tiles_per_bunch", 2),
        ("bunches_per_group", 4),
    ],
    offline: |list| {
        // Devices of every SIMD width.
        let defaults = |_| [8, 16, 32, 64].map(SegmentedSum::in_step_by).to_vec();
        list.spmv(SOURCE, &[None, Some(FEATURE_FUSED)], defaults)
    },
    ..AlgorithmSpec::of::<SegmentedSum>(&[
        KernelSpec::of::<Arguments<()>, SegmentedSum>(SOURCE),
        KernelSpec::of::<Stage2Arguments<()>, SegmentedSum>(SOURCE),
    ])
};

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
        /// Bunches that there is capacity for.
        bunch_capacity: u32,
        /// Ranges of rows that there is capacity for.
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
        /// Bunches that there is capacity for.
        bunch_capacity: u32,
        /// Ranges of rows that there is capacity for.
        capacity: u32,
        /// 0, which the compiler must not know: it ties the order of atomics to data.
        zero: u32,
        /// As stage 1 left it; counters are 0 afterwards.
        scratch: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use csr_core::ValueType;

    use super::*;
    use crate::DeviceTraits;
    use crate::tests::gpu;

    #[test]
    fn the_defaults_fit_every_simd_width_and_type() {
        for simd_width in [1, 4, 8, 16, 32, 64, 128] {
            let device = DeviceTraits { simd_width, local_bytes: 32 << 10, ..gpu() };
            for value_type in ValueType::ALL {
                for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
                    let fit = Fit { accumulate, ..Fit::plain(&device, value_type, 1.0) };
                    assert_eq!(SegmentedSum::fitted(&fit).check(&fit), Ok(()));
                }
            }
        }
    }

    #[test]
    fn compensated_sums_on_a_cpu_stay_below_what_crashes_a_compiler() {
        let device = DeviceTraits { device_type: DeviceType::Cpu, simd_width: 16, ..gpu() };
        let items = |device: &DeviceTraits, accumulate| {
            let fit = Fit { accumulate, ..Fit::plain(device, ValueType::F64, 1.0) };
            SegmentedSum::fitted(&fit).nnz_per_item
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
        assert_eq!(value_of("CHUNK_ROWS"), CHUNK_ROWS.to_string());
        assert_eq!(value_of("NO_ROW"), format!("{:#x}u", csr_core::segmented_sum::NO_ROW));
    }

    #[test]
    fn a_tile_never_has_more_nonzeros_than_a_chunk_has_rows() {
        let largest = SegmentedSum {
            bunch_size: 64,
            nnz_per_item: 32,
            tiles_per_bunch: 1,
            bunches_per_group: 1,
        };
        assert!(largest.tile() <= CHUNK_ROWS);
    }
}
