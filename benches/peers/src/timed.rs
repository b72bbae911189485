//! What is timed of a library's y = A x, and how its set-up is timed: what the libraries' own files hand to `spmv.rs`.

use std::ffi::c_int;
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

/// Times each of a library's algorithms; those that fail are named, and it is an error if all do.
pub fn those_that_run<T>(
    library: &str,
    algorithms: &[(&'static str, c_int)],
    mut time: impl FnMut(&'static str, c_int) -> Result<Timed<T>>,
) -> Result<Vec<Timed<T>>> {
    let (mut timed, mut first) = (Vec::new(), None);
    for &(name, number) in algorithms {
        match time(name, number) {
            Ok(one) => timed.push(one),
            Err(error) => {
                eprintln!("{library} {name}: left out: {error:#}");
                first = first.or(Some(error));
            }
        }
    }
    match first {
        Some(error) if timed.is_empty() => Err(error),
        _ => Ok(timed),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use sparrow_bench::Budget;

    #[test]
    fn an_algorithm_that_fails_leaves_the_others_and_none_at_all_is_an_error() {
        let time = |name, number| -> Result<Timed<f32>> {
            anyhow::ensure!(number > 0, "{name} answered {number}");
            let once = Budget { min_samples: 1, max_samples: 1, ..Budget::default() };
            let samples = Samples::take::<anyhow::Error>(&once, || Ok(()), || Ok(()))?;
            Ok(Timed { algorithm: name, samples, setup_us: 0.0, y: Vec::new() })
        };
        let timed = those_that_run("A library", &[("a", 0), ("b", 1)], time).unwrap();
        assert_eq!(timed.iter().map(|one| one.algorithm).collect::<Vec<_>>(), ["b"]);
        let error = those_that_run("A library", &[("a", 0), ("b", -1)], time).err().unwrap();
        assert_eq!(error.to_string(), "a answered 0");
    }
}
