//! Values of f64 in a narrower type: which of them change more than rounding explains.

use rayon::prelude::*;

use crate::{Error, Result, Value, ValueType, for_value_type, spelled};

/// How many values something happened to, and where first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// How many.
    pub count: u64,
    /// The first: a line of a file, from 1, or the index of a value, from 0. `None` where there is none.
    pub first: Option<u64>,
}

impl Occurrences {
    /// Counts one more at `position`; callers go forwards.
    pub(crate) fn add(&mut self, position: u64) {
        self.count += 1;
        self.first.get_or_insert(position);
    }

    /// Those of a part and of what comes after it.
    pub(crate) fn and(self, later: Self) -> Self {
        Occurrences { count: self.count + later.count, first: self.first.or(later.first) }
    }
}

/// What becomes of f64 values in another type, beyond the rounding of their last digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Narrowing {
    /// Finite values that become infinite.
    pub overflows: Occurrences,
    /// Values other than 0 that become 0.
    pub underflows: Occurrences,
    /// Whole numbers that become other whole numbers.
    pub inexact_integers: Occurrences,
}

impl Narrowing {
    /// Looks at values as `value_type` would hold them; nothing can happen to them in f64.
    pub fn of(values: &[f64], value_type: ValueType) -> Self {
        /// Values that one task looks at.
        const CHUNK: usize = 1 << 16;
        if value_type == ValueType::F64 {
            return Narrowing::default();
        }
        let chunks = values.par_chunks(CHUNK).enumerate();
        let of_chunk = |(chunk, values)| for_value_type!(value_type, V => Narrowing::of_chunk::<V>(values, chunk * CHUNK));
        chunks.map(of_chunk).reduce(Narrowing::default, Narrowing::and)
    }

    fn of_chunk<V: Value>(values: &[f64], first: usize) -> Self {
        let (mut found, exact) = (Narrowing::default(), V::TYPE.exact_whole_numbers());
        for (index, &value) in values.iter().enumerate() {
            let (before, after) = (value.abs(), V::from_f64(value).norm());
            if before == after || before.is_nan() {
                continue;
            }
            let position = (first + index) as u64;
            if after.is_infinite() {
                found.overflows.add(position);
            } else if after == 0.0 {
                found.underflows.add(position);
            } else if before > exact && before.fract() == 0.0 {
                found.inexact_integers.add(position);
            }
        }
        found
    }

    fn and(self, later: Self) -> Self {
        Narrowing {
            overflows: self.overflows.and(later.overflows),
            underflows: self.underflows.and(later.underflows),
            inexact_integers: self.inexact_integers.and(later.inexact_integers),
        }
    }
}

/// Refuses values of which one is finite and infinite in `value_type`; `place` says where the one with an index stands.
///
/// # Errors
/// [`Error::Overflow`] with the first.
pub fn check_narrowing(
    values: &[f64],
    value_type: ValueType,
    place: impl FnOnce(usize) -> String,
) -> Result<()> {
    match Narrowing::of(values, value_type).overflows.first {
        None => Ok(()),
        Some(index) => {
            let index = index as usize;
            Err(Error::Overflow { place: place(index), value: spelled(values[index]), value_type })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_narrowing_does_beyond_rounding_is_counted_with_the_first_index() {
        let values = [0.1, f64::INFINITY, f64::NAN, 65519.0, 65520.0, -7e4, 1e-9, 0.0, 2049.0];
        let of = |value_type| Narrowing::of(&values, value_type);
        let at = |count, first| Occurrences { count, first: Some(first) };
        let halves = of(ValueType::F16);
        // 65519 rounds to 65504, 65520 is halfway to what would come next.
        assert_eq!(halves.overflows, at(2, 4));
        assert_eq!((halves.underflows, halves.inexact_integers), (at(1, 6), at(2, 3)));
        assert_eq!(of(ValueType::Bf16).overflows, Occurrences::default());
        assert_eq!(of(ValueType::F32), Narrowing::default());
        assert_eq!(of(ValueType::F64), Narrowing::default());
    }

    #[test]
    fn an_overflow_is_named_with_its_place_value_and_limit() {
        let check = |value, value_type| {
            let place = |index| format!("row {}", index + 1);
            check_narrowing(&[1.0, value], value_type, place).map_err(|error| error.to_string())
        };
        let refused = |text: &str| Err(text.to_owned());
        assert_eq!(
            check(7e4, ValueType::F16),
            refused("row 2: 70000 is beyond the largest f16, 65504")
        );
        assert_eq!(
            check(-1e300, ValueType::F32),
            refused("row 2: -1e300 is beyond the largest f32, 3.4028234663852886e38")
        );
        assert!(check(3.4e38, ValueType::Bf16).is_err());
        assert_eq!(check(f64::INFINITY, ValueType::F16), Ok(()));
        assert_eq!(check(f64::MAX, ValueType::F64), Ok(()));
    }

    #[test]
    fn the_first_of_many_chunks_is_found() {
        let mut values = vec![1.0; 300_000];
        (values[70_000], values[200_000]) = (1e39, 1e39);
        let found = Narrowing::of(&values, ValueType::F32).overflows;
        assert_eq!(found, Occurrences { count: 2, first: Some(70_000) });
    }
}
