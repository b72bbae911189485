//! MKL's sparse BLAS with an inspector and an executor: as the matrix is handed over, and after hint and optimise; and its
//! product of two dense matrices.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use anyhow::{Context as _, Result, anyhow};
use csr_core::{Accumulator, AnyVector, Csr, Real};
use libloading::Library;
use sparrow_bench::{Budget, Samples};

use crate::foreign::{call, open};
use crate::timed::{Outcome, POISON, Timed, set_up, those_that_run};

/// SPARSE_OPERATION_NON_TRANSPOSE.
const NON_TRANSPOSE: c_int = 10;
const INDEX_BASE_ZERO: c_int = 0;
/// SPARSE_LAYOUT_ROW_MAJOR and CblasRowMajor.
const ROW_MAJOR: c_int = 101;
/// CblasNoTrans.
const CBLAS_NO_TRANSPOSE: c_int = 111;
/// What the hint promises: DESIGN's `many`.
const PRODUCTS: c_int = 1000;

/// `sparse_matrix_t`.
type Handle = *mut std::ffi::c_void;

/// `struct matrix_descr`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Description {
    kind: c_int,
    /// These two mean something for triangular and symmetric matrices only.
    mode: c_int,
    diagonal: c_int,
}

/// SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_LOWER, SPARSE_DIAG_NON_UNIT.
const GENERAL: Description = Description { kind: 20, mode: 40, diagonal: 50 };

/// MKL, opened at run time.
pub struct Mkl {
    library: Library,
    version: String,
    threads: c_int,
}

/// A matrix as MKL knows it: it points into arrays of ours.
struct Matrix<'a> {
    owner: &'a Mkl,
    handle: Handle,
}

impl Drop for Matrix<'_> {
    fn drop(&mut self) {
        if self.handle.is_null() {
            return;
        }
        // SAFETY: the handle came from MKL and is ended once; a failure here has nobody to tell.
        unsafe {
            let end = self
                .owner
                .library
                .get::<unsafe extern "C" fn(Handle) -> c_int>(b"mkl_sparse_destroy\0");
            if let Ok(end) = end {
                end(self.handle);
            }
        }
    }
}

/// A value type for which MKL has functions.
pub trait MklValue: Accumulator + Real {
    /// The same elements, their type erased.
    fn erased(elements: Vec<Self>) -> AnyVector;
    /// `mkl_sparse_?_create_csr`, of arrays that outlive the handle.
    fn create(mkl: &Mkl, matrix: &Csr<Self, u32>, handle: &mut Handle) -> Result<()>;
    /// `mkl_sparse_?_mv` with alpha 1 and beta 0.
    fn multiply(mkl: &Mkl, handle: Handle, x: &[Self], y: &mut [Self]) -> Result<()>;
    /// `mkl_sparse_?_mm` with alpha 1 and beta 0, row-major, with so many columns.
    fn multiply_dense(
        mkl: &Mkl,
        handle: Handle,
        columns: c_int,
        b: &[Self],
        c: &mut [Self],
    ) -> Result<()>;
    /// `cblas_?gemm` with alpha 1 and beta 0, row-major, of (rows, cols, columns).
    fn gemm(
        mkl: &Mkl,
        sizes: (c_int, c_int, c_int),
        a: &[Self],
        b: &[Self],
        c: &mut [Self],
    ) -> Result<()>;
}

