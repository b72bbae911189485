//! Buffers that the host must not read or write: what it works on is a copy, made by the device.
//!
//! CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY and CL_MEM_HOST_WRITE_ONLY bind the host's reads, writes and maps, and no
//! command that copies on the device.

use opencl3::memory as cl;
use opencl3::types::cl_mem;

use super::buffer_info::parent_of;
use super::{MemHandle, Memory, MemoryFlags, QueueHandle, check};
use crate::Result;

/// What the host may do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Permits {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl Permits {
    /// Those of a buffer.
    ///
    /// # Errors
    /// The driver does not answer.
    pub(super) fn of(buffer: &MemHandle) -> Result<Self> {
        const OF_HOST: u64 =
            cl::CL_MEM_HOST_NO_ACCESS | cl::CL_MEM_HOST_READ_ONLY | cl::CL_MEM_HOST_WRITE_ONLY;
        let mut flags = flags_of(buffer.as_raw())? & OF_HOST;
        // A sub-buffer for which nothing was said has its parent's, which not every driver tells of itself. A parent that
        // was released cannot be asked.
        if flags == 0
            && let Some(parent) = parent_of(buffer.as_raw())?
        {
            flags = flags_of(parent).unwrap_or(0) & OF_HOST;
        }
        let denies = |other| flags & (cl::CL_MEM_HOST_NO_ACCESS | other) != 0;
        Ok(Permits {
            reads: !denies(cl::CL_MEM_HOST_WRITE_ONLY),
            writes: !denies(cl::CL_MEM_HOST_READ_ONLY),
        })
    }
}

fn flags_of(buffer: cl_mem) -> Result<u64> {
    let data = check("clGetMemObjectInfo", cl::get_mem_object_data(buffer, cl::CL_MEM_FLAGS))?;
    Ok(data.try_into().map(u64::from_ne_bytes).unwrap_or(0))
}

impl QueueHandle {
    /// A buffer of our own of `bytes`, which the host may read and write.
    ///
    /// # Errors
    /// The driver's own failure.
    pub(super) fn staging_buffer(&self, bytes: usize) -> Result<Memory> {
        let (context, _) = self.context_and_device()?;
        Memory::create(&context, MemoryFlags::ReadWrite, bytes)
    }

    /// A copy of `bytes` of a buffer from `offset` on, in a buffer that the host may read; returns when it is made.
    ///
    /// # Errors
    /// The driver's own failure.
    pub(super) fn staged_blocking(
        &self,
        memory: &Memory,
        offset: usize,
        bytes: usize,
    ) -> Result<Memory> {
        let staging = self.staging_buffer(bytes)?;
        self.copy_blocking((memory, offset), (&staging, 0), bytes)?;
        Ok(staging)
    }

    /// Copies `bytes` between two buffers on the device, and waits.
    ///
    /// # Errors
    /// The driver's own failure.
    pub(super) fn copy_blocking(
        &self,
        source: (&Memory, usize),
        target: (&Memory, usize),
        bytes: usize,
    ) -> Result<()> {
        self.copy(source, target, bytes)?.map_or(Ok(()), |copied| copied.wait())
    }
}
