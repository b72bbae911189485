//! The OpenCL implementations that this project is tested on and can provide.

use clap::ValueEnum;
use std::fmt;

/// One implementation of OpenCL that runs without a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Implementation {
    /// Portable Computing Language: CPUs, by LLVM.
    Pocl,
    /// Intel's CPU runtime.
    Intel,
    /// A simulator that reports races, accesses out of bounds and uninitialised values.
    Oclgrind,
}

impl Implementation {
    /// In the order in which tests run.
    pub(crate) const ALL: [Implementation; 3] =
        [Implementation::Pocl, Implementation::Intel, Implementation::Oclgrind];

    /// The word in options, stage names and folders.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Implementation::Pocl => "pocl",
            Implementation::Intel => "intel",
            Implementation::Oclgrind => "oclgrind",
        }
    }

    /// What `CL_PLATFORM_NAME` answers; tests compare it with the platform they run on.
    pub(crate) fn platform(self) -> &'static str {
        match self {
            Implementation::Pocl => "Portable Computing Language",
            Implementation::Intel => "Intel(R) OpenCL",
            Implementation::Oclgrind => "Oclgrind",
        }
    }

    /// Debian's and Ubuntu's packages; none for Intel's, which is not in their archives.
    pub(crate) fn packages(self) -> &'static [&'static str] {
        match self {
            Implementation::Pocl => &["pocl-opencl-icd", "ocl-icd-libopencl1"],
            Implementation::Intel => &[],
            Implementation::Oclgrind => &["oclgrind", "ocl-icd-libopencl1"],
        }
    }

    /// Variables that belong to the implementation itself.
    pub(crate) fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Implementation::Oclgrind => &[
                ("OCLGRIND_DATA_RACES", "1"),
                ("OCLGRIND_UNINITIALIZED", "1"),
                ("OCLGRIND_CHECK_API", "1"),
                // What races is told by barriers and groups, not by which thread came first, and threads wait for one
                // another at every allocation.
                ("OCLGRIND_NUM_THREADS", "1"),
                // Each group's memory is asked for and given back: it stays in the process.
                (
                    "GLIBC_TUNABLES",
                    "glibc.malloc.trim_threshold=1073741824:glibc.malloc.mmap_threshold=16777216:\
                     glibc.malloc.top_pad=67108864",
                ),
            ],
            _ => &[],
        }
    }
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Implementation::Pocl => "PoCL",
            Implementation::Intel => "Intel's CPU runtime",
            Implementation::Oclgrind => "Oclgrind",
        })
    }
}
