//! The time that a run with `--budget` has: what it will take, which is said first, and what still fits.

use std::time::{Duration, Instant};

use sparrow::{Device, DeviceType};
use sparrow_bench::Input;
use sparrow_bench::figures::{Pace, Work};

use crate::arguments::Making;
use crate::output::hint;

/// Of the budget, what a scale is chosen for: the rest is for what takes longer than expected.
const EXPECTED_SHARE: f64 = 0.6;

/// A budget that runs.
pub(crate) struct Clock {
    start: Instant,
    budget: Duration,
    pace: Pace,
    since: Instant,
    is_begun: bool,
}

impl Clock {
    /// Starts, for a run on a device.
    pub(crate) fn new(budget: Duration, device: &Device) -> Self {
        Clock::of(budget, device.traits().device_type != DeviceType::Cpu)
    }

    fn of(budget: Duration, is_gpu: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let now = Instant::now();
        Clock { start: now, budget, pace: Pace::new(cores, is_gpu), since: now, is_begun: false }
    }

    /// The matrices' making: what was asked for, or the largest scale with which all work should be done in time.
    pub(crate) fn making(
        &self,
        asked: Making,
        work: impl Fn(f64) -> Vec<Work>,
    ) -> sparrow_bench::Making {
        let making = sparrow_bench::Making::from(asked);
        let scale = || self.pace.scale(self.budget.mul_f64(EXPECTED_SHARE), work);
        sparrow_bench::Making { scale: asked.scale.unwrap_or_else(scale), ..making }
    }

    /// Says how long it will take.
    pub(crate) fn announce(&self, what: &str, work: &[Work]) {
        let expected: Duration = work.iter().map(|one| self.pace.expected(one)).sum();
        let budget = in_words(self.budget);
        let about = match expected <= self.budget {
            true => format!("about {}, at most {budget} (--budget)", in_words(expected)),
            false => format!("{budget} (--budget), in which not all of it may fit"),
        };
        hint(format_args!("{what}: {about}"));
    }

    /// Whether there is time for a piece of work; the first always has.
    pub(crate) fn has_time(&mut self, work: &Work) -> bool {
        self.since = Instant::now();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        is_first || self.start.elapsed() + self.pace.expected(work) <= self.budget
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.start.elapsed() >= self.budget
    }

    /// A piece of work for which there was time is done.
    pub(crate) fn done(&mut self, work: &Work) {
        self.pace.done(work, self.since.elapsed());
    }

    /// What is said of work that does not fit.
    pub(crate) fn left_out(&self, name: &str) -> String {
        let budget = in_words(self.budget);
        format!(
            "{name}: left out, it does not fit into the {budget} of --budget: raise it, or set a smaller --scale"
        )
    }
}

/// The nonzeros of a matrix at a scale, as far as they are known before it is there: an assembled problem and a file
/// have a few million.
pub(crate) fn nonzeros(input: &Input, scale: f64) -> u64 {
    const USUAL: f64 = 3e6;
    match input {
        Input::Class(class) => {
            let nnz = class.published_size().map_or(USUAL, |(_, nnz)| nnz as f64);
            (nnz * scale) as u64
        }
        Input::File(_) | Input::StandardInput => USUAL as u64,
    }
}

/// "45 s", "4 min", "1.5 h".
fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 100 => format!("{} s", seconds.max(1)),
        seconds if seconds < 100 * 60 => format!("{:.0} min", seconds as f64 / 60.0),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_piece_always_has_time_and_later_ones_as_long_as_they_fit() {
        let mut clock = Clock::of(Duration::from_secs(60), false);
        let endless = Work { nnz: 1 << 40, results: 100, ..Work::default() };
        assert!(clock.has_time(&endless));
        assert!(!clock.has_time(&endless));
        assert!(clock.has_time(&Work { nnz: 1000, results: 1, ..Work::default() }));
    }

    #[test]
    fn a_scale_that_is_asked_for_is_kept_and_else_one_is_found_that_fits() {
        let clock = Clock::of(Duration::from_secs(60), false);
        let work = |scale: f64| {
            vec![Work { nnz: (1e9 * scale) as u64, results: 4, products: 40, ..Work::default() }]
        };
        let making = |scale| clock.making(Making { scale, seed: None }, work).scale;
        assert_eq!(making(Some(0.7)), 0.7);
        assert!(making(None) < 0.5);
        let little = |scale: f64| {
            vec![Work { nnz: (1e3 * scale) as u64, results: 4, products: 40, ..Work::default() }]
        };
        assert_eq!(clock.making(Making { scale: None, seed: None }, little).scale, 1.0);
    }
}
