//! cuSPARSE's generic SpMV by each of its algorithms for CSR, after its preprocess.

use std::ffi::{c_int, c_void};
use std::ptr;

use anyhow::Result;
use csr_core::{Accumulator, Csr, Real, ValueType};
use sparrow_bench::{Budget, Samples};

use super::{
    CuSparse, DEVICE_TO_HOST, Descriptor, DeviceMemory, HOST_TO_DEVICE, NON_TRANSPOSE, Pointer,
};
use crate::foreign::call;
use crate::timed::{Outcome, POISON, Timed, set_up};

/// CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_CSR_ALG1 and _ALG2.
const ALGORITHMS: [(&str, c_int); 3] = [("ALG_DEFAULT", 0), ("CSR_ALG1", 2), ("CSR_ALG2", 3)];

impl CuSparse {
    /// Times y = A x.
    pub fn spmv<T: Accumulator + Real>(&self, matrix: &Csr<T, u32>, x: &[T]) -> Result<Outcome<T>> {
        let kind: c_int = if T::TYPE == ValueType::F64 { 1 } else { 0 };
        let pattern = matrix.pattern();
        let offsets = self.upload(pattern.offsets())?;
        let columns = self.upload(pattern.columns())?;
        let values = self.upload(matrix.values())?;
        let poison = vec![T::from_f64(POISON); matrix.rows()];
        let (x, y) = (self.upload(x)?, self.upload(&poison)?);
        let arrays = [offsets.pointer, columns.pointer, values.pointer];
        let a_of = self.csr((matrix.rows(), matrix.cols()), matrix.nnz(), arrays, kind)?;
        let x_of = self.vector(matrix.cols(), &x, kind)?;
        let y_of = self.vector(matrix.rows(), &y, kind)?;
        let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
        let (alpha, beta) = ((&raw const one).cast::<c_void>(), (&raw const zero).cast::<c_void>());
        let mut timed = Vec::new();
        for (algorithm, number) in ALGORITHMS {
            call!(self.runtime, "cudaMemcpy", y.pointer => Pointer, poison.as_ptr().cast() => *const c_void,
                size_of_val(&poison[..]) => usize, HOST_TO_DEVICE => c_int);
            self.synchronize()?;
            /// A call of a step of SpMV with its last arguments.
            macro_rules! step {
                ($name:literal, $value:expr => $type:ty) => {
                    call!(self.cusparse, $name, self.handle => Pointer, NON_TRANSPOSE => c_int,
                        alpha => *const c_void, a_of.pointer => Pointer, x_of.pointer => Pointer,
                        beta => *const c_void, y_of.pointer => Pointer, kind => c_int,
                        number => c_int, $value => $type)
                };
            }
            let (buffer, setup_us) = set_up(|| {
                let mut bytes = 0usize;
                step!("cusparseSpMV_bufferSize", &mut bytes => *mut usize);
                let buffer = self.allocate(bytes)?;
                step!("cusparseSpMV_preprocess", buffer.pointer => Pointer);
                self.synchronize()?;
                Ok(buffer)
            })?;
            let launch = || -> Result<()> {
                step!("cusparseSpMV", buffer.pointer => Pointer);
                Ok(())
            };
            let finish = || self.synchronize();
            let samples = Samples::take::<anyhow::Error>(&Budget::default(), launch, finish)?;
            let mut result = poison.clone();
            call!(self.runtime, "cudaMemcpy", result.as_mut_ptr().cast() => Pointer,
                y.pointer => *const c_void, size_of_val(&result[..]) => usize,
                DEVICE_TO_HOST => c_int);
            timed.push(Timed { algorithm, samples, setup_us, y: result });
        }
        let version = self.version.to_string();
        Ok(Outcome { peer: "cuSPARSE", version, device: "CUDA's device 0".to_owned(), timed })
    }

    /// Describes a dense vector.
    fn vector(
        &self,
        length: usize,
        memory: &DeviceMemory<'_>,
        kind: c_int,
    ) -> Result<Descriptor<'_>> {
        let mut pointer = ptr::null_mut();
        call!(self.cusparse, "cusparseCreateDnVec", &mut pointer => *mut Pointer, length as i64 => i64,
            memory.pointer => Pointer, kind => c_int);
        Ok(Descriptor { owner: self, pointer, end: b"cusparseDestroyDnVec\0" })
    }
}
