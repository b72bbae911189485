//! Finding devices, by preference or by text, and asking what they are.

use std::sync::Arc;

use cl_kernels::{DeviceTraits, DeviceType, SvmSupport};
use opencl3::device as cl;

use crate::raw::{DeviceId, device_ids, platform_ids};
use crate::{Error, Result};

/// A device and what it says of itself. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Device {
    id: DeviceId,
    traits: Arc<DeviceTraits>,
    /// Position as `PLATFORM:INDEX` spells it, where it was found by listing.
    position: Option<(usize, usize)>,
    /// What it is made to look like, for tests.
    mask: Option<Mask>,
}

/// What [`Device::masked`] and [`Device::with_kernel_groups`] hold a device to besides its facts.
#[derive(Clone, Copy, Debug)]
struct Mask {
    /// Items of a work-group of any compiled kernel, at most.
    kernel_group_size: u64,
}

impl Device {
    /// Adopts a device handle of the application's.
    ///
    /// # Safety
    /// `device` is a valid root device.
    ///
    /// # Errors
    /// The driver does not answer.
    #[expect(unsafe_code, reason = "takes a raw handle")]
    pub unsafe fn from_raw(device: opencl3::types::cl_device_id) -> Result<Self> {
        // SAFETY: the caller's promise.
        Device::new(unsafe { DeviceId::from_raw(device) }, None)
    }

    pub(crate) fn new(id: DeviceId, position: Option<(usize, usize)>) -> Result<Self> {
        Ok(Device { id, traits: Arc::new(query(id)?), position, mask: None })
    }

    /// The same device as if it reported other facts: for tests of what is chosen and fitted on devices that are not at
    /// hand. Everything in a context on it is held to these facts: an array above the largest allocation, a launch in
    /// larger groups, a kernel that takes more local memory and a program with f64 where there is none are refused,
    /// whatever the device itself would do. Limits are to be the device's own or smaller.
    #[must_use]
    pub fn masked(&self, change: impl FnOnce(&mut DeviceTraits)) -> Self {
        let mut traits = DeviceTraits::clone(&self.traits);
        change(&mut traits);
        let mask = self.mask.unwrap_or(Mask { kernel_group_size: u64::MAX });
        Device { traits: Arc::new(traits), mask: Some(mask), ..self.clone() }
    }

    /// The same device as if none of its compiled kernels ran in groups of more than `most` items, although the device
    /// itself has larger ones: for tests, as [`Device::masked`].
    #[must_use]
    pub fn with_kernel_groups(&self, most: u64) -> Self {
        Device { mask: Some(Mask { kernel_group_size: most }), ..self.clone() }
    }

    /// Whether it is made to look like another.
    pub(crate) fn is_masked(&self) -> bool {
        self.mask.is_some()
    }

    /// The most items of a group of a compiled kernel, of which the driver says this.
    pub(crate) fn kernel_group_size(&self, reported: u64) -> u64 {
        self.mask.map_or(reported, |mask| mask.kernel_group_size.min(reported))
    }

    /// The same device with groups of at most `most` items, as its compiled kernels turned out to have.
    pub(crate) fn with_groups(&self, most: u64) -> Self {
        let max_group_size = self.traits.max_group_size.min(most);
        let traits = DeviceTraits { max_group_size, ..DeviceTraits::clone(&self.traits) };
        Device { traits: Arc::new(traits), ..self.clone() }
    }

    /// The best device: a GPU before anything else before a CPU, then the one with most compute units.
    /// `SPARROW_DEVICE` names another.
    ///
    /// # Errors
    /// No OpenCL, no device, or a `SPARROW_DEVICE` that does not name one.
    pub fn best() -> Result<Self> {
        match std::env::var("SPARROW_DEVICE") {
            Ok(text) if !text.is_empty() => find_device(&text),
            _ => {
                let best = devices()?.into_iter().min_by_key(|device| {
                    let rank = match device.traits.device_type {
                        DeviceType::Gpu => 0,
                        DeviceType::Accelerator => 1,
                        DeviceType::Cpu => 2,
                    };
                    (rank, std::cmp::Reverse(device.traits.compute_units))
                });
                best.ok_or(Error::NoDevice)
            }
        }
    }

    /// The handle.
    pub fn id(&self) -> DeviceId {
        self.id
    }

    /// What the device is and can do.
    pub fn traits(&self) -> &DeviceTraits {
        &self.traits
    }

    /// `PLATFORM:INDEX`, as `--device` takes it; empty for a device that was adopted.
    pub fn position(&self) -> String {
        self.position.map(|(platform, index)| format!("{platform}:{index}")).unwrap_or_default()
    }

