//! Structures of the application, in either of the layouts that a program can be compiled for.
//!
//! A program names memory as buffers with offsets, or, compiled with BUILD_CLVERSION of 200 and more (clSPARSE-2x.h), as
//! shared virtual memory without offsets. Which it is, its controls say. Everything behind this file knows the first
//! layout alone: of the second, offsets are 0, and what stands for a buffer is an address.

use std::ops::{Deref, DerefMut};

use crate::status::{Result, Status};
use crate::types::{
    cldenseMatrix, cldenseMatrixSvm, cldenseVector, cldenseVectorSvm, clsparseCooMatrix,
    clsparseCooMatrixSvm, clsparseCsrMatrix, clsparseCsrMatrixSvm, clsparseScalar,
    clsparseScalarSvm,
};

/// How a program names memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Buffers, with offsets in elements.
    Buffers,
    /// Shared virtual memory.
    Shared,
}

/// A structure in both layouts.
pub(crate) trait Structure: Copy {
    /// That of shared virtual memory.
    type Shared: Copy;
    /// With offsets of 0.
    fn of_shared(shared: &Self::Shared) -> Self;
    /// Without offsets.
    fn to_shared(self) -> Self::Shared;
}

/// Implements [`Structure`] for structures that share `fields`, the first of which has `offsets` too.
macro_rules! structure {
    ($name:ident, $shared:ident: $($field:ident),+; $($offset:ident),+) => {
        impl Structure for $name {
            type Shared = $shared;
            fn of_shared(shared: &$shared) -> Self {
                $name { $($field: shared.$field,)+ $($offset: 0,)+ }
            }
            fn to_shared(self) -> $shared {
                $shared { $($field: self.$field,)+ }
            }
        }
    };
}

structure!(clsparseScalar, clsparseScalarSvm: value; off_value);
structure!(cldenseVector, cldenseVectorSvm: num_values, values; off_values);
structure!(clsparseCsrMatrix, clsparseCsrMatrixSvm: num_rows, num_cols, num_nonzeros, values, col_indices, row_pointer,
    meta; off_values, off_col_indices, off_row_pointer);
structure!(clsparseCooMatrix, clsparseCooMatrixSvm: num_rows, num_cols, num_nonzeros, values, col_indices, row_indices;
    off_values, off_col_indices, off_row_indices);
structure!(cldenseMatrix, cldenseMatrixSvm: num_rows, num_cols, lead_dim, major, values; off_values);

impl Naming {
    /// What a pointer of the application's points to.
    ///
    /// # Safety
    /// The pointer is null, or points to a structure in this layout.
    pub(crate) unsafe fn read<T: Structure>(self, pointer: *const T) -> Result<T> {
        if pointer.is_null() {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the caller's promise.
        Ok(unsafe {
            match self {
                Naming::Buffers => *pointer,
                Naming::Shared => T::of_shared(&*pointer.cast::<T::Shared>()),
            }
        })
    }

    /// The same, to be changed.
    ///
    /// # Safety
    /// As [`Naming::read`]; and the structure is not used otherwise while what is returned lives.
    pub(crate) unsafe fn write<T: Structure>(self, pointer: *mut T) -> Result<InOut<T>> {
        // SAFETY: the caller's promise.
        let value = unsafe { self.read(pointer)? };
        Ok(InOut { naming: self, pointer, value, is_changed: false })
    }
}

/// A structure of the application's, which has what was changed here when this ends.
pub(crate) struct InOut<T: Structure> {
    naming: Naming,
    pointer: *mut T,
    value: T,
    is_changed: bool,
}

impl<T: Structure> Deref for InOut<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Structure> DerefMut for InOut<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.is_changed = true;
        &mut self.value
    }
}

impl<T: Structure> Drop for InOut<T> {
    fn drop(&mut self) {
        if !self.is_changed {
            return;
        }
        // SAFETY: the structure is there and in this layout, as `Naming::write` was promised.
        unsafe {
            match self.naming {
                Naming::Buffers => *self.pointer = self.value,
                Naming::Shared => *self.pointer.cast() = self.value.to_shared(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn what_is_changed_reaches_either_layout_and_nothing_else_does() {
        let mut shared = cldenseVectorSvm { num_values: 3, values: null_mut() };
        let pointer = (&raw mut shared).cast::<cldenseVector>();
        // SAFETY: the structure is in that layout.
        let mut seen = unsafe { Naming::Shared.write(pointer).unwrap() };
        assert_eq!((seen.num_values, seen.off_values), (3, 0));
        seen.num_values = 5;
        drop(seen);
        assert_eq!(shared.num_values, 5);
        // SAFETY: null is allowed.
        let null = unsafe { Naming::Shared.read::<cldenseVector>(std::ptr::null()) };
        assert_eq!(null.map(|_| ()), Err(Status::InvalidValue));
    }
}
