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

/// A queue on a context of its own.
pub(crate) fn queue_on(device: &Device) -> Result<Queue, Failure> {
    Ok(Queue::new(&Context::new(device)?)?)
}
