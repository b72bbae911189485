//! A batch of a figure by cuSPARSE: a loop of products with a vector, one product with the block-diagonal matrix of all
//! problems, and, where they have one size and number of nonzeros, its batched product.

use anyhow::{Context as _, Result, bail};
use csr_core::{Csr, RealValue, ValueType, random_vector};
use sparrow_bench::figures::{BatchCase, PeerProduct};
use sparrow_bench::{
    BatchProblems, BatchRecord, Details, GeneratorOptions, Origin, Record, peer_record,
};

use super::libraries::Libraries;
use super::products::{Judged, best, each_type, judged, run};
use crate::mkl::MklValue;
use crate::spmm::BUDGET;
use crate::timed::Timed;

/// Problems of a loop that have arrays of their own, as of ours; it goes round these.
const LOOPED: usize = 64;

/// Everything that cuSPARSE has of a batch.
pub fn measure(
    case: &BatchCase,
    size: usize,
    generator: GeneratorOptions,
    types: &[ValueType],
    libraries: &Libraries,
) -> Result<Vec<Record>> {
    let origin = Origin { name: case.name.clone(), source: case.source, generator };
    let order = (case.order)(&case.matrices, size);
    let scene = Scene { case, order: &order, origin: &origin, libraries };
    each_type(&case.name, types, |value_type| match value_type {
        ValueType::F64 => scene.measure::<f64>(),
        ValueType::F32 => scene.measure::<f32>(),
        other => bail!("{other} is not compared"),
    })
}

struct Scene<'a> {
    case: &'a BatchCase,
    /// For each problem the index of its matrix.
    order: &'a [usize],
    origin: &'a Origin,
    libraries: &'a Libraries,
}

impl Scene<'_> {
    fn measure<T: MklValue + RealValue>(&self) -> Result<Vec<Record>> {
        let cusparse = self.libraries.cusparse()?;
        let matrices: Vec<Csr<T>> = self.case.matrices.iter().map(Csr::map_values).collect();
        let problems = BatchProblems { matrices: &matrices, order: self.order.to_vec() };
        let block = problems.block_diagonal()?;
        let x: Vec<T> = random_vector(self.origin.generator.seed, block.cols());
        let mut records = Vec::new();
        let mut add = |product, measured: Result<Judged<T>>| -> Result<()> {
            match measured {
                Ok(all) => records.push(self.record(&block, product, &all)?),
                Err(error) => {
                    eprintln!("{}, {}: left out: {error:#}", self.origin.name, product.name());
                }
            }
            Ok(())
        };
        add(PeerProduct::CusparseLoop, self.looped(&matrices, &x))?;
        let whole = cusparse.spmv(&block, &x, &BUDGET);
        let whole = whole.and_then(|outcome| judged(&block, &x, outcome.timed));
        add(PeerProduct::CusparseBlockDiagonal, whole)?;
        if let [one] = &matrices[..] {
            let batched = cusparse.batched(one, self.order.len(), &x, &BUDGET);
            add(PeerProduct::CusparseBatched, batched.and_then(|all| judged(&block, &x, all)))?;
        }
        Ok(records)
    }

    /// The loop; each problem that has arrays of its own is verified.
    fn looped<T: MklValue + RealValue>(&self, matrices: &[Csr<T>], x: &[T]) -> Result<Judged<T>> {
        let own: Vec<usize> = self.order.iter().copied().take(LOOPED).collect();
        let part = BatchProblems { matrices, order: own.clone() };
        let mut first = 0;
        let problems: Vec<(&Csr<T>, &[T])> = own
            .iter()
            .map(|&index| {
                let matrix = &matrices[index];
                let x = &x[first..first + matrix.cols()];
                first += matrix.cols();
                (matrix, x)
            })
            .collect();
        let cusparse = self.libraries.cusparse()?;
        let timed: Vec<Timed<T>> = cusparse.looped(&problems, self.order.len(), &BUDGET)?;
        judged(&part.block_diagonal()?, &x[..first], timed)
    }

    fn record<T: MklValue>(
        &self,
        block: &Csr<T>,
        product: PeerProduct,
        judged: &Judged<T>,
    ) -> Result<Record> {
        let (timed, found) = best(judged).context("no algorithm")?;
        let size = self.order.len() as u64;
        let (rows, nnz) = (block.rows() as u64, block.nnz() as u64);
        let details = Details::Batch(BatchRecord {
            batch_size: size,
            batch_kind: self.case.kind.clone(),
            batch_form: "as given".to_owned(),
            batch_bytes: nnz * (4 + size_of::<T>() as u64) + 4 * (rows + size),
            padding: 0,
            not_ell: 0,
            loop_us: None,
            block_diagonal_us: None,
        });
        let run = run(product, self.libraries, timed, *found);
        Ok(peer_record(block.view().into(), self.origin, details, &run))
    }
}
