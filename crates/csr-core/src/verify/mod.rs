//! Whether a result is right: an oracle of higher precision, and the error each row may have.
//!
//! A relative norm hides a wrong row, so every row is held against a bound of its own:
//!
//! ```text
//! |y_i - oracle_i| <= 2 (n_i + 2) eps (|alpha| sum_j |a_ij||x_j| + |beta y_i|) + (n_i + 2) tiny
//! ```
//!
//! with n_i the row's nonzeros, eps of the accumulation type and tiny its smallest normal number.
//! A row whose right result or bound is not finite is counted: nothing but NaN and infinities is compared there.
//! Compensated sums must keep 2 eps |oracle_i| + 2 n_i^2 eps^2 (...) + (n_i + 2) tiny. NaN matches NaN,
//! infinities match by sign. The oracle sums in double-double, which is more than f32 and 16-bit storage
//! need.

mod dense;
mod double_double;
mod spgemm;

use crate::check::check_length;
use crate::parallel;
use crate::{
    Accumulator, AnyCsrView, AnyVector, CsrView, Offset, Real, RealValue, Result, Value, for_csr,
};

use double_double::DoubleDouble;

pub use dense::verify_dense;
pub use spgemm::SparseOracle;

/// How sums were made, for the bound they must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summation {
    /// In the accumulation type.
    Plain,
    /// With a running error term.
    Compensated,
}

/// The right result of one row, and what its bound is made of.
#[derive(Clone, Copy, Debug, Default)]
struct OracleRow {
    value: f64,
    /// |alpha| sum |a||x| + |beta y|.
    magnitude: f64,
    nonzeros: u32,
}

/// The right result of y = alpha A x + beta y, row by row.
#[derive(Clone, Debug)]
pub struct Oracle {
    rows: Vec<OracleRow>,
}

/// What a comparison with the oracle found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verification {
    /// The largest error as a multiple of what its row allows; infinite where NaN or infinity is wrong.
    pub error_in_tolerance: f64,
    /// The row that error is in, from 0.
    pub worst_row: usize,
    /// Rows (of a sparse product, entries) whose right result is NaN or infinite, or overflows, or whose bound does:
    /// they match, or are an error, but no rounding was judged there.
    pub non_finite: usize,
}

impl Verification {
    /// With what was found elsewhere: the larger error, the first of equal ones, and all that is not finite.
    pub fn and(self, other: Self) -> Self {
        let non_finite = self.non_finite + other.non_finite;
        let worst = if other.error_in_tolerance > self.error_in_tolerance { other } else { self };
        Verification { non_finite, ..worst }
    }

    /// Whether every row keeps its bound.
    pub fn passed(&self) -> bool {
        self.error_in_tolerance <= 1.0
    }
}

impl Oracle {
    /// Computes the right result; `y` is y before the product and is not looked at where `beta` = 0.
    ///
    /// # Errors
    /// x is not `cols` long, or y not `rows`.
    pub fn new<V: RealValue, O: Offset>(
        alpha: V::Accum,
        a: CsrView<'_, V, O>,
        x: &[V::Accum],
        beta: V::Accum,
        y: &[V::Accum],
    ) -> Result<Self> {
        check_length("x", x.len(), a.cols())?;
        check_length("y", y.len(), a.rows())?;
        let (alpha, beta) = (alpha.to_f64(), beta.to_f64());
        let row = |row: usize| {
            let (columns, values) = a.row(row);
            let terms = columns.iter().zip(values);
            let terms =
                terms.map(|(&column, &value)| (value.to_f64(), x[column as usize].to_f64()));
            oracle_row(alpha, terms, beta, y[row].to_f64())
        };
        Ok(Oracle { rows: parallel::collect(OracleRow::default(), a.rows(), row) })
    }

    /// As [`Oracle::new`] of A x, of a matrix whose types are known at run time.
    ///
    /// # Errors
    /// x is not `cols` long.
    pub fn of_any(a: AnyCsrView<'_>, x: &AnyVector) -> Result<Self> {
        let zeros = AnyVector::filled(a.value_type(), 0.0, a.pattern().rows());
        Self::of_any_product(1.0, a, x, 0.0, &zeros)
    }

