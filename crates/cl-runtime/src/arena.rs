//! Arenas, one allocation for several arrays: a driver may take longer to make memory than a kernel runs that uses it.

use bytemuck::Pod;

use crate::scratch::for_a_kernel_to_write;
use crate::{AnyArray, DeviceArray, ElementType, Queue, Result};

/// Bytes by which each array's first one is divisible: those of the widest vector.
const ALIGNMENT: usize = 128;

/// Memory of which arrays are taken one after the other.
#[derive(Debug)]
pub(crate) struct Arena {
    memory: DeviceArray<u8>,
    taken: usize,
}

impl Arena {
    /// What a queue's kernels write, so many bytes: the sum of [`bytes_of`] all arrays that will be taken.
    pub(crate) fn new(queue: &Queue, bytes: usize) -> Result<Self> {
        Ok(Arena { memory: for_a_kernel_to_write(queue, bytes)?, taken: 0 })
    }

    /// Memory that is there already.
    pub(crate) fn of(memory: DeviceArray<u8>) -> Self {
        Arena { memory, taken: 0 }
    }

    /// All of it, in 32-bit words.
    pub(crate) fn all(&self) -> Result<DeviceArray<u32>> {
        self.memory.view(0, self.memory.len() / size_of::<u32>())
    }

    /// Bytes that are not taken.
    pub(crate) fn left(&self) -> usize {
        self.memory.len().saturating_sub(self.taken)
    }

    /// The next array.
    ///
    /// # Errors
    /// More than is left.
    pub(crate) fn take<T: Pod>(&mut self, len: usize) -> Result<DeviceArray<T>> {
        self.take_any(ElementType::of::<T>(), len)?.into_typed()
    }

    /// As [`Arena::take`], of elements whose type is known at run time.
    pub(crate) fn take_any(
        &mut self,
        element: impl Into<ElementType>,
        len: usize,
    ) -> Result<AnyArray> {
        let element = element.into();
        let array = self.memory.as_any().view(element, self.taken, len)?;
        self.taken += bytes_of_elements(element, len);
        Ok(array)
    }
}

/// Bytes that an array takes of an arena.
pub(crate) fn bytes_of<T: Pod>(len: usize) -> usize {
    bytes_of_elements(ElementType::of::<T>(), len)
}

/// As [`bytes_of`], of elements whose type is known at run time.
pub(crate) fn bytes_of_elements(element: impl Into<ElementType>, len: usize) -> usize {
    len.saturating_mul(element.into().size_bytes()).div_ceil(ALIGNMENT) * ALIGNMENT
}
