//! cuSPARSE's SpGEMM beside Sparrow's: C = A A of square matrices.

use anyhow::Result;
use csr_core::{Accumulator, Csr, Real, ValueType};
use sparrow::{Queue, Rates, SpgemmOptions};
use sparrow_bench::{Budget, Origin, Record, measure_spgemm};

use crate::cusparse::{CuSparse, PeerTime};

/// One matrix by both.
pub struct Compared {
    pub matrix: String,
    pub value_type: ValueType,
    pub peer: PeerTime,
    pub ours: Option<f64>,
    /// Whether the peer's C has as many entries.
    pub agrees: bool,
}

/// Times one matrix; `None` where it is not square, or one of the two has not the memory.
pub fn compare<T: Accumulator + Real>(
    peer: &CuSparse,
    queue: &Queue,
    matrix: &Csr<T, u32>,
    origin: &Origin,
    rates: &Rates,
    budget: &Budget,
) -> Result<Option<(Compared, Record)>> {
    if matrix.rows() != matrix.cols() {
        return Ok(None);
    }
    let options = SpgemmOptions::default();
    let a = matrix.view().into();
    let ours = match measure_spgemm(queue, a, origin, &options, budget, rates) {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(None),
        Err(error) => {
            println!("{:<22} {} Sparrow left out: {error}", origin.name, T::TYPE);
            return Ok(None);
        }
    };
    let (times, c) = peer.spgemm(matrix, budget)?;
    let agrees = c.is_some_and(|c| c.nnz() as u64 == ours.nnz);
    let Some(best) = times.into_iter().min_by(|a, b| a.median_us.total_cmp(&b.median_us)) else {
        return Ok(None);
    };
    let time = ours.median_us;
    let halves = ours.spgemm().map(|one| (one.count_us, one.fill_us));
    let (count, fill) = halves.unwrap_or_default();
    println!(
        "{:<22} {}: cuSPARSE {:>10.1} ({}{}), Sparrow {:>10.1} (count {:.1}, fill {:.1}), {:.2}",
        origin.name,
        T::TYPE,
        best.median_us,
        best.algorithm,
        if agrees { "" } else { ", OTHER PATTERN" },
        time.unwrap_or(f64::NAN),
        count.unwrap_or(f64::NAN),
        fill.unwrap_or(f64::NAN),
        best.median_us / time.unwrap_or(f64::NAN),
    );
    let (matrix, value_type) = (origin.name.clone(), T::TYPE);
    Ok(Some((Compared { matrix, value_type, peer: best, ours: time, agrees }, ours)))
}
