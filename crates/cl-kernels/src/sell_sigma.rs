//! `sell_sigma`: SELL-C-sigma for GPUs, a sorted copy of the matrix with fewer bytes (`cl/spmv/sell_sigma.cl`).

use csr_core::{OffsetType, ValueCoding, ValueType};

use crate::algorithm_spec::{KernelSpec, TEST_GROUP_SIZE};
use crate::arguments::arguments;
use crate::cost::{Cost, CostModel, CostQuestion, WITH_PLAN, smooth_max};
use crate::fit::nearest;
use crate::parameters::{
    GROUP_SIZES, check_between, check_group_size, check_registers, parameters,
};
use crate::sell_sigma_plan::{self as plan, SellSigmaPlan};
use crate::shipped::list::List;
use crate::storage::{Storage, StorageFormat};
use crate::value_coding::{self, check_coded};
use crate::{
    Accumulate, AlgorithmSpec, Array, Fit, FittedParameters, KernelKey, NamedParameters,
    ParameterError, Parameters, Scalar,
};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/sell_sigma.cl";

/// Lanes of a slice: `SLICE_LANES` of `cl/spmv/sell_sigma_slice.h`.
pub const SLICE_LANES: u32 = 32;

parameters! {
    /// Parameters of `sell_sigma`.
    pub struct SellSigma for "sell_sigma" {
        /// Items of a work-group: a multiple of 32.
        group_size: GROUP_SIZES,
        /// Nonzeros that a lane has at most: longer rows are shared.
        lane_nnz: [8, 16, 32, 64],
        /// Rows that are sorted among each other.
        window_rows: [256, 512, 1024] => host,
        /// Pairs of nonzeros that a lane loads before it uses the first.
        pairs_at_once: [1, 2, 4, 8],
        /// Registers of an item that NVIDIA's compiler is told to keep to; 0: as many as it likes. Elsewhere 0.
        registers: [0, 32, 40, 48, 64],
        /// Whether values are stored in fewer bytes: 0: as they are; 1: where that pays; 2: wherever it is exact.
        coded_values: [1] => host,
    }
}

impl SellSigma {
    /// Those of the kernels that make the copy.
    pub fn plan(&self) -> SellSigmaPlan {
        let SellSigma { group_size, lane_nnz, window_rows, .. } = *self;
        SellSigmaPlan { group_size, lane_nnz, window_rows }
    }
}

impl SellSigma {
    /// Whether a group has local memory for a dictionary of values besides what it takes.
    pub fn holds_a_dictionary(&self, fit: &Fit<'_>) -> bool {
        let entries = ValueCoding::MOST_DISTINCT as u64;
        let of_dictionary = entries * fit.value_type.accumulator().size_bytes() as u64;
        let of_items = u64::from(self.group_size) * fit.sum_bytes();
        of_items + of_dictionary <= fit.device.local_bytes
    }
}

impl Default for SellSigma {
    /// What does well on the GPU it was tried on: rows of a 27-point stencil have a lane each.
    fn default() -> Self {
        SellSigma {
            group_size: 256,
            lane_nnz: 32,
            window_rows: 512,
            pairs_at_once: 2,
            registers: 0,
            coded_values: 1,
        }
    }
}

impl FittedParameters for SellSigma {
    fn fitted(fit: &Fit<'_>) -> Self {
        nearest(SellSigma::default(), &["window_rows", "group_size"], fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "sell_sigma";
        let device = fit.device;
        check_group_size(ALGORITHM, self.group_size, device)?;
        if !self.group_size.is_multiple_of(SLICE_LANES) {
            let (name, value) = ("group_size", u64::from(self.group_size));
            let rule = "it must be a multiple of 32".to_owned();
            return Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule });
        }
        check_between(ALGORITHM, "lane_nnz", self.lane_nnz, 1..=1024)?;
        // Their lengths lie in local memory, and each is compared with each.
        check_between(ALGORITHM, "window_rows", self.window_rows, 1..=2048)?;
        check_between(ALGORITHM, "pairs_at_once", self.pairs_at_once, 1..=8)?;
        check_registers(ALGORITHM, self.registers, device)?;
        check_coded(ALGORITHM, self.coded_values)?;
        // An item has a sum, or where the copy is made three words; a window a word a row and a few.
        let (items, rows) = (u64::from(self.group_size), u64::from(self.window_rows));
        let of_items = items * fit.sum_bytes().max(3 * 4);
        device.check_local_bytes(ALGORITHM, ("group_size", items), of_items)?;
        let of_window = (rows + WINDOW_WORDS) * 4;
        device.check_local_bytes(ALGORITHM, ("window_rows", rows), of_window)
    }
}

/// Words of local memory that a window takes besides one a row: `cl/spmv/sell_sigma_plan.cl` counts rows of six classes
/// of lanes, and slices of long rows.
const WINDOW_WORDS: u64 = 7;

/// What the choice compares: small groups, in f32 with more loads at once, in f64 with fewer registers.
fn candidates(fit: &Fit<'_>) -> Vec<NamedParameters> {
    let is_f64 = fit.sum_bytes() > 4;
    let registers = if is_f64 && fit.device.takes_register_limits() { 48 } else { 0 };
    let pairs_at_once = if fit.value_type == ValueType::F32 { 8 } else { 2 };
    let set = SellSigma { group_size: 128, pairs_at_once, registers, ..SellSigma::default() };
    vec![NamedParameters::of(&set)]
}

