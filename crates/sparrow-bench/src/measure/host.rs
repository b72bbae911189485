//! Measuring the host's own product, under the name `host`: of compressed rows, or where many products are to follow, of a
//! copy in sliced ELL (variant `sell`), if that is smaller.

use std::convert::Infallible;
use std::time::Instant;

use csr_core::verify::Oracle;
use csr_core::{AnyCsrView, CsrView, HostSell, Offset, RealValue, Value as _, for_csr};
use rayon::prelude::*;
use sparrow::{Rates, Reuse};

use super::operands::shape_of;
use super::{
    MeasureError, Origin, Samples, Subject, add_times, bytes_once, summation, untimed_spmv,
};
use crate::record::{Details, Record, SpmvRecord};

/// Measures the host's parallel product on `matrix`; `subject` says how many products follow.
///
/// # Errors
/// The matrix is refused, or there is no memory for a copy.
pub fn measure_on_host(
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    subject: &Subject,
    rates: &Rates,
) -> Result<Record, MeasureError> {
    for_csr!(matrix, matrix => typed(matrix, origin, subject, rates))
}

fn typed<V: RealValue, O: Offset>(
    matrix: CsrView<'_, V, O>,
    origin: &Origin,
    subject: &Subject,
    rates: &Rates,
) -> Result<Record, MeasureError> {
    let shape = shape_of(matrix);
    let one = V::Accum::from_f64(1.0);
    let zero = V::Accum::from_f64(0.0);
    csr_core::check_memory::<V::Accum>("x", matrix.cols())?;
    let x: Vec<V::Accum> = csr_core::random_vector(origin.generator.seed, matrix.cols());
    let mut y = vec![V::Accum::from_f64(f64::NAN); matrix.rows()];
    let oracle = Oracle::new(one, matrix, &x, zero, &y)?;
    let copied = || HostSell::new(matrix);
    let is_asked = subject.reuse == Reuse::Many;
    let asked = is_asked.then(copied).transpose()?;
    // A copy that is no smaller saves nothing.
    let copy = asked.filter(|copy| copy.bytes() < matrix.size_bytes());
    let multiply = |y: &mut [V::Accum]| match &copy {
        Some(copy) => copy.product(one, &x, zero, y),
        None => csr_core::product(one, matrix, &x, zero, y),
    };
    multiply(&mut y)?;
    let found = oracle.verify(&y, summation(subject.accumulate))?;
    // The second one made, as that of a device: the first finds memory cold.
    let start = Instant::now();
    if is_asked {
        drop(copied()?);
    }
    let setup_us = start.elapsed().as_secs_f64() * 1e6;
    let samples = Samples::take::<Infallible>(
        &subject.budget,
        || {
            // Lengths were accepted above.
            let _ = multiply(&mut y);
            Ok(())
        },
        || Ok(()),
    );
    let mut record = Record {
        algorithm: "host".to_owned(),
        variant: if copy.is_some() { "sell" } else { "" }.to_owned(),
        plan_bytes: copy.as_ref().map_or(0, HostSell::bytes) as u64,
        device: "host".to_owned(),
        platform: "host".to_owned(),
        stream_gbytes_per_s: Some(rates.read / 1e9),
        copy_gbytes_per_s: Some(rates.copy / 1e9),
        repeatable: true,
        verified: found.passed(),
        error_in_tolerance: Some(found.error_in_tolerance).filter(|error| error.is_finite()),
        non_finite: found.non_finite as u64,
        ..untimed_spmv(origin, &shape, subject, Details::Spmv(SpmvRecord::default()))
    };
    let Ok(samples) = samples;
    if found.passed() {
        add_times(&mut record, &shape, bytes_once(&shape), &samples, rates, setup_us);
    }
    Ok(record)
}

/// How fast the host's cores together read and copy memory.
pub fn host_rates() -> Rates {
    let stream = HostStream::new();
    let mut target = vec![0; stream.elements.len()];
    let bytes = stream.bytes() as f64;
    let fastest = |work: &mut dyn FnMut()| {
        let times = (0..8).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        });
        times.fold(f64::INFINITY, f64::min)
    };
    let read = fastest(&mut || stream.read());
    let copy = fastest(&mut || {
        let pairs = target.par_chunks_mut(CHUNK).zip(stream.elements.par_chunks(CHUNK));
        pairs.for_each(|(target, source)| target.copy_from_slice(source));
        std::hint::black_box(&target);
    });
    Rates { read: bytes / read, copy: 2.0 * bytes / copy }
}

/// Elements that a thread reads or copies at a time.
const CHUNK: usize = 1 << 16;

/// Elements that are compared at a time: 4 KiB.
const PAGE: usize = 512;

/// 128 MiB that the host's threads read together, to find how fast memory is read.
pub(super) struct HostStream {
    elements: Vec<u64>,
}

impl HostStream {
    const ELEMENT: u64 = 1;

    pub(super) fn new() -> Self {
        HostStream { elements: vec![Self::ELEMENT; 16 << 20] }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.elements)
    }

    /// Reads all of it once: each page is compared with one that stays in the first cache. The C library compares, so that
    /// tests, which are not optimised, read nearly as fast.
    pub(super) fn read(&self) {
        let page = [Self::ELEMENT; PAGE];
        let is_alike = |chunk: &[u64]| chunk.chunks_exact(PAGE).all(|of_chunk| of_chunk == page);
        std::hint::black_box(self.elements.par_chunks(CHUNK).all(is_alike));
    }
}
