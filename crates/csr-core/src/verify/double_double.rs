//! Numbers of about 106 bits as an unevaluated sum of two f64 (Dekker 1971; Knuth, TAOCP vol. 2, 4.2.2).

use std::ops::{Add, Mul};

/// `high + low`, with `high` the rounded whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// The exact product, barring overflow and underflow.
    pub(super) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        DoubleDouble { high, low: a.mul_add(b, -high) }
    }

    /// The nearest f64.
    pub(super) fn rounded(self) -> f64 {
        self.high + self.low
    }

    fn normalised(high: f64, low: f64) -> Self {
        let sum = high + low;
        DoubleDouble { high: sum, low: low - (sum - high) }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let of_other = sum - self.high;
        let error = (self.high - (sum - of_other)) + (other.high - of_other);
        Self::normalised(sum, error + (self.low + other.low))
    }
}

impl Mul<f64> for DoubleDouble {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        let product = Self::product(self.high, factor);
        Self::normalised(product.high, self.low.mul_add(factor, product.low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_sums_keep_the_bits_f64_drops() {
        let tiny = 2f64.powi(-40);
        let square = DoubleDouble::product(1.0 + tiny, 1.0 + tiny);
        let rest = square + DoubleDouble { high: -(1.0 + 2.0 * tiny), low: 0.0 };
        assert_eq!(rest.rounded(), tiny * tiny);
        assert_eq!(
            (square * 2.0 + DoubleDouble { high: -2.0, low: 0.0 }).rounded(),
            4.0 * tiny + 2.0 * tiny * tiny
        );
    }
}
