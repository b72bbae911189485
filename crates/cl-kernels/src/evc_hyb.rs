//! `evc_hyb`: rows in order of length, short ones in strips, long ones in compressed rows (`cl/spmv/evc_hyb.cl`).

use csr_core::{OffsetType, ValueType};

use crate::algorithm_spec::{KernelSpec, TEST_GROUP_SIZE, TEST_TILE};
use crate::arguments::arguments;
use crate::evc_hyb_plan::{self as plan, EvcHybPlan, FEATURE_RENUMBER};
use crate::fit::nearest;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::shipped::list::{Extent, List};
use crate::storage::{Storage, StorageFormat};
use crate::{
    Accumulate, AlgorithmSpec, Array, DeviceType, Fit, FittedParameters, KernelKey, ParameterError,
    Parameters, Scalar, Variant,
};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/evc_hyb.cl";

/// Feature: y stays in order of length.
pub const FEATURE_PERMUTED: &str = "PERMUTED";

parameters! {
    /// Parameters of `evc_hyb`.
    pub struct EvcHyb for "evc_hyb" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Nonzeros of the longest row that is short.
        longest_short_row: [16, 32, 64, 128, 256] => host,
        /// Rows of a strip and elements of a long row are multiples of it: what runs in step.
        alignment: [8, 16, 32, 64] => host,
        /// Elements of short rows that an item takes, at most those of the longest.
        nnz_per_item: [4, 8, 16, 32, 64, 128] => host,
        /// The most short rows that an item takes; as published it follows from their length alone.
        rows_per_item: [1, 2, 4, 128] => host,
        /// Elements of a long row that an item takes.
        long_nnz_per_item: [4, 8, 16, 32] => host,
        /// Elements whose loads an item has under way together.
        nnz_at_once: [1, 4, 8],
    }
}

impl EvcHyb {
    /// The published figures for the format; for what an item takes, a GPU of many more items than the paper's is
    /// thought of. A CPU's items run side by side in its vectors, and wait for nothing.
    pub fn default_for(device_type: DeviceType) -> Self {
        let format = EvcHyb {
            group_size: 256,
            longest_short_row: 128,
            alignment: 32,
            nnz_per_item: 16,
            rows_per_item: 1,
            long_nnz_per_item: 16,
            nnz_at_once: 4,
        };
        match device_type {
            DeviceType::Cpu => {
                EvcHyb { group_size: 64, nnz_per_item: 128, nnz_at_once: 1, ..format }
            }
            _ => format,
        }
    }
}

