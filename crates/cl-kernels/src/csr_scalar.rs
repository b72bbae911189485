//! `csr_scalar`: one work-item a row (`cl/spmv/csr_scalar.cl`).

use crate::algorithm_spec::{KernelSpec, Planned, TEST_GROUP_SIZE, Trial};
use crate::arguments::arguments;
use crate::cost::{CostModel, rows_by_items};
use crate::fit::nearest;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::storage::{Storage, StorageFormat};
use crate::{AlgorithmSpec, Array, Fit, FittedParameters, NamedParameters, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_scalar.cl";

parameters! {
    /// Parameters of `csr_scalar`.
    pub struct CsrScalar for "csr_scalar" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

impl Default for CsrScalar {
    fn default() -> Self {
        CsrScalar { group_size: 64 }
    }
}

impl FittedParameters for CsrScalar {
    fn fitted(fit: &Fit<'_>) -> Self {
        nearest(CsrScalar::default(), &["group_size"], fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        check_group_size("csr_scalar", self.group_size, fit.device)
    }
}

/// What `csr_scalar` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    planned: Planned::Never,
    storage: Storage { format: StorageFormat::CsrRowPerItem, offset_reads: 1, staged: &[] },
    model: Some(CostModel {
        candidates: |fit| vec![NamedParameters::of(&CsrScalar { group_size: fit.group_size(128) })],
        cost: |question, _| rows_by_items(question, 1.0),
    }),
    trials: |_| vec![Trial::Parameter("group_size", 256)],
    test_parameters: &[("group_size", TEST_GROUP_SIZE)],
    offline: |list| list.spmv(SOURCE, &[None], |_| vec![CsrScalar::default()]),
    ..AlgorithmSpec::of::<CsrScalar>(&[KernelSpec::of::<Arguments<()>, CsrScalar>(SOURCE)])
};

arguments! {
    /// Arguments of the kernel `csr_scalar`.
    pub struct Arguments<M> for "csr_scalar" {
        /// Rows of A.
        rows: u32,
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
    }
}
