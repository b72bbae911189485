//! The time that a run has, and what of it fits.

use std::time::{Duration, Instant};

use sparrow_bench::figures::{Pace, Work};

/// Of the budget, what a scale is chosen for, as `sparrow bench figure` does.
const EXPECTED_SHARE: f64 = 0.6;

/// A run that goes by a budget.
pub struct Clock {
    start: Instant,
    budget: Duration,
    pace: Pace,
    since: Instant,
    is_begun: bool,
}

impl Clock {
    /// Starts.
    pub fn new(budget: Duration, is_gpu: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let now = Instant::now();
        let pace = Pace::new(cores, is_gpu);
        Clock { start: now, budget, pace, since: now, is_begun: false }
    }

    /// The largest scale with which all work should be done in time.
    pub fn scale(&self, work: impl Fn(f64) -> Vec<Work>) -> f64 {
        self.pace.scale(self.budget.mul_f64(EXPECTED_SHARE), work)
    }

    /// Whether there is time for work; the first always has.
    pub fn has_time(&mut self, work: &Work) -> bool {
        self.since = Instant::now();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        is_first || self.start.elapsed() + self.pace.expected(work) <= self.budget
    }

    /// Work for which there was time is done.
    pub fn done(&mut self, work: &Work) {
        self.pace.done(work, self.since.elapsed());
    }
}

/// Reads "90s", "4m" or "1h".
pub fn span(text: &str) -> Result<Duration, String> {
    let complaint = || format!("\"{text}\" is no time: 90s, 4m and 1h are");
    let unit = text.chars().last().ok_or_else(complaint)?;
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        _ => return Err(complaint()),
    };
    let count: f64 = text[..text.len() - 1].parse().map_err(|_| complaint())?;
    Duration::try_from_secs_f64(count * seconds).map_err(|_| complaint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_seconds_minutes_and_hours() {
        let seconds = |text| span(text).map(|time| time.as_secs_f64());
        assert_eq!(
            [seconds("90s"), seconds("1.5m"), seconds("1h")],
            [Ok(90.0), Ok(90.0), Ok(3600.0)]
        );
        for wrong in ["", "4", "-1s", "xs", "4µ", "1e30h"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
