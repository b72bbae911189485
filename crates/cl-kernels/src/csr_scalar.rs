//! `csr_scalar`: one work-item a row (`cl/spmv/csr_scalar.cl`).

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::{Array, DeviceTraits, ParameterError, Scalar};

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

impl CsrScalar {
    /// Checks the parameters against the kernel's rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        check_group_size("csr_scalar", self.group_size, device)
    }
}

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
