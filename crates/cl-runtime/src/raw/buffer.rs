//! Device memory: buffers and shared virtual memory under one owner.

use std::ptr;
use std::sync::Arc;

use cl3::info_type::InfoType;
use opencl3::memory as cl;
use opencl3::types::{cl_buffer_region, cl_context, cl_mem};

use super::buffer_info::parent_of;
use super::{ContextHandle, MemHandle, SvmAllocation, check, make};
use crate::{Error, Result};

/// Who may write a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFlags {
    /// Kernels read and write.
    ReadWrite,
    /// Kernels read only.
    ReadOnly,
}

/// Memory a kernel can be given: a buffer, or shared virtual memory. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Memory {
    /// A buffer object.
    Buffer(MemHandle),
    /// Shared virtual memory.
    Svm(Arc<SvmAllocation>),
}

/// Of OpenCL C: sixteen doubles.
const WIDEST_VECTOR_BYTES: u64 = 128;

impl Memory {
    /// Whether both are clones of one owner's.
    pub fn is_same(&self, other: &Memory) -> bool {
        match (self, other) {
            (Memory::Buffer(one), Memory::Buffer(other)) => one.id() == other.id(),
            (Memory::Svm(one), Memory::Svm(other)) => Arc::ptr_eq(one, other),
            (Memory::Buffer(_), Memory::Svm(_)) | (Memory::Svm(_), Memory::Buffer(_)) => false,
        }
    }

    /// Whether there is no clone of this.
    pub fn is_only_owner(&self) -> bool {
        match self {
            Memory::Buffer(handle) => handle.is_only_owner(),
            Memory::Svm(allocation) => Arc::strong_count(allocation) == 1,
        }
    }

    /// A new buffer of `bytes` (at least one).
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn create(context: &ContextHandle, flags: MemoryFlags, bytes: usize) -> Result<Self> {
        let flags = match flags {
            MemoryFlags::ReadWrite => cl::CL_MEM_READ_WRITE,
            MemoryFlags::ReadOnly => cl::CL_MEM_READ_ONLY,
        };
        // SAFETY: the context is valid and no host pointer is passed.
        let handle = make("clCreateBuffer", || unsafe {
            cl::create_buffer(context.as_raw(), flags, bytes.max(1), ptr::null_mut())
        })?;
        // SAFETY: the handle is new, and its one reference becomes the owner's.
        Ok(Memory::Buffer(unsafe { MemHandle::from_created(handle) }))
    }

    /// A buffer on memory of the host's (CL_MEM_USE_HOST_PTR), which is not copied where the device shares it. Kernels
    /// read only.
    ///
    /// # Safety
    /// The `bytes` at `address`, one at least, stay readable until the last clone of this is gone and every command with
    /// it has ended, and nothing writes them meanwhile.
    ///
    /// # Errors
    /// The driver's own failure.
    pub unsafe fn of_host(
        context: &ContextHandle,
        address: *const u8,
        bytes: usize,
    ) -> Result<Self> {
        let flags = cl::CL_MEM_READ_ONLY | cl::CL_MEM_USE_HOST_PTR;
        // SAFETY: the context is valid; the memory is the caller's promise.
        let handle = make("clCreateBuffer", || unsafe {
            cl::create_buffer(context.as_raw(), flags, bytes, address.cast_mut().cast())
        })?;
        // SAFETY: the handle is new, and its one reference becomes the owner's.
        Ok(Memory::Buffer(unsafe { MemHandle::from_created(handle) }))
    }

