//! How long each row of a likeness is: a log-normal body between hard limits, and a named tail.
//!
//! Lengths are not drawn row by row. The whole distribution is laid out by rank, its quantiles adding
//! up to the nonzeros promised, and a pseudo-random permutation says which rank a row has. So shortest,
//! longest and nnz hold exactly at every seed, and each row still knows its length alone.

use rayon::prelude::*;

use super::random::Permutation;

/// A row above this is long, in CSR-Adaptive's row blocks and in the suite's tails.
pub(super) const LONG_ROW: u32 = 128;

/// The rows that do not belong to the log-normal body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tail {
    /// Nothing besides one row of the greatest length.
    None,
    /// `rows` rows: the longest, and each of the others `ratio` times the one before.
    Giants { rows: u32, ratio: f64 },
    /// `nnz_share` of the nonzeros in rows above 128 of `mean` nonzeros; the body stays below.
    Long { nnz_share: f64, mean: f64 },
}

/// What the lengths of a matrix promise together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) nnz: u64,
    pub(super) shortest: u32,
    pub(super) longest: u32,
    /// Standard deviation of the logarithm of the body's lengths.
    pub(super) sigma: f64,
    pub(super) tail: Tail,
    /// Consecutive rows of one length, as the unknowns of one mesh node.
    pub(super) run: u32,
}

/// The length of every row of one matrix.
#[derive(Clone, Debug)]
pub(super) struct RowLengths {
    run: usize,
    by_rank: Vec<u32>,
    giants: Vec<u32>,
    ranks: Permutation,
}

impl RowLengths {
    pub(super) fn new(shape: &Shape, seed: u64) -> Self {
        let run = shape.run.max(1) as usize;
        let nodes = shape.rows.div_ceil(run);
        let giants = giants(shape, nodes);
        let giant_nnz: u64 = giants.iter().map(|&length| u64::from(length)).sum();
        let node_nnz = shape.nnz.saturating_sub(giant_nnz) / run as u64;
        let by_rank = match shape.tail {
            _ if nodes < giants.len() + 2 => vec![shape.longest; nodes],
            Tail::None => {
                let ends = (Some(shape.longest), Some(shape.shortest));
                log_normal(nodes, node_nnz, shape, (shape.shortest, shape.longest), ends)
            }
            Tail::Giants { .. } => {
                let body_nodes = nodes - giants.len();
                // The ranks of the giants hold the length of their neighbours in the node.
                let mean = (node_nnz / body_nodes as u64) as u32;
                let mut lengths = vec![mean.max(shape.shortest); giants.len()];
                let highest = giants.last().map_or(shape.longest, |&least| least);
                let limits = (shape.shortest, highest.max(shape.shortest));
                let ends = (None, Some(shape.shortest));
                lengths.extend(log_normal(body_nodes, node_nnz, shape, limits, ends));
                lengths
            }
            Tail::Long { nnz_share, mean } => {
                let long_nnz = (node_nnz as f64 * nnz_share) as u64;
                let long_nodes = ((long_nnz as f64 / mean).round() as usize).clamp(1, nodes - 1);
                let limits = ((LONG_ROW + 1).min(shape.longest), shape.longest);
                let ends = (Some(shape.longest), None);
                let mut lengths = log_normal(long_nodes, long_nnz, shape, limits, ends);
                let long_nnz: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
                let limits = (shape.shortest, LONG_ROW.min(shape.longest));
                let rest = (nodes - long_nodes, node_nnz.saturating_sub(long_nnz));
                let ends = (None, Some(shape.shortest));
                lengths.extend(log_normal(rest.0, rest.1, shape, limits, ends));
                lengths
            }
        };
        RowLengths { run, by_rank, giants, ranks: Permutation::new(nodes.max(1), seed) }
    }

    /// The nonzeros of `row`.
    pub(super) fn of(&self, row: usize) -> usize {
        let rank = self.ranks.apply(row / self.run);
        match self.giants.get(rank) {
            Some(&giant) if row.is_multiple_of(self.run) => giant as usize,
            _ => self.by_rank[rank] as usize,
        }
    }

    /// Whether `row` is one of the giants, which share no node's pattern.
    pub(super) fn is_giant(&self, row: usize) -> bool {
        !self.giants.is_empty()
            && row.is_multiple_of(self.run)
            && self.ranks.apply(row / self.run) < self.giants.len()
    }
}

fn giants(shape: &Shape, nodes: usize) -> Vec<u32> {
    let Tail::Giants { rows, ratio } = shape.tail else {
        return Vec::new();
    };
    let length = |k: u32| (f64::from(shape.longest) * ratio.powi(k as i32)).round() as u32;
    (0..rows.min(nodes as u32 / 2)).map(|k| length(k).max(shape.shortest)).collect()
}

/// `count` lengths in falling order that add up to `total` where the limits allow it, with the first
/// and the last given or free.
fn log_normal(
    count: usize,
    total: u64,
    shape: &Shape,
    (lowest, highest): (u32, u32),
    (first, last): (Option<u32>, Option<u32>),
) -> Vec<u32> {
    let ends: Vec<u32> = first.into_iter().chain(last).take(count).collect();
    let inner = count - ends.len();
    let ends_nnz: u64 = ends.iter().map(|&length| u64::from(length)).sum();
    let total = total.saturating_sub(ends_nnz);
    let mut lengths = Vec::with_capacity(count);
    lengths.extend(first.filter(|_| count > 0));
    let start = lengths.len();
    if inner > 0 {
        let mu = calibrate(total as f64 / inner as f64, shape.sigma, lowest, highest);
        lengths.par_extend((0..inner).into_par_iter().map(|rank| {
            let z = normal_quantile(1.0 - (rank as f64 + 0.5) / inner as f64);
            quantile_length(mu, shape.sigma, z, lowest, highest).round() as u32
        }));
        settle(&mut lengths[start..], total, lowest, highest);
    }
    if lengths.len() < count {
        lengths.extend(last);
    }
    lengths
}

