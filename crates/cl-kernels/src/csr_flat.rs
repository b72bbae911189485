//! `csr_flat`: equal nonzeros a group, wherever rows begin and end (`cl/spmv/csr_flat.cl`).

use csr_core::plan::csr_flat::TileRules;

use crate::algorithm_spec::{KernelSpec, TEST_GROUP_SIZE, TEST_NNZ, TEST_TILE, TestSet};
use crate::arguments::arguments;
use crate::cost::{Cost, CostModel, CostQuestion, WITH_PLAN, smooth_max};
use crate::csr_flat_plan::{self, CsrFlatPlan};
use crate::fit::nearest;
use crate::parameters::{GROUP_SIZES, check_group_size, check_registers, parameters};
use crate::shipped::list::List;
use crate::{
    Accumulate, AlgorithmSpec, Array, DeviceTraits, Fit, FittedParameters, KernelKey,
    NamedParameters, ParameterError, Parameters, Scalar,
};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_flat.cl";

/// Products that an item adds up by itself before others help: `HEAVY` of the kernel.
const HEAVY: u64 = 64;

/// Nonzeros of an item of a small group at most by default: their loads are under way at once, each with its registers.
const MOST_AT_ONCE: u32 = 16;

parameters! {
    /// Parameters of `csr_flat`.
    pub struct CsrFlat for "csr_flat" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Nonzeros of a tile, which is a group's: a multiple of `group_size`.
        tile_nnz: [256, 512, 1024, 1536, 2048, 2560, 3072, 4096, 6144, 8192],
        /// Rows of at most this many nonzeros are never cut: at most `tile_nnz`.
        whole_row: [64, 128, 256, 512, 1024],
        /// Registers of an item that NVIDIA's compiler is told to keep to, which decides how many groups a compute unit
        /// holds; 0: as many as it likes. Elsewhere 0.
        registers: [0, 32, 40, 48],
        /// 1: where a tile has fewer long rows than its group teams of 32 items, teams share rows; 0: one team a row.
        /// For rows of thousands; the code takes registers and time from all others. 1 on NVIDIA alone, where items of
        /// a team run in step; elsewhere all of a group share each row.
        shared_rows: [0, 1],
    }
}

impl Default for CsrFlat {
    /// What does well on the GPUs it was tried on: 25 KiB for sums in f64, and twice as much where they are compensated.
    fn default() -> Self {
        CsrFlat { group_size: 256, tile_nnz: 2048, whole_row: 256, registers: 0, shared_rows: 0 }
    }
}

impl FittedParameters for CsrFlat {
    fn fitted(fit: &Fit<'_>) -> Self {
        let mut wanted = CsrFlat::default();
        wanted.group_size = fit.group_size(wanted.group_size);
        wanted.tile_nnz = wanted.tile_nnz.min(wanted.group_size * MOST_AT_ONCE);
        wanted.whole_row = wanted.whole_row.min(wanted.tile_nnz);
        nearest(wanted, &["whole_row", "group_size", "tile_nnz"], fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "csr_flat";
        let device = fit.device;
        check_group_size(ALGORITHM, self.group_size, device)?;
        let refuse = |name, value: u32, rule: String| {
            let value = u64::from(value);
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        if self.tile_nnz == 0 || !self.tile_nnz.is_multiple_of(self.group_size) {
            let rule =
                format!("it must be a positive multiple of group_size = {}", self.group_size);
            return refuse("tile_nnz", self.tile_nnz, rule);
        }
        if self.whole_row == 0 || self.whole_row > self.tile_nnz {
            let rule = format!("it must be between 1 and tile_nnz = {}", self.tile_nnz);
            return refuse("whole_row", self.whole_row, rule);
        }
        check_registers(ALGORITHM, self.registers, device)?;
        let most = u32::from(device.takes_register_limits());
        if self.shared_rows > most {
            let rule = format!("on {} it must be at most {most}", device.name);
            return refuse("shared_rows", self.shared_rows, rule);
        }
        fit.check_local_sums(ALGORITHM, ("tile_nnz", self.tile_nnz.into()), self.local_sums())
    }
}

/// What `csr_flat` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    test_parameters: &[
        ("group_size", TEST_GROUP_SIZE),
        ("tile_nnz", TEST_NNZ),
        ("whole_row", TEST_TILE),
    ],
    model: Some(CostModel { candidates, cost }),
    // Teams of items share rows, as rules for rows of thousands have it.
    test_sets: &[TestSet {
        label: "shared rows",
        parameters: &[("shared_rows", 1)],
        obstacle: |device: &DeviceTraits| {
            let in_step = device.takes_register_limits();
            (!in_step).then_some("items of a team are not known to run in step")
        },
    }],
    offline,
    ..AlgorithmSpec::of::<CsrFlat>(&[
        KernelSpec::of::<Arguments<()>, CsrFlat>(SOURCE),
        KernelSpec::of::<csr_flat_plan::Arguments<()>, CsrFlatPlan>(csr_flat_plan::SOURCE),
    ])
};