    fn label(&self) -> String {
        let traits = self.traits();
        format!("{} \"{}\" ({})", self.position(), traits.table_name(), traits.platform)
    }
}

/// Every device of every platform, in the order OpenCL lists them.
///
/// # Errors
/// No OpenCL library, or a driver's own failure.
pub fn devices() -> Result<Vec<Device>> {
    let mut found = Vec::new();
    for (platform_index, platform) in platform_ids()?.into_iter().enumerate() {
        for (index, id) in device_ids(platform)?.into_iter().enumerate() {
            found.push(Device::new(id, Some((platform_index, index)))?);
        }
    }
    Ok(found)
}

/// The one device that `text` names: `PLATFORM:INDEX` (a platform by number or part of its name), or
/// part of a device's or platform's name, in any case.
///
/// # Errors
/// No OpenCL; no device or more than one of that name, with the devices there are.
pub fn find_device(text: &str) -> Result<Device> {
    let mut found = find_devices(text)?;
    if found.len() > 1 {
        let found = found.iter().map(Device::label).collect::<Vec<_>>().join(", ");
        return Err(Error::AmbiguousDevice { text: text.to_owned(), found });
    }
    found.pop().ok_or(Error::NoDevice)
}

/// The devices that `text` names, at least one; `all`, in any case, names every device.
///
/// # Errors
/// As [`find_device`], except that several are no error.
pub fn find_devices(text: &str) -> Result<Vec<Device>> {
    let devices = devices()?;
    if devices.is_empty() {
        return Err(Error::NoDevice);
    }
    if text.eq_ignore_ascii_case("all") {
        return Ok(devices);
    }
    let found: Vec<_> = devices.iter().filter(|device| is_named(device, text)).cloned().collect();
    if found.is_empty() {
        let known = devices.iter().map(Device::label).collect::<Vec<_>>().join(", ");
        return Err(Error::UnknownDevice { text: text.to_owned(), known });
    }
    Ok(found)
}

fn is_named(device: &Device, text: &str) -> bool {
    // A text without letters is part of every name, and names nothing.
    let contains = |name: &str, part: &str| {
        !part.is_empty() && name.to_lowercase().contains(&part.to_lowercase())
    };
    let traits = device.traits();
    if let Some((platform, index)) = text.rsplit_once(':')
        && let (Ok(index), Some((at_platform, at_index))) =
            (index.parse::<usize>(), device.position)
    {
        let platform_agrees = match platform.parse::<usize>() {
            Ok(number) => number == at_platform,
            Err(_) => contains(&traits.platform, platform),
        };
        return platform_agrees && index == at_index;
    }
    contains(&traits.name, text)
        || contains(&traits.platform, text)
        || traits.board_name.as_deref().is_some_and(|name| contains(name, text))
}

/// The architecture of a GPU of Intel's by its IP version, of which the highest 10 bits are the architecture and the next 8
/// its release: `xe_12.55`. Nothing where the driver does not tell it, as for CPUs.
fn intel_architecture(ip_version: u32) -> String {
    match (ip_version >> 22, ip_version >> 14 & 0xff) {
        (0, _) => String::new(),
        (architecture, release) => format!("xe_{architecture}.{release}"),
    }
}

/// The name of a device, for the text of an error.
pub(crate) fn name_of(id: DeviceId) -> String {
    query(id).map_or_else(|_| "of an unknown name".to_owned(), |traits| traits.name)
}

