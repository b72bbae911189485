//! cuBLAS's product of two dense matrices: C = A B with A's zeros written out, which cuSPARSE does on the device.

use std::ffi::{c_int, c_void};
use std::ptr;

use anyhow::{Result, bail};
use csr_core::{Accumulator, Csr, Real, ValueType};
use libloading::Library;
use sparrow_bench::{Budget, Samples};

use super::{CuSparse, DeviceMemory, ORDER_ROW, Pointer, kind_of};
use crate::foreign::{call, open};
use crate::timed::{POISON, Timed, set_up};

/// CUBLAS_OP_N.
const NON_TRANSPOSE: c_int = 0;
/// CUSPARSE_SPARSETODENSE_ALG_DEFAULT.
const SPARSE_TO_DENSE: c_int = 0;

/// cuBLAS and a handle; in its default mode, which sums in the values' own type.
pub struct CuBlas {
    library: Library,
    handle: Pointer,
    /// 130002 is 13.0.2.
    version: c_int,
}

impl CuBlas {
    pub fn open() -> Result<Self> {
        let at = |name: &str| format!("/usr/local/cuda/lib64/{name}");
        let (new, old, any) = ("libcublas.so.13", "libcublas.so.12", "libcublas.so");
        let library = open(&[new, old, any, &at(new), &at(old), &at(any)])?;
        let (mut handle, mut version) = (ptr::null_mut(), 0);
        call!(library, "cublasCreate_v2", &mut handle => *mut Pointer);
        call!(library, "cublasGetVersion_v2", handle => Pointer, &mut version => *mut c_int);
        Ok(CuBlas { library, handle, version })
    }

    /// "13.0.2".
    pub fn version_text(&self) -> String {
        let version = self.version;
        format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
    }

    /// Enqueues C = A B with all three row-major. A matrix by rows is its transpose by columns, as cuBLAS has them: so this
    /// is B's transpose times A's.
    fn launch<T: Accumulator + Real>(
        &self,
        (rows, cols, columns): (c_int, c_int, c_int),
        [a, b, c]: [&DeviceMemory<'_>; 3],
    ) -> Result<()> {
        let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
        macro_rules! gemm {
            ($name:literal) => {
                call!(self.library, $name, self.handle => Pointer, NON_TRANSPOSE => c_int,
                    NON_TRANSPOSE => c_int, columns => c_int, rows => c_int, cols => c_int,
                    (&raw const one).cast() => *const c_void, b.pointer => Pointer, columns => c_int,
                    a.pointer => Pointer, cols => c_int, (&raw const zero).cast() => *const c_void,
                    c.pointer => Pointer, columns => c_int)
            };
        }
        match T::TYPE {
            ValueType::F32 => gemm!("cublasSgemm_v2"),
            ValueType::F64 => gemm!("cublasDgemm_v2"),
            other => bail!("{other} is not compared with cuBLAS"),
        }
        Ok(())
    }
}

impl CuSparse {
    /// Times C = A B with so many columns by cuBLAS. Set-up is writing A's zeros out.
    pub fn dense_product<T: Accumulator + Real>(
        &self,
        blas: &CuBlas,
        matrix: &Csr<T, u32>,
        b: &[T],
        columns: usize,
        budget: &Budget,
    ) -> Result<Timed<T>> {
        let kind = kind_of::<T>();
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let offsets = self.upload(matrix.pattern().offsets())?;
        let indices = self.upload(matrix.pattern().columns())?;
        let values = self.upload(matrix.values())?;
        let arrays = [offsets.pointer, indices.pointer, values.pointer];
        let sparse = self.csr((rows, cols), matrix.nnz(), arrays, kind)?;
        let (a, setup_us) = set_up(|| {
            let a = self.allocate(rows * cols * size_of::<T>())?;
            let dense = self.dense_matrix((rows, cols), cols, &a, kind, ORDER_ROW)?;
            let mut bytes = 0usize;
            call!(self.cusparse, "cusparseSparseToDense_bufferSize", self.handle => Pointer,
                sparse.pointer => Pointer, dense.pointer => Pointer, SPARSE_TO_DENSE => c_int,
                &mut bytes => *mut usize);
            let buffer = self.allocate(bytes)?;
            call!(self.cusparse, "cusparseSparseToDense", self.handle => Pointer, sparse.pointer => Pointer,
                dense.pointer => Pointer, SPARSE_TO_DENSE => c_int, buffer.pointer => Pointer);
            self.synchronize()?;
            Ok(a)
        })?;
        let mut y = vec![T::from_f64(POISON); rows * columns];
        let (b, c) = (self.upload(b)?, self.upload(&y)?);
        let sizes = (c_int::try_from(rows)?, c_int::try_from(cols)?, c_int::try_from(columns)?);
        let launch = || blas.launch::<T>(sizes, [&a, &b, &c]);
        let samples = Samples::take::<anyhow::Error>(budget, launch, || self.synchronize())?;
        self.download(&c, &mut y)?;
        Ok(Timed { algorithm: "gemm", samples, setup_us, y })
    }
}
