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

/// What `--device` says; its words are the same in any case, as the names of devices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named<'a> {
    /// Nothing: the best device, or what `SPARROW_DEVICE` names, which [`Device::best`] reads.
    Best,
    /// `host`.
    Host,
    /// `all`.
    All,
    /// A device.
    Text(&'a str),
}

impl<'a> Named<'a> {
    /// What a text names.
    pub(crate) fn of(text: &'a str) -> Self {
        match text {
            _ if text.eq_ignore_ascii_case("host") => Named::Host,
            _ if text.eq_ignore_ascii_case("all") => Named::All,
            _ => Named::Text(text),
        }
    }

    /// What `--device` names, if it is there.
    pub(crate) fn by_option(global: &'a Global) -> Self {
        global.device.as_deref().map_or(Named::Best, Named::of)
    }
}

/// What names the device: `--device`, else `SPARROW_DEVICE` where it says `host`, which is no OpenCL device that
/// [`Device::best`] would find. Every other text in the variable is left to it.
pub(crate) fn named(global: &Global) -> Named<'_> {
    let by_variable =
        || std::env::var("SPARROW_DEVICE").is_ok_and(|text| Named::of(&text) == Named::Host);
    match Named::by_option(global) {
        Named::Best if by_variable() => Named::Host,
        named => named,
    }
}

impl Target {
    /// The one target a command works on.
    pub(crate) fn one(global: &Global) -> Result<Self, Failure> {
        match named(global) {
            Named::Best => Ok(Target::Device(Device::best()?)),
            Named::Host => Ok(Target::Host),
            Named::All => Ok(Target::Device(sparrow::find_device("all")?)),
            Named::Text(text) => Ok(Target::Device(sparrow::find_device(text)?)),
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
        Named::Best => Ok(vec![Device::best()?]),
        Named::Host => {
            Err(Failure::input(format!("{command} takes OpenCL devices, and host is none")))
        }
        Named::All => Ok(sparrow::find_devices("all")?),
        Named::Text(text) => Ok(vec![sparrow::find_device(text)?]),
    }
}

/// The one device that `--device` names; `command` is what takes no other number.
pub(crate) fn one_device(global: &Global, command: &str) -> Result<Device, Failure> {
    match named(global) {
        Named::Best => Ok(Device::best()?),
        named @ (Named::Host | Named::All) => {
            let text = if named == Named::Host { "host" } else { "all" };
            Err(Failure::input(format!("{command} takes one OpenCL device, not --device {text}")))
        }
        Named::Text(text) => Ok(sparrow::find_device(text)?),
    }
}

/// A queue on a context of its own.
pub(crate) fn queue_on(device: &Device) -> Result<Queue, Failure> {
    Ok(Queue::new(&Context::new(device)?)?)
}
