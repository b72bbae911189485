//! `csr_tiles`: x in local memory, a tile of columns at a time, and a copy in that order (`cl/spmv/csr_tiles.cl`).

use csr_core::{OffsetType, ValueType};

use crate::algorithm_spec::{KernelSpec, TEST_GROUP_SIZE};
use crate::arguments::arguments;
use crate::cost::{Cost, CostQuestion, WITH_PLAN};
use crate::csr_tiles_plan::{self as plan, CsrTilesPlan};
use crate::fit::nearest;
use crate::parameters::{
    GROUP_SIZES, check_between, check_group_size, check_registers, parameters,
};
use crate::shipped::list::List;
use crate::storage::{Storage, StorageFormat};
use crate::value_coding::{self, check_coded};
use crate::{
    Accumulate, AlgorithmSpec, Array, Fit, FittedParameters, KernelKey, ParameterError, Scalar,
};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_tiles.cl";

/// Lanes of a slice: `SLICE_LANES` of `cl/spmv/csr_tiles_slice.h`.
pub const SLICE_LANES: u32 = 32;

/// Most columns of a tile: they are counted in 16 bits.
const MOST_COLUMNS: u32 = 1 << 16;

parameters! {
    /// Parameters of `csr_tiles`.
    pub struct CsrTiles for "csr_tiles" {
        /// Items of a work-group: a multiple of 32.
        group_size: GROUP_SIZES,
        /// Columns of a tile: at most 65,536.
        tile_columns: [2048, 4096, 8192],
        /// Nonzeros of a lane in a slice: an even number, at most 16.
        lane_nnz: [2, 4, 8, 16],
        /// Registers of an item that NVIDIA's compiler is told to keep to; 0: as many as it likes. Elsewhere 0.
        registers: [0, 32, 40],
        /// Whether values are stored in fewer bytes: 0: as they are; 1: where that pays; 2: wherever it is exact.
        coded_values: [1] => host,
    }
}

/// Bytes of local memory that x takes by default, and that sums take: together what NVIDIA's GPUs have for a group.
const OF_X_BYTES: u64 = 32 << 10;
const OF_SUMS_BYTES: u64 = 16 << 10;
const ITEMS: u32 = 512;

/// Items of a work-group that makes the copy, at most: NVIDIA's driver compiles kernels that say how many for no more.
const PLAN_ITEMS: u32 = 256;

/// Registers with which a compute unit of NVIDIA's has 2,048 items.
const FEW_REGISTERS: u32 = 32;

impl CsrTiles {
    /// Those of the kernels that make the copy.
    pub fn plan(&self) -> CsrTilesPlan {
        let CsrTiles { group_size, tile_columns, lane_nnz, .. } = *self;
        let group_size = group_size.min(PLAN_ITEMS);
        CsrTilesPlan { group_size, tile_columns, lane_nnz }
    }

    /// Nonzeros of a slice.
    pub fn slice_nnz(&self) -> u32 {
        SLICE_LANES * self.lane_nnz
    }

    /// What fills the local memory of a GPU, without its limits.
    fn wanted(fit: &Fit<'_>) -> Self {
        let of_x = OF_X_BYTES / fit.value_type.accumulator().size_bytes() as u64;
        let of_lane = OF_SUMS_BYTES / u64::from(ITEMS) / fit.sum_bytes();
        let is_told = fit.device.takes_register_limits();
        CsrTiles {
            group_size: ITEMS,
            tile_columns: of_x as u32,
            lane_nnz: of_lane as u32,
            registers: if is_told { FEW_REGISTERS } else { 0 },
            coded_values: 1,
        }
    }
}

/// Nonzeros of a segment with which fewer gathers are worth their partial sums.
const LEAST_SEGMENT: f64 = 1.5;

/// What both kernels take, of what their bytes take.
const WORK: f64 = 1.2;

/// What making the copy takes: launches, and passes over A.
const PLAN_LAUNCHES: f64 = 60.0;
const PLAN_PASSES: f64 = 60.0;

impl CsrTiles {
    /// What a product should cost where columns are anywhere among `cols`; `None` where x is a tile, or segments would be
    /// too short.
    pub(crate) fn cost(
        &self,
        question: &CostQuestion<'_>,
        fit: &Fit<'_>,
        cols: f64,
    ) -> Option<Cost> {
        let CostQuestion { numbers, rows, nnz, mean_row, memory_ns, .. } = *question;
        let tiles = (cols / f64::from(self.tile_columns)).ceil();
        // Tiles that a row has something in.
        let segments = rows * tiles * (1.0 - (-mean_row / tiles).exp());
        if tiles < 2.0 || nnz < LEAST_SEGMENT * segments {
            return None;
        }
        // Values, columns and bits of lanes; a partial sum, written and read, and its number; y and parts of rows.
        let of_nonzero = question.copied_value_bytes() + 2.0 + 4.0 / f64::from(self.lane_nnz);
        let of_segment = 2.0 * fit.sum_bytes() as f64 + 4.0;
        let of_row = fit.value_type.accumulator().size_bytes() as f64 + 4.0;
        let bytes = nnz * of_nonzero + segments * of_segment + rows * of_row;
        Some(Cost {
            host_ns: 2.0 * numbers.launch * WITH_PLAN,
            device_ns: 2.0 * numbers.latency + WORK * question.moving_ns(bytes),
            setup_ns: PLAN_LAUNCHES * numbers.launch + PLAN_PASSES * memory_ns,
        })
    }
}