macro_rules! value {
    ($type:ty, $create:literal, $multiply:literal, $dense:literal, $gemm:literal) => {
        impl MklValue for $type {
            fn erased(elements: Vec<Self>) -> AnyVector {
                elements.into()
            }

            fn create(mkl: &Mkl, matrix: &Csr<Self, u32>, handle: &mut Handle) -> Result<()> {
                // MKL only reads these arrays; u32 below 2^31 has the bits of its integers.
                let offsets = matrix.pattern().offsets().as_ptr().cast::<c_int>();
                call!(mkl.library, $create, handle => *mut Handle, INDEX_BASE_ZERO => c_int,
                    c_int::try_from(matrix.rows())? => c_int, c_int::try_from(matrix.cols())? => c_int,
                    offsets => *const c_int, offsets.wrapping_add(1) => *const c_int,
                    matrix.pattern().columns().as_ptr().cast() => *const c_int,
                    matrix.values().as_ptr() => *const $type);
                Ok(())
            }

            fn multiply(mkl: &Mkl, handle: Handle, x: &[Self], y: &mut [Self]) -> Result<()> {
                call!(mkl.library, $multiply, NON_TRANSPOSE => c_int, 1.0 => $type, handle => Handle,
                    GENERAL => Description, x.as_ptr() => *const $type, 0.0 => $type,
                    y.as_mut_ptr() => *mut $type);
                Ok(())
            }

            fn multiply_dense(
                mkl: &Mkl,
                handle: Handle,
                columns: c_int,
                b: &[Self],
                c: &mut [Self],
            ) -> Result<()> {
                call!(mkl.library, $dense, NON_TRANSPOSE => c_int, 1.0 => $type, handle => Handle,
                    GENERAL => Description, ROW_MAJOR => c_int, b.as_ptr() => *const $type,
                    columns => c_int, columns => c_int, 0.0 => $type, c.as_mut_ptr() => *mut $type,
                    columns => c_int);
                Ok(())
            }

            fn gemm(
                mkl: &Mkl,
                (rows, cols, columns): (c_int, c_int, c_int),
                a: &[Self],
                b: &[Self],
                c: &mut [Self],
            ) -> Result<()> {
                type Gemm = unsafe extern "C" fn(
                    c_int, c_int, c_int, c_int, c_int, c_int, $type, *const $type, c_int,
                    *const $type, c_int, $type, *mut $type, c_int,
                );
                // SAFETY: the name and the types are those of mkl_cblas.h, and the arrays are as large as their sizes say.
                unsafe {
                    mkl.library.get::<Gemm>($gemm)?(
                        ROW_MAJOR, CBLAS_NO_TRANSPOSE, CBLAS_NO_TRANSPOSE, rows, columns, cols,
                        1.0, a.as_ptr(), cols, b.as_ptr(), columns, 0.0, c.as_mut_ptr(), columns,
                    );
                }
                Ok(())
            }
        }
    };
}

value!(f32, "mkl_sparse_s_create_csr", "mkl_sparse_s_mv", "mkl_sparse_s_mm", b"cblas_sgemm\0");
value!(f64, "mkl_sparse_d_create_csr", "mkl_sparse_d_mv", "mkl_sparse_d_mm", b"cblas_dgemm\0");

impl Mkl {
    /// Opens it where the linker finds it. It uses as many threads as `MKL_NUM_THREADS` says, else one a core.
    pub fn open() -> Result<Self> {
        let library = open(&["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"])?;
        let mut text = [0 as c_char; 256];
        // SAFETY: the names and the types are those of mkl_service.h, and the text is as long as it is said to be.
        let (version, threads) = unsafe {
            library.get::<unsafe extern "C" fn(*mut c_char, c_int)>(b"MKL_Get_Version_String\0")?(
                text.as_mut_ptr(),
                text.len() as c_int - 1,
            );
            let count = library.get::<unsafe extern "C" fn() -> c_int>(b"MKL_Get_Max_Threads\0")?();
            (CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned(), count)
        };
        Ok(Mkl { library, version: short_version(&version), threads })
    }

    /// "2026.2".
    pub fn version_text(&self) -> &str {
        &self.version
    }

    /// "16 threads".
    pub fn device(&self) -> String {
        format!("{} threads", self.threads)
    }

