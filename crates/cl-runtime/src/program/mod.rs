//! Programs: a kernel key becomes a built program, from a cached binary where that is safe.

#[cfg(feature = "fault-injection")]
mod broken;
mod cache;

use cl_kernels::{KernelKey, kernel_source};

use crate::raw::{BuiltProgram, Kernel};
use crate::{Context, Error, Result};

#[cfg(feature = "fault-injection")]
pub use broken::{Broken, break_kernels};
pub use cache::BinaryCache;

/// A built program and the key it was built for.
#[derive(Debug)]
pub struct Program {
    built: BuiltProgram,
    key: KernelKey,
    from_cache: bool,
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
                Ok(Ok(built)) => return Ok(Program { built, key: key.clone(), from_cache: true }),
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
        Ok(Program { built, key: key.clone(), from_cache: false })
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
        self.built.kernel(name)
    }
}