fn query(id: DeviceId) -> Result<DeviceTraits> {
    const BOARD_NAME_AMD: u32 = 0x4038;
    const HOST_UNIFIED_MEMORY: u32 = 0x1035;
    const COMPUTE_CAPABILITY_MAJOR_NV: u32 = 0x4000;
    const COMPUTE_CAPABILITY_MINOR_NV: u32 = 0x4001;
    const IP_VERSION_INTEL: u32 = 0x4250;

    let platform = id.platform()?;
    let number = |parameter: u32| id.number(parameter).unwrap_or(0);
    let extensions = id.text(cl::CL_DEVICE_EXTENSIONS);
    let has = |extension: &str| extensions.split_whitespace().any(|name| name == extension);
    let name = id.text(cl::CL_DEVICE_NAME);
    let is_nvidia = has("cl_nv_device_attribute_query");
    let is_amd = has("cl_amd_device_attribute_query");
    let architecture = if is_nvidia {
        let (major, minor) =
            (number(COMPUTE_CAPABILITY_MAJOR_NV), number(COMPUTE_CAPABILITY_MINOR_NV));
        format!("sm_{major}{minor}")
    } else if is_amd {
        name.split(':').next().unwrap_or_default().to_owned()
    } else if has("cl_intel_device_attribute_query") {
        intel_architecture(number(IP_VERSION_INTEL) as u32)
    } else {
        String::new()
    };
    let kind = number(cl::CL_DEVICE_TYPE);
    let svm = number(cl::CL_DEVICE_SVM_CAPABILITIES);
    let f32_config = number(cl::CL_DEVICE_SINGLE_FP_CONFIG);
    Ok(DeviceTraits {
        board_name: is_amd.then(|| id.text(BOARD_NAME_AMD)).filter(|name| !name.is_empty()),
        vendor: id.text(cl::CL_DEVICE_VENDOR),
        platform: platform.text(opencl3::platform::platform::CL_PLATFORM_NAME),
        driver: id.text(cl::CL_DRIVER_VERSION),
        version: id.text(cl::CL_DEVICE_VERSION),
        architecture,
        // A simulator (Oclgrind) calls itself every kind; it runs on the CPU.
        device_type: if kind & cl::CL_DEVICE_TYPE_CPU != 0 {
            DeviceType::Cpu
        } else if kind & cl::CL_DEVICE_TYPE_GPU != 0 {
            DeviceType::Gpu
        } else {
            DeviceType::Accelerator
        },
        compute_units: number(cl::CL_DEVICE_MAX_COMPUTE_UNITS) as u32,
        simd_width: simd_width(id, kind & cl::CL_DEVICE_TYPE_CPU != 0),
        max_group_size: max_group_size(id),
        local_bytes: number(cl::CL_DEVICE_LOCAL_MEM_SIZE),
        global_bytes: number(cl::CL_DEVICE_GLOBAL_MEM_SIZE),
        max_allocation_bytes: number(cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        cache_bytes: number(cl::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
        cache_line_bytes: number(cl::CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE),
        base_align_bytes: number(cl::CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8,
        has_f64: number(cl::CL_DEVICE_DOUBLE_FP_CONFIG) != 0 || has("cl_khr_fp64"),
        has_int64_atomics: has("cl_khr_int64_base_atomics"),
        has_sub_groups: has("cl_khr_subgroups") || has("cl_intel_subgroups"),
        shuffle_sizes: if is_nvidia { vec![32] } else { Vec::new() },
        keeps_f32_subnormals: f32_config & cl::CL_FP_DENORM != 0,
        // Deprecated since 2.0, and answered by all the same.
        has_host_memory: number(HOST_UNIFIED_MEMORY) != 0,
        svm: SvmSupport {
            coarse_grain_buffer: svm & cl::CL_DEVICE_SVM_COARSE_GRAIN_BUFFER != 0,
            fine_grain_buffer: svm & cl::CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0,
            fine_grain_system: svm & cl::CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0,
            atomics: svm & cl::CL_DEVICE_SVM_ATOMICS != 0,
        },
        name,
    })
}

/// Items of a work-group of one dimension: there are devices whose limit of a dimension is below that of a group.
fn max_group_size(id: DeviceId) -> u64 {
    let of_group = id.number(cl::CL_DEVICE_MAX_WORK_GROUP_SIZE).unwrap_or(0);
    let of_dimension = id.first_size(cl::CL_DEVICE_MAX_WORK_ITEM_SIZES).filter(|&size| size > 0);
    of_dimension.map_or(of_group, |size| size.min(of_group))
}

/// A warp, a wavefront, or what a device of OpenCL 3.0 prefers groups to be multiples of; the lanes of a
/// CPU's vectors; else a default.
fn simd_width(id: DeviceId, is_cpu: bool) -> u32 {
    const WARP_SIZE_NV: u32 = 0x4003;
    const WAVEFRONT_WIDTH_AMD: u32 = 0x4043;
    const PREFERRED_WORK_GROUP_SIZE_MULTIPLE: u32 = 0x1067;
    let asked: &[u32] = match is_cpu {
        true => &[cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT],
        false => &[WARP_SIZE_NV, WAVEFRONT_WIDTH_AMD, PREFERRED_WORK_GROUP_SIZE_MULTIPLE],
    };
    let answer = asked.iter().find_map(|&parameter| id.number(parameter).filter(|&n| n > 0));
    answer.map_or(if is_cpu { 8 } else { 32 }, |width| width as u32)
}

#[cfg(test)]
mod tests {
    use super::intel_architecture;

    #[test]
    fn the_architecture_of_a_gpu_of_intels_is_that_of_its_ip_version() {
        // Alchemist G10, revision 8; Ponte Vecchio.
        assert_eq!(intel_architecture(12 << 22 | 55 << 14 | 8), "xe_12.55");
        assert_eq!(intel_architecture(12 << 22 | 60 << 14), "xe_12.60");
        assert_eq!(intel_architecture(0), "");
    }
}
