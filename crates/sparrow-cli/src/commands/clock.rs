//! The time that a run with `--budget` has: what it will take, which is said first, and what still fits.

use std::cell::Cell;
use std::time::{Duration, Instant};

use sparrow::{Device, DeviceType};
use sparrow_bench::Input;
use sparrow_bench::figures::{Pace, Work};

use crate::arguments::GeneratorOptions;
use crate::output::{hint, note};

/// Of the budget, what a scale is chosen for: the rest is for what takes longer than expected.
const EXPECTED_SHARE: f64 = 0.6;

/// Of a run without a budget, what takes less is not said before.
const SHORT: Duration = Duration::from_secs(10);

/// A run, and its budget where it has one.
pub(crate) struct Clock {
    start: Instant,
    budget: Option<Duration>,
    pace: Pace,
    since: Instant,
    is_begun: bool,
    /// Whether a scale other than 1 was chosen.
    has_chosen_scale: Cell<bool>,
}

impl Clock {
    /// Starts, for a run on a device, or without one on the host.
    pub(crate) fn new(budget: Option<Duration>, device: Option<&Device>) -> Self {
        let is_gpu = device.is_some_and(|one| one.traits().device_type != DeviceType::Cpu);
        Clock::of(budget, is_gpu)
    }

    fn of(budget: Option<Duration>, is_gpu: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let now = Instant::now();
        Clock {
            start: now,
            budget,
            pace: Pace::new(cores, is_gpu),
            since: now,
            is_begun: false,
            has_chosen_scale: Cell::new(false),
        }
    }

    /// Whether the run ends in some time.
    pub(crate) fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    /// The matrices' making: what was asked for, or the largest scale with which all work should be done in time. Without a
    /// budget, whole ones.
    pub(crate) fn generator(
        &self,
        asked: GeneratorOptions,
        work: impl Fn(f64) -> Vec<Work>,
    ) -> sparrow_bench::GeneratorOptions {
        let generator = sparrow_bench::GeneratorOptions::from(asked);
        match (asked.scale, self.budget) {
            (None, Some(budget)) => {
                let scale = self.pace.scale(budget.mul_f64(EXPECTED_SHARE), work);
                self.has_chosen_scale.set(scale != 1.0);
                sparrow_bench::GeneratorOptions { scale, ..generator }
            }
            _ => generator,
        }
    }

    /// Says how long it will take; of a run without a budget, if that is long.
    pub(crate) fn announce<'a>(&self, what: &str, work: impl IntoIterator<Item = &'a Work>) {
        let each = |one| (self.pace.expected(one), self.pace.building(one));
        let (expected, building): (Vec<Duration>, Vec<Duration>) =
            work.into_iter().map(each).unzip();
        let about = self.about(expected.into_iter().sum(), building.into_iter().sum());
        let Some(about) = about else { return };
        // Results of smaller matrices than were asked for are to be known as such.
        match self.has_chosen_scale.get() {
            true => note(format_args!("{what}: {about}")),
            false => hint(format_args!("{what}: {about}")),
        }
    }

    fn about(&self, expected: Duration, building: Duration) -> Option<String> {
        let about = format!("about {}", in_words(expected));
        match self.budget {
            None => (expected >= SHORT).then_some(about),
            Some(budget) if expected <= budget => {
                Some(format!("{about}, at most {} (--budget)", in_words(budget)))
            }
            Some(budget) => {
                let programs = match building > budget / 2 {
                    // Then the results are few, or of tiny matrices.
                    true => {
                        format!(", {} for programs that no run built before", in_words(building))
                    }
                    false => String::new(),
                };
                let budget = in_words(budget);
                Some(format!("{budget} (--budget), in which not all of it may fit{programs}"))
            }
        }
    }

    /// Whether there is time for a job of work; the first always has.
    pub(crate) fn has_time(&mut self, work: &Work) -> bool {
        self.since = Instant::now();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        is_first || self.fits(work)
    }

    /// Whether a job of work should end within the budget.
    pub(crate) fn fits(&self, work: &Work) -> bool {
        let ends_in = |budget| self.start.elapsed() + self.pace.expected(work) <= budget;
        self.budget.is_none_or(ends_in)
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.is_past(1.0)
    }

    /// Whether this share of the time is over.
    pub(crate) fn is_past(&self, share: f64) -> bool {
        self.budget.is_some_and(|budget| self.start.elapsed() > budget.mul_f64(share))
    }

    /// A job of work for which there was time is done.
    pub(crate) fn done(&mut self, work: &Work) {
        self.pace.done(work, self.since.elapsed());
    }

    /// What is said of work that does not fit.
    pub(crate) fn left_out(&self, name: &str) -> String {
        let budget = self.budget.map_or_else(String::new, in_words);
        format!(
            "{name}: left out, it does not fit into the {budget} of --budget: raise it, or ask for less"
        )
    }
}