    /// As [`Oracle::new`], of a matrix whose types are known at run time; the coefficients are rounded to the type of sums.
    ///
    /// # Errors
    /// x is not `cols` long, or y not `rows`.
    pub fn of_any_product(
        alpha: f64,
        a: AnyCsrView<'_>,
        x: &AnyVector,
        beta: f64,
        y: &AnyVector,
    ) -> Result<Self> {
        fn typed<V: RealValue, O: Offset>(
            (alpha, beta): (f64, f64),
            a: CsrView<'_, V, O>,
            (x, y): (&AnyVector, &AnyVector),
        ) -> Result<Oracle> {
            let (alpha, beta) = (V::Accum::from_f64(alpha), V::Accum::from_f64(beta));
            Oracle::new(alpha, a, x.of(), beta, y.of())
        }
        for_csr!(a, a => typed((alpha, beta), a, (x, y)))
    }

    /// As [`Oracle::verify`], of a vector whose type is known at run time.
    ///
    /// # Errors
    /// `y` is not `rows` long.
    pub fn verify_any(&self, y: &AnyVector, summation: Summation) -> Result<Verification> {
        match y {
            AnyVector::F32(y) => self.verify(y, summation),
            AnyVector::F64(y) => self.verify(y, summation),
        }
    }

    /// Holds a result against the oracle.
    ///
    /// # Errors
    /// `y` is not `rows` long.
    pub fn verify<T: Accumulator + Real>(
        &self,
        y: &[T],
        summation: Summation,
    ) -> Result<Verification> {
        check_length("y", y.len(), self.rows.len())?;
        let found = parallel::collect(Verification::default(), y.len(), |row| {
            self.rows[row].judged(row, y[row], summation)
        });
        Ok(found.into_iter().fold(Verification::default(), Verification::and))
    }

    /// The right value of a row, rounded to f64.
    pub fn value(&self, row: usize) -> f64 {
        self.rows[row].value
    }
}

/// The sums over a row's nonzeros.
#[derive(Clone, Copy, Default)]
struct Sums {
    exact: DoubleDouble,
    plain: f64,
    magnitude: f64,
}

impl Sums {
    fn add(&mut self, a: f64, x: f64) {
        self.exact = self.exact + DoubleDouble::product(a, x);
        self.plain += a * x;
        self.magnitude += (a * x).abs();
    }

    /// alpha times the sum of so many nonzeros, + beta y.
    fn finish(self, alpha: f64, nonzeros: u32, beta: f64, y: f64) -> OracleRow {
        let mut value = self.exact * alpha;
        let mut plain = alpha * self.plain;
        let mut magnitude = alpha.abs() * self.magnitude;
        if beta != 0.0 {
            value = value + DoubleDouble::product(beta, y);
            plain += beta * y;
            magnitude += (beta * y).abs();
        }
        // Error terms of infinities are NaN: where the sum is not finite, plain arithmetic is the oracle.
        let value = if plain.is_finite() { value.rounded() } else { plain };
        OracleRow { value, magnitude, nonzeros }
    }
}

fn oracle_row(alpha: f64, terms: impl Iterator<Item = (f64, f64)>, beta: f64, y: f64) -> OracleRow {
    let (mut sums, mut nonzeros) = (Sums::default(), 0);
    for (a, x) in terms {
        sums.add(a, x);
        nonzeros += 1;
    }
    sums.finish(alpha, nonzeros, beta, y)
}

impl OracleRow {
    /// Whether there is a right number in `T` and a bound to judge its rounding by.
    fn is_finite<T: Accumulator + Real>(&self) -> bool {
        T::from_f64(self.value).to_f64().is_finite() && self.magnitude.is_finite()
    }

    /// What is found of a result in row `worst_row`.
    fn judged<T: Accumulator + Real>(
        &self,
        worst_row: usize,
        y: T,
        summation: Summation,
    ) -> Verification {
        let error_in_tolerance = self.error_in_tolerance::<T>(y, summation);
        let non_finite = usize::from(!self.is_finite::<T>());
        Verification { error_in_tolerance, worst_row, non_finite }
    }

