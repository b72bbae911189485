//! cuSPARSE's generic SpMV by each of its algorithms for CSR, after its preprocess.

use std::ffi::{c_int, c_void};

use anyhow::Result;
use csr_core::{Accumulator, Csr, Real};
use sparrow_bench::{Budget, Samples};

use super::{CuSparse, Descriptor, DeviceMemory, NON_TRANSPOSE, Pointer, kind_of};
use crate::foreign::call;
use crate::timed::{Outcome, POISON, Timed, set_up, those_that_run};

/// CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_CSR_ALG1 and _ALG2.
pub(super) const ALGORITHMS: [(&str, c_int); 3] =
    [("ALG_DEFAULT", 0), ("CSR_ALG1", 2), ("CSR_ALG2", 3)];

/// A matrix, x and y on the device, and cuSPARSE's descriptors of them; the arrays are freed last.
pub(super) struct Product<'a> {
    owner: &'a CuSparse,
    a_of: Descriptor<'a>,
    x_of: Descriptor<'a>,
    y_of: Descriptor<'a>,
    y: DeviceMemory<'a>,
    _others: [DeviceMemory<'a>; 4],
    kind: c_int,
    rows: usize,
}

/// Calls `$name`, a step of SpMV with alpha 1 and beta 0, with its last argument.
macro_rules! step {
    ($product:expr, $type:ty, $name:literal, $algorithm:expr, $last:expr => $last_type:ty) => {{
        let Product { owner, a_of, x_of, y_of, kind, .. } = $product;
        let (one, zero) = (<$type>::from_f64(1.0), <$type>::from_f64(0.0));
        call!(owner.cusparse, $name, owner.handle => Pointer, NON_TRANSPOSE => c_int,
            (&raw const one).cast() => *const c_void, a_of.pointer => Pointer, x_of.pointer => Pointer,
            (&raw const zero).cast() => *const c_void, y_of.pointer => Pointer, *kind => c_int,
            $algorithm => c_int, $last => $last_type)
    }};
}

impl<'a> Product<'a> {
    pub(super) fn new<T: Accumulator + Real>(
        owner: &'a CuSparse,
        matrix: &Csr<T, u32>,
        x: &[T],
    ) -> Result<Self> {
        let (kind, rows) = (kind_of::<T>(), matrix.rows());
        let pattern = matrix.pattern();
        let offsets = owner.upload(pattern.offsets())?;
        let columns = owner.upload(pattern.columns())?;
        let values = owner.upload(matrix.values())?;
        let (x, y) = (owner.upload(x)?, owner.allocate(rows * size_of::<T>())?);
        let arrays = [offsets.pointer, columns.pointer, values.pointer];
        let a_of = owner.csr((rows, matrix.cols()), matrix.nnz(), arrays, kind)?;
        let x_of = owner.vector(matrix.cols(), &x, kind)?;
        let y_of = owner.vector(rows, &y, kind)?;
        Ok(Product {
            owner,
            a_of,
            x_of,
            y_of,
            y,
            _others: [offsets, columns, values, x],
            kind,
            rows,
        })
    }

    /// Fills y with what no product leaves.
    pub(super) fn poison<T: Accumulator + Real>(&self) -> Result<()> {
        self.owner.write(&self.y, &vec![T::from_f64(POISON); self.rows])?;
        self.owner.synchronize()
    }

    /// y, as it is now.
    pub(super) fn result<T: Accumulator + Real>(&self) -> Result<Vec<T>> {
        let mut y = vec![T::from_f64(POISON); self.rows];
        self.owner.download(&self.y, &mut y)?;
        Ok(y)
    }

    /// The buffer of an algorithm after its preprocess, which is waited for.
    pub(super) fn prepare<T: Accumulator + Real>(
        &self,
        algorithm: c_int,
    ) -> Result<DeviceMemory<'a>> {
        let Product { owner, .. } = self;
        let mut bytes = 0usize;
        step!(self, T, "cusparseSpMV_bufferSize", algorithm, &mut bytes => *mut usize);
        let buffer = owner.allocate(bytes)?;
        step!(self, T, "cusparseSpMV_preprocess", algorithm, buffer.pointer => Pointer);
        owner.synchronize()?;
        Ok(buffer)
    }

    /// Enqueues y = A x.
    pub(super) fn launch<T: Accumulator + Real>(
        &self,
        algorithm: c_int,
        buffer: &DeviceMemory<'_>,
    ) -> Result<()> {
        step!(self, T, "cusparseSpMV", algorithm, buffer.pointer => Pointer);
        Ok(())
    }
}

impl CuSparse {
    /// Times y = A x.
    pub fn spmv<T: Accumulator + Real>(
        &self,
        matrix: &Csr<T, u32>,
        x: &[T],
        budget: &Budget,
    ) -> Result<Outcome<T>> {
        let product = Product::new(self, matrix, x)?;
        let timed = those_that_run("cuSPARSE's SpMV", &ALGORITHMS, |algorithm, number| {
            product.poison::<T>()?;
            let (buffer, setup_us) = set_up(|| product.prepare::<T>(number))?;
            let launch = || product.launch::<T>(number, &buffer);
            let samples = Samples::take::<anyhow::Error>(budget, launch, || self.synchronize())?;
            Ok(Timed { algorithm, samples, setup_us, y: product.result()? })
        })?;
        let version = self.version.to_string();
        Ok(Outcome { peer: "cuSPARSE", version, device: "CUDA's device 0".to_owned(), timed })
    }
}
