//! What a device says of itself: the plain facts that selection and tables work from.

use csr_core::{ValueType, counted};

use crate::{Accumulate, ParameterError};

/// The kinds of device OpenCL knows, as the device table spells them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum DeviceType {
    /// The host's processor.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// Anything else.
    Accelerator,
}

impl DeviceType {
    /// The spelling in tables and records.
    pub fn name(self) -> &'static str {
        match self {
            DeviceType::Cpu => "cpu",
            DeviceType::Gpu => "gpu",
            DeviceType::Accelerator => "accelerator",
        }
    }
}

impl std::fmt::Display for DeviceType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Levels of shared virtual memory; all optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SvmSupport {
    /// Buffers shared after map and unmap.
    pub coarse_grain_buffer: bool,
    /// Buffers shared without map and unmap.
    pub fine_grain_buffer: bool,
    /// Any host memory.
    pub fine_grain_system: bool,
    /// Atomics across host and device.
    pub atomics: bool,
}

/// What a device is and can do, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceTraits {
    /// The device's name.
    pub name: String,
    /// The board's marketing name, where the AMD extension tells it.
    pub board_name: Option<String>,
    /// The device's vendor.
    pub vendor: String,
    /// The platform's name.
    pub platform: String,
    /// Driver version.
    pub driver: String,
    /// The device's OpenCL version string.
    pub version: String,
    /// NVIDIA: "sm_90"; AMD: "gfx1030"; Intel's GPUs: "xe_12.55"; empty where nothing tells.
    pub architecture: String,
    /// What kind of device it is.
    pub device_type: DeviceType,
    /// Compute units.
    pub compute_units: u32,
    /// Items that run in step: a warp, a wavefront, a sub-group, or the lanes of a CPU's vectors of f32.
    pub simd_width: u32,
    /// Most items of a work-group.
    pub max_group_size: u64,
    /// Local memory of a group, in bytes.
    pub local_bytes: u64,
    /// Global memory, in bytes.
    pub global_bytes: u64,
    /// Largest single allocation, in bytes.
    pub max_allocation_bytes: u64,
    /// Global memory cache, in bytes.
    pub cache_bytes: u64,
    /// A line of that cache, in bytes; 0 where the device does not say.
    pub cache_line_bytes: u64,
    /// Where sub-buffers must start, in bytes.
    pub base_align_bytes: u64,
    /// Double precision.
    pub has_f64: bool,
    /// 64-bit atomics.
    pub has_int64_atomics: bool,
    /// Sub-groups (core or extension).
    pub has_sub_groups: bool,
    /// How many items hand each other words without local memory, also where others of them are elsewhere.
    pub shuffle_sizes: Vec<u32>,
    /// Whether f32 subnormals are kept.
    pub keeps_f32_subnormals: bool,
    /// Whether host and device share one memory.
    pub has_host_memory: bool,
    /// Levels of shared virtual memory.
    pub svm: SvmSupport,
}

/// How the CPU reaches arrays on a device after a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAccess {
    /// At their own address: any memory of the process is shared.
    FineGrainedSystem,
    /// At their own address, in shared virtual memory.
    FineGrainedBuffer,
    /// At their own address, between map and unmap.
    CoarseGrained,
    /// Buffers are mapped, and nothing is copied.
    MappedBuffers,
    /// Buffers are mapped, and copied on the way there and back.
    Copies,
}

impl HostAccess {
    /// Whether the CPU reaches the device's arrays where they lie.
    pub fn is_shared(self) -> bool {
        self != HostAccess::Copies
    }
}

impl std::fmt::Display for HostAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            HostAccess::FineGrainedSystem => "shared, fine-grained (system)",
            HostAccess::FineGrainedBuffer => "shared, fine-grained (buffers)",
            HostAccess::CoarseGrained => "shared, coarse-grained",
            HostAccess::MappedBuffers => "shared, by mapping buffers",
            HostAccess::Copies => "by copies: the CPU has no share of the device's memory",
        })
    }
}

impl DeviceTraits {
    /// Whether this is the simulator Oclgrind, which forgets of some memory that it was written.
    pub fn is_oclgrind(&self) -> bool {
        self.platform == "Oclgrind"
    }

    /// Whether its memory is best written by the host: on a CPU there is no way to go, and Oclgrind takes what is filled
    /// or copied on the device for uninitialised.
    pub fn is_written_by_host(&self) -> bool {
        self.device_type == DeviceType::Cpu || self.is_oclgrind()
    }

    /// The name a table entry is matched by: the board's where known, with any suffix after ':' cut.
    pub fn table_name(&self) -> &str {
        let name = self.board_name.as_deref().unwrap_or(&self.name);
        name.split(':').next().unwrap_or(name).trim()
    }