    /// Times y = A x.
    pub fn spmv<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        x: &[T],
        budget: &Budget,
    ) -> Result<Outcome<T>> {
        let hint = |handle| {
            call!(self.library, "mkl_sparse_set_mv_hint", handle => Handle, NON_TRANSPOSE => c_int,
                GENERAL => Description, PRODUCTS => c_int);
            Ok(())
        };
        let multiply = |handle, y: &mut [T]| T::multiply(self, handle, x, y);
        let timed = self.both((matrix, matrix.rows()), hint, budget, multiply)?;
        let version = self.version.clone();
        Ok(Outcome { peer: "MKL", version, device: self.device(), timed })
    }

    /// Times C = A B, both row-major, with so many columns.
    pub fn spmm<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        b: &[T],
        columns: usize,
        budget: &Budget,
    ) -> Result<Vec<Timed<T>>> {
        let (count, elements) = (c_int::try_from(columns)?, matrix.rows() * columns);
        let hint = |handle| {
            call!(self.library, "mkl_sparse_set_mm_hint", handle => Handle, NON_TRANSPOSE => c_int,
                GENERAL => Description, ROW_MAJOR => c_int, count => c_int, PRODUCTS => c_int);
            Ok(())
        };
        let multiply = |handle, c: &mut [T]| T::multiply_dense(self, handle, count, b, c);
        self.both((matrix, elements), hint, budget, multiply)
    }

    /// Times C = A B with A's zeros written out, which is its set-up.
    pub fn dense_product<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        b: &[T],
        columns: usize,
        budget: &Budget,
    ) -> Result<Timed<T>> {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let (a, setup_us) = set_up(|| with_zeros(matrix))?;
        let sizes = (c_int::try_from(rows)?, c_int::try_from(cols)?, c_int::try_from(columns)?);
        let mut y = vec![T::from_f64(POISON); rows * columns];
        let multiply = || T::gemm(self, sizes, &a, b, &mut y);
        let samples = Samples::take::<anyhow::Error>(budget, multiply, || Ok(()))?;
        Ok(Timed { algorithm: "gemm", samples, setup_us, y })
    }

    /// Times a product as the matrix is handed over, and after `hint` and optimise; y has so many elements.
    fn both<T: MklValue>(
        &self,
        (matrix, elements): (&Csr<T, u32>, usize),
        hint: impl Fn(Handle) -> Result<()>,
        budget: &Budget,
        mut multiply: impl FnMut(Handle, &mut [T]) -> Result<()>,
    ) -> Result<Vec<Timed<T>>> {
        c_int::try_from(matrix.nnz()).with_context(|| {
            format!("{} nonzeros, above the {} that MKL counts", matrix.nnz(), c_int::MAX)
        })?;
        those_that_run("MKL", &[("plain", 0), ("optimised", 1)], |algorithm, is_optimised| {
            let (known, setup_us) = set_up(|| {
                let mut known = Matrix { owner: self, handle: ptr::null_mut() };
                T::create(self, matrix, &mut known.handle)?;
                if is_optimised == 1 {
                    hint(known.handle)?;
                    call!(self.library, "mkl_sparse_optimize", known.handle => Handle);
                }
                Ok(known)
            })?;
            let mut y = vec![T::from_f64(POISON); elements];
            let launch = || multiply(known.handle, &mut y);
            let samples = Samples::take::<anyhow::Error>(budget, launch, || Ok(()))?;
            Ok(Timed { algorithm, samples, setup_us, y })
        })
    }
}

/// A by rows with its zeros written out; an error where there is no memory for it.
fn with_zeros<T: Real>(matrix: &Csr<T, u32>) -> Result<Vec<T>> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let elements = rows.saturating_mul(cols);
    let mut a = Vec::new();
    a.try_reserve_exact(elements).map_err(|_| {
        let bytes = elements as u128 * size_of::<T>() as u128;
        anyhow!("no memory for the dense A of {rows} x {cols}: {bytes} bytes are needed")
    })?;
    a.resize(elements, T::from_f64(0.0));
    let (offsets, indices) = (matrix.pattern().offsets(), matrix.pattern().columns());
    for row in 0..rows {
        for entry in offsets[row] as usize..offsets[row + 1] as usize {
            a[row * cols + indices[entry] as usize] = matrix.values()[entry];
        }
    }
    Ok(a)
}

/// "2026.2" of "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build ...".
fn short_version(text: &str) -> String {
    let after = text.split_once("Version ").map_or(text, |(_, rest)| rest);
    after.split(['-', ' ']).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_written_out_and_a_matrix_without_memory_is_an_error() {
        let a: Csr<f32, u32> =
            Csr::new(3, vec![0, 1, 3], vec![1, 0, 2], vec![5.0, 6.0, 7.0]).unwrap();
        assert_eq!(with_zeros(&a).unwrap(), [0.0, 5.0, 0.0, 6.0, 0.0, 7.0]);
        // 2^54 bytes, more than processors address.
        let (rows, cols) = (1 << 20, 1 << 31);
        let a: Csr<f64, u32> = Csr::new(cols, vec![0; rows + 1], vec![], vec![]).unwrap();
        let error = with_zeros(&a).unwrap_err().to_string();
        let expected =
            "no memory for the dense A of 1048576 x 2147483648: 18014398509481984 bytes are needed";
        assert_eq!(error, expected);
    }

    #[test]
    fn the_version_is_a_number_alone() {
        let text =
            "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build 20260915 for x   ";
        assert_eq!(short_version(text), "2026.2");
        assert_eq!(short_version("2024.0.1"), "2024.0.1");
    }
}
