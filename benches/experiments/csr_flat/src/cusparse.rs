//! cuSPARSE SpMV by dlopen (lab copy).
use std::ffi::{c_int, c_void};
use std::ptr;
use anyhow::{Context as _, Result, bail};
use csr_core::{Csr, Value, ValueType};
use libloading::{Library, Symbol};
type Pointer = *mut c_void;
const ALGORITHMS: [(&str, c_int); 3] = [("DEFAULT", 0), ("CSR_ALG1", 2), ("CSR_ALG2", 3)];
pub struct CuSparse { runtime: Library, cusparse: Library, handle: Pointer }
macro_rules! call {
    ($library:expr, $name:literal, $($value:expr => $type:ty),* $(,)?) => {{
        let status = unsafe {
            let function: Symbol<'_, unsafe extern "C" fn($($type),*) -> c_int> =
                $library.get(concat!($name, "\0").as_bytes()).context($name)?;
            function($($value),*)
        };
        if status != 0 { bail!("{} answered {status}", $name); }
    }};
}
impl CuSparse {
    pub fn open() -> Result<Self> {
        let open = |names: &[&str]| -> Result<Library> {
            for name in names { if let Ok(l) = unsafe { Library::new(name) } { return Ok(l); } }
            bail!("none of {} can be opened", names.join(", "))
        };
        let runtime = open(&["libcudart.so", "/usr/local/cuda/lib64/libcudart.so"])?;
        let cusparse = open(&["libcusparse.so.12", "libcusparse.so", "/usr/local/cuda/lib64/libcusparse.so"])?;
        let mut handle = ptr::null_mut();
        call!(cusparse, "cusparseCreate", &mut handle => *mut Pointer);
        Ok(CuSparse { runtime, cusparse, handle })
    }
    fn upload<T: Copy>(&self, data: &[T]) -> Result<Pointer> {
        let mut p = ptr::null_mut();
        call!(self.runtime, "cudaMalloc", &mut p => *mut Pointer, size_of_val(data).max(16) => usize);
        call!(self.runtime, "cudaMemcpy", p => Pointer, data.as_ptr().cast() => *const c_void, size_of_val(data) => usize, 1 => c_int);
        Ok(p)
    }
    fn free(&self, p: Pointer) -> Result<()> { call!(self.runtime, "cudaFree", p => Pointer); Ok(()) }
    fn synchronize(&self) -> Result<()> { call!(self.runtime, "cudaDeviceSynchronize",); Ok(()) }
    pub fn spmv<T: Value<Accum = T>>(&self, m: &Csr<T, u32>, x: &[T]) -> Result<Vec<(&'static str, f64)>> {
        let kind: c_int = if T::TYPE == ValueType::F64 { 1 } else { 0 };
        let (rows, cols) = (m.rows() as i64, m.cols() as i64);
        let o = self.upload(m.pattern().offsets())?;
        let c = self.upload(m.pattern().columns())?;
        let v = self.upload(m.values())?;
        let xb = self.upload(x)?;
        let yb = self.upload(&vec![T::from_f64(0.0); m.rows()])?;
        let (mut a_of, mut x_of, mut y_of) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        call!(self.cusparse, "cusparseCreateCsr", &mut a_of => *mut Pointer, rows => i64, cols => i64,
            m.nnz() as i64 => i64, o => Pointer, c => Pointer, v => Pointer, 2 => c_int, 2 => c_int, 0 => c_int, kind => c_int);
        call!(self.cusparse, "cusparseCreateDnVec", &mut x_of => *mut Pointer, cols => i64, xb => Pointer, kind => c_int);
        call!(self.cusparse, "cusparseCreateDnVec", &mut y_of => *mut Pointer, rows => i64, yb => Pointer, kind => c_int);
        let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
        let (alpha, beta) = ((&raw const one).cast::<c_void>(), (&raw const zero).cast::<c_void>());
        let mut times = Vec::new();
        for (algorithm, number) in ALGORITHMS {
            let mut bytes = 0usize;
            call!(self.cusparse, "cusparseSpMV_bufferSize", self.handle => Pointer, 0 => c_int, alpha => *const c_void, a_of => Pointer,
                x_of => Pointer, beta => *const c_void, y_of => Pointer, kind => c_int, number => c_int, &mut bytes => *mut usize);
            let buffer = self.upload(&vec![0u8; bytes])?;
            call!(self.cusparse, "cusparseSpMV_preprocess", self.handle => Pointer, 0 => c_int, alpha => *const c_void, a_of => Pointer,
                x_of => Pointer, beta => *const c_void, y_of => Pointer, kind => c_int, number => c_int, buffer => Pointer);
            self.synchronize()?;
            let t = crate::time(|| { call!(self.cusparse, "cusparseSpMV", self.handle => Pointer, 0 => c_int, alpha => *const c_void, a_of => Pointer,
                x_of => Pointer, beta => *const c_void, y_of => Pointer, kind => c_int, number => c_int, buffer => Pointer); Ok(()) }, || self.synchronize())?;
            times.push((algorithm, t));
            self.free(buffer)?;
        }
        call!(self.cusparse, "cusparseDestroySpMat", a_of => Pointer);
        call!(self.cusparse, "cusparseDestroyDnVec", x_of => Pointer);
        call!(self.cusparse, "cusparseDestroyDnVec", y_of => Pointer);
        for p in [o, c, v, xb, yb] { self.free(p)?; }
        Ok(times)
    }
}
