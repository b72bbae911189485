//! Arenas, one allocation for several arrays: a driver may take longer to make memory than a kernel runs that uses it.

use bytemuck::Pod;

use crate::scratch::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result};

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
        let array = self.memory.view(self.taken, len)?;
        self.taken += bytes_of::<T>(len);
        Ok(array)
    }
}

/// Bytes that an array takes of an arena.
pub(crate) fn bytes_of<T>(len: usize) -> usize {
    len.saturating_mul(size_of::<T>()).div_ceil(ALIGNMENT) * ALIGNMENT
}
