//! Which bytes of which allocation memory is, whatever handle it goes by.

use cl3::info_type::InfoType;
use opencl3::memory as cl;

use super::Memory;
use super::buffer_info::{info, parent_of};
use crate::Result;

/// Where memory begins: in the buffer that it is a part of, and in the host's memory where it is known to lie there.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The buffer that is no part of another, by its handle; 0 for shared virtual memory.
    object: usize,
    /// Bytes of that buffer before the first.
    offset: usize,
    /// The first byte, of shared virtual memory and of what the application has put somewhere itself; else 0.
    address: usize,
}

impl Origin {
    /// Of memory that is no part of other memory, and was made here.
    pub(crate) fn of_created(memory: &Memory) -> Self {
        match memory {
            Memory::Buffer(handle) => {
                Origin { object: handle.as_raw().addr(), offset: 0, address: 0 }
            }
            Memory::Svm(allocation) => {
                Origin { object: 0, offset: 0, address: allocation.as_raw().addr() }
            }
        }
    }

    /// Bytes from a zero that both have in common to the first of each; `None` where there is no such zero, so that
    /// they share nothing.
    pub(crate) fn in_common(self, other: Self) -> Option<(usize, usize)> {
        if self.object != 0 && self.object == other.object {
            return Some((self.offset, other.offset));
        }
        (self.address != 0 && other.address != 0).then_some((self.address, other.address))
    }
}

impl Memory {
    /// Where the memory begins. A sub-buffer begins in the buffer that it was made of.
    ///
    /// # Errors
    /// The driver does not answer.
    pub(crate) fn origin(&self) -> Result<Origin> {
        let Memory::Buffer(handle) = self else { return Ok(Origin::of_created(self)) };
        let own = handle.as_raw();
        // The application may have released the parent, which then cannot be asked itself.
        let (whole, offset) = match parent_of(own)? {
            None => (own, 0),
            Some(parent) => match info(own, cl::CL_MEM_OFFSET)? {
                InfoType::Size(offset) => (parent, offset),
                _ => (parent, 0),
            },
        };
        // A sub-buffer's own address, too. Where the whole has none, Oclgrind still adds the offset.
        let address = match info(own, cl::CL_MEM_HOST_PTR)? {
            InfoType::Ptr(address) if address.cast_unsigned() != offset => address.cast_unsigned(),
            _ => 0,
        };
        Ok(Origin { object: whole.addr(), offset, address })
    }
}