fn quantile_length(mu: f64, sigma: f64, z: f64, lowest: u32, highest: u32) -> f64 {
    (mu + sigma * z).exp().clamp(f64::from(lowest), f64::from(highest))
}

/// The mu whose clamped log-normal has the wanted mean, by bisection: the mean grows with mu.
fn calibrate(mean: f64, sigma: f64, lowest: u32, highest: u32) -> f64 {
    const SAMPLES: usize = 4096;
    let quantiles: Vec<f64> =
        (0..SAMPLES).map(|i| normal_quantile((i as f64 + 0.5) / SAMPLES as f64)).collect();
    let (mut below, mut above) = (-20.0, 40.0);
    for _ in 0..50 {
        let mu = 0.5 * (below + above);
        let sum: f64 =
            quantiles.iter().map(|&z| quantile_length(mu, sigma, z, lowest, highest)).sum();
        if sum < mean * SAMPLES as f64 {
            below = mu;
        } else {
            above = mu;
        }
    }
    0.5 * (below + above)
}

/// Adds or takes single nonzeros at evenly spaced ranks until the sum is `total` or no row may change.
fn settle(lengths: &mut [u32], total: u64, lowest: u32, highest: u32) {
    let sum: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let mut missing = total as i64 - sum as i64;
    while missing != 0 {
        let movable = |length: u32| if missing > 0 { length < highest } else { length > lowest };
        let movable_count = lengths.iter().filter(|&&length| movable(length)).count();
        if movable_count == 0 {
            return;
        }
        let stride = (movable_count as u64 / missing.unsigned_abs()).max(1);
        let change = missing.signum();
        let mut seen = 0u64;
        for length in lengths.iter_mut() {
            let may_move = if change > 0 { *length < highest } else { *length > lowest };
            if !may_move {
                continue;
            }
            if missing != 0 && seen.is_multiple_of(stride) {
                *length = length.saturating_add_signed(change as i32);
                missing -= change;
            }
            seen += 1;
        }
    }
}

/// The inverse of the standard normal distribution, to 4.5e-4: M. Abramowitz and I. Stegun, "Handbook
/// of Mathematical Functions", 26.2.23.
fn normal_quantile(probability: f64) -> f64 {
    let smaller = probability.min(1.0 - probability).max(1e-300);
    let t = (-2.0 * smaller.ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let z = t - numerator / denominator;
    if probability < 0.5 { -z } else { z }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rows: usize, nnz: u64, (shortest, longest): (u32, u32), tail: Tail) -> Shape {
        Shape { rows, nnz, shortest, longest, sigma: 0.6, tail, run: 1 }
    }

    fn lengths(shape: &Shape) -> Vec<usize> {
        let lengths = RowLengths::new(shape, 5);
        (0..shape.rows).map(|row| lengths.of(row)).collect()
    }

    #[test]
    fn sum_shortest_and_longest_are_exact_for_every_tail() {
        let tails = [
            (Tail::None, 300),
            (Tail::Giants { rows: 3, ratio: 0.5 }, 4_000),
            (Tail::Long { nnz_share: 0.3, mean: 300.0 }, 900),
        ];
        for (tail, longest) in tails {
            let shape = shape(9_001, 130_007, (2, longest), tail);
            let lengths = lengths(&shape);
            assert_eq!(lengths.iter().sum::<usize>(), 130_007, "{tail:?}");
            assert_eq!(lengths.iter().min(), Some(&2), "{tail:?}");
            assert_eq!(lengths.iter().max(), Some(&(longest as usize)), "{tail:?}");
        }
    }

    #[test]
    fn the_tail_holds_its_share_of_nonzeros() {
        let tail = Tail::Long { nnz_share: 0.3, mean: 300.0 };
        let lengths = lengths(&shape(10_000, 200_000, (1, 2_000), tail));
        let long: usize = lengths.iter().filter(|&&length| length > 128).sum();
        assert!((long as f64 / 200_000.0 - 0.3).abs() < 0.01, "{long}");
    }

    #[test]
    fn the_body_has_the_spread_asked_for() {
        let lengths = lengths(&shape(20_000, 2_000_000, (1, 5_000), Tail::None));
        let logs: Vec<f64> = lengths.iter().map(|&length| (length as f64).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / logs.len() as f64;
        assert!((variance.sqrt() - 0.6).abs() < 0.01, "{}", variance.sqrt());
    }

    #[test]
    fn limits_that_forbid_the_sum_win() {
        assert!(lengths(&shape(100, 390, (4, 4), Tail::None)).iter().all(|&length| length == 4));
    }

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        assert!(normal_quantile(0.5).abs() < 1e-3);
        assert!((normal_quantile(0.975) - 1.96).abs() < 1e-3);
        assert!((normal_quantile(0.001) + 3.0902).abs() < 1e-3);
    }
}