/// What the choice compares: group size, nonzeros of a tile, registers where the compiler is told, shared rows. Sums of
/// f64 take twice the local memory and registers.
const CANDIDATES_F32: [(u32, u32, u32, u32); 7] = [
    (256, 4096, 40, 0),
    (512, 6144, 32, 0),
    (1024, 8192, 32, 0),
    (128, 1024, 0, 0),
    (256, 2048, 32, 0),
    (512, 2048, 32, 0),
    (256, 2560, 0, 1),
];
const CANDIDATES_F64: [(u32, u32, u32, u32); 6] = [
    (256, 2560, 0, 0),
    (512, 2048, 0, 0),
    (256, 1024, 0, 0),
    (128, 1024, 0, 0),
    (512, 4096, 40, 0),
    (256, 2560, 0, 1),
];

fn candidates(fit: &Fit<'_>) -> Vec<NamedParameters> {
    let sets: &[_] = if fit.sum_bytes() > 4 { &CANDIDATES_F64 } else { &CANDIDATES_F32 };
    let is_told = fit.device.takes_register_limits();
    let of = |&(group_size, tile_nnz, registers, shared_rows): &(u32, u32, u32, u32)| {
        let registers = if is_told { registers } else { 0 };
        let set = CsrFlat { group_size, tile_nnz, whole_row: 256, registers, shared_rows };
        NamedParameters::of(&set)
    };
    sets.iter().map(of).collect()
}

/// A group in the middle of its tile when the last begins: tiles that a unit takes on top of its share.
const TAIL_TILES: f64 = 0.5;

/// Nanoseconds for each row of a run of short ones, by one item.
const CLUMPED_ROW: f64 = 42.0;

/// Of what a load of a chain takes, the part that a product in local memory does.
const LOCAL_PART: f64 = 0.1;

/// What teams that share rows take longer where there is none to share.
const SHARING: f64 = 1.03;

/// Equal nonzeros a group: what a tile takes is a part for each nonzero and one for each item. Gathers without order find
/// more of x in a tile that is larger, and in a larger group.
fn cost(question: &CostQuestion<'_>, parameters: &NamedParameters) -> Cost {
    let of = |name| f64::from(parameters.get(name).unwrap_or(0));
    let (group, tile) = (of("group_size").max(1.0), of("tile_nnz").max(1.0));
    let is_shared = of("shared_rows") > 0.0;
    let CostQuestion { numbers, nnz, units, longest_row, memory_ns, .. } = *question;
    let tiles_of_unit = ((nnz / tile).ceil() / units + TAIL_TILES).max(1.0);
    let of_tile = tile * numbers.nonzero + group * numbers.item;
    let work = tiles_of_unit * of_tile * if is_shared { SHARING } else { 1.0 };
    let reuse = tile / 4096.0 * (group / 256.0).sqrt();
    let gathers = nnz / units * numbers.gather * question.disorder() / reuse;
    // The longest part of a row that a team sums, or one of a group where rows are shared; rounds of short rows, by one group
    // while others go on.
    let team = if is_shared { group } else { group.min(32.0) };
    let sums = longest_row.min(tile) / team * numbers.chain * LOCAL_PART;
    let rounds = question.clumped_rows() / group * CLUMPED_ROW;
    let all = smooth_max::<3>(memory_ns, work + gathers).max(rounds);
    let device_ns = numbers.latency + all + sums;
    let host_ns = numbers.launch * WITH_PLAN;
    Cost { host_ns, device_ns, setup_ns: 2.0 * numbers.launch }
}

/// Local memory of a work-group of GPUs, in bytes: none has more that OpenCL tells of.
const MOST_LOCAL_BYTES: u64 = 64 << 10;

/// Everything whose sums fit a GPU: large tiles are refused where sums are compensated.
fn offline(list: &mut List<'_>) -> Result<(), ParameterError> {
    list.spmv(SOURCE, &[None], |_| vec![CsrFlat::default()])?;
    list.retain(SOURCE, |key: &KernelKey| {
        let mut parameters = CsrFlat::default();
        let set = key.parameters.iter().try_for_each(|(name, value)| parameters.set(name, *value));
        let parts = if key.accumulate == Accumulate::Compensated { 2 } else { 1 };
        let sum_bytes = key.value_type.accumulator().size_bytes() as u64 * parts;
        set.is_ok() && parameters.local_sums() * sum_bytes <= MOST_LOCAL_BYTES
    });
    Ok(())
}

impl CsrFlat {
    /// What a group's local memory holds, in sums: products, those of items, and places and the list of rows, which
    /// have less than one word for each of a sum's.
    fn local_sums(&self) -> u64 {
        let products = u64::from(self.tile_nnz) + u64::from(self.whole_row);
        let places = 2 * u64::from(self.group_size) + 1;
        products + places + u64::from(self.group_size) + products / HEAVY + 4
    }

    /// How the pattern is cut into tiles.
    pub fn rules(&self) -> TileRules {
        TileRules { tile_nnz: self.tile_nnz, whole_row: self.whole_row }
    }
}

arguments! {
    /// Arguments of the kernel `csr_flat`.
    pub struct Arguments<M> for "csr_flat" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Nonzeros of A.
        nnz: u64,
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
        /// 0, which the compiler must not know: it ties the order of atomics to data.
        zero: u32,
        /// The tile that the first group takes: 0, or the last, from which the others count down.
        first_tile: u32,
        /// Where tiles begin, 64-bit entries, one more than work-groups; and after them the slots of partial sums of
        /// cut rows, two accumulators and a 32-bit word a tile, which are 0. Aligned to 8 bytes.
        arena: Array<M>,
    }
}
