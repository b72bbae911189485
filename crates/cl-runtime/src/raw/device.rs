//! Platforms and devices, and what they answer.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use opencl3::device as cl;
use opencl3::types::{cl_device_id, cl_platform_id};

use super::{ContextHandle, check, make};
use crate::{Error, Result};

/// A platform of this process; never released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlatformId(cl_platform_id);

/// A root device of a platform; never released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId(cl_device_id);

// SAFETY: platform and root device ids are constants of the process.
unsafe impl Send for PlatformId {}
// SAFETY: as above.
unsafe impl Sync for PlatformId {}
// SAFETY: as above.
unsafe impl Send for DeviceId {}
// SAFETY: as above.
unsafe impl Sync for DeviceId {}

/// Drivers start when they are first asked what there is, and not all can be asked by two threads at once:
/// PoCL 3.1 shows one of them no device, or crashes.
static DISCOVERY: Mutex<()> = Mutex::new(());

/// The platforms there are; none is an empty list.
///
/// # Errors
/// No OpenCL library to open, or a driver's own failure.
pub fn platform_ids() -> Result<Vec<PlatformId>> {
    const NO_PLATFORM: i32 = -1001; // CL_PLATFORM_NOT_FOUND_KHR
    let _one_at_a_time = DISCOVERY.lock().unwrap_or_else(PoisonError::into_inner);
    match opencl3::platform::platform::get_platform_ids() {
        Ok(ids) => Ok(ids.into_iter().map(PlatformId).collect()),
        Err(NO_PLATFORM) => Ok(Vec::new()),
        Err(code) if code <= -2000 => Err(Error::NoLibrary),
        Err(code) => Err(Error::call("clGetPlatformIDs", code)),
    }
}

/// The devices of a platform; none is an empty list.
///
/// # Errors
/// A driver's own failure.
pub fn device_ids(platform: PlatformId) -> Result<Vec<DeviceId>> {
    const NOT_FOUND: i32 = -1; // CL_DEVICE_NOT_FOUND
    let _one_at_a_time = DISCOVERY.lock().unwrap_or_else(PoisonError::into_inner);
    match cl::get_device_ids(platform.0, cl::CL_DEVICE_TYPE_ALL) {
        Ok(ids) => Ok(ids.into_iter().map(DeviceId).collect()),
        Err(NOT_FOUND) => Ok(Vec::new()),
        Err(code) => Err(Error::call("clGetDeviceIDs", code)),
    }
}

impl PlatformId {
    pub(super) fn as_raw(self) -> cl_platform_id {
        self.0
    }

    /// A text the platform answers, without its final zero; empty where it answers nothing.
    pub fn text(self, parameter: u32) -> String {
        opencl3::platform::platform::get_platform_data(self.0, parameter)
            .map(|bytes| text_of(&bytes))
            .unwrap_or_default()
    }
}

impl DeviceId {
    /// Adopts a device handle of the application's.
    ///
    /// # Safety
    /// `device` is a valid root device that outlives its use here.
    pub unsafe fn from_raw(device: cl_device_id) -> Self {
        DeviceId(device)
    }

    /// The handle.
    pub fn as_raw(self) -> cl_device_id {
        self.0
    }

    /// The platform the device belongs to.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn platform(self) -> Result<PlatformId> {
        let bytes = check("clGetDeviceInfo", cl::get_device_data(self.0, cl::CL_DEVICE_PLATFORM))?;
        let address = number_of(&bytes).unwrap_or(0);
        Ok(PlatformId(ptr::with_exposed_provenance_mut(address as usize)))
    }

    /// A text the device answers; empty where it answers nothing.
    pub fn text(self, parameter: u32) -> String {
        cl::get_device_data(self.0, parameter).map(|bytes| text_of(&bytes)).unwrap_or_default()
    }

    /// A number of any width the device answers, or `None`.
    pub fn number(self, parameter: u32) -> Option<u64> {
        cl::get_device_data(self.0, parameter).ok().and_then(|bytes| number_of(&bytes))
    }

    /// The version of an extension, packed as OpenCL packs it; `None` where the device does not tell versions.
    pub(super) fn extension_version(self, extension: &str) -> Option<u32> {
        // A list of a version and a name, which fills 64 bytes with zeros.
        const EXTENSIONS_WITH_VERSION: u32 = 0x1060;
        const ENTRY: usize = size_of::<u32>() + 64;
        let bytes = cl::get_device_data(self.0, EXTENSIONS_WITH_VERSION).ok()?;
        let mut entries = bytes.chunks_exact(ENTRY);
        let entry = entries.find(|entry| text_of(&entry[size_of::<u32>()..]) == extension)?;
        entry.first_chunk().copied().map(u32::from_ne_bytes)
    }

    /// The first of the sizes the device answers, or `None`.
    pub fn first_size(self, parameter: u32) -> Option<u64> {
        let bytes = cl::get_device_data(self.0, parameter).ok()?;
        number_of(bytes.get(..size_of::<usize>())?)
    }

    /// A new context with this device alone.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn create_context(self) -> Result<ContextHandle> {
        let create = opencl3::context::context::create_context;
        let handle =
            make("clCreateContext", || create(&[self.0], ptr::null(), None, ptr::null_mut()))?;
        // SAFETY: the handle is new, and its one reference becomes the owner's.
        Ok(unsafe { ContextHandle::from_created(handle) })
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()
}

fn number_of(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 => bytes.try_into().ok().map(u32::from_ne_bytes).map(u64::from),
        8 => bytes.try_into().ok().map(u64::from_ne_bytes),
        _ => None,
    }
}
