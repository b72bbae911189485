//! Two devices in one OpenCL context: those of the platform under test, or parts of its one.

#![expect(unsafe_code, clippy::unwrap_used, reason = "support code of tests, as an application")]

use std::ptr::{null, null_mut};

use opencl3::context::context as cl_context;
use opencl3::device as cl_device;
use sparrow::{BinaryCache, Context, Queue};

/// A queue on each of two devices of one context; `None` where the platform has one, which cannot be parted. Parts are
/// never released.
///
/// # Panics
/// The driver's own failure.
pub fn queues_on_two_devices() -> Option<[Queue; 2]> {
    let first = crate::device();
    let platform = first.id().platform().unwrap();
    let of_platform = |device: &sparrow::Device| device.id().platform().unwrap() == platform;
    let all: Vec<_> = sparrow::devices().unwrap().into_iter().filter(of_platform).collect();
    let mut devices: Vec<_> = all.iter().map(|device| device.id().as_raw()).collect();
    // Oclgrind cannot, and reports the question as an error of the application's.
    if devices.len() < 2 && !crate::is_interpreter(&first) {
        let equally = [cl_device::CL_DEVICE_PARTITION_EQUALLY, 1, 0];
        devices = cl_device::create_sub_devices(first.id().as_raw(), &equally).unwrap_or_default();
    }
    let [one, other, ..] = devices[..] else { return None };
    let context = cl_context::create_context(&[one, other], null(), None, null_mut()).unwrap();
    let queues = [one, other].map(|device| {
        // SAFETY: the context and its devices are valid; the context keeps a reference of its own.
        let on_device = unsafe { Context::from_raw(context, device, BinaryCache::Default) };
        Queue::new(&on_device.unwrap()).unwrap()
    });
    // SAFETY: the reference that was made here; each queue's context has one.
    unsafe { cl_context::release_context(context).unwrap() };
    Some(queues)
}
