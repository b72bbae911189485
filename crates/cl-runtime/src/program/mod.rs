//! Programs: a kernel key becomes a built program, from a cached binary where that is safe.

#[cfg(feature = "fault-injection")]
mod broken;
mod cache;

use cl_kernels::{KernelKey, kernel_source};
use csr_core::counted;

use crate::raw::{BuiltProgram, Kernel};
use crate::{Context, Device, Error, Result};

#[cfg(feature = "fault-injection")]
pub use broken::{Broken, break_kernels};
pub use cache::BinaryCache;

/// A built program and the key it was built for.
#[derive(Debug)]
pub struct Program {
    built: BuiltProgram,
    key: KernelKey,
    from_cache: bool,
    device: Device,
    kernels: Vec<KernelFacts>,
}

/// What the driver says of a compiled kernel.
#[derive(Debug)]
struct KernelFacts {
    name: String,
    /// Items of its groups as its source demands; 0 where it leaves them open.
    required: u64,
    /// Items of its groups, at most.
    most: u64,
    local_bytes: u64,
}

impl Program {
    /// Builds `key` for the context's device, or loads what an earlier build left in `cache`. A binary
    /// that is damaged or that the driver refuses is built again, never trusted.
    pub(crate) fn build(context: &Context, key: &KernelKey, cache: &BinaryCache) -> Result<Self> {
        let span = tracing::info_span!("build", kernel = %key);
        let _entered = span.enter();
        let source = kernel_source(key.source)?;
        #[cfg(feature = "fault-injection")]
        let source = broken::edited(source);
        let device = context.device();
        let options = key.build_options() + device.traits().build_options();
        let entry = cache.entry(device.traits(), key, &source, &options);
        if let Some(binary) = entry.as_ref().and_then(cache::Entry::load) {
            let loaded =
                BuiltProgram::from_binary(context.handle(), device.id(), &binary, &options);
            match loaded {
                Ok(Ok(built)) => return Self::of(built, key, true, device),
                refused => {
                    tracing::warn!(?refused, "cached binary refused by the driver; rebuilding")
                }
            }
        }
        let built = BuiltProgram::from_source(context.handle(), device.id(), &source, &options)?;
        let built = built.map_err(|log| Error::Build {
            key: key.to_string(),
            device: device.traits().name.clone(),
            log,
        })?;
        if let Some(entry) = entry
            && let Some(binary) = built.binary()
        {
            entry.store(&binary);
        }
        Self::of(built, key, false, device)
    }

    fn of(built: BuiltProgram, key: &KernelKey, from_cache: bool, device: &Device) -> Result<Self> {
        let facts = |name: String| {
            let kernel = built.kernel(&name)?;
            // A driver that does not say has no limit to name.
            let reported = kernel.work_group_limit(device.id()).ok().filter(|&most| most > 0);
            Ok(KernelFacts {
                name,
                required: kernel.required_group_size(device.id()).unwrap_or(0) as u64,
                most: device.kernel_group_size(reported.map_or(u64::MAX, |most| most as u64)),
                local_bytes: kernel.local_bytes(device.id()).unwrap_or(0) as u64,
            })
        };
        let kernels = built.kernel_names()?.into_iter().map(facts).collect::<Result<_>>()?;
        Ok(Program { built, key: key.clone(), from_cache, device: device.clone(), kernels })
    }

    /// Refuses a program of which the device does not run a kernel in the groups it was compiled for: its limit is below
    /// them, or they take more local memory than it has.
    ///
    /// # Errors
    /// [`Error::KernelGroup`].
    pub(crate) fn check_groups(&self) -> Result<()> {
        let traits = self.device.traits();
        let limit = |kernel: &KernelFacts| {
            let is_too_large = kernel.local_bytes > traits.local_bytes && kernel.required > 1;
            let most = if is_too_large { kernel.required / 2 } else { kernel.most };
            most.min(kernel.most)
        };
        match self.kernels.iter().find(|kernel| kernel.required > limit(kernel)) {
            None => Ok(()),
            Some(kernel) => Err(Error::KernelGroup {
                kernel: kernel.name.clone(),
                group_size: kernel.required,
                device: traits.name.clone(),
                limit: limit(kernel),
            }),
        }
    }

    /// What the program was built for.
    pub fn key(&self) -> &KernelKey {
        &self.key
    }

    /// Whether it came from the disk.
    pub fn is_from_cache(&self) -> bool {
        self.from_cache
    }

    /// A kernel object; each workspace has its own.
    pub(crate) fn kernel(&self, name: &str) -> Result<Kernel> {
        self.check_mask(name)?;
        self.built.kernel(name)
    }

    /// Refuses a kernel that takes more local memory than a masked device has: the device itself would run it.
    fn check_mask(&self, name: &str) -> Result<()> {
        let traits = self.device.traits();
        let kernel = self.kernels.iter().find(|kernel| kernel.name == name);
        let taken = kernel.map_or(0, |kernel| kernel.local_bytes);
        if self.device.is_masked() && taken > traits.local_bytes {
            return Err(Error::Range {
                what: format!("the local memory of the kernel {name} of {}", self.key),
                value: taken,
                rule: format!("{} has {}", traits.name, counted(traits.local_bytes, "byte")),
            });
        }
        Ok(())
    }
}
