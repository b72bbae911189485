//! MKL's sparse BLAS with an inspector and an executor: as the matrix is handed over, and after hint and optimise.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use anyhow::{Context as _, Result};
use csr_core::{Accumulator, Csr, Real};
use libloading::Library;
use sparrow_bench::{Budget, Samples};

use crate::foreign::{call, open};
use crate::timed::{Outcome, POISON, Timed, set_up};

/// SPARSE_OPERATION_NON_TRANSPOSE.
const NON_TRANSPOSE: c_int = 10;
const INDEX_BASE_ZERO: c_int = 0;
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
    /// `mkl_sparse_?_create_csr`, of arrays that outlive the handle.
    fn create(mkl: &Mkl, matrix: &Csr<Self, u32>, handle: &mut Handle) -> Result<()>;
    /// `mkl_sparse_?_mv` with alpha 1 and beta 0.
    fn multiply(mkl: &Mkl, handle: Handle, x: &[Self], y: &mut [Self]) -> Result<()>;
}

macro_rules! value {
    ($type:ty, $create:literal, $multiply:literal) => {
        impl MklValue for $type {
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
        }
    };
}

value!(f32, "mkl_sparse_s_create_csr", "mkl_sparse_s_mv");
value!(f64, "mkl_sparse_d_create_csr", "mkl_sparse_d_mv");

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

    /// Times y = A x.
    pub fn spmv<T: MklValue>(&self, matrix: &Csr<T, u32>, x: &[T]) -> Result<Outcome<T>> {
        c_int::try_from(matrix.nnz()).with_context(|| {
            format!("{} nonzeros, above the {} that MKL counts", matrix.nnz(), c_int::MAX)
        })?;
        let timed =
            vec![self.time(matrix, x, "plain", false)?, self.time(matrix, x, "optimised", true)?];
        let device = format!("{} threads", self.threads);
        Ok(Outcome { peer: "MKL", version: self.version.clone(), device, timed })
    }

    fn time<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        x: &[T],
        algorithm: &'static str,
        is_optimised: bool,
    ) -> Result<Timed<T>> {
        let (known, setup_us) = set_up(|| {
            let mut known = Matrix { owner: self, handle: ptr::null_mut() };
            T::create(self, matrix, &mut known.handle)?;
            if is_optimised {
                call!(self.library, "mkl_sparse_set_mv_hint", known.handle => Handle,
                    NON_TRANSPOSE => c_int, GENERAL => Description, PRODUCTS => c_int);
                call!(self.library, "mkl_sparse_optimize", known.handle => Handle);
            }
            Ok(known)
        })?;
        let mut y = vec![T::from_f64(POISON); matrix.rows()];
        let multiply = || T::multiply(self, known.handle, x, &mut y);
        let samples = Samples::take::<anyhow::Error>(&Budget::default(), multiply, || Ok(()))?;
        Ok(Timed { algorithm, samples, setup_us, y })
    }
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
    fn the_version_is_a_number_alone() {
        let text =
            "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build 20260915 for x   ";
        assert_eq!(short_version(text), "2026.2");
        assert_eq!(short_version("2024.0.1"), "2024.0.1");
    }
}
