//! Where a command runs: an OpenCL device, or by name the host.

use sparrow::{Context, Device, Queue, ValueType};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::output::note;

/// What `--device` names.
pub(crate) enum Target {
    /// The host's own cores, without OpenCL; only when asked for.
    Host,
    /// One OpenCL device.
    Device(Device),
}

/// What names the device: `--device`, else `SPARROW_DEVICE` where it says `host`, which is no OpenCL device that
/// [`Device::best`] would find. Every other text in the variable is left to it.
pub(crate) fn named(global: &Global) -> Option<&str> {
    let from_variable = || std::env::var_os("SPARROW_DEVICE").filter(|text| text == "host");
    global.device.as_deref().or_else(|| from_variable().map(|_| "host"))
}

impl Target {
    /// The one target a command works on.
    pub(crate) fn one(global: &Global) -> Result<Self, Failure> {
        match named(global) {
            None => Ok(Target::Device(Device::best()?)),
            Some("host") => Ok(Target::Host),
            Some(text) => Ok(Target::Device(sparrow::find_device(text)?)),
        }
    }
}

impl Target {
    /// What A stores where that is asked for, else f64, or f32 where the device has no f64, which is said.
    pub(crate) fn value_type(&self, asked: Option<ValueType>) -> ValueType {
        match (asked, self) {
            (Some(value_type), _) => value_type,
            (None, Target::Device(device)) if !device.traits().has_f64 => {
                let name = &device.traits().name;
                note(format_args!("{name} has no f64: values, vectors and sums are f32"));
                ValueType::F32
            }
            (None, _) => ValueType::F64,
        }
    }
}

/// The devices that `--device` names; `command` is what cannot run on the host.
pub(crate) fn devices(global: &Global, command: &str) -> Result<Vec<Device>, Failure> {
    match named(global) {
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
    match named(global) {
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
