//! cuSPARSE's generic SpMV, SpMM and SpGEMM, opened at run time: there is no NVIDIA library where this is built.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::Instant;

use anyhow::Result;
use csr_core::{Csr, Value, ValueType};
use libloading::Library;
use sparrow_bench::{Budget, Samples};

use crate::foreign::{call, open};

type Pointer = *mut c_void;

/// CUSPARSE_SPMM_CSR_ALG1, 2 and 3.
const ALGORITHMS: [(&str, c_int); 3] = [("CSR_ALG1", 4), ("CSR_ALG2", 6), ("CSR_ALG3", 12)];
const NON_TRANSPOSE: c_int = 0;
const INDEX_32I: c_int = 2;
const INDEX_BASE_ZERO: c_int = 0;
const ORDER_ROW: c_int = 2;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;

/// The two libraries and a handle.
pub struct CuSparse {
    runtime: Library,
    cusparse: Library,
    handle: Pointer,
    /// 12603 is 12.6.3.
    pub version: c_int,
}

/// What one algorithm of cuSPARSE took.
pub struct PeerTime {
    pub algorithm: &'static str,
    pub median_us: f64,
    /// Buffer query, allocation and preprocess.
    pub setup_us: f64,
}

/// Memory of the device, freed when dropped.
struct DeviceMemory<'a> {
    owner: &'a CuSparse,
    pointer: Pointer,
}

impl Drop for DeviceMemory<'_> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from cudaMalloc and is freed once; a failure here has nobody to tell.
        unsafe {
            if let Ok(free) =
                self.owner.runtime.get::<unsafe extern "C" fn(Pointer) -> c_int>(b"cudaFree")
            {
                free(self.pointer);
            }
        }
    }
}

/// Ends a descriptor with whoever holds it.
struct Descriptor<'a> {
    owner: &'a CuSparse,
    pointer: Pointer,
    end: &'static [u8],
}

impl Drop for Descriptor<'_> {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ended once, by the function of its kind; a failure here has nobody to tell.
        unsafe {
            if let Ok(end) =
                self.owner.cusparse.get::<unsafe extern "C" fn(Pointer) -> c_int>(self.end)
            {
                end(self.pointer);
            }
        }
    }
}

mod spgemm;
mod spmv;

impl CuSparse {
    pub fn open() -> Result<Self> {
        let root = "/usr/local/cuda/lib64";
        let at = |name: &str| format!("{root}/{name}");
        let runtime = open(&["libcudart.so", &at("libcudart.so")])?;
        let cusparse = open(&["libcusparse.so.12", "libcusparse.so", &at("libcusparse.so")])?;
        let (mut handle, mut version) = (ptr::null_mut(), 0);
        call!(cusparse, "cusparseCreate", &mut handle => *mut Pointer);
        call!(cusparse, "cusparseGetVersion", handle => Pointer, &mut version => *mut c_int);
        Ok(CuSparse { runtime, cusparse, handle, version })
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory<'_>> {
        let mut pointer = ptr::null_mut();
        call!(self.runtime, "cudaMalloc", &mut pointer => *mut Pointer, bytes.max(16) => usize);
        Ok(DeviceMemory { owner: self, pointer })
    }