/// Whether a scale makes a matrix smaller: a generated one.
pub(crate) fn is_scaled(input: &Input) -> bool {
    matches!(input, Input::Class(_))
}

/// The nonzeros of a matrix at a scale, as far as they are known before it is there: those of a file by its length, of an
/// assembled problem a few million.
pub(crate) fn nonzeros(input: &Input, scale: f64) -> u64 {
    const DEFAULT: f64 = 3e6;
    match input {
        Input::Class(class) => {
            let nnz = class.published_size().map_or(DEFAULT, |(_, nnz)| nnz as f64);
            (nnz * scale) as u64
        }
        Input::StandardInput => DEFAULT as u64,
        Input::File(path) => {
            let is_text = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("mtx"));
            let bytes_a_nonzero = if is_text { 16 } else { 4 };
            std::fs::metadata(path).map_or(DEFAULT as u64, |file| file.len() / bytes_a_nonzero)
        }
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
    fn the_first_job_always_has_time_and_later_ones_as_long_as_they_fit() {
        let mut clock = Clock::of(Some(Duration::from_secs(60)), false);
        let endless = Work { nnz: 1 << 40, results: 100, ..Work::default() };
        assert!(clock.has_time(&endless));
        assert!(!clock.has_time(&endless));
        assert!(clock.has_time(&Work { nnz: 1000, results: 1, ..Work::default() }));
    }

    #[test]
    fn a_scale_that_is_asked_for_is_kept_and_else_one_is_found_that_fits() {
        let clock = Clock::of(Some(Duration::from_secs(60)), false);
        let work = |scale: f64| {
            vec![Work { nnz: (1e9 * scale) as u64, results: 4, products: 40, ..Work::default() }]
        };
        let generator = |scale| clock.generator(GeneratorOptions { scale, seed: None }, work).scale;
        assert_eq!(generator(Some(0.7)), 0.7);
        assert!(generator(None) < 0.5);
        let little = |scale: f64| {
            vec![Work { nnz: (1e3 * scale) as u64, results: 4, products: 40, ..Work::default() }]
        };
        assert_eq!(
            clock.generator(GeneratorOptions { scale: None, seed: None }, little).scale,
            1.0
        );
    }

    #[test]
    fn a_run_without_a_budget_is_whole_and_only_a_long_one_says_what_it_takes() {
        let mut clock = Clock::of(None, false);
        let endless = Work { nnz: 1 << 40, results: 100, ..Work::default() };
        assert_eq!(
            clock.generator(GeneratorOptions { scale: None, seed: None }, |_| vec![endless]).scale,
            1.0
        );
        assert!(clock.has_time(&endless) && clock.has_time(&endless) && !clock.is_over());
        let about = |seconds| clock.about(Duration::from_secs(seconds), Duration::ZERO);
        assert_eq!(about(9), None);
        assert_eq!(about(45).as_deref(), Some("about 45 s"));
        let within = Clock::of(Some(Duration::from_secs(60)), false);
        let about = |seconds| {
            within.about(Duration::from_secs(seconds), Duration::from_secs(seconds / 2)).unwrap()
        };
        assert!(within.is_past(0.0) && !within.is_past(0.5) && !clock.is_past(0.0));
        assert_eq!(about(2), "about 2 s, at most 60 s (--budget)");
        assert_eq!(about(60), "about 60 s, at most 60 s (--budget)");
        assert_eq!(about(61), "60 s (--budget), in which not all of it may fit");
        let with_programs = "60 s (--budget), in which not all of it may fit, 35 s for programs that no run built before";
        assert_eq!(about(70), with_programs);
    }
}
