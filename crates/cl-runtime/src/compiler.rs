//! Devices whose compiler makes kernels that compute wrongly, told by what the driver says of itself.

use cl_kernels::DeviceTraits;

use crate::{Error, Result};

/// Refuses PoCL before 3.1 on a processor that its LLVM does not know. It compiles kernels for all that the processor can
/// do and its own library of functions for any, so that `fma` of vectors wider than 128 bits finds its operands in other
/// registers than they were put in. Its device is then called `pthread-` and the processor's brand, where else the name
/// that LLVM has for the processor stands between.
pub(crate) fn check(traits: &DeviceTraits) -> Result<()> {
    let DeviceTraits { platform, name, driver, .. } = traits;
    if !is_pocl_on_an_unknown_processor(platform, name, driver) {
        return Ok(());
    }
    let what = format!(
        "compiler that knows its processor: PoCL {driver} computes vectors wrongly there; PoCL 3.1 or newer \
         (pocl-opencl-icd) or Intel's runtime (intel-opencl-rt by pip) does not"
    );
    Err(Error::Unsupported { device: name.clone(), what })
}

fn is_pocl_on_an_unknown_processor(platform: &str, name: &str, driver: &str) -> bool {
    let mut numbers = driver.split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next().and_then(|digits| digits.parse::<u32>().ok());
    let is_old =
        matches!((number(), number()), (Some(major), Some(minor)) if (major, minor) < (3, 1));
    // LLVM writes names small: `pthread-skylake-avx512-AMD EPYC`.
    let processor = name.strip_prefix("pthread-");
    let is_unknown = processor.is_some_and(|name| name.starts_with(|c: char| c.is_uppercase()));
    platform == "Portable Computing Language" && is_old && is_unknown
}

#[cfg(test)]
mod tests {
    use super::is_pocl_on_an_unknown_processor as is_refused;

    #[test]
    fn an_old_pocl_on_a_processor_that_it_does_not_know_is_refused() {
        let pocl = "Portable Computing Language";
        assert!(is_refused(pocl, "pthread-AMD EPYC", "3.0-rc2"));
        assert!(is_refused(pocl, "pthread-AMD EPYC", "1.8"));
        assert!(!is_refused(pocl, "pthread-haswell-Intel(R) Xeon(R)", "3.0-rc2"));
        assert!(!is_refused(pocl, "pthread-skylake-avx512-AMD EPYC", "3.1+debian"));
        assert!(!is_refused(pocl, "pthread-AMD EPYC", "3.1"));
        assert!(!is_refused(pocl, "cpu-AMD EPYC", "3.0"));
        assert!(!is_refused("Intel(R) OpenCL", "pthread-AMD EPYC", "3.0-rc2"));
    }
}
