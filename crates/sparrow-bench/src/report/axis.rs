//! Axes: where a value lies between two ends, and which round values get a tick.
//!
//! Ends and ticks are 1, 2 or 5 times a power of ten, so that a reader can interpolate.

use crate::units::trim_zeros;

/// One axis from `least` to `most`, with ticks in ascending order.
pub(super) struct Axis {
    least: f64,
    most: f64,
    logarithmic: bool,
    /// The values that get a tick.
    pub(super) ticks: Vec<f64>,
}

impl Axis {
    /// From 0 to a round value of at least `most`, with at most seven ticks.
    pub(super) fn linear(most: f64) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let mut step = round_up(most / 6.0);
        // Six steps of the exact sixth may fall short by a rounding error.
        if step * 6.0 < most {
            step = round_up(step * 1.5);
        }
        let steps = (most / step - 1e-9).ceil().max(1.0);
        let ticks = (0..=steps as u32).map(|n| f64::from(n) * step).collect();
        Self { least: 0.0, most: steps * step, logarithmic: false, ticks }
    }

    /// As [`Axis::linear`], from below 0 where `least` is.
    pub(super) fn around_0(least: f64, most: f64) -> Self {
        let above = Axis::linear(most.max(-least));
        let step = above.ticks[1];
        let below = (-least / step - 1e-9).ceil().max(0.0);
        if below == 0.0 {
            return above;
        }
        let steps = (most / step - 1e-9).ceil().max(0.0);
        let ticks = (-(below as i32)..=steps as i32).map(|n| f64::from(n) * step).collect();
        Self { least: -below * step, most: steps * step, logarithmic: false, ticks }
    }

    /// From 0 to just `most`, without ticks: for bars that carry their figures.
    pub(super) fn exact(most: f64) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        Self { least: 0.0, most, logarithmic: false, ticks: Vec::new() }
    }

    /// Between round values around `least` and `most`, both positive; ticks at 1, 2 and 5 within two
    /// decades, at the decades beyond.
    pub(super) fn logarithmic(least: f64, most: f64) -> Self {
        let (mut low, mut high) = (round_down(least), round_up(most));
        if low == high {
            (low, high) = (round_down(low * 0.6), round_up(high * 1.5));
        }
        let dense = high / low <= 100.0 * (1.0 + 1e-9);
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let factors: &[f64] = if dense { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let ticks = decades
            .flat_map(|decade| factors.iter().map(move |f| f * 10f64.powi(decade)))
            .filter(|tick| (low * 0.999..=high * 1.001).contains(tick))
            .collect();
        Self { least: low, most: high, logarithmic: true, ticks }
    }

    /// Where a value lies, 0 at the lower end and 1 at the upper; values beyond lie at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match self.logarithmic {
            true => (value / self.least).log10() / (self.most / self.least).log10(),
            false => (value - self.least) / (self.most - self.least),
        };
        // NaN does not come here; a logarithm of 0 does, as minus infinity.
        place.clamp(0.0, 1.0)
    }

    /// The lower end.
    pub(super) fn least(&self) -> f64 {
        self.least
    }

    /// The upper end.
    pub(super) fn most(&self) -> f64 {
        self.most
    }
}

/// A tick's value in few characters: `0.05`, `200`, `50k`, `10M`.
pub(super) fn tick_label(value: f64) -> String {
    if value < 0.0 {
        return format!("-{}", tick_label(-value));
    }
    let (scaled, unit) = match value {
        v if v >= 1e12 => (v / 1e12, "T"),
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e4 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let decimals =
        if scaled > 0.0 { (-scaled.log10().floor() + 1.0).clamp(0.0, 12.0) } else { 0.0 };
    format!("{}{unit}", trim_zeros(&format!("{scaled:.0$}", decimals as usize)))
}

/// The least 1, 2 or 5 times a power of ten that is not below `value`.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= value * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// The largest 1, 2 or 5 times a power of ten that is not above `value`.
fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = [5.0, 2.0, 1.0].into_iter().find(|f| f * power <= value * (1.0 + 1e-9));
    factor.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().copied().map(tick_label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_reach_beyond_the_largest_value() {
        assert_eq!(labels(&Axis::linear(1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(&Axis::linear(4278.0)), ["0", "1000", "2000", "3000", "4000", "5000"]);
        for most in [0.0, 1e-7, 0.73, 5.0, 6.0, 6.01, 29.9, 12_345.0] {
            let axis = Axis::linear(most);
            assert!(axis.most() >= most && axis.ticks.len() <= 7, "{most}: {:?}", axis.ticks);
        }
    }

    #[test]
    fn values_below_0_lie_below_it() {
        let axis = Axis::around_0(-1.5, 6.0);
        assert_eq!(labels(&axis), ["-2", "-1", "0", "1", "2", "3", "4", "5", "6"]);
        assert_eq!(axis.place(0.0), 0.25);
        assert_eq!(labels(&Axis::around_0(-6.0, 0.0))[0], "-6");
        assert_eq!(labels(&Axis::around_0(0.0, 1.0)), labels(&Axis::linear(1.0)));
    }

    #[test]
    fn logarithmic_ticks_are_dense_within_two_decades_and_decades_beyond() {
        assert_eq!(labels(&Axis::logarithmic(19e3, 1.9e6)), ["10k", "100k", "1M"]);
        assert_eq!(labels(&Axis::logarithmic(0.9, 11.0)), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(labels(&Axis::logarithmic(0.004, 300.0)), ["0.01", "0.1", "1", "10", "100"]);
    }

    #[test]
    fn one_value_alone_still_has_an_axis_around_it() {
        for value in [1.0, 4_007_383.0, 0.02] {
            let axis = Axis::logarithmic(value, value);
            let place = axis.place(value);
            assert!((0.01..=0.99).contains(&place), "{value} at {place}");
            assert!(axis.ticks.len() >= 2, "{:?}", axis.ticks);
        }
    }

    #[test]
    fn values_beyond_the_ends_lie_at_the_ends() {
        let axis = Axis::logarithmic(1.0, 100.0);
        assert_eq!([0.0, 1.0, 10.0, 100.0, 1e9].map(|v| axis.place(v)), [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(Axis::linear(1.0).place(0.6), 0.6);
    }
}
