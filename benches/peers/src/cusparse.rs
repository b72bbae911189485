//! cuSPARSE's generic SpMV, SpMM and SpGEMM, opened at run time: there is no NVIDIA library where this is built. A module an
//! operation; `dense` is cuBLAS's product on the same device.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use anyhow::{Context as _, Result};
use csr_core::{Value, ValueType};
use libloading::Library;

use crate::foreign::{call, open};

type Pointer = *mut c_void;

const NON_TRANSPOSE: c_int = 0;
const INDEX_32I: c_int = 2;
const INDEX_BASE_ZERO: c_int = 0;
const ORDER_COLUMN: c_int = 1;
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

mod batch;
mod dense;
mod spgemm;
mod spmm;
mod spmv;

pub use dense::CuBlas;

/// What CUDA calls a value type.
fn kind_of<T: Value>() -> c_int {
    if T::TYPE == ValueType::F64 { 1 } else { 0 }
}

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

    /// "12.6.3" of 12603.
    pub fn version_text(&self) -> String {
        let version = self.version;
        format!("{}.{}.{}", version / 1000, version / 100 % 10, version % 100)
    }

    /// The name of CUDA's device 0, and the version of CUDA that its driver has.
    pub fn device(&self) -> Result<(String, String)> {
        let driver = open(&["libcuda.so.1", "libcuda.so"])?;
        let (mut device, mut version) = (0, 0);
        let mut name = [0 as c_char; 256];
        call!(driver, "cuInit", 0 => u32);
        call!(driver, "cuDeviceGet", &mut device => *mut c_int, 0 => c_int);
        call!(driver, "cuDeviceGetName", name.as_mut_ptr() => *mut c_char, 255 => c_int, device => c_int);
        call!(self.runtime, "cudaDriverGetVersion", &mut version => *mut c_int);
        let bytes: Vec<u8> = name.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
        let name = String::from_utf8(bytes).context("a device's name that is no UTF-8")?;
        Ok((name, format!("CUDA {}.{}", version / 1000, version / 10 % 100)))
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory<'_>> {
        let mut pointer = ptr::null_mut();
        call!(self.runtime, "cudaMalloc", &mut pointer => *mut Pointer, bytes.max(16) => usize);
        Ok(DeviceMemory { owner: self, pointer })
    }

    fn upload<T: Copy>(&self, data: &[T]) -> Result<DeviceMemory<'_>> {
        let memory = self.allocate(size_of_val(data))?;
        self.write(&memory, data)?;
        Ok(memory)
    }

    /// Copies an array of the device's to the host.
    fn download<T: Copy>(&self, memory: &DeviceMemory<'_>, into: &mut [T]) -> Result<()> {
        call!(self.runtime, "cudaMemcpy", into.as_mut_ptr().cast() => Pointer, memory.pointer => *const c_void,
            size_of_val(into) => usize, DEVICE_TO_HOST => c_int);
        Ok(())
    }

    /// Overwrites an array of the device's.
    fn write<T: Copy>(&self, memory: &DeviceMemory<'_>, data: &[T]) -> Result<()> {
        call!(self.runtime, "cudaMemcpy", memory.pointer => Pointer, data.as_ptr().cast() => *const c_void,
            size_of_val(data) => usize, HOST_TO_DEVICE => c_int);
        Ok(())
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

    /// Describes a dense matrix of (rows, cols) in an order, whose rows or columns are `leading` elements apart.
    fn dense_matrix(
        &self,
        (rows, cols): (usize, usize),
        leading: usize,
        memory: &DeviceMemory<'_>,
        kind: c_int,
        order: c_int,
    ) -> Result<Descriptor<'_>> {
        let mut pointer = ptr::null_mut();
        call!(self.cusparse, "cusparseCreateDnMat", &mut pointer => *mut Pointer, rows as i64 => i64,
            cols as i64 => i64, leading as i64 => i64, memory.pointer => Pointer, kind => c_int, order => c_int);
        Ok(Descriptor { owner: self, pointer, end: b"cusparseDestroyDnMat\0" })
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

    fn synchronize(&self) -> Result<()> {
        call!(self.runtime, "cudaDeviceSynchronize",);
        Ok(())
    }
}