    /// The buffer without a parent that this is or is a part of, which can be parted by [`Memory::sub_buffer`], and the byte
    /// of it where this begins; `None` for shared virtual memory, and where the application has released the parent and the
    /// driver gives out no more references to it.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn whole_buffer(&self) -> Result<Option<(Self, usize)>> {
        let Memory::Buffer(handle) = self else { return Ok(None) };
        let own = handle.as_raw();
        let Some(parent) = parent_of(own)? else { return Ok(Some((self.clone(), 0))) };
        let offset = cl::get_mem_object_info(own, cl::CL_MEM_OFFSET);
        let InfoType::Size(offset) = check("clGetMemObjectInfo", offset)? else { return Ok(None) };
        // SAFETY: a part keeps its whole alive after the application has released it.
        let whole = unsafe { MemHandle::retain(parent) };
        Ok(whole.ok().map(|whole| (Memory::Buffer(whole), offset)))
    }

    /// A reference to a buffer of the application's, which keeps its own.
    ///
    /// # Safety
    /// `mem` is a valid buffer of the context it is used in.
    ///
    /// # Errors
    /// The driver refuses to retain it.
    pub unsafe fn from_raw(mem: cl_mem) -> Result<Self> {
        // SAFETY: the caller says the handle is valid.
        Ok(Memory::Buffer(unsafe { MemHandle::retain(mem)? }))
    }

    /// The buffer's handle, for the application's own calls; `None` for shared virtual memory.
    pub fn as_raw(&self) -> Option<cl_mem> {
        match self {
            Memory::Buffer(handle) => Some(handle.as_raw()),
            Memory::Svm(_) => None,
        }
    }

    /// The buffer's handle with one reference more, which is the application's to release; `None` for shared virtual
    /// memory.
    ///
    /// # Errors
    /// The driver refuses to retain it.
    pub fn to_owned_raw(&self) -> Result<Option<cl_mem>> {
        match self {
            Memory::Buffer(handle) => handle.to_owned_raw().map(Some),
            Memory::Svm(_) => Ok(None),
        }
    }

    /// A buffer of the application's, without a reference of its own: for the length of a call, where two
    /// calls of the driver's count.
    ///
    /// # Safety
    /// As [`Memory::from_raw`]; and the buffer lives until the last clone of this is gone.
    pub unsafe fn borrow_raw(mem: cl_mem) -> Self {
        // SAFETY: the caller's promise.
        Memory::Buffer(unsafe { MemHandle::borrow(mem) })
    }

    /// Bytes of the memory.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn size_bytes(&self) -> Result<usize> {
        match self {
            Memory::Svm(allocation) => Ok(allocation.size_bytes()),
            Memory::Buffer(handle) => {
                let info = cl::get_mem_object_info(handle.as_raw(), cl::CL_MEM_SIZE);
                match check("clGetMemObjectInfo", info)? {
                    InfoType::Size(bytes) => Ok(bytes),
                    _ => Ok(0),
                }
            }
        }
    }

    /// The context the memory belongs to; `None` for an application's shared virtual memory, which only
    /// the application knows.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn context(&self) -> Result<Option<cl_context>> {
        match self {
            Memory::Svm(allocation) => Ok(allocation.context()),
            Memory::Buffer(handle) => {
                let info = cl::get_mem_object_info(handle.as_raw(), cl::CL_MEM_CONTEXT);
                match check("clGetMemObjectInfo", info)? {
                    InfoType::Ptr(address) => {
                        Ok(Some(ptr::with_exposed_provenance_mut(address.cast_unsigned())))
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    /// Bytes by which the memory's address is sure to be divisible: those of the widest vector, but for memory that
    /// the application has put somewhere itself.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn alignment_bytes(&self) -> Result<u64> {
        let of = |address: usize| {
            1 << (address as u64).trailing_zeros().min(WIDEST_VECTOR_BYTES.ilog2())
        };
        match self {
            Memory::Svm(allocation) => Ok(of(allocation.as_raw().addr())),
            // Launches ask, and a driver takes a part of a launch's time to answer.
            Memory::Buffer(handle) => handle.alignment_bytes(|| {
                let data = cl::get_mem_object_data(handle.as_raw(), cl::CL_MEM_HOST_PTR);
                let bytes = check("clGetMemObjectInfo", data)?;
                Ok(of(bytes.try_into().map(usize::from_ne_bytes).unwrap_or(0)))
            }),
        }
    }

    /// A sub-buffer of `bytes` from `origin`, which must be a multiple of the device's base alignment.
    ///
    /// # Errors
    /// The driver refuses the region, or this is shared virtual memory.
    pub fn sub_buffer(&self, origin: usize, bytes: usize) -> Result<Self> {
        let Memory::Buffer(handle) = self else {
            return Err(Error::call("clCreateSubBuffer", -38)); // CL_INVALID_MEM_OBJECT
        };
        let region = cl_buffer_region { origin, size: bytes };
        // SAFETY: the buffer is valid, and the region lives through the call, which copies it.
        let handle = make("clCreateSubBuffer", || unsafe {
            cl::create_sub_buffer(
                handle.as_raw(),
                0, // Who may read and write it is the whole buffer's to say.
                cl::CL_BUFFER_CREATE_TYPE_REGION,
                (&raw const region).cast(),
            )
        })?;
        // SAFETY: the handle is new, and its one reference becomes the owner's.
        Ok(Memory::Buffer(unsafe { MemHandle::from_created(handle) }))
    }
}
