//! How much is tried: the ladder of matrices, and how long.
//!
//! A ladder has rungs, which differ in mean row, skew and size alone, and likenesses of published matrices, made as
//! large as the device's cache suggests. Every third likeness is held out, and so is everything that is assembled:
//! what `sparrow tune judge` finds on those was not fitted to them.

use std::time::Duration;

use cl_kernels::DeviceType;
use csr_core::generate::{Class, Rung, Skew, Source};

use super::TunedDevice;

/// What a tuning climbs, and for how long.
#[derive(Clone, Debug)]
pub struct Effort {
    /// The matrices, those that tell most first.
    pub ladder: Vec<LadderMatrix>,
    /// Matrices that nothing is fitted to: what was found is validated on them.
    pub validation: Vec<LadderMatrix>,
    /// Time after which no further trial begins.
    pub budget: Duration,
    /// Milliseconds of sampling a trial.
    pub sampling_ms: u64,
    /// Candidates that are tried on every matrix in the end, at most.
    pub winners: usize,
}

/// A matrix to climb.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderMatrix {
    /// A rung's name or a class's.
    pub name: String,
    /// Multiplies the rows of a class.
    pub scale: f64,
    /// Nonzeros, about.
    pub nnz: u64,
    /// Nonzeros of the mean row, about.
    pub mean_row: f64,
}

impl LadderMatrix {
    /// Its name, with its scale where that is not 1.
    pub fn label(&self) -> String {
        match self.scale {
            1.0 => self.name.clone(),
            scale => format!("{} x {scale:.2}", self.name),
        }
    }
}

impl From<Rung> for LadderMatrix {
    fn from(rung: Rung) -> Self {
        let (name, nnz, mean_row) = (rung.to_string(), rung.nnz, f64::from(rung.mean_row));
        LadderMatrix { name, scale: 1.0, nnz, mean_row }
    }
}

/// The likenesses that rules may be fitted to, two of three, of about as many nonzeros as `sizes` says, in turn. (Where all
/// have as many, what share of the cache they take says how long their rows are.)
fn likenesses(sizes: &[u64]) -> Vec<LadderMatrix> {
    scaled_likenesses(sizes, |number| number % 3 != 2)
}

/// The likenesses that are held out.
fn held_out(sizes: &[u64]) -> Vec<LadderMatrix> {
    let mut matrices = scaled_likenesses(sizes, |number| number % 3 == 2);
    // Short rows and long ones in turn.
    matrices.sort_by(|a, b| a.mean_row.total_cmp(&b.mean_row));
    let count = matrices.len();
    let order = (0..count).map(|k| if k % 2 == 0 { k / 2 } else { count - 1 - k / 2 });
    order.map(|k| matrices[k].clone()).collect()
}

/// The likenesses whose numbers `is_taken`, of about as many nonzeros as `sizes` says, in turn.
fn scaled_likenesses(sizes: &[u64], is_taken: impl Fn(usize) -> bool) -> Vec<LadderMatrix> {
    let likenesses = Class::all().filter(|class| class.source() == Source::Likeness);
    let taken = likenesses.enumerate().filter(|(k, _)| is_taken(*k)).map(|(_, class)| class);
    let scaled = taken.zip(sizes.iter().cycle()).filter_map(|(class, &most)| {
        let (rows, nnz) = class.published_size()?;
        let scale = (most as f64 / nnz as f64).min(1.0);
        Some(LadderMatrix {
            name: class.name().to_owned(),
            scale,
            nnz: (nnz as f64 * scale) as u64,
            mean_row: nnz as f64 / rows as f64,
        })
    });
    scaled.collect()
}

/// Nonzeros of f64 matrices that take an eighth of the last cache, half of it, and twice as much as it has.
fn sizes(device: &TunedDevice) -> [u64; 3] {
    // What devices answer for their cache may be a core's or another processor's; a CPU's last is no smaller.
    let least = if device.device_type == DeviceType::Cpu { 16 << 20 } else { 4 << 20 };
    let cache = device.cache_bytes.clamp(least, 96 << 20);
    [cache / 8, cache / 2, 2 * cache].map(|bytes| (bytes / 12).max(60_000))
}

/// Of a quick tuning.
const QUICK_VALIDATION: usize = 10;

/// Scales of what is assembled, which has no size of its own.
const SCALES_OF_ASSEMBLED: [f64; 2] = [0.1, 1.0];

/// Matrices that nothing is fitted to, each once within the last cache and once beyond it, up to four times as large, where
/// it is published so large; small and large ones in turn.
fn validation(device: &TunedDevice) -> Vec<LadderMatrix> {
    let [small, medium, large] = sizes(device);
    let within = held_out(&[medium, small]);
    let beyond = held_out(&[large, 2 * large]);
    let of_likenesses = within.into_iter().zip(beyond).flat_map(|(a, b)| [b, a]);
    let mut matrices: Vec<_> = of_likenesses.collect();
    matrices.dedup();
    let assembled: Vec<_> =
        Class::all().filter(|class| class.source() == Source::Assembled).collect();
    for scale in SCALES_OF_ASSEMBLED {
        matrices.extend(assembled.iter().map(|class| {
            let name = class.name().to_owned();
            LadderMatrix { name, scale, nnz: small, mean_row: 8.0 }
        }));
    }
    matrices
}

/// The rungs of these mean rows and skews, of one size.
fn rungs(nnz: u64, kinds: &[(Skew, &[u32])]) -> Vec<LadderMatrix> {
    let mut rungs = Vec::new();
    for &(skew, means) in kinds {
        rungs.extend(means.iter().map(|&mean_row| Rung { mean_row, skew, nnz }.into()));
    }
    rungs
}

