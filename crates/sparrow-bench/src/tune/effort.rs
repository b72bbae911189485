//! How much is tried: the ladder of matrices, and how long.

use std::time::Duration;

use csr_core::generate::{Rung, Skew};

use super::TunedDevice;

/// What a tuning climbs, and for how long.
#[derive(Clone, Debug)]
pub struct Effort {
    /// The matrices, those that tell most first.
    pub ladder: Vec<Rung>,
    /// Time after which no further trial begins.
    pub budget: Duration,
    /// Milliseconds of sampling a trial.
    pub sampling_ms: u64,
}

/// Nonzeros of a matrix that stays in the last cache, and of one that is twice as large as it, as f64.
fn sizes(device: &TunedDevice) -> (u64, u64) {
    // What devices answer for their cache may be a core's or another processor's.
    let cache = device.cache_bytes.clamp(1 << 20, 96 << 20);
    let nnz = |bytes: u64| bytes / 12;
    (nnz(cache / 8).clamp(60_000, 500_000), nnz(2 * cache))
}

impl Effort {
    /// Six small matrices, 20 seconds.
    pub fn quick(device: &TunedDevice) -> Self {
        let (small, _) = sizes(device);
        let rung = |mean_row, skew| Rung { mean_row, skew, nnz: small };
        let ladder = vec![
            rung(24, Skew::Even),
            rung(6, Skew::Giants),
            rung(3, Skew::Even),
            rung(12, Skew::Spread),
            rung(80, Skew::Even),
            rung(400, Skew::Spread),
        ];
        Effort { ladder, budget: Duration::from_secs(20), sampling_ms: 6 }
    }

    /// The usual ladder: mean rows of 3 to 2,000 nonzeros, three skews, within the cache and beyond it.
    pub fn usual(device: &TunedDevice, budget: Duration) -> Self {
        let (small, large) = sizes(device);
        let mut ladder = Self::quick(device).ladder;
        let rung = |nnz| move |(mean_row, skew)| Rung { mean_row, skew, nnz };
        ladder.extend(
            [
                (3, Skew::Even),
                (24, Skew::Even),
                (80, Skew::Even),
                (12, Skew::Spread),
                (6, Skew::Giants),
            ]
            .map(rung(large)),
        );
        ladder.extend(
            [
                (8, Skew::Even),
                (4, Skew::Spread),
                (200, Skew::Even),
                (30, Skew::Giants),
                (40, Skew::Spread),
                (2000, Skew::Even),
            ]
            .map(rung(small)),
        );
        Effort { ladder, budget, sampling_ms: 12 }
    }

    /// Every mean row, skew and size: as long as it takes.
    pub fn full(device: &TunedDevice) -> Self {
        let (small, large) = sizes(device);
        let mut ladder = Self::usual(device, Duration::ZERO).ladder;
        for nnz in [small, 4 * small, large] {
            for skew in Skew::ALL {
                for mean_row in [2, 4, 8, 16, 32, 64, 200, 2000] {
                    ladder.push(Rung { mean_row, skew, nnz });
                }
            }
        }
        Effort { ladder, budget: Duration::from_secs(3600), sampling_ms: 20 }
    }
}
