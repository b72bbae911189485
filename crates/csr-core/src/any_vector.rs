//! Dense vectors on the host whose type is known at run time.

use crate::{Accumulator, Number, Real, Result, ValueType, check_memory, random_vector};

/// A vector of the type that sums of some value type are made in.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyVector {
    /// Of 32-bit numbers.
    F32(Vec<f32>),
    /// Of 64-bit numbers.
    F64(Vec<f64>),
}

impl AnyVector {
    /// `len` times `value`, in the type that sums of `value_type` are made in.
    pub fn filled(value_type: ValueType, value: f64, len: usize) -> Self {
        match Number::of(value_type, value) {
            Number::F32(value) => AnyVector::F32(vec![value; len]),
            Number::F64(value) => AnyVector::F64(vec![value; len]),
        }
    }

    /// These numbers, rounded to the type that sums of `value_type` are made in; what is beyond it becomes infinite, which
    /// [`check_narrowing`](crate::check_narrowing) finds.
    pub fn rounded(value_type: ValueType, values: &[f64]) -> Self {
        match value_type.accumulator() {
            ValueType::F64 => AnyVector::F64(values.to_vec()),
            _ => AnyVector::F32(values.iter().map(|&value| value as f32).collect()),
        }
    }

    /// As [`random_vector`], in the type that sums of `value_type` are made in.
    ///
    /// # Errors
    /// No memory for them.
    pub fn random(value_type: ValueType, seed: u64, len: usize) -> Result<Self> {
        Ok(match value_type.accumulator() {
            ValueType::F64 => {
                check_memory::<f64>("an array", len)?;
                AnyVector::F64(random_vector(seed, len))
            }
            _ => {
                check_memory::<f32>("an array", len)?;
                AnyVector::F32(random_vector(seed, len))
            }
        })
    }

    /// The type of an element: [`ValueType::F32`] or [`ValueType::F64`].
    pub fn value_type(&self) -> ValueType {
        match self {
            AnyVector::F32(_) => ValueType::F32,
            AnyVector::F64(_) => ValueType::F64,
        }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        match self {
            AnyVector::F32(elements) => elements.len(),
            AnyVector::F64(elements) => elements.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as they lie in memory.
    pub fn bytes(&self) -> &[u8] {
        match self {
            AnyVector::F32(elements) => bytemuck::cast_slice(elements),
            AnyVector::F64(elements) => bytemuck::cast_slice(elements),
        }
    }

    /// The elements as they lie in memory, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            AnyVector::F32(elements) => bytemuck::cast_slice_mut(elements),
            AnyVector::F64(elements) => bytemuck::cast_slice_mut(elements),
        }
    }

    /// The elements as numbers of `T`.
    ///
    /// # Panics
    /// The elements are of another size: for callers that have asked [`AnyVector::value_type`].
    pub fn of<T: Accumulator>(&self) -> &[T] {
        bytemuck::cast_slice(self.bytes())
    }

    /// An element.
    ///
    /// # Panics
    /// No such element.
    pub fn number(&self, index: usize) -> Number {
        match self {
            AnyVector::F32(elements) => elements[index].number(),
            AnyVector::F64(elements) => elements[index].number(),
        }
    }

    /// The elements at these indices, in their order.
    ///
    /// # Panics
    /// An index beyond the end.
    pub fn gathered(&self, indices: impl Iterator<Item = usize>) -> Self {
        match self {
            AnyVector::F32(elements) => AnyVector::F32(indices.map(|at| elements[at]).collect()),
            AnyVector::F64(elements) => AnyVector::F64(indices.map(|at| elements[at]).collect()),
        }
    }

    /// The elements, exactly.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            AnyVector::F32(elements) => elements.iter().map(|value| value.to_f64()).collect(),
            AnyVector::F64(elements) => elements.clone(),
        }
    }
}

impl From<Vec<f32>> for AnyVector {
    fn from(elements: Vec<f32>) -> Self {
        AnyVector::F32(elements)
    }
}

impl From<Vec<f64>> for AnyVector {
    fn from(elements: Vec<f64>) -> Self {
        AnyVector::F64(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_of_the_type_that_sums_are_made_in() {
        for value_type in ValueType::ALL {
            let vector = AnyVector::filled(value_type, 0.5, 3);
            assert_eq!(vector.value_type(), value_type.accumulator());
            assert_eq!(vector.bytes().len(), 3 * vector.value_type().size_bytes());
            assert_eq!(
                (vector.number(2), vector.to_f64()),
                (Number::of(value_type, 0.5), vec![0.5; 3])
            );
        }
        let rounded = AnyVector::rounded(ValueType::Bf16, &[0.1, 2.0]);
        assert_eq!(rounded, AnyVector::F32(vec![0.1, 2.0]));
        let random = AnyVector::random(ValueType::F64, 7, 4).unwrap();
        assert_eq!(random.of::<f64>(), random_vector::<f64>(7, 4));
        assert_eq!(random.gathered([3, 0].into_iter()).number(1), random.number(0));
    }

    #[test]
    fn a_vector_that_there_is_no_memory_for_is_an_error() {
        let error = AnyVector::random(ValueType::F16, 7, 1 << 60).unwrap_err();
        let message = "no memory for an array: 4611686018427387904 bytes are needed";
        assert_eq!(error.to_string(), message);
    }
}
