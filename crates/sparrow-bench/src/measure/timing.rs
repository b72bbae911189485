//! Timing by the wall clock: many launches between two finishes, since event timers are coarse.

use std::time::{Duration, Instant};

/// How long one measurement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Samples at least, however long they take.
    pub min_samples: usize,
    /// Samples at most.
    pub max_samples: usize,
    /// Time after which no further sample begins.
    pub time: Duration,
    /// What one sample should take at least, by as many launches as that needs.
    pub sample: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            min_samples: 5,
            max_samples: 31,
            time: Duration::from_millis(400),
            sample: Duration::from_millis(4),
        }
    }
}

/// Microseconds of one launch, sample by sample.
#[derive(Clone, Debug)]
pub struct Samples {
    sorted_us: Vec<f64>,
    launches: u64,
}

impl Samples {
    /// Warms up, finds out how many launches make a sample, and takes samples within the budget.
    /// `launch` enqueues one launch, `finish` waits for all.
    ///
    /// # Errors
    /// The first error of either.
    pub fn take<E>(
        budget: &Budget,
        mut launch: impl FnMut() -> Result<(), E>,
        finish: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let [samples] = Self::take_in_turn(budget, [&mut launch], finish)?;
        Ok(samples)
    }

    /// As [`Samples::take`], of several launches: a sample of each, then the next of each, for devices that change their
    /// clocks meanwhile. The budget is for all of them together.
    ///
    /// # Errors
    /// The first error of any.
    pub fn take_in_turn<E, const N: usize>(
        budget: &Budget,
        mut contenders: [&mut dyn FnMut() -> Result<(), E>; N],
        mut finish: impl FnMut() -> Result<(), E>,
    ) -> Result<[Self; N], E> {
        let mut batch = |contender: usize, launches: u64| -> Result<Duration, E> {
            let launch = &mut contenders[contender];
            let start = Instant::now();
            for _ in 0..launches {
                launch()?;
            }
            finish()?;
            Ok(start.elapsed())
        };
        // The first launch may compile or allocate; then batches grow until one fills a sample.
        let mut launches = [1; N];
        for (contender, launches) in launches.iter_mut().enumerate() {
            batch(contender, 1)?;
            while batch(contender, *launches)? < budget.sample && *launches < 1 << 16 {
                *launches *= 2;
            }
        }
        let start = Instant::now();
        let mut all_us: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
        let mut taken = 0;
        while taken < budget.max_samples
            && (taken < budget.min_samples || start.elapsed() < budget.time)
        {
            for (contender, (all_us, &launches)) in all_us.iter_mut().zip(&launches).enumerate() {
                let time = batch(contender, launches)?;
                all_us.push(time.as_secs_f64() * 1e6 / launches as f64);
            }
            taken += 1;
        }
        let mut launches = launches.into_iter();
        Ok(all_us.map(|mut sorted_us| {
            sorted_us.sort_by(f64::total_cmp);
            let launches = launches.next().unwrap_or(0) * sorted_us.len() as u64;
            Samples { sorted_us, launches }
        }))
    }

    /// The median.
    pub fn median_us(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The least.
    pub fn min_us(&self) -> f64 {
        self.quantile(0.0)
    }

    /// The 95th percentile.
    pub fn p95_us(&self) -> f64 {
        self.quantile(0.95)
    }

    /// All of them, the least first.
    pub fn all_us(&self) -> &[f64] {
        &self.sorted_us
    }

    /// Launches of all samples.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    fn quantile(&self, share: f64) -> f64 {
        let last = self.sorted_us.len().saturating_sub(1);
        let at = (share * last as f64).round() as usize;
        self.sorted_us.get(at).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_launches_are_timed_in_batches_and_none_is_lost() {
        let budget = Budget {
            min_samples: 3,
            max_samples: 3,
            time: Duration::ZERO,
            // No machine is so busy that one launch seems to take as long.
            sample: Duration::from_millis(20),
        };
        let (mut launched, mut finished) = (0u64, 0u64);
        let samples = Samples::take::<()>(
            &budget,
            || {
                launched += 1;
                std::thread::sleep(Duration::from_micros(60));
                Ok(())
            },
            || {
                finished += 1;
                Ok(())
            },
        )
        .unwrap();
        assert!(samples.launches() >= 6, "{}", samples.launches());
        assert!(launched > samples.launches());
        assert!(finished >= 5);
        assert!(samples.min_us() >= 60.0 && samples.min_us() <= samples.median_us());
        assert!(samples.median_us() <= samples.p95_us());
    }
}
