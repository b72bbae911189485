//! The record of a product by another library, which was timed elsewhere: it has the fields of ours, so that both stand
//! in one chart.

use csr_core::AnyCsrView;
use csr_core::verify::Verification;

use super::operands::shape_of;
use super::spmm::spmm_bytes;
use super::{Origin, Samples, bytes_once, untimed_record};
use crate::figures::PeerProduct;
use crate::record::{Details, Record};

/// A product by another library, and how it went.
#[derive(Clone, Debug)]
pub struct PeerRun<'a> {
    /// Which product.
    pub product: PeerProduct,
    /// The library's name for the algorithm that ran.
    pub algorithm: &'a str,
    /// The library with its version, "cuSPARSE 12.6.3".
    pub library: &'a str,
    /// Where it ran.
    pub device: &'a str,
    /// The driver's version, or nothing.
    pub driver: &'a str,
    /// What one product took.
    pub samples: &'a Samples,
    /// From a matrix that is where products run to the first product, in microseconds.
    pub setup_us: f64,
    /// What became of its result.
    pub found: Verification,
}

/// The record of a product with `matrix`, of a batch with the block-diagonal matrix of its problems. Neither the
/// rates of memory nor what a library keeps there are measured: there is no limit, and `plan_bytes` is 0.
pub fn peer_record(
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    details: Details,
    run: &PeerRun<'_>,
) -> Record {
    let shape = shape_of(matrix);
    let columns = match &details {
        Details::Spmm(spmm) => Some(spmm.columns as usize),
        _ => None,
    };
    let mut record = Record {
        algorithm: run.product.name().to_owned(),
        params: run.algorithm.to_owned(),
        device: run.device.to_owned(),
        platform: run.library.to_owned(),
        driver: run.driver.to_owned(),
        verified: run.found.passed(),
        error_in_tolerance: Some(run.found.error_in_tolerance).filter(|error| error.is_finite()),
        non_finite: run.found.non_finite as u64,
        ..untimed_record(origin, &shape, details)
    };
    if record.verified {
        let median = run.samples.median_us();
        let bytes = columns.map_or_else(|| bytes_once(&shape), |some| spmm_bytes(&shape, some));
        record.median_us = Some(median);
        record.min_us = Some(run.samples.min_us());
        record.p95_us = Some(run.samples.p95_us());
        record.runs = run.samples.launches();
        record.gflops = Some(2.0 * (shape.nnz * columns.unwrap_or(1)) as f64 / median / 1e3);
        record.gbytes_per_s = Some(bytes / median / 1e3);
        record.setup_us = Some(run.setup_us);
        record.setup_in_products = Some(run.setup_us / median);
    }
    record
}
