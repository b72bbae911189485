//! Memory that a context keeps for whatever needs some next: a driver takes longer to make memory, to use it first and to
//! release it than most kernels run.

use std::sync::{Arc, Mutex, PoisonError};

use crate::arena::Arena;
use crate::scratch::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result};

/// The part of a device's memory that is kept at most, and a limit in bytes.
const KEPT_PART: u64 = 128;
const MOST_KEPT: u64 = 128 << 20;

/// What needs less than this part of kept memory gets other memory.
const LEAST_USED_PART: usize = 8;

/// What a context keeps, in the order in which it came back. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptMemory {
    kept: Arc<Mutex<Vec<DeviceArray<u8>>>>,
}

impl KeptMemory {
    /// Memory of at least so many bytes with any content: the smallest kept one that is not much larger, or new.
    pub(crate) fn borrow(&self, queue: &Queue, bytes: usize) -> Result<BorrowedMemory> {
        let memory = match self.take(bytes) {
            Some(memory) => memory,
            None => for_a_kernel_to_write(queue, bytes)?,
        };
        let traits = queue.context().device().traits();
        // Oclgrind forgets what kernels write where memory was used before.
        let most = if traits.is_oclgrind() { 0 } else { traits.global_bytes / KEPT_PART };
        let most = most.min(MOST_KEPT) as usize;
        Ok(BorrowedMemory { memory, owner: self.clone(), most, is_idle: false })
    }

    fn take(&self, bytes: usize) -> Option<DeviceArray<u8>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |len: usize| len >= bytes && len / LEAST_USED_PART <= bytes;
        let fitting = kept.iter().enumerate().filter(|(_, memory)| fits(memory.len()));
        let (index, _) = fitting.min_by_key(|(_, memory)| memory.len())?;
        Some(kept.remove(index))
    }

    /// Keeps `memory`, and releases what has been kept longest where all of it is more than `most` bytes.
    fn give_back(&self, memory: DeviceArray<u8>, most: usize) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(memory);
        let mut bytes: usize = kept.iter().map(|memory| memory.len()).sum();
        while bytes > most {
            bytes -= kept.remove(0).len();
        }
    }
}

/// Memory of a context's, which goes back to it when this is dropped: if it was said that no command uses it any more, and
/// if no array on it is left.
#[derive(Debug)]
pub(crate) struct BorrowedMemory {
    memory: DeviceArray<u8>,
    owner: KeptMemory,
    most: usize,
    is_idle: bool,
}

impl BorrowedMemory {
    /// All of it, for arrays to be taken from.
    pub(crate) fn arena(&self) -> Result<Arena> {
        Ok(Arena::of(self.memory.slice(0..self.memory.len())?))
    }

    /// Bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.memory.len()
    }

    /// Says whether every command that uses the memory has ended; at first it is taken that some have not.
    pub(crate) fn set_idle(&mut self, is_idle: bool) {
        self.is_idle = is_idle;
    }
}

impl Drop for BorrowedMemory {
    fn drop(&mut self) {
        let bytes = self.memory.len();
        if !self.is_idle || bytes > self.most || !self.memory.memory().0.is_only_owner() {
            return;
        }
        if let Ok(memory) = self.memory.slice(0..bytes) {
            self.owner.give_back(memory, self.most);
        }
    }
}
