//! A batch on the host whose values' type is known at run time.

use super::{HostBatch, Problem};
use crate::{AnyValues, Value};

/// A borrowed [`HostBatch`] with values of any type.
#[derive(Clone, Copy, Debug)]
pub struct AnyHostBatch<'a> {
    problems: &'a [Problem],
    offsets: &'a [u32],
    indices: &'a [u32],
    columns: &'a [u32],
    values: AnyValues<'a>,
    has_short_columns: bool,
}

impl<'a, V: Value> From<&'a HostBatch<V>> for AnyHostBatch<'a> {
    fn from(batch: &'a HostBatch<V>) -> Self {
        AnyHostBatch {
            problems: &batch.problems,
            offsets: &batch.offsets,
            indices: &batch.indices,
            columns: &batch.columns,
            values: batch.values.as_slice().into(),
            has_short_columns: batch.has_short_columns(),
        }
    }
}

impl<'a> AnyHostBatch<'a> {
    /// The problems, in the order in which they were added.
    pub fn problems(&self) -> &'a [Problem] {
        self.problems
    }

    /// Row offsets of the problems in compressed rows, each from 0 on.
    pub fn offsets(&self) -> &'a [u32] {
        self.offsets
    }

    /// Row indices of the problems in coordinates, and slice starts.
    pub fn indices(&self) -> &'a [u32] {
        self.indices
    }

    /// Column indices; [`PADDING`](super::PADDING) where there is no entry.
    pub fn columns(&self) -> &'a [u32] {
        self.columns
    }

    /// Values.
    pub fn values(&self) -> AnyValues<'a> {
        self.values
    }

    /// As [`HostBatch::has_short_columns`].
    pub fn has_short_columns(&self) -> bool {
        self.has_short_columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, ValueType, bf16};

    #[test]
    fn an_erased_batch_has_the_arrays_of_the_batch() {
        let matrix: Csr<bf16> = Csr::new(3, vec![0, 2], vec![2, 0], vec![bf16::ONE; 2]).unwrap();
        let mut batch = HostBatch::new();
        batch.push_csr(matrix.view()).unwrap();
        batch.push_coo(&matrix.to_coo()).unwrap();
        let any = AnyHostBatch::from(&batch);
        assert_eq!((any.values().value_type(), any.values().len()), (ValueType::Bf16, 4));
        assert_eq!((any.problems(), any.columns()), (batch.problems(), batch.columns()));
        assert_eq!((any.offsets(), any.indices()), (batch.offsets(), batch.indices()));
        assert!(any.has_short_columns());
    }
}
