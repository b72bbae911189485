//! What OpenCL tells of a buffer.

use std::ffi::c_void;

use cl3::info_type::InfoType;
use opencl3::memory as cl;
use opencl3::types::cl_mem;

use super::check;
use crate::Result;

/// The buffer that a sub-buffer is a part of.
pub(super) fn parent_of(buffer: cl_mem) -> Result<Option<cl_mem>> {
    Ok(match info(buffer, cl::CL_MEM_ASSOCIATED_MEMOBJECT)? {
        InfoType::Ptr(0) => None,
        InfoType::Ptr(address) => {
            Some(std::ptr::with_exposed_provenance_mut::<c_void>(address.cast_unsigned()))
        }
        _ => None,
    })
}

/// One of the facts that OpenCL tells of a buffer.
pub(super) fn info(buffer: cl_mem, parameter: u32) -> Result<InfoType> {
    check("clGetMemObjectInfo", cl::get_mem_object_info(buffer, parameter))
}