impl Effort {
    /// Nine matrices, within the cache and beyond it, 20 seconds.
    pub fn quick(device: &TunedDevice) -> Self {
        let [small, _, large] = sizes(device);
        let within: [(Skew, &[u32]); 4] = [
            (Skew::Even, &[80, 5]),
            (Skew::Mixed, &[8]),
            (Skew::Giants, &[6]),
            (Skew::Spread, &[400]),
        ];
        let beyond: [(Skew, &[u32]); 3] =
            [(Skew::Even, &[24, 3]), (Skew::Giants, &[30]), (Skew::Spread, &[4])];
        let mut ladder = rungs(small, &within);
        ladder.extend(rungs(large, &beyond));
        let budget = Duration::from_secs(20);
        let mut validation = validation(device);
        validation.truncate(QUICK_VALIDATION);
        Effort { ladder, validation, budget, sampling_ms: 6, winners: 7 }
    }

    /// The default ladder: mean rows of 3 to 2,000 nonzeros, four skews, within the cache and beyond it.
    pub fn of_budget(device: &TunedDevice, budget: Duration) -> Self {
        let [small, medium, large] = sizes(device);
        let within: [(Skew, &[u32]); 2] = [(Skew::Even, &[8]), (Skew::Mixed, &[4, 40])];
        // What an H200's rules lacked: long even rows are for other kernels beyond the cache than within it.
        let beyond: [(Skew, &[u32]); 4] = [
            (Skew::Even, &[30, 80, 4, 400]),
            (Skew::Giants, &[6]),
            (Skew::Spread, &[12]),
            (Skew::Mixed, &[6]),
        ];
        let mut ladder = Self::quick(device).ladder;
        // A CPU learns by heart where the rows of a small matrix end.
        let of_likenesses = match device.device_type {
            DeviceType::Cpu => vec![large / 2, large, large / 4],
            _ => vec![medium / 2],
        };
        ladder.extend(likenesses(&of_likenesses));
        ladder.extend(rungs(small, &within));
        ladder.extend(rungs(large, &beyond));
        ladder.push(Rung { mean_row: 2000, skew: Skew::Even, nnz: small }.into());
        Effort { ladder, validation: validation(device), budget, sampling_ms: 10, winners: 7 }
    }

    /// The same likenesses, larger than the cache where they are published so large, and more rungs: as long as it takes.
    pub fn full(device: &TunedDevice) -> Self {
        const MEANS: &[u32] = &[3, 24, 60, 8, 200, 5, 40, 15, 100, 2, 500];
        let [small, medium, large] = sizes(device);
        let all = [
            (Skew::Even, MEANS),
            (Skew::Giants, &MEANS[..9]),
            (Skew::Spread, &MEANS[..9]),
            (Skew::Mixed, &MEANS[..9]),
        ];
        let mut ladder = likenesses(&[large]);
        ladder.extend(rungs(medium, &all));
        ladder.extend(rungs(small, &all));
        ladder.extend(rungs(large, &all.map(|(skew, means)| (skew, &means[..4]))));
        ladder.push(Rung { mean_row: 2000, skew: Skew::Even, nnz: small }.into());
        let (validation, budget) = (validation(device), Duration::from_secs(3600));
        Effort { ladder, validation, budget, sampling_ms: 20, winners: 12 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tune::tests::device;

    #[test]
    fn ladders_span_mean_rows_skews_and_sizes_and_name_no_matrix_twice() {
        let device = TunedDevice::of(&device(), 32 << 20);
        let quick = Effort::quick(&device);
        let default = Effort::of_budget(&device, Duration::from_secs(120));
        let full = Effort::full(&device);
        assert!(
            quick.ladder.len() < default.ladder.len() && default.ladder.len() < full.ladder.len()
        );
        for effort in [quick, default, full] {
            let distinct: BTreeSet<_> = effort.ladder.iter().map(|matrix| &matrix.name).collect();
            assert_eq!(distinct.len(), effort.ladder.len());
            for skew in Skew::ALL {
                assert!(distinct.iter().any(|name| name.contains(skew.name())));
            }
            assert!(effort.ladder.iter().any(|matrix| matrix.mean_row <= 3.0));
            assert!(effort.ladder.iter().any(|matrix| matrix.mean_row >= 400.0));
        }
    }

    #[test]
    fn short_and_long_even_rows_are_tried_within_the_cache_and_beyond_it() {
        let device = TunedDevice::of(&device(), 32 << 20);
        let [small, _, large] = sizes(&device);
        for effort in [Effort::of_budget(&device, Duration::from_secs(120)), Effort::full(&device)]
        {
            for nnz in [small, large] {
                let even =
                    |matrix: &&LadderMatrix| matrix.name.contains("even") && matrix.nnz == nnz;
                let means: Vec<_> =
                    effort.ladder.iter().filter(even).map(|matrix| matrix.mean_row).collect();
                assert!(means.iter().any(|&mean| mean < 8.0), "{nnz}: {means:?}");
                assert!(means.iter().any(|&mean| mean >= 60.0), "{nnz}: {means:?}");
            }
        }
    }

    #[test]
    fn every_third_likeness_is_held_out_and_so_is_what_is_assembled() {
        let names: Vec<_> = likenesses(&[1 << 20]).into_iter().map(|matrix| matrix.name).collect();
        let is_on = |class: &Class| names.iter().any(|name| name == class.name());
        let (likenesses, assembled): (Vec<_>, Vec<_>) =
            Class::all().partition(|class| class.source() == Source::Likeness);
        assert!(!assembled.iter().any(is_on));
        let held_out = likenesses.iter().filter(|class| !is_on(class)).count();
        assert_eq!(held_out, likenesses.len() / 3);
    }
}
