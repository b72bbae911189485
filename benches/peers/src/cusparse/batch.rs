//! What cuSPARSE has for many small problems: its product with a vector in a loop, and its batched product with a dense
//! matrix, of one column. The batch of that is of matrices with one size and number of nonzeros, at equal distances.

use std::ffi::c_int;

use anyhow::Result;
use csr_core::{Accumulator, Csr, Real};
use sparrow_bench::{Budget, Samples};

use super::spmm::Operands;
use super::spmv::{self, Product};
use super::{CuSparse, ORDER_COLUMN, Pointer, kind_of};
use crate::foreign::call;
use crate::timed::{Timed, set_up, those_that_run};

/// CUSPARSE_SPMM_CSR_ALG1 and 2; the third takes no batches. With an odd number the preprocess is left out.
const BATCHED: [(&str, c_int); 4] = [
    ("CSR_ALG1", 4),
    ("CSR_ALG1, no preprocess", 5),
    ("CSR_ALG2", 6),
    ("CSR_ALG2, no preprocess", 7),
];

impl CuSparse {
    /// Times `launches` products with a vector, one problem after the other, each with its own x. y has the results of all
    /// problems, one after the other.
    pub fn looped<T: Accumulator + Real>(
        &self,
        problems: &[(&Csr<T, u32>, &[T])],
        launches: usize,
        budget: &Budget,
    ) -> Result<Vec<Timed<T>>> {
        let products = problems.iter().map(|(matrix, x)| Product::new(self, matrix, x));
        let products = products.collect::<Result<Vec<_>>>()?;
        those_that_run("cuSPARSE's SpMV in a loop", &spmv::ALGORITHMS, |algorithm, number| {
            products.iter().try_for_each(Product::poison::<T>)?;
            let (buffers, setup_us) = set_up(|| {
                products.iter().map(|one| one.prepare::<T>(number)).collect::<Result<Vec<_>>>()
            })?;
            let launch = || {
                let all = products.iter().zip(&buffers).cycle().take(launches);
                all.into_iter().try_for_each(|(one, buffer)| one.launch::<T>(number, buffer))
            };
            let samples = Samples::take::<anyhow::Error>(budget, launch, || self.synchronize())?;
            let results = products.iter().map(Product::result::<T>).collect::<Result<Vec<_>>>()?;
            Ok(Timed { algorithm, samples, setup_us, y: results.concat() })
        })
    }

    /// Times the products of a batch in which each problem has arrays of its own, which all hold `matrix`. x has the
    /// vectors of all problems, one after the other, y their results.
    pub fn batched<T: Accumulator + Real>(
        &self,
        matrix: &Csr<T, u32>,
        problems: usize,
        x: &[T],
        budget: &Budget,
    ) -> Result<Vec<Timed<T>>> {
        let kind = kind_of::<T>();
        let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
        let offsets = self.upload(&matrix.pattern().offsets().repeat(problems))?;
        let columns = self.upload(&matrix.pattern().columns().repeat(problems))?;
        let values = self.upload(&matrix.values().repeat(problems))?;
        let b = self.upload(x)?;
        let c = self.allocate(problems * rows * size_of::<T>())?;
        let arrays = [offsets.pointer, columns.pointer, values.pointer];
        let a_of = self.csr((rows, cols), nnz, arrays, kind)?;
        let b_of = self.dense_matrix((cols, 1), cols, &b, kind, ORDER_COLUMN)?;
        let c_of = self.dense_matrix((rows, 1), rows, &c, kind, ORDER_COLUMN)?;
        let count = c_int::try_from(problems)?;
        call!(self.cusparse, "cusparseCsrSetStridedBatch", a_of.pointer => Pointer, count => c_int,
            rows as i64 + 1 => i64, nnz as i64 => i64);
        for (descriptor, apart) in [(&b_of, cols), (&c_of, rows)] {
            call!(self.cusparse, "cusparseDnMatSetStridedBatch", descriptor.pointer => Pointer, count => c_int,
                apart as i64 => i64);
        }
        let c_elements = problems * rows;
        let operands = Operands { a: &a_of, b: &b_of, c: &c_of, c_memory: &c, c_elements };
        those_that_run("cuSPARSE's batched SpMM", &BATCHED, |algorithm, number| {
            self.time_spmm(&operands, (algorithm, number & !1, number & 1 == 0), budget)
        })
    }
}
