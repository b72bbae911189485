//! Comparisons that tell some matrices from others, and what is gained on those they let through.
//!
//! A limit is a short number in the widest gap between figures of neighbouring matrices: whatever matrix comes later, it
//! is more likely to be on the side of those it is like.

use cl_kernels::{Comparison, Feature, Features, Side};

/// Limits of a figure that are tried.
const LIMITS: usize = 16;

/// The figures that are compared, the likeliest to mean something first: of what gains alike, the first is taken. Rows,
/// nonzeros and the longest row by themselves are not among them: how many are many depends on the device.
pub(super) const FIGURES: [Feature; 5] = [
    Feature::MeanRow,
    Feature::Unevenness,
    Feature::Changes,
    Feature::LongestShare,
    Feature::CacheShare,
];

/// Where figures may be cut, and on which side of each limit the matrices lie.
pub(super) struct Grid {
    axes: Vec<Axis>,
    /// Matrices that a rule covers at least.
    fewest: usize,
}

struct Axis {
    feature: Feature,
    limits: Vec<f64>,
    /// How many of the limits each matrix reaches.
    reached: Vec<usize>,
}

/// A comparison, and what is gained on the matrices of which it holds.
pub(super) struct Half {
    pub(super) comparison: Comparison,
    pub(super) gain: f64,
}

impl Grid {
    /// Of these matrices.
    pub(super) fn new<'a>(matrices: impl Iterator<Item = &'a Features> + Clone) -> Self {
        let axis = |feature| {
            let figures: Vec<f64> =
                matrices.clone().map(|features| features.get(feature)).collect();
            let limits = limits(&figures);
            let reach = |figure: &f64| limits.iter().filter(|limit| *figure >= **limit).count();
            let reached = figures.iter().map(reach).collect();
            Axis { feature, limits, reached }
        };
        let count = matrices.clone().count();
        let least = if count < 8 { 1 } else { 2 };
        let fewest = (count / 25).clamp(least, 4);
        Grid { axes: FIGURES.into_iter().map(axis).collect(), fewest }
    }

    /// Every comparison that tells some of these matrices from the others, enough of them.
    pub(super) fn sides(&self, of: &[usize], gains: &[f64]) -> Vec<Half> {
        let mut found = Vec::new();
        for Axis { feature, limits, reached } in &self.axes {
            let mut between = vec![(0, 0.0); limits.len() + 1];
            for &case in of {
                let (count, gain) = &mut between[reached[case]];
                *count += 1;
                *gain += gains[case];
            }
            let whole: f64 = between.iter().map(|(_, gain)| gain).sum();
            let (mut below, mut below_gain) = (0, 0.0);
            for (limit, (count, gain)) in limits.iter().zip(&between) {
                below += count;
                below_gain += gain;
                let sides = [
                    (Side::Below, below, below_gain),
                    (Side::AtLeast, of.len() - below, whole - below_gain),
                ];
                for (side, count, gain) in sides {
                    if count >= self.fewest && count < of.len() {
                        let comparison = Comparison { feature: *feature, side, limit: *limit };
                        found.push(Half { comparison, gain });
                    }
                }
            }
        }
        found
    }
}

/// Limits between figures: of each part of the matrices, in the order of the figure, the one in the widest gap.
fn limits(figures: &[f64]) -> Vec<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let gap = |next: usize| sorted[next] / sorted[next - 1].max(f64::MIN_POSITIVE);
    let widest = |part: usize| {
        let first = (part * sorted.len() / LIMITS).max(1);
        let gaps = first..(part + 1) * sorted.len() / LIMITS;
        let next = gaps.max_by(|&a, &b| gap(a).total_cmp(&gap(b)))?;
        between(sorted[next - 1], sorted[next])
    };
    (0..LIMITS).filter_map(widest).collect()
}

/// A short number above `low` and not above `high`, near their geometric mean; `None` where there is none.
fn between(low: f64, high: f64) -> Option<f64> {
    if low >= high {
        return None;
    }
    let middle = if low > 0.0 { (low * high).sqrt() } else { high / 2.0 };
    (1..=8).find_map(|digits| {
        let limit: f64 = format!("{middle:.*e}", digits - 1).parse().ok()?;
        (low < limit && limit <= high).then_some(limit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_short_numbers_between_figures() {
        assert_eq!(between(2.0, 50.0), Some(10.0));
        assert_eq!(between(0.0, 3.0), Some(2.0));
        assert_eq!(between(12.41, 12.43), Some(12.42));
        assert_eq!(between(5.0, 5.0), None);
    }
}