impl FittedParameters for CsrTiles {
    fn fitted(fit: &Fit<'_>) -> Self {
        nearest(CsrTiles::wanted(fit), &["group_size", "lane_nnz", "tile_columns"], fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "csr_tiles";
        let device = fit.device;
        check_group_size(ALGORITHM, self.group_size, device)?;
        let refuse = |name, value: u32, rule: &str| {
            let (value, rule) = (u64::from(value), rule.to_owned());
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        if !self.group_size.is_multiple_of(SLICE_LANES) {
            return refuse("group_size", self.group_size, "it must be a multiple of 32");
        }
        check_between(ALGORITHM, "tile_columns", self.tile_columns, 1..=MOST_COLUMNS)?;
        check_between(ALGORITHM, "lane_nnz", self.lane_nnz, 2..=16)?;
        if !self.lane_nnz.is_multiple_of(2) {
            return refuse("lane_nnz", self.lane_nnz, "it must be even");
        }
        check_registers(ALGORITHM, self.registers, device)?;
        check_coded(ALGORITHM, self.coded_values)?;
        let (items, columns) = (u64::from(self.group_size), u64::from(self.tile_columns));
        let of_x = columns * fit.value_type.accumulator().size_bytes() as u64;
        let of_sums = items * u64::from(self.lane_nnz) * fit.sum_bytes();
        // Where items cannot shuffle, each has a sum and a word besides.
        let shuffles = device.shuffle_sizes.contains(&SLICE_LANES);
        let of_items = if shuffles { 0 } else { items * (fit.sum_bytes() + 4) };
        device.check_local_bytes(ALGORITHM, ("tile_columns", columns), of_x + of_sums + of_items)
    }
}

/// What `csr_tiles` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    copies_values: true,
    is_for_gpus: true,
    storage: Storage { format: StorageFormat::Copy, offset_reads: 0, staged: &[] },
    test_parameters: &[("group_size", TEST_GROUP_SIZE), ("tile_columns", 24), ("lane_nnz", 2)],
    offline,
    ..AlgorithmSpec::of::<CsrTiles>(&[
        KernelSpec::of::<Arguments<()>, CsrTiles>(SOURCE),
        KernelSpec::of::<RowArguments<()>, CsrTiles>(SOURCE),
        KernelSpec::of::<plan::RowMarkArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::TileMarkArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::SegmentArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::LengthArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::StartArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::PartArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::NumberArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::LaneArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::RowPartArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::ColumnArguments<()>, CsrTilesPlan>(plan::SOURCE),
        KernelSpec::of::<plan::ValueArguments<()>, CsrTilesPlan>(plan::SOURCE),
    ])
};

/// What is compiled offline: each value type and way of summing, scalars and offsets in turn, with what they fill the
/// local memory with; and the plan with both types of offsets.
fn offline(list: &mut List<'_>) -> Result<(), ParameterError> {
    let mut turn = 0;
    for value_type in ValueType::ALL {
        for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
            let sum_bytes = value_type.accumulator().size_bytes() as u64
                * if accumulate == Accumulate::Compensated { 2 } else { 1 };
            let set = CsrTiles {
                group_size: ITEMS / 2,
                tile_columns: (OF_X_BYTES / value_type.accumulator().size_bytes() as u64) as u32,
                lane_nnz: (OF_SUMS_BYTES / u64::from(ITEMS) / sum_bytes) as u32,
                registers: 0,
                coded_values: 1,
            };
            turn += 1;
            for (offset_type, on_device) in list.pairs(turn, 1) {
                let key =
                    KernelKey::new(SOURCE, value_type, offset_type, accumulate, on_device, &set);
                list.keys.push(key.clone());
                // A coded form in turn.
                let forms = value_coding::features(value_type);
                list.keys.push(key.with_feature(forms[turn % forms.len()]));
            }
            if accumulate == Accumulate::Plain {
                for offset_type in [OffsetType::U32, OffsetType::U64] {
                    list.helper(plan::SOURCE, value_type, offset_type, &set.plan());
                    if value_type == ValueType::F32 {
                        list.codes_helper(plan::SOURCE, offset_type, &set.plan());
                    }
                }
            }
        }
    }
    Ok(())
}

arguments! {
    /// Arguments of the kernel `csr_tiles`.
    pub struct Arguments<M> for "csr_tiles" {
        /// Columns of A: at least 1.
        cols: u32,
        /// Where in the layout the first part of each slice is, in 32-bit words.
        first_parts_at: u64,
        /// Where its columns begin, two a word.
        columns_at: u64,
        /// The task that the first group takes: 0, or the last, from which the others count down.
        first_task: u32,
        /// Tasks, three words each: tile, first slice, and the one after the last.
        tasks: Array<M>,
        /// The words of lanes, 32 a slice; and what lies where it says above.
        layout: Array<M>,
        /// Values in the order of the slices.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// A sum for each part.
        workspace: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_rows`.
    pub struct RowArguments<M> for "csr_tiles_rows" {
        /// Rows of A: at least 1.
        rows: u32,
        /// The logarithm of the items of a row: at most 5.
        log_items: u32,
        /// Where in the layout the parts before each row are counted, in 32-bit words: rows + 1.
        row_parts_at: u64,
        /// Where the numbers of the parts begin, in the order of rows.
        parts_at: u64,
        /// What lies where it says above.
        layout: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
        /// A sum for each part.
        workspace: Array<M>,
    }
}
