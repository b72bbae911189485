//! What is timed of a library's y = A x, and how its set-up is timed: what the libraries' own files hand to `spmv.rs`.

use std::time::Instant;

use anyhow::Result;
use sparrow_bench::Samples;

/// y before each algorithm runs: not zero, and no NaN either, because cuSPARSE may read y though beta is 0.
pub const POISON: f64 = 1e30;

/// What one algorithm took.
pub struct Timed<T> {
    pub algorithm: &'static str,
    pub samples: Samples,
    /// From a matrix that is where products run until the first product can.
    pub setup_us: f64,
    pub y: Vec<T>,
}

/// A library's algorithms, and how it calls itself.
pub struct Outcome<T> {
    pub peer: &'static str,
    pub version: String,
    /// Where it ran.
    pub device: String,
    pub timed: Vec<Timed<T>>,
}

/// Sets up once unheard, because libraries load parts of theirs when they are first called, and then as often as Sparrow
/// does for its own set-up. Returns what was made last, and the median in microseconds.
pub fn set_up<S>(mut make: impl FnMut() -> Result<S>) -> Result<(S, f64)> {
    let mut made = make()?;
    let begin = Instant::now();
    let mut times_us = Vec::new();
    while times_us.len() < 3 || (times_us.len() < 15 && begin.elapsed().as_millis() < 100) {
        // The one before makes room first.
        drop(made);
        let start = Instant::now();
        made = make()?;
        times_us.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times_us.sort_by(f64::total_cmp);
    Ok((made, times_us[times_us.len() / 2]))
}