    fn error_in_tolerance<T: Accumulator + Real>(&self, y: T, summation: Summation) -> f64 {
        let (expected, y) = (T::from_f64(self.value).to_f64(), y.to_f64());
        if !expected.is_finite() || !y.is_finite() {
            let same = (expected.is_nan() && y.is_nan()) || expected == y;
            return if same { 0.0 } else { f64::INFINITY };
        }
        let n = f64::from(self.nonzeros);
        let rounding = match summation {
            Summation::Plain => 2.0 * (n + 2.0) * T::EPSILON * self.magnitude,
            Summation::Compensated => {
                2.0 * T::EPSILON * self.value.abs()
                    + 2.0 * n * n * T::EPSILON * T::EPSILON * self.magnitude
            }
        };
        let tolerance = rounding + (n + 2.0) * T::SMALLEST_NORMAL;
        (y - self.value).abs() / tolerance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    fn one_row(values: &[f64]) -> Csr<f64> {
        let columns = (0..values.len() as u32).collect();
        Csr::new(values.len(), vec![0, values.len() as u32], columns, values.to_vec()).unwrap()
    }

    fn verify(values: &[f64], x: &[f64], y: f64, summation: Summation) -> Verification {
        let a = one_row(values);
        let oracle = Oracle::new(1.0, a.view(), x, 0.0, &[f64::NAN]).unwrap();
        oracle.verify(&[y], summation).unwrap()
    }

    #[test]
    fn oracle_keeps_what_f64_loses() {
        // 1 + 2^-60 - 1: a plain f64 sum gives 0.
        let values = [1.0, 2f64.powi(-60), -1.0];
        let oracle = Oracle::new(1.0, one_row(&values).view(), &[1.0; 3], 0.0, &[0.0]).unwrap();
        assert_eq!(oracle.value(0), 2f64.powi(-60));
        assert!(verify(&values, &[1.0; 3], 0.0, Summation::Plain).passed());
        assert!(!verify(&values, &[1.0; 3], 0.0, Summation::Compensated).passed());
    }

    #[test]
    fn one_wrong_row_among_many_is_found_and_named() {
        let rows = 10_000;
        let a: Csr<f32> =
            Csr::new(1, (0..=rows).collect(), vec![0; rows as usize], vec![1.0; rows as usize])
                .unwrap();
        let mut y = vec![2.0f32; rows as usize];
        let oracle = Oracle::new(1.0, a.view(), &[2.0], 0.0, &y).unwrap();
        assert!(oracle.verify(&y, Summation::Plain).unwrap().passed());
        y[777] = 2.01;
        let found = oracle.verify(&y, Summation::Plain).unwrap();
        assert!(!found.passed());
        assert_eq!(found.worst_row, 777);
    }

    #[test]
    fn an_error_at_the_bound_passes_and_twice_that_fails() {
        let bound = 2.0 * 4.0 * f64::EPSILON * 2.0;
        assert!(verify(&[1.0, 1.0], &[1.0, 1.0], 2.0 + 0.9 * bound, Summation::Plain).passed());
        assert!(!verify(&[1.0, 1.0], &[1.0, 1.0], 2.0 + 2.0 * bound, Summation::Plain).passed());
    }

    #[test]
    fn nan_matches_nan_and_infinities_match_by_sign() {
        let inf = f64::INFINITY;
        assert!(verify(&[inf], &[1.0], inf, Summation::Plain).passed());
        assert!(!verify(&[inf], &[1.0], -inf, Summation::Plain).passed());
        assert!(!verify(&[inf], &[1.0], 1.0, Summation::Plain).passed());
        assert!(verify(&[inf], &[0.0], f64::NAN, Summation::Plain).passed());
        assert!(!verify(&[1.0], &[1.0], f64::NAN, Summation::Plain).passed());
    }

    #[test]
    fn rows_that_are_not_finite_or_have_no_bound_are_counted() {
        let of = |values: &[f64], y| {
            let found = verify(values, &vec![1.0; values.len()], y, Summation::Plain);
            (found.passed(), found.non_finite)
        };
        let inf = f64::INFINITY;
        assert_eq!(of(&[1.0, 2.0], 3.0), (true, 0));
        assert_eq!(of(&[inf], inf), (true, 1));
        assert_eq!(of(&[inf, -inf], f64::NAN), (true, 1));
        // The sum is finite, and what it may be off is not.
        assert_eq!(of(&[1e308, -1e308, 1e308], 1e308), (true, 1));
        let a = Csr::<f32>::new(1, vec![0, 1, 2], vec![0; 2], vec![3e38, 1.0]).unwrap();
        let oracle = Oracle::new(1.0f32, a.view(), &[3.0], 0.0, &[0.0; 2]).unwrap();
        let found = oracle.verify(&[f32::INFINITY, 3.0], Summation::Plain).unwrap();
        assert_eq!((found.passed(), found.non_finite), (true, 1), "an overflow of f32");
        let wrong = oracle.verify(&[f32::INFINITY, 4.0], Summation::Plain).unwrap();
        assert_eq!((wrong.passed(), wrong.worst_row, wrong.non_finite), (false, 1, 1));
    }
}
