//! `csr_pieces`: one contiguous chunk of the nonzeros an item, for CPU devices (`cl/spmv/csr_pieces.cl`).

use crate::algorithm_spec::{KernelSpec, TEST_NNZ, other_values};
use crate::arguments::arguments;
use crate::parameters::{check_between, parameters};
use crate::{AlgorithmSpec, Array, Fit, FittedParameters, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_pieces.cl";

parameters! {
    /// Parameters of `csr_pieces`.
    pub struct CsrPieces for "csr_pieces" {
        /// Products of a row that are made at a time: 1, 4, 8 or 16.
        lanes: [1, 4, 8, 16],
        /// 1: what is left of a row is a vector under a mask, where sums are plain; 0: its products go one by one.
        masks_ends: [0, 1],
        /// Chunks for each compute unit.
        chunks_per_unit: [16, 64] => host,
        /// Nonzeros of a chunk at least: few are not worth an item.
        least_chunk: [6144] => host,
    }
}

impl Default for CsrPieces {
    /// 8 lanes did well on rows of any length: where lengths differ, a mask takes less time than a loop whose end no
    /// branch predictor foresees. Short rows of one length it foresees: there the loop wins. Chunks of 512 nonzeros take
    /// PoCL on 16 cores longer to hand out than to compute.
    fn default() -> Self {
        CsrPieces { lanes: 8, masks_ends: 1, chunks_per_unit: 16, least_chunk: 6144 }
    }
}

impl CsrPieces {
    /// Nonzeros of a chunk of a matrix of `nnz`, on a device of so many compute units: a multiple of `lanes`, at least 1.
    /// Compute units that all have a chunk have equally many.
    pub fn chunk_nnz(&self, nnz: u64, compute_units: u32) -> u64 {
        let units = u64::from(compute_units.max(1));
        let most = units * u64::from(self.chunks_per_unit);
        let chunks = (nnz / u64::from(self.least_chunk)).clamp(1, most);
        let even = if chunks > units { chunks / units * units } else { chunks };
        nnz.div_ceil(even).max(1).next_multiple_of(u64::from(self.lanes))
    }
}

impl FittedParameters for CsrPieces {
    /// An item is a group and needs no local memory: the defaults fit everywhere.
    fn fitted(_: &Fit<'_>) -> Self {
        CsrPieces::default()
    }

    fn check(&self, _: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "csr_pieces";
        if ![1, 4, 8, 16].contains(&self.lanes) {
            let (value, rule) = (u64::from(self.lanes), "it must be 1, 4, 8 or 16".to_owned());
            return Err(ParameterError::Invalid {
                algorithm: ALGORITHM,
                name: "lanes",
                value,
                rule,
            });
        }
        check_between(ALGORITHM, "masks_ends", self.masks_ends, 0..=1)?;
        check_between(ALGORITHM, "chunks_per_unit", self.chunks_per_unit, 1..=1024)?;
        check_between(ALGORITHM, "least_chunk", self.least_chunk, 1..=1 << 24)
    }
}

/// What `csr_pieces` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    is_for_cpus: true,
    trials: |fit| {
        let fitted = CsrPieces::fitted(fit);
        let mut trials = other_values(&[1, 4, 8, 16], fitted.lanes, "lanes");
        trials.extend(other_values(&[0, 1], fitted.masks_ends, "masks_ends"));
        trials
    },
    test_parameters: &[("lanes", 4), ("chunks_per_unit", 1024), ("least_chunk", TEST_NNZ)],
    ..AlgorithmSpec::of::<CsrPieces>(&[KernelSpec::of::<Arguments<()>, CsrPieces>(SOURCE)])
};

arguments! {
    /// Arguments of the kernel `csr_pieces`.
    pub struct Arguments<M> for "csr_pieces" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Nonzeros of A.
        nnz: u64,
        /// Nonzeros of a chunk; there is an item a chunk, one at least.
        chunk_nnz: u64,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
        /// 0, which the compiler must not know: it ties the order of atomics to data.
        zero: u32,
        /// Where parts of rows come together: two accumulators and a 32-bit word an item, 0, aligned to 8 bytes.
        workspace: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compute_units_have_equally_many_chunks_and_none_is_small() {
        let parameters = CsrPieces::default();
        let chunks = |nnz: u64| nnz.div_ceil(parameters.chunk_nnz(nnz, 16));
        // Fewer than units where chunks would be small, then as many for each, up to 16.
        for (nnz, expected) in
            [(0, 0), (1, 1), (6144 * 5, 5), (6144 * 16, 16), (6144 * 31, 16), (6144 * 33, 32)]
        {
            assert_eq!(chunks(nnz), expected, "{nnz}");
        }
        assert_eq!(chunks(1 << 30), 256);
        assert_eq!(parameters.chunk_nnz(0, 16), 8);
    }
}
