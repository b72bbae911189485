//! cuSPARSE's generic SpMM by each of its algorithms for CSR, after its preprocess.

use std::ffi::{c_int, c_void};

use anyhow::Result;
use csr_core::{Accumulator, Csr, Real};
use sparrow_bench::{Budget, Samples};

use super::{CuSparse, Descriptor, DeviceMemory, NON_TRANSPOSE, ORDER_ROW, Pointer, kind_of};
use crate::foreign::call;
use crate::timed::{POISON, Timed, set_up, those_that_run};

/// CUSPARSE_SPMM_CSR_ALG1, 2 and 3.
const ALGORITHMS: [(&str, c_int); 3] = [("CSR_ALG1", 4), ("CSR_ALG2", 6), ("CSR_ALG3", 12)];

/// Descriptors of A, B and C, and C's memory and elements.
pub(super) struct Operands<'a> {
    pub(super) a: &'a Descriptor<'a>,
    pub(super) b: &'a Descriptor<'a>,
    pub(super) c: &'a Descriptor<'a>,
    pub(super) c_memory: &'a DeviceMemory<'a>,
    pub(super) c_elements: usize,
}

impl CuSparse {
    /// Times C = A B, both row-major, with so many columns.
    pub fn spmm<T: Accumulator + Real>(
        &self,
        matrix: &Csr<T, u32>,
        b: &[T],
        columns: usize,
        budget: &Budget,
    ) -> Result<Vec<Timed<T>>> {
        let kind = kind_of::<T>();
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let offsets = self.upload(matrix.pattern().offsets())?;
        let indices = self.upload(matrix.pattern().columns())?;
        let values = self.upload(matrix.values())?;
        let b = self.upload(b)?;
        let c = self.allocate(rows * columns * size_of::<T>())?;
        let arrays = [offsets.pointer, indices.pointer, values.pointer];
        let operands = Operands {
            a: &self.csr((rows, cols), matrix.nnz(), arrays, kind)?,
            b: &self.dense_matrix((cols, columns), columns, &b, kind, ORDER_ROW)?,
            c: &self.dense_matrix((rows, columns), columns, &c, kind, ORDER_ROW)?,
            c_memory: &c,
            c_elements: rows * columns,
        };
        those_that_run("cuSPARSE's SpMM", &ALGORITHMS, |algorithm, number| {
            self.time_spmm(&operands, (algorithm, number, true), budget)
        })
    }

    /// Times one algorithm, with its preprocess or without.
    pub(super) fn time_spmm<T: Accumulator + Real>(
        &self,
        operands: &Operands<'_>,
        (algorithm, number, is_preprocessed): (&'static str, c_int, bool),
        budget: &Budget,
    ) -> Result<Timed<T>> {
        let Operands { a, b, c, c_memory, c_elements } = operands;
        let mut y = vec![T::from_f64(POISON); *c_elements];
        self.write(c_memory, &y)?;
        let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
        let (alpha, beta) = ((&raw const one).cast::<c_void>(), (&raw const zero).cast::<c_void>());
        let kind = kind_of::<T>();
        /// A call of a step of SpMM with its last argument.
        macro_rules! step {
            ($name:literal, $value:expr => $type:ty) => {
                call!(self.cusparse, $name, self.handle => Pointer, NON_TRANSPOSE => c_int,
                    NON_TRANSPOSE => c_int, alpha => *const c_void, a.pointer => Pointer, b.pointer => Pointer,
                    beta => *const c_void, c.pointer => Pointer, kind => c_int, number => c_int,
                    $value => $type)
            };
        }
        let (buffer, setup_us) = set_up(|| {
            let mut bytes = 0usize;
            step!("cusparseSpMM_bufferSize", &mut bytes => *mut usize);
            let buffer = self.allocate(bytes)?;
            if is_preprocessed {
                step!("cusparseSpMM_preprocess", buffer.pointer => Pointer);
            }
            self.synchronize()?;
            Ok(buffer)
        })?;
        let launch = || -> Result<()> {
            step!("cusparseSpMM", buffer.pointer => Pointer);
            Ok(())
        };
        let samples = Samples::take::<anyhow::Error>(budget, launch, || self.synchronize())?;
        self.download(c_memory, &mut y)?;
        Ok(Timed { algorithm, samples, setup_us, y })
    }
}
