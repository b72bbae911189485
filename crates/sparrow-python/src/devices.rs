//! The class `sparrow.Device`: what is known of a device.

use pyo3::prelude::*;
use sparrow::DeviceTraits;

/// What is known of an OpenCL device.
///
/// Attributes
/// ----------
/// position : str
///     "PLATFORM:INDEX", which ``device=`` takes.
/// name, platform, driver : str
/// type : {"gpu", "cpu", "accelerator"}
/// compute_units : int
/// memory_bytes : int
/// has_float64 : bool
#[pyclass(module = "sparrow", name = "Device", frozen, get_all)]
pub(crate) struct Device {
    position: String,
    name: String,
    platform: String,
    driver: String,
    r#type: String,
    compute_units: u32,
    memory_bytes: u64,
    has_float64: bool,
}

impl Device {
    pub(crate) fn of(device: &sparrow::Device) -> Self {
        let traits: &DeviceTraits = device.traits();
        Device {
            position: device.position(),
            name: traits.name.clone(),
            platform: traits.platform.clone(),
            driver: traits.driver.clone(),
            r#type: traits.device_type.to_string(),
            compute_units: traits.compute_units,
            memory_bytes: traits.global_bytes,
            has_float64: traits.has_f64,
        }
    }
}

#[pymethods]
impl Device {
    fn __repr__(&self) -> String {
        format!("<sparrow.Device {} \"{}\" ({})>", self.position, self.name, self.platform)
    }
}
