//! `csr_adaptive`: one group a row block (`cl/spmv/csr_adaptive.cl`; Daga and Greathouse 2015).

use csr_core::ValueType;
use csr_core::plan::csr_adaptive::{LengthBreak, RowBlockRules, StreamReduction};

use crate::algorithm_spec::{KernelSpec, TEST_GROUP_SIZE, TEST_NNZ, TEST_SHARE};
use crate::arguments::arguments;
use crate::csr_adaptive_plan::{self, CsrAdaptivePlan, MarkArguments, WriteArguments};
use crate::fit::nearest;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::{
    Accumulate, AlgorithmSpec, Array, Fit, FittedParameters, ParameterError, Scalar, Variant,
};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_adaptive.cl";

/// The macro of the published barrier with alternating flags.
pub const FEATURE_SPIN: &str = "SPIN";

parameters! {
    /// Parameters of `csr_adaptive` (the paper's Table I, under its names).
    pub struct CsrAdaptive for "csr_adaptive" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// The most nonzeros of a Stream block: a multiple of `group_size`.
        nnz_per_wg: [256, 512, 1024, 1536, 2048, 3072, 4096],
        /// The fewest rows that take Stream: 2 to `group_size` + 1, since fewer share the items of a group.
        num_rows_stream: [2, 3, 4],
        /// `nnz_per_wg` times this is the share of a VectorL group.
        nnz_multiplier: [1, 2, 3, 4, 8],
    }
}

impl CsrAdaptive {
    /// Sane values for a device nothing is known of. The paper's text and Figure 4 set
    /// `num_rows_stream` to 2 in single and 3 in double precision.
    pub fn default_for(value_type: ValueType) -> Self {
        match value_type.accumulator() {
            ValueType::F64 => CsrAdaptive {
                group_size: 256,
                nnz_per_wg: 1024,
                num_rows_stream: 3,
                nnz_multiplier: 2,
            },
            _ => CsrAdaptive {
                group_size: 256,
                nnz_per_wg: 1024,
                num_rows_stream: 2,
                nnz_multiplier: 3,
            },
        }
    }
}

impl FittedParameters for CsrAdaptive {
    fn fitted(fit: &Fit<'_>) -> Self {
        let mut wanted = CsrAdaptive::default_for(fit.value_type);
        wanted.group_size = fit.group_size(wanted.group_size);
        wanted.num_rows_stream = wanted.num_rows_stream.min(wanted.group_size + 1);
        nearest(wanted, &["group_size", "nnz_per_wg"], fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "csr_adaptive";
        check_group_size(ALGORITHM, self.group_size, fit.device)?;
        let refuse = |name, value: u32, rule: String| {
            let value = u64::from(value);
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        if self.nnz_per_wg == 0 || !self.nnz_per_wg.is_multiple_of(self.group_size) {
            let rule =
                format!("it must be a positive multiple of group_size = {}", self.group_size);
            return refuse("nnz_per_wg", self.nnz_per_wg, rule);
        }
        if self.num_rows_stream < 2 {
            let rule = "it must be 2 or more: a single long row would run past local memory";
            return refuse("num_rows_stream", self.num_rows_stream, rule.to_owned());
        }
        if self.num_rows_stream - 1 > self.group_size {
            let rule = format!(
                "it must be at most group_size + 1 = {}: fewer rows share the items of a group",
                self.group_size + 1
            );
            return refuse("num_rows_stream", self.num_rows_stream, rule);
        }
        if self.nnz_multiplier == 0 || self.nnz_per_wg.checked_mul(self.nnz_multiplier).is_none() {
            let rule = "nnz_multiplier x nnz_per_wg must be between 1 and 4294967295";
            return refuse("nnz_multiplier", self.nnz_multiplier, rule.to_owned());
        }
        let nnz = self.nnz_per_wg.into();
        fit.check_local_sums(ALGORITHM, ("nnz_per_wg", nnz), nnz + 1)
    }
}

/// What `csr_adaptive` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    variants: &[Variant::Baseline, Variant::Nrs, Variant::NrsLog, Variant::Full, Variant::Spin],
    build_weight: 2,
    test_parameters: &[
        ("group_size", TEST_GROUP_SIZE),
        ("nnz_per_wg", TEST_NNZ),
        ("nnz_multiplier", TEST_SHARE / TEST_NNZ),
    ],
    offline: |list| {
        let default = |value_type| vec![CsrAdaptive::default_for(value_type)];
        list.spmv(SOURCE, &[None], default)?;
        // Float atomics cannot be compensated: that pair is refused at run time.
        list.spmv_summed(SOURCE, &[Some(FEATURE_SPIN)], &[Accumulate::Plain], default)?;
        // The published baseline takes CSR-Stream from two rows on, whatever the table says.
        list.repeat(SOURCE, "num_rows_stream", 2);
        Ok(())
    },
    ..AlgorithmSpec::of::<CsrAdaptive>(&[
        KernelSpec::of::<Arguments<()>, CsrAdaptive>(SOURCE),
        KernelSpec::of::<MarkArguments<()>, CsrAdaptivePlan>(csr_adaptive_plan::SOURCE),
        KernelSpec::of::<WriteArguments<()>, CsrAdaptivePlan>(csr_adaptive_plan::SOURCE),
    ])
};

/// What happens to rows above the share of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongRows {
    /// One group, however long.
    Whole,
    /// Several groups; the last to arrive adds their sums in order.
    Carry,
    /// Several groups; the published barrier and float atomics.
    Spin,
}

/// The optimisations of the paper's Figure 10, each with everything before it.
impl Variant {
    /// What the variant does with long rows.
    pub fn long_rows(self) -> LongRows {
        match self {
            Variant::Baseline | Variant::Nrs | Variant::NrsLog => LongRows::Whole,
            Variant::Spin => LongRows::Spin,
            _ => LongRows::Carry,
        }
    }

    /// The parameters the variant runs with, where they were given as `parameters`: the baseline takes
    /// CSR-Stream from two rows on.
    pub fn parameters(self, parameters: CsrAdaptive) -> CsrAdaptive {
        match self {
            Variant::Baseline => CsrAdaptive { num_rows_stream: 2, ..parameters },
            _ => parameters,
        }
    }

    /// How the variant cuts rows into blocks.
    pub fn rules(self, parameters: &CsrAdaptive) -> RowBlockRules {
        let parameters = self.parameters(*parameters);
        let nnz_per_block = parameters.nnz_per_wg as usize;
        RowBlockRules {
            nnz_per_block,
            num_rows_stream: parameters.num_rows_stream as usize,
            share: match self.long_rows() {
                LongRows::Whole => None,
                _ => Some(nnz_per_block * parameters.nnz_multiplier as usize),
            },
            length_break: match self {
                Variant::Baseline => LengthBreak::Off,
                _ => LengthBreak::On,
            },
            reduction: match self {
                Variant::Baseline | Variant::Nrs => StreamReduction::Scalar,
                _ => StreamReduction::Logarithmic { group_size: parameters.group_size as usize },
            },
        }
    }
}

arguments! {
    /// Arguments of the kernel `csr_adaptive`.
    pub struct Arguments<M> for "csr_adaptive" {
        /// Row blocks: 64-bit entries, one more than work-groups.
        row_blocks: Array<M>,
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
        /// Arrivals (with SPIN: flags): one 32-bit word a block.
        counters: Array<M>,
        /// Partial sums of cut rows: one accumulator a block.
        carries: Array<M>,
    }
}