impl FittedParameters for EvcHyb {
    fn fitted(fit: &Fit<'_>) -> Self {
        nearest(EvcHyb::default_for(fit.device.device_type), &["group_size"], fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "evc_hyb";
        let invalid = |name, value: u32, rule: &str| {
            let (value, rule) = (u64::from(value), rule.to_owned());
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        check_group_size(ALGORITHM, self.group_size, fit.device)?;
        for (name, value) in [
            ("alignment", self.alignment),
            ("nnz_per_item", self.nnz_per_item),
            ("rows_per_item", self.rows_per_item),
            ("long_nnz_per_item", self.long_nnz_per_item),
        ] {
            if !(1..=1024).contains(&value) {
                return invalid(name, value, "it must be 1 to 1024");
            }
        }
        if !(1..=16).contains(&self.nnz_at_once) {
            return invalid("nnz_at_once", self.nnz_at_once, "it must be 1 to 16");
        }
        if self.longest_short_row > 1024 {
            return invalid("longest_short_row", self.longest_short_row, "it must be at most 1024");
        }
        // A sum an item, or where the copy is made 64 bits.
        let items = u64::from(self.group_size);
        let bytes = items * fit.sum_bytes().max(8);
        fit.device.check_local_bytes(ALGORITHM, ("group_size", items), bytes)
    }
}

/// What `evc_hyb` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    variants: &[Variant::Hybrid, Variant::SortedCsr],
    default_variant: Variant::Hybrid,
    copies_values: true,
    reorders_rows: true,
    storage: Storage { format: StorageFormat::EvcHyb, offset_reads: 0, staged: &[] },
    test_parameters: &[
        ("group_size", TEST_GROUP_SIZE),
        ("longest_short_row", TEST_TILE),
        ("alignment", 8),
        ("nnz_per_item", 8),
        ("rows_per_item", 4),
        ("nnz_at_once", 3),
        ("long_nnz_per_item", 8),
    ],
    offline,
    ..AlgorithmSpec::of::<EvcHyb>(&[
        KernelSpec::of::<Arguments<()>, EvcHyb>(SOURCE),
        KernelSpec::of::<plan::KeyArguments<()>, EvcHybPlan>(plan::SOURCE),
        KernelSpec::of::<plan::CountArguments<()>, EvcHybPlan>(plan::SOURCE),
        KernelSpec::of::<plan::LengthArguments<()>, EvcHybPlan>(plan::SOURCE),
        KernelSpec::of::<plan::StartArguments<()>, EvcHybPlan>(plan::SOURCE),
        KernelSpec::of::<plan::InvertArguments<()>, EvcHybPlan>(plan::SOURCE),
        KernelSpec::of::<plan::ArrangeArguments<()>, EvcHybPlan>(plan::SOURCE),
    ])
};

/// What is compiled offline: the product, y in both orders; in the cover, forms and pairs go in turn. Offsets are not read.
fn offline(list: &mut List<'_>) -> Result<(), ParameterError> {
    let sums = [Accumulate::Plain, Accumulate::Compensated];
    let mut group_sizes = Vec::new();
    let mut turn = 0;
    for value_type in ValueType::ALL {
        let mut kernels = Vec::new();
        for set in list.parameter_sets(
            value_type,
            vec![EvcHyb::default_for(DeviceType::Gpu), EvcHyb::default_for(DeviceType::Cpu)],
        )? {
            if kernels.iter().all(|kernel: &EvcHyb| kernel.compiled() != set.compiled()) {
                kernels.push(set);
                group_sizes.push((value_type, set.group_size));
            }
        }
        for kernel in &kernels {
            for accumulate in sums {
                turn += 1;
                for (offset_type, on_device) in list.pairs(turn, kernels.len()) {
                    let types = (value_type, offset_type);
                    let key =
                        KernelKey::new(SOURCE, types.0, types.1, accumulate, on_device, kernel);
                    let permuted = key.clone().with_feature(FEATURE_PERMUTED);
                    match list.extent {
                        Extent::Product => list.keys.extend([key, permuted]),
                        Extent::Cover if on_device => list.keys.push(permuted),
                        Extent::Cover => list.keys.push(key),
                    }
                }
            }
        }
    }
    offline_plans(list, &group_sizes);
    Ok(())
}

/// What makes the copy, for each group size that a product has.
fn offline_plans(list: &mut List<'_>, group_sizes: &[(ValueType, u32)]) {
    for offset_type in [OffsetType::U32, OffsetType::U64] {
        let before = list.keys.len();
        for &(value_type, group_size) in group_sizes {
            // Columns are as wide as f32.
            for value_type in [value_type, ValueType::F32] {
                let parameters = EvcHybPlan { group_size };
                let source = plan::SOURCE;
                list.helper(source, value_type, offset_type, &parameters);
                let key = &list.keys[list.keys.len() - 1];
                let is_known = list.keys[before..list.keys.len() - 1].contains(key);
                let renumber = key.clone().with_feature(FEATURE_RENUMBER);
                match (is_known, value_type) {
                    (true, _) => drop(list.keys.pop()),
                    (false, ValueType::F32) => list.keys.push(renumber),
                    (false, _) => {}
                }
            }
        }
    }
}

arguments! {
    /// Arguments of the kernel `evc_hyb`.
    pub struct Arguments<M> for "evc_hyb" {
        /// What each work-group takes (`csr_core::plan::evc_hyb::Task`).
        tasks: Array<M>,
        /// The row at each index of the order: rows.
        row_order: Array<M>,
        /// The nonzeros of the row at each index: rows.
        row_lengths: Array<M>,
        /// Where each long row begins.
        long_starts: Array<M>,
        /// The column of each element.
        columns: Array<M>,
        /// The value of each element.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
    }
}