    fn upload<T: Copy>(&self, data: &[T]) -> Result<DeviceMemory<'_>> {
        let memory = self.allocate(size_of_val(data))?;
        call!(self.runtime, "cudaMemcpy", memory.pointer => Pointer, data.as_ptr().cast() => *const c_void,
            size_of_val(data) => usize, HOST_TO_DEVICE => c_int);
        Ok(memory)
    }

    /// Describes a matrix of (rows, cols) in compressed rows.
    fn csr(
        &self,
        (rows, cols): (usize, usize),
        nnz: usize,
        [offsets, columns, values]: [Pointer; 3],
        kind: c_int,
    ) -> Result<Descriptor<'_>> {
        let mut pointer = ptr::null_mut();
        call!(self.cusparse, "cusparseCreateCsr", &mut pointer => *mut Pointer, rows as i64 => i64,
            cols as i64 => i64, nnz as i64 => i64, offsets => Pointer, columns => Pointer, values => Pointer,
            INDEX_32I => c_int, INDEX_32I => c_int, INDEX_BASE_ZERO => c_int, kind => c_int);
        Ok(Descriptor { owner: self, pointer, end: b"cusparseDestroySpMat\0" })
    }

    fn synchronize(&self) -> Result<()> {
        call!(self.runtime, "cudaDeviceSynchronize",);
        Ok(())
    }

    /// Times C = A B, row-major, by every algorithm. C is what the last one left.
    pub fn spmm<T: Value<Accum = T>>(
        &self,
        matrix: &Csr<T, u32>,
        b: &[T],
        columns: usize,
        budget: &Budget,
    ) -> Result<(Vec<PeerTime>, Vec<T>)> {
        let kind: c_int = if T::TYPE == ValueType::F64 { 1 } else { 0 };
        let pattern = matrix.pattern();
        let (rows, cols) = (matrix.rows() as i64, matrix.cols() as i64);
        let offsets = self.upload(pattern.offsets())?;
        let indices = self.upload(pattern.columns())?;
        let values = self.upload(matrix.values())?;
        let b = self.upload(b)?;
        let mut c_host = vec![T::from_f64(f64::NAN); matrix.rows() * columns];
        let c = self.upload(&c_host)?;
        let (mut a_of, mut b_of, mut c_of) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        call!(self.cusparse, "cusparseCreateCsr", &mut a_of => *mut Pointer, rows => i64, cols => i64,
            matrix.nnz() as i64 => i64, offsets.pointer => Pointer, indices.pointer => Pointer,
            values.pointer => Pointer, INDEX_32I => c_int, INDEX_32I => c_int, INDEX_BASE_ZERO => c_int,
            kind => c_int);
        let n = columns as i64;
        for (descriptor, rows, memory) in [(&mut b_of, cols, &b), (&mut c_of, rows, &c)] {
            call!(self.cusparse, "cusparseCreateDnMat", descriptor => *mut Pointer, rows => i64, n => i64,
                n => i64, memory.pointer => Pointer, kind => c_int, ORDER_ROW => c_int);
        }
        let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
        let (alpha, beta) = ((&raw const one).cast::<c_void>(), (&raw const zero).cast::<c_void>());
        let mut times = Vec::new();
        for (algorithm, number) in ALGORITHMS {
            let start = Instant::now();
            let mut bytes = 0usize;
            call!(self.cusparse, "cusparseSpMM_bufferSize", self.handle => Pointer, NON_TRANSPOSE => c_int,
                NON_TRANSPOSE => c_int, alpha => *const c_void, a_of => Pointer, b_of => Pointer,
                beta => *const c_void, c_of => Pointer, kind => c_int, number => c_int,
                &mut bytes => *mut usize);
            let buffer = self.allocate(bytes)?;
            call!(self.cusparse, "cusparseSpMM_preprocess", self.handle => Pointer, NON_TRANSPOSE => c_int,
                NON_TRANSPOSE => c_int, alpha => *const c_void, a_of => Pointer, b_of => Pointer,
                beta => *const c_void, c_of => Pointer, kind => c_int, number => c_int,
                buffer.pointer => Pointer);
            self.synchronize()?;
            let setup_us = start.elapsed().as_secs_f64() * 1e6;
            let launch = || -> Result<()> {
                call!(self.cusparse, "cusparseSpMM", self.handle => Pointer, NON_TRANSPOSE => c_int,
                    NON_TRANSPOSE => c_int, alpha => *const c_void, a_of => Pointer, b_of => Pointer,
                    beta => *const c_void, c_of => Pointer, kind => c_int, number => c_int,
                    buffer.pointer => Pointer);
                Ok(())
            };
            let samples = Samples::take::<anyhow::Error>(budget, launch, || self.synchronize())?;
            times.push(PeerTime { algorithm, median_us: samples.median_us(), setup_us });
        }
        call!(self.runtime, "cudaMemcpy", c_host.as_mut_ptr().cast() => Pointer, c.pointer => *const c_void,
            size_of_val(&c_host[..]) => usize, DEVICE_TO_HOST => c_int);
        call!(self.cusparse, "cusparseDestroySpMat", a_of => Pointer);
        call!(self.cusparse, "cusparseDestroyDnMat", b_of => Pointer);
        call!(self.cusparse, "cusparseDestroyDnMat", c_of => Pointer);
        Ok((times, c_host))
    }
}
