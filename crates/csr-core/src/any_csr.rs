//! A matrix on the host whose types are known at run time.

use crate::parallel;
use crate::{
    AnyCsrView, AnyPatternView, AnyValues, Csr, CsrPattern, Narrowing, Offset, Result, Value,
    ValueType, check_narrowing, for_pattern, for_value_type,
};

/// A matrix in compressed rows that owns its arrays: values in f64, and in other types on demand.
#[derive(Clone, Debug)]
pub struct AnyCsr {
    pattern: OwnedPattern,
    values: Vec<f64>,
    allows_overflow: bool,
}

#[derive(Clone, Debug)]
enum OwnedPattern {
    U32(CsrPattern<u32>),
    U64(CsrPattern<u64>),
}

impl AnyCsr {
    /// Takes a matrix, with 32-bit row offsets where they count far enough: what an application would store.
    pub fn compact(matrix: Csr<f64, u64>) -> Self {
        if matrix.nnz() as u64 > u32::MAX_NNZ {
            let (pattern, values) = matrix.into_parts();
            return AnyCsr { pattern: OwnedPattern::U64(pattern), values, allows_overflow: false };
        }
        let (pattern, values) = matrix.into_parts();
        let pattern = OwnedPattern::U32(pattern.with_u32_offsets());
        AnyCsr { pattern, values, allows_overflow: false }
    }

    /// Borrows the whole matrix.
    pub fn view(&self) -> AnyCsrView<'_> {
        AnyCsrView::of_checked(self.pattern(), AnyValues::F64(&self.values))
    }

    fn pattern(&self) -> AnyPatternView<'_> {
        match &self.pattern {
            OwnedPattern::U32(pattern) => pattern.view().into(),
            OwnedPattern::U64(pattern) => pattern.view().into(),
        }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        for_pattern!(self.pattern(), pattern => pattern.rows())
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        for_pattern!(self.pattern(), pattern => pattern.cols())
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        for_pattern!(self.pattern(), pattern => pattern.nnz())
    }

    /// Finite values that a narrower type does not hold become infinite, instead of an error.
    #[must_use]
    pub fn allow_overflow(self, allow: bool) -> Self {
        AnyCsr { allows_overflow: allow, ..self }
    }

    /// What becomes of the values in a type, beyond rounding.
    pub fn narrowing(&self, value_type: ValueType) -> Narrowing {
        Narrowing::of(&self.values, value_type)
    }

    /// Row and column of an entry, from 1, in words: as a file counts them.
    pub fn place(&self, entry: usize) -> String {
        for_pattern!(self.pattern(), pattern => pattern.place(entry))
    }

    /// What `work` makes of the matrix with values of a type, rounded to nearest. The pattern is not copied.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow): a finite value is beyond the type, and [`AnyCsr::allow_overflow`]
    /// does not say that it may be.
    pub fn with_value_type<R>(
        &self,
        value_type: ValueType,
        work: impl FnOnce(AnyCsrView<'_>) -> R,
    ) -> Result<R> {
        if value_type == ValueType::F64 {
            return Ok(work(self.view()));
        }
        if !self.allows_overflow {
            check_narrowing(&self.values, value_type, |entry| self.place(entry))?;
        }
        for_value_type!(value_type, W => {
            let round = |at: usize| W::from_f64(self.values[at]);
            let rounded: Vec<W> = parallel::collect(W::from_f64(0.0), self.nnz(), round);
            Ok(work(AnyCsrView::of_checked(self.pattern(), rounded.as_slice().into())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OffsetType, Real as _, for_csr};

    #[test]
    fn a_matrix_of_every_value_type_has_the_pattern_and_the_rounded_values() {
        let (offsets, columns) = (vec![0, 1, 3], vec![1, 0, 1]);
        let matrix = Csr::new(2, offsets, columns, vec![0.1, 2.0, -3.0]).unwrap();
        let any = AnyCsr::compact(matrix);
        assert_eq!((any.rows(), any.cols(), any.nnz()), (2, 2, 3));
        for value_type in ValueType::ALL {
            any.with_value_type(value_type, |view| {
                assert_eq!((view.value_type(), view.offset_type()), (value_type, OffsetType::U32));
                let found = for_csr!(view, matrix => matrix.values()[0].to_f64());
                assert_eq!(found, for_value_type!(value_type, V => V::from_f64(0.1).to_f64()));
            })
            .unwrap();
        }
    }

    #[test]
    fn a_value_beyond_the_type_is_refused_by_row_and_column_from_1_unless_it_may_be() {
        let (offsets, columns) = (vec![0, 1, 1, 3], vec![1, 0, 1]);
        let matrix = Csr::new(2, offsets, columns, vec![f64::INFINITY, 2.0, -7e4]).unwrap();
        let any = AnyCsr::compact(matrix);
        let error = any.with_value_type(ValueType::F16, |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "row 3, column 2: -70000 is beyond the largest f16, 65504");
        any.with_value_type(ValueType::F32, |_| ()).unwrap();
        let last = any.allow_overflow(true).with_value_type(
            ValueType::F16,
            |view| for_csr!(view, matrix => matrix.values()[2].to_f64()),
        );
        assert_eq!(last.unwrap(), f64::NEG_INFINITY);
    }
}
