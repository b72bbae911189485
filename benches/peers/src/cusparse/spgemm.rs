//! cuSPARSE's generic SpGEMM: work estimation, compute and copy, with every buffer allocated on the way.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::Instant;

use anyhow::{Result, bail};
use csr_core::{Csr, Value};
use sparrow_bench::{Budget, Samples};

use super::{CuSparse, Descriptor, DeviceMemory, NON_TRANSPOSE, PeerTime, Pointer, kind_of};
use crate::foreign::call;

/// CUSPARSE_SPGEMM_DEFAULT, _ALG2 and _ALG3; the first is _ALG1.
const ALGORITHMS: [(&str, c_int); 3] = [("DEFAULT", 0), ("ALG2", 4), ("ALG3", 5)];
/// The part of the products that ALG3 takes at once; ALG2 asks for it too.
const CHUNK: f32 = 0.2;

/// C on the device, and its size.
struct Product<'a> {
    offsets: DeviceMemory<'a>,
    columns: DeviceMemory<'a>,
    values: DeviceMemory<'a>,
    nnz: usize,
}

/// What each algorithm that ran took, and the C of the first.
type SpgemmTimes<T> = (Vec<PeerTime>, Option<Csr<T, u32>>);

impl CuSparse {
    /// Times C = A A by every algorithm, allocations and wait included, and gives the C of the first that runs. An
    /// algorithm that fails (it has not the memory) is left out.
    pub fn spgemm<T: Value<Accum = T>>(
        &self,
        matrix: &Csr<T, u32>,
        budget: &Budget,
    ) -> Result<SpgemmTimes<T>> {
        let kind = kind_of::<T>();
        let pattern = matrix.pattern();
        let offsets = self.upload(pattern.offsets())?;
        let columns = self.upload(pattern.columns())?;
        let values = self.upload(matrix.values())?;
        let arrays = [offsets.pointer, columns.pointer, values.pointer];
        let a = self.csr((matrix.rows(), matrix.cols()), matrix.nnz(), arrays, kind)?;
        let (mut times, mut first) = (Vec::new(), None);
        for (algorithm, number) in ALGORITHMS {
            let product = match self.multiply::<T>(a.pointer, matrix.rows(), kind, number) {
                Ok(product) => product,
                Err(error) => {
                    println!("  cuSPARSE {algorithm} left out: {error}");
                    continue;
                }
            };
            if first.is_none() {
                first = Some(self.download_product::<T>(matrix.rows(), &product)?);
            }
            drop(product);
            let samples = Samples::take::<anyhow::Error>(
                budget,
                || self.multiply::<T>(a.pointer, matrix.rows(), kind, number).map(drop),
                || self.synchronize(),
            )?;
            times.push(PeerTime { algorithm, median_us: samples.median_us(), setup_us: 0.0 });
        }
        Ok((times, first))
    }

    /// C = A A, waited for.
    fn multiply<T: Value<Accum = T>>(
        &self,
        a: Pointer,
        rows: usize,
        kind: c_int,
        algorithm: c_int,
    ) -> Result<Product<'_>> {
        let start = Instant::now();
        let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
        let (alpha, beta) = ((&raw const one).cast::<c_void>(), (&raw const zero).cast::<c_void>());
        let offsets = self.allocate((rows + 1) * 4)?;
        let c =
            self.csr((rows, rows), 0, [offsets.pointer, ptr::null_mut(), ptr::null_mut()], kind)?;
        let mut state = ptr::null_mut();
        call!(self.cusparse, "cusparseSpGEMM_createDescr", &mut state => *mut Pointer);
        let state =
            Descriptor { owner: self, pointer: state, end: b"cusparseSpGEMM_destroyDescr\0" };
        /// A call of a step of SpGEMM with its last arguments.
        macro_rules! step {
            ($name:literal $(, $value:expr => $type:ty)*) => {
                call!(self.cusparse, $name, self.handle => Pointer, NON_TRANSPOSE => c_int,
                    NON_TRANSPOSE => c_int, alpha => *const c_void, a => Pointer, a => Pointer,
                    beta => *const c_void, c.pointer => Pointer, kind => c_int, algorithm => c_int,
                    state.pointer => Pointer $(, $value => $type)*)
            };
        }
        let none: Pointer = ptr::null_mut();
        let mut bytes = 0usize;
        step!("cusparseSpGEMM_workEstimation", &mut bytes => *mut usize, none => Pointer);
        let first = self.allocate(bytes)?;
        step!("cusparseSpGEMM_workEstimation", &mut bytes => *mut usize, first.pointer => Pointer);
        let mut compute_bytes = 0usize;
        let estimate = if algorithm == 0 {
            step!("cusparseSpGEMM_compute", &mut compute_bytes => *mut usize, none => Pointer);
            None
        } else {
            step!("cusparseSpGEMM_estimateMemory", CHUNK => f32, &mut bytes => *mut usize, none => Pointer,
                ptr::null_mut() => *mut usize);
            let estimate = self.allocate(bytes)?;
            step!("cusparseSpGEMM_estimateMemory", CHUNK => f32, &mut bytes => *mut usize,
                estimate.pointer => Pointer, &mut compute_bytes => *mut usize);
            Some(estimate)
        };
        // As NVIDIA's example does, before the larger buffer is there.
        drop(estimate);
        let second = self.allocate(compute_bytes)?;
        step!("cusparseSpGEMM_compute", &mut compute_bytes => *mut usize, second.pointer => Pointer);
        let (mut found_rows, mut found_cols, mut nnz) = (0i64, 0i64, 0i64);
        call!(self.cusparse, "cusparseSpMatGetSize", c.pointer => Pointer, &mut found_rows => *mut i64,
            &mut found_cols => *mut i64, &mut nnz => *mut i64);
        let nnz = nnz as usize;
        let columns = self.allocate(nnz * 4)?;
        let values = self.allocate(nnz * size_of::<T>())?;
        call!(self.cusparse, "cusparseCsrSetPointers", c.pointer => Pointer, offsets.pointer => Pointer,
            columns.pointer => Pointer, values.pointer => Pointer);
        step!("cusparseSpGEMM_copy");
        self.synchronize()?;
        if start.elapsed().as_secs() > 60 {
            bail!("it took more than a minute");
        }
        Ok(Product { offsets, columns, values, nnz })
    }

    fn download_product<T: Value>(
        &self,
        rows: usize,
        product: &Product<'_>,
    ) -> Result<Csr<T, u32>> {
        let mut offsets = vec![0u32; rows + 1];
        let mut columns = vec![0u32; product.nnz];
        let mut values = vec![T::from_f64(0.0); product.nnz];
        self.download(&product.offsets, &mut offsets)?;
        self.download(&product.columns, &mut columns)?;
        self.download(&product.values, &mut values)?;
        Ok(Csr::new(rows, offsets, columns, values)?)
    }
}