/// What a row takes of a copy, in nonzeros, and what sorting windows of uneven ones leaves of their waiting.
const ROW_NNZ: f64 = 8.0;
const UNEVEN_PART: f64 = 0.3;

/// What making the copy takes: launches, and passes over A.
const PLAN_LAUNCHES: f64 = 40.0;
const PLAN_PASSES: f64 = 10.0;

fn cost(question: &CostQuestion<'_>, _: &NamedParameters) -> Cost {
    let CostQuestion { numbers, rows, nnz, units, memory_ns, .. } = *question;
    let entries = nnz * (1.0 + UNEVEN_PART * question.disorder()) + ROW_NNZ * rows;
    let work = entries / units * numbers.copied;
    Cost {
        host_ns: numbers.launch * WITH_PLAN,
        device_ns: numbers.latency + smooth_max::<3>(question.copied_memory_ns(), work),
        setup_ns: PLAN_LAUNCHES * numbers.launch + PLAN_PASSES * memory_ns,
    }
}

/// What `sell_sigma` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    copies_values: true,
    // Columns take 16 bits where they can: the copy says how many bytes there are.
    storage: Storage { format: StorageFormat::Copy, offset_reads: 0, staged: &[] },
    model: Some(CostModel { candidates, cost }),
    test_parameters: &[
        ("group_size", TEST_GROUP_SIZE),
        ("lane_nnz", 3),
        ("window_rows", 50),
        ("pairs_at_once", 3),
    ],
    offline,
    ..AlgorithmSpec::of::<SellSigma>(&[
        KernelSpec::of::<Arguments<()>, SellSigma>(SOURCE),
        KernelSpec::of::<plan::OrderArguments<()>, SellSigmaPlan>(plan::SOURCE),
        KernelSpec::of::<plan::SliceArguments<()>, SellSigmaPlan>(plan::SOURCE),
        KernelSpec::of::<plan::ShapeArguments<()>, SellSigmaPlan>(plan::SOURCE),
        KernelSpec::of::<plan::ColumnArguments<()>, SellSigmaPlan>(plan::SOURCE),
        KernelSpec::of::<plan::ValueArguments<()>, SellSigmaPlan>(plan::SOURCE),
    ])
};

/// What is compiled offline: the product, in the cover with ways of summing and pairs in turn, as it is and in one of its
/// forms; and its plan with both types of offsets.
fn offline(list: &mut List<'_>) -> Result<(), ParameterError> {
    let sums = [Accumulate::Plain, Accumulate::Compensated];
    let mut turn = 0;
    for value_type in ValueType::ALL {
        let sets = list.parameter_sets(value_type, vec![SellSigma::default()])?;
        let mut kernels = Vec::new();
        let mut plans = Vec::new();
        for set in &sets {
            if kernels.iter().all(|kernel: &SellSigma| kernel.compiled() != set.compiled()) {
                kernels.push(*set);
            }
            if !plans.contains(&set.plan()) {
                plans.push(set.plan());
            }
        }
        for kernel in &kernels {
            for accumulate in sums {
                turn += 1;
                for (offset_type, on_device) in list.pairs(turn, kernels.len()) {
                    let key = KernelKey::new(
                        SOURCE,
                        value_type,
                        offset_type,
                        accumulate,
                        on_device,
                        kernel,
                    );
                    list.keys.push(key.clone());
                    // A coded form in turn.
                    let forms = value_coding::features(value_type);
                    list.keys.push(key.with_feature(forms[turn % forms.len()]));
                }
            }
        }
        for plan in &plans {
            for offset_type in [OffsetType::U32, OffsetType::U64] {
                list.helper(plan::SOURCE, value_type, offset_type, plan);
            }
        }
    }
    // What moves codes of values, by the default plan.
    for offset_type in [OffsetType::U32, OffsetType::U64] {
        let plan = SellSigma::default().plan();
        list.codes_helper(plan::SOURCE, offset_type, &plan);
    }
    Ok(())
}

arguments! {
    /// Arguments of the kernel `sell_sigma`.
    pub struct Arguments<M> for "sell_sigma" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Slices: at least 1.
        slice_count: u32,
        /// Where in the layout starts begin, in 32-bit words: the first pair of each slice, over 32: slices + 1.
        starts_at: u64,
        /// What a slice's columns are counted from: slices.
        bases_at: u64,
        /// The rows in order: rows.
        order_at: u64,
        /// Lower halves of columns, two a word: 32 for each of `starts`.
        low_columns_at: u64,
        /// Upper halves, where a slice has them: as many, or none where no slice has.
        high_columns_at: u64,
        /// What each slice is (`cl/spmv/sell_sigma_slice.h`), 64 bits: slices + 1; and what lies where it says above.
        layout: Array<M>,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Values in the order of the slices: 64 for each of `starts`.
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
        /// The group that the first group takes: 0, or the last, from which the others count down.
        first_group: u32,
        /// Where parts of rows come together: two accumulators and a 32-bit word a slice, 0, aligned to 8 bytes.
        workspace: Array<M>,
    }
}
