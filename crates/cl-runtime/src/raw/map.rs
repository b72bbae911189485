//! Memory as the host sees it: addressed directly where both sides share it finely, else mapped; of buffers that deny the
//! host that, a copy is.

use csr_core::counted;
use std::ffi::c_void;
use std::ptr;

use opencl3::command_queue as cl;
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE};

use super::staging::Permits;
use super::{EventHandle, Memory, QueueHandle, make};
use crate::{Error, Result};

const BLOCKING: u32 = 1;

/// Bytes of memory that the host may read, and write if it was mapped so, while this lives.
#[derive(Debug)]
pub struct Mapping {
    memory: Memory,
    queue: QueueHandle,
    pointer: *mut u8,
    bytes: usize,
    is_direct: bool,
    /// Where `memory` is a copy: what it is a copy of, and from which byte on, if it goes back there.
    copy_of: Option<Option<(Memory, usize)>>,
}

// SAFETY: the pointer is a plain address; `&self` reads and `&mut self` writes what it points at.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl QueueHandle {
    /// Makes `bytes` of `memory` from `offset` on readable, and with `writes` writable, after everything
    /// before in the queue. Fine-grained shared virtual memory is addressed as it is: for that, the caller
    /// has waited for what writes it. Of a buffer that the host must not read (or write), a copy is shown, and copied
    /// back if it may be written.
    ///
    /// # Safety
    /// No command touches those bytes while the mapping lives, if they are written on either side.
    ///
    /// # Errors
    /// A range that runs past the end, or the driver's own failure.
    pub unsafe fn map_blocking(
        &self,
        memory: &Memory,
        offset: usize,
        bytes: usize,
        writes: bool,
    ) -> Result<Mapping> {
        let flags = if writes { CL_MAP_READ | CL_MAP_WRITE } else { CL_MAP_READ };
        let is_direct = matches!(memory, Memory::Svm(svm) if svm.is_fine_grained());
        let end = offset.checked_add(bytes);
        let size = memory.size_bytes()?;
        if end.is_none_or(|end| end > size) {
            return Err(Error::Range {
                what: "the end of a mapped range".to_owned(),
                value: offset.saturating_add(bytes) as u64,
                rule: format!("the memory has {}", counted(size, "byte")),
            });
        }
        if let Memory::Buffer(handle) = memory
            && bytes > 0
        {
            let permits = Permits::of(handle)?;
            if !permits.reads || (writes && !permits.writes) {
                let staging = self.staged_blocking(memory, offset, bytes)?;
                // SAFETY: nothing else knows the copy; the caller's promise about what is copied.
                let mut mapping = unsafe { self.map_blocking(&staging, 0, bytes, writes)? };
                mapping.copy_of = Some(writes.then(|| (memory.clone(), offset)));
                return Ok(mapping);
            }
        }
        let pointer = match memory {
            // Nothing may be mapped; a pointer that is never read through will do.
            _ if bytes == 0 => ptr::NonNull::<u64>::dangling().as_ptr().cast(),
            Memory::Svm(allocation) => {
                // SAFETY: the range was checked above.
                let start = unsafe { allocation.as_raw().byte_add(offset) };
                if !is_direct {
                    // SAFETY: the range is part of an allocation of this context.
                    let event = make("clEnqueueSVMMap", || unsafe {
                        cl::enqueue_svm_map(
                            self.as_raw(),
                            BLOCKING,
                            flags,
                            start,
                            bytes,
                            0,
                            ptr::null(),
                        )
                    })?;
                    // SAFETY: the event is new; dropping the owner releases its one reference.
                    drop(unsafe { EventHandle::from_created(event) });
                }
                start.cast()
            }
            Memory::Buffer(handle) => {
                let mut mapped: *mut c_void = ptr::null_mut();
                // SAFETY: the handle is valid; the driver checks the range again.
                let event = make("clEnqueueMapBuffer", || unsafe {
                    cl::enqueue_map_buffer(
                        self.as_raw(),
                        handle.as_raw(),
                        BLOCKING,
                        flags,
                        offset,
                        bytes,
                        &mut mapped,
                        0,
                        ptr::null(),
                    )
                })?;
                // SAFETY: the event is new; dropping the owner releases its one reference.
                drop(unsafe { EventHandle::from_created(event) });
                mapped.cast()
            }
        };
        let (memory, queue) = (memory.clone(), self.clone());
        Ok(Mapping { memory, queue, pointer, bytes, is_direct, copy_of: None })
    }
}

impl Mapping {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped for reading, and as long as it says; nothing else writes, as the caller that mapped said.
        unsafe { std::slice::from_raw_parts(self.pointer, self.bytes) }
    }

    /// The bytes, to be written; only of what was mapped with `writes`.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and mapped for writing.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.bytes) }
    }

    /// Whether the host addresses the memory without any call: fine-grained shared virtual memory.
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Whether the host sees a copy, as the memory's own bytes are denied it.
    pub fn is_copy(&self) -> bool {
        self.copy_of.is_some()
    }

    /// Gives the bytes back to the device; what is enqueued afterwards sees what was written.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn unmap_blocking(mut self) -> Result<()> {
        self.unmap()
    }

    fn unmap(&mut self) -> Result<()> {
        if self.is_direct || self.bytes == 0 {
            return Ok(());
        }
        let pointer = self.pointer.cast::<c_void>();
        let event = match &self.memory {
            // SAFETY: the range was mapped in this queue, and is unmapped once.
            Memory::Svm(_) => make("clEnqueueSVMUnmap", || unsafe {
                cl::enqueue_svm_unmap(self.queue.as_raw(), pointer, 0, ptr::null())
            })?,
            // SAFETY: as above.
            Memory::Buffer(handle) => make("clEnqueueUnmapMemObject", || unsafe {
                let queue = self.queue.as_raw();
                cl::enqueue_unmap_mem_object(queue, handle.as_raw(), pointer, 0, ptr::null())
            })?,
        };
        // Unmapped once; what was refused is tried again when the mapping is dropped.
        let bytes = std::mem::take(&mut self.bytes);
        // SAFETY: the event is new, and its one reference becomes the owner's.
        unsafe { EventHandle::from_created(event) }.wait()?;
        match &self.copy_of {
            Some(Some((target, offset))) => {
                self.queue.copy_blocking((&self.memory, 0), (target, *offset), bytes)
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // A failure is reported by `unmap_blocking` alone.
        let _ = self.unmap();
    }
}
