//! `hyb`: ELL for what most rows have, entries for the rest (`cl/spmv/hyb.cl`; Bell and Garland 2009).

use crate::algorithm_spec::{KernelSpec, Planned, other_values};
use crate::arguments::arguments;
use crate::fit::nearest;
use crate::hyb_plan::{HybPlan, PlanArguments, SOURCE as PLAN_SOURCE, ValuesArguments};
use crate::parameters::{GROUP_SIZES, check_between, check_group_size, parameters};
use crate::storage::{Storage, StorageFormat};
use crate::{AlgorithmSpec, Array, Fit, FittedParameters, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/hyb.cl";

/// There are entries beyond the slots: the kernel adds their sums.
pub const FEATURE_REST: &str = "REST";

parameters! {
    /// Parameters of `hyb`.
    pub struct Hyb for "hyb" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Entries of the rest that an item sums.
        nnz_per_item: [4, 8, 16],
        /// Rows get one slot more as long as so many of them, and a third of all, fill it.
        least_rows: [1, 1024, 4096] => host,
    }
}

impl Default for Hyb {
    /// `least_rows` as published with the format (Bell and Garland 2009).
    fn default() -> Self {
        Hyb { group_size: 256, nnz_per_item: 8, least_rows: 4096 }
    }
}

impl Hyb {
    /// Entries of the rest that a group takes.
    pub fn tile(&self) -> usize {
        self.group_size as usize * self.nnz_per_item as usize
    }
}

impl FittedParameters for Hyb {
    fn fitted(fit: &Fit<'_>) -> Self {
        nearest(Hyb::default(), &["nnz_per_item", "group_size"], fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "hyb";
        check_group_size(ALGORITHM, self.group_size, fit.device)?;
        check_between(ALGORITHM, "nnz_per_item", self.nnz_per_item, 1..=64)?;
        check_between(ALGORITHM, "least_rows", self.least_rows, 1..=u32::MAX)?;
        // A sum an entry and an item, and a row an entry: as sums of 4 bytes, of which every sum is some.
        let sums = self.tile() as u64 + u64::from(self.group_size);
        let rows_as_sums = (4 * self.tile() as u64).div_ceil(fit.sum_bytes());
        let named = ("nnz_per_item", self.nnz_per_item.into());
        fit.check_local_sums(ALGORITHM, named, sums + rows_as_sums)
    }
}

/// What `hyb` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    planned: Planned::OnHost,
    copies_values: true,
    is_to_compare: true,
    storage: Storage { format: StorageFormat::Copy, offset_reads: 0, staged: &[] },
    trials: |fit| other_values(&[4, 8, 16], Hyb::fitted(fit).nnz_per_item, "nnz_per_item"),
    test_parameters: &[("group_size", 16), ("nnz_per_item", 2), ("least_rows", 1)],
    offline: |list| list.spmv(SOURCE, &[None, Some(FEATURE_REST)], |_| vec![Hyb::default()]),
    ..AlgorithmSpec::of::<Hyb>(&[
        KernelSpec::of::<Arguments<()>, Hyb>(SOURCE),
        KernelSpec::of::<EntriesArguments<()>, Hyb>(SOURCE),
        KernelSpec::of::<CarryArguments<()>, Hyb>(SOURCE),
        KernelSpec::of::<PlanArguments<()>, HybPlan>(PLAN_SOURCE),
        KernelSpec::of::<ValuesArguments<()>, HybPlan>(PLAN_SOURCE),
    ])
};

arguments! {
    /// Arguments of the kernel `hyb`.
    pub struct Arguments<M> for "hyb" {
        /// Rows of A.
        rows: u32,
        /// Slots of a row.
        width: u32,
        /// Slots from one of a row to its next: rows, at least.
        pitch: u64,
        /// Columns of the slots: `width * pitch`, less what follows the last row.
        columns: Array<M>,
        /// Their values.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
        /// Where the rest's sums are; with FEATURE_REST alone.
        scratch: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `hyb_entries`.
    pub struct EntriesArguments<M> for "hyb_entries" {
        /// Entries of the rest: at least 1.
        nnz: u64,
        /// Rows of A.
        rows: u32,
        /// Groups of the launch.
        groups: u32,
        /// The row of each entry, none before one that is less.
        row_indices: Array<M>,
        /// The column of each entry.
        columns: Array<M>,
        /// The value of each entry.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// Sums of rows, of which all are 0 before; and of what groups share.
        scratch: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `hyb_carry`.
    pub struct CarryArguments<M> for "hyb_carry" {
        /// Rows of A.
        rows: u32,
        /// Groups of `hyb_entries`.
        groups: u32,
        /// As it left it.
        scratch: Array<M>,
    }
}
