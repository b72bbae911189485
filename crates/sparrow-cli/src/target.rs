//! Where a command runs: an OpenCL device, or by name the host.

use sparrow::{Context, Device, Queue};

use crate::arguments::Global;
use crate::failure::Failure;

/// What `--device` names.
pub(crate) enum Target {
    /// The host's own cores, without OpenCL; only when asked for.
    Host,
    /// One OpenCL device.
    Device(Device),
}

impl Target {
    /// The one target a command works on.
    pub(crate) fn one(global: &Global) -> Result<Self, Failure> {
        match global.device.as_deref() {
            None => Ok(Target::Device(Device::best()?)),
            Some("host") => Ok(Target::Host),
            Some(text) => Ok(Target::Device(sparrow::find_device(text)?)),
        }
    }
}

/// The devices that `--device` names; `command` is what cannot run on the host.
pub(crate) fn devices(global: &Global, command: &str) -> Result<Vec<Device>, Failure> {
    match global.device.as_deref() {
        None => Ok(vec![Device::best()?]),
        Some("host") => {
            Err(Failure::input(format!("{command} takes OpenCL devices, and host is none")))
        }
        Some("all") => Ok(sparrow::find_devices("all")?),
        Some(text) => Ok(vec![sparrow::find_device(text)?]),
    }
}

/// The one device that `--device` names; `command` is what takes no other number.
pub(crate) fn one_device(global: &Global, command: &str) -> Result<Device, Failure> {
    match global.device.as_deref() {
        None => Ok(Device::best()?),
        Some(text @ ("host" | "all")) => {
            Err(Failure::input(format!("{command} takes one OpenCL device, not --device {text}")))
        }
        Some(text) => Ok(sparrow::find_device(text)?),
    }
}

/// A queue on a context of its own.
pub(crate) fn queue_on(device: &Device) -> Result<Queue, Failure> {
    Ok(Queue::new(&Context::new(device)?)?)
}
