//! The libraries that C programs link.

/// A library, and under which names it is found.
pub(crate) struct Library {
    /// The package that builds it.
    pub(crate) crate_name: &'static str,
    /// Cargo's file.
    pub(crate) built: &'static str,
    /// The name that the linker looks for.
    pub(crate) link: &'static str,
    /// The name that programs remember.
    pub(crate) soname: &'static str,
    /// The file.
    pub(crate) file: &'static str,
    /// The folder of its headers, from the root.
    pub(crate) headers: &'static str,
    /// The symbols it exports, one a line.
    pub(crate) symbols: &'static str,
    /// Its name for CMake and pkg-config, and for the linker after `-l`.
    pub(crate) package: &'static str,
    /// Its version.
    pub(crate) version: &'static str,
    /// What it is, in a sentence.
    pub(crate) description: &'static str,
    /// What whoever includes its headers has to define.
    pub(crate) definitions: &'static [&'static str],
}

/// All of them.
pub(crate) const LIBRARIES: &[Library] = &[
    Library {
        crate_name: "sparrow-clsparse",
        built: "libclSPARSE.so",
        link: "libclSPARSE.so",
        soname: "libclSPARSE.so.1",
        file: "libclSPARSE.so.0.10.3",
        headers: "crates/sparrow-clsparse/include",
        symbols: "crates/sparrow-clsparse/abi/symbols.txt",
        package: "clSPARSE",
        version: "0.10.3",
        description: "Sparse matrix products on OpenCL devices, under clSPARSE's interface",
        definitions: &["CLSPARSE_INDEX_SIZEOF=4"],
    },
    Library {
        crate_name: "sparrow-capi",
        built: "libsparrow_c.so",
        link: "libsparrow.so",
        soname: "libsparrow.so.1",
        file: "libsparrow.so.1.0.0",
        headers: "crates/sparrow-capi/include",
        symbols: "crates/sparrow-capi/abi/symbols.txt",
        package: "sparrow",
        version: "0.1.0",
        description: "Sparse matrix products on OpenCL devices",
        definitions: &[],
    },
];
