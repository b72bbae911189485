//! Programs: built from source or from a binary of an earlier build.

use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

use opencl3::program as cl;
use opencl3::types::cl_program;

use super::kernel::KernelPool;
use super::{ContextHandle, DeviceId, Kernel, check, fault, make};
use crate::{Error, Result};

/// A program built for one device.
#[derive(Debug)]
pub struct BuiltProgram {
    handle: cl_program,
    pool: Arc<KernelPool>,
}

// SAFETY: programs are reference-counted and usable from any thread.
unsafe impl Send for BuiltProgram {}
// SAFETY: as above.
unsafe impl Sync for BuiltProgram {}

impl BuiltProgram {
    /// Compiles `source` for `device`. A failed build is `Err` with the compiler's log.
    ///
    /// # Errors
    /// The outer: the driver's own failure. The inner: the compiler's log.
    pub fn from_source(
        context: &ContextHandle,
        device: DeviceId,
        source: &str,
        options: &str,
    ) -> Result<Result<Self, String>> {
        let handle = make("clCreateProgramWithSource", || {
            cl::create_program_with_source(context.as_raw(), &[source])
        })?;
        Self::of(handle, device).build(device, options)
    }

    /// Builds a binary that [`BuiltProgram::binary`] gave earlier, for the same device and driver.
    ///
    /// # Errors
    /// As [`BuiltProgram::from_source`]; a foreign binary is refused by the driver.
    pub fn from_binary(
        context: &ContextHandle,
        device: DeviceId,
        binary: &[u8],
        options: &str,
    ) -> Result<Result<Self, String>> {
        // SAFETY: the device belongs to the context, and the binary lives through the call.
        let handle = make("clCreateProgramWithBinary", || unsafe {
            cl::create_program_with_binary(context.as_raw(), &[device.as_raw()], &[binary])
        })?;
        Self::of(handle, device).build(device, options)
    }

    fn of(handle: cl_program, device: DeviceId) -> Self {
        BuiltProgram { handle, pool: Arc::new(KernelPool::new(device)) }
    }

    fn build(self, device: DeviceId, options: &str) -> Result<Result<Self, String>> {
        let options = CString::new(options).map_err(|_| Error::call("clBuildProgram", -43))?; // CL_INVALID_BUILD_OPTIONS
        let built = fault::attempt("clBuildProgram", || {
            cl::build_program(self.handle, &[device.as_raw()], &options, None, ptr::null_mut())
        });
        match built {
            Ok(()) => Ok(Ok(self)),
            Err(-11) => Ok(Err(self.build_log(device))), // CL_BUILD_PROGRAM_FAILURE
            Err(code) => Err(Error::call("clBuildProgram", code)),
        }
    }

    /// What the compiler said.
    pub fn build_log(&self, device: DeviceId) -> String {
        let log =
            cl::get_program_build_data(self.handle, device.as_raw(), cl::CL_PROGRAM_BUILD_LOG);
        let bytes = log.unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned()
    }

    /// The device's binary, for [`BuiltProgram::from_binary`]; `None` where the driver gives none.
    pub fn binary(&self) -> Option<Vec<u8>> {
        let info = cl::get_program_info(self.handle, cl::CL_PROGRAM_BINARIES).ok()?;
        // This parameter always comes as one list of bytes a device.
        let binaries: Vec<Vec<u8>> = info.into();
        binaries.into_iter().next().filter(|binary| !binary.is_empty())
    }

    /// The names of its kernels.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let info = cl::get_program_info(self.handle, cl::CL_PROGRAM_KERNEL_NAMES);
        let names: String = check("clGetProgramInfo", info)?.into();
        let names = names.trim_end_matches('\0').split(';').map(str::trim);
        Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// A kernel object of the program: one that was dropped, else a new one. Arguments may be as they were.
    ///
    /// # Errors
    /// No kernel of that name, or the driver's own failure.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let name = CString::new(name).map_err(|_| Error::call("clCreateKernel", -46))?;
        if let Some(kernel) = self.pool.take(&name) {
            return Ok(kernel);
        }
        let handle = make("clCreateKernel", || opencl3::kernel::create_kernel(self.handle, &name))?;
        // SAFETY: the handle is new, and its one reference becomes the owner's.
        Ok(unsafe { Kernel::from_created(name, handle, self.pool.clone()) })
    }
}

impl Drop for BuiltProgram {
    fn drop(&mut self) {
        // SAFETY: this owner holds the program's one reference.
        let release = unsafe { cl::release_program(self.handle) };
        fault::released(fault::Object::Program, release);
    }
}