    /// How the CPU reaches the device's arrays. Shared virtual memory alone says little: a card on a bus has it
    /// too, and copies.
    pub fn host_access(&self) -> HostAccess {
        match (&self.svm, self.has_host_memory) {
            (_, false) => HostAccess::Copies,
            (svm, _) if svm.fine_grain_system => HostAccess::FineGrainedSystem,
            (svm, _) if svm.fine_grain_buffer => HostAccess::FineGrainedBuffer,
            (svm, _) if svm.coarse_grain_buffer => HostAccess::CoarseGrained,
            _ => HostAccess::MappedBuffers,
        }
    }

    /// Whether the driver shows a command that never ran, since what it waited for ended in error, as complete:
    /// Intel's CPU runtime does. What waits for such a command has to wait for the cause as well.
    pub fn hides_failed_commands(&self) -> bool {
        self.platform.contains("Intel") && self.device_type == DeviceType::Cpu
    }

    /// Whether the implementation keeps compiled kernels on disk, and makes a program's binary only for a caller that
    /// asks: PoCL then compiles every kernel a second time, for groups of any size.
    pub fn keeps_its_own_binaries(&self) -> bool {
        self.platform.contains("Portable Computing Language")
    }

    /// Whether the compiler is told how many registers an item may have (`-cl-nv-maxrregcount`): NVIDIA's is.
    pub fn takes_register_limits(&self) -> bool {
        self.architecture.starts_with("sm_")
    }

    /// Compiler options for all kernels: what of the device's own instructions they may use, where no macro of the
    /// compiler tells. LOADS_PAST_L1 (`cl/item/scalar.h`) is PTX ISA 7.4 for sm_70 and later, which came with driver
    /// 470; SM_80 is what came with sm_80 and an older driver (`cl/item/copy.h`).
    pub fn build_options(&self) -> &'static str {
        let number = |text: &str| text.parse::<u32>().unwrap_or(0);
        let sm = self.architecture.strip_prefix("sm_").map_or(0, number);
        let driver = self.driver.split('.').next().map_or(0, number);
        match sm {
            _ if driver < 470 => "",
            80.. => " -DLOADS_PAST_L1 -DSM_80",
            70.. => " -DLOADS_PAST_L1",
            _ => "",
        }
    }

    /// Items of a work-group, a power of two: `wanted`, which is one too, or what the device allows that is nearest, where
    /// each item takes so many bytes of local memory.
    pub fn group_size(&self, wanted: u32, local_bytes_per_item: u64) -> u32 {
        let most = self.local_bytes / local_bytes_per_item.max(1);
        // At most `wanted`, so the conversion is exact.
        1 << (most.min(self.max_group_size).clamp(1, wanted.into()) as u32).ilog2()
    }

    /// Refuses local arrays, which a parameter of this name and value takes, that hold more sums than the device has local
    /// memory for.
    pub(crate) fn check_local_sums(
        &self,
        algorithm: &'static str,
        named: (&'static str, u64),
        sums: u64,
        value_type: ValueType,
        accumulate: Accumulate,
    ) -> Result<(), ParameterError> {
        let parts = if accumulate == Accumulate::Compensated { 2 } else { 1 };
        let bytes = sums * value_type.accumulator().size_bytes() as u64 * parts;
        self.check_local_bytes(algorithm, named, bytes)
    }

    /// Refuses local arrays of `bytes` bytes, which a parameter of this name and value takes, where the device has fewer.
    pub(crate) fn check_local_bytes(
        &self,
        algorithm: &'static str,
        (name, value): (&'static str, u64),
        bytes: u64,
    ) -> Result<(), ParameterError> {
        if bytes > self.local_bytes {
            let rule = format!(
                "that takes {} of local memory and {} has {}",
                counted(bytes, "byte"),
                self.name,
                self.local_bytes
            );
            return Err(ParameterError::Invalid { algorithm, name, value, rule });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::gpu;

    #[test]
    fn instructions_need_a_new_enough_device_and_driver() {
        let options = |architecture: &str, driver: &str| {
            let (architecture, driver) = (architecture.to_owned(), driver.to_owned());
            super::DeviceTraits { architecture, driver, ..gpu() }.build_options()
        };
        assert_eq!(options("sm_90", "580.159.04"), " -DLOADS_PAST_L1 -DSM_80");
        assert_eq!(options("sm_75", "580.159.04"), " -DLOADS_PAST_L1");
        for (architecture, driver) in
            [("sm_61", "580.159.04"), ("sm_80", "460.32.03"), ("gfx90a", "3581.0"), ("", "")]
        {
            assert_eq!(options(architecture, driver), "", "{architecture} {driver}");
        }
    }
}
