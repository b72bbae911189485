//! The programs, and how each language builds one.

use super::surroundings::{Surroundings, program};
use crate::project;
use crate::provide::{amgcl, python, tools};
use anyhow::{Error, bail};
use std::path::PathBuf;
use std::process::Command;

/// One folder of `tests/apps`.
pub(super) struct Program {
    pub(super) folder: &'static str,
    kind: Kind,
    /// What it prints, from the root.
    pub(super) expected: &'static str,
    /// Whether it runs under memcheck too.
    pub(super) memcheck: bool,
}

enum Kind {
    /// `main.c`, by the compiler, with the flags that pkg-config gives for this package.
    C(&'static str),
    /// `main.cpp`, likewise.
    Cpp(&'static str),
    /// `main.cpp`, likewise, of libsparrow and amgcl.
    Amgcl,
    /// `CMakeLists.txt`, by find_package.
    Cmake,
    /// The package of this name in `rust/`.
    Rust(&'static str),
    /// A script.
    Python(&'static str),
}

/// What every product prints.
const PRODUCT: &str = "tests/apps/expected.txt";

/// How structures lie in memory.
const CLSPARSE_LAYOUT: &str = "crates/sparrow-clsparse/abi/layouts.txt";
const SPARROW_LAYOUT: &str = "crates/sparrow-capi/abi/layouts.txt";

/// The packages that the script imports.
const PYTHON_FOLDER: &str = "pyopencl-2026.1.4";
const PYTHON_PACKAGES: &[&str] = &["pyopencl==2026.1.4", "numpy"];

/// All of them.
pub(super) const PROGRAMS: &[Program] = &[
    Program::new("clsparse-layout", Kind::C("clSPARSE"), CLSPARSE_LAYOUT, true),
    Program::new("clsparse-c", Kind::C("clSPARSE"), PRODUCT, true),
    // Oclgrind, on which memcheck runs, has no shared virtual memory; PoCL has.
    Program::new("clsparse-svm", Kind::C("clSPARSE"), PRODUCT, false),
    // Oclgrind, on which memcheck runs, is not made for threads.
    Program::new("clsparse-threads", Kind::C("clSPARSE"), PRODUCT, false),
    Program::new("sparrow-layout", Kind::C("sparrow"), SPARROW_LAYOUT, true),
    Program::new("sparrow-c", Kind::C("sparrow"), "tests/apps/sparrow-c/expected.txt", true),
    Program::new("sparrow-hyb", Kind::C("sparrow"), "tests/apps/sparrow-hyb/expected.txt", true),
    Program::new(
        "sparrow-solve",
        Kind::C("sparrow"),
        "tests/apps/sparrow-solve/expected.txt",
        // An observed solve is a thread's.
        false,
    ),
    Program::new("clsparse-cpp", Kind::Cpp("clSPARSE"), PRODUCT, false),
    Program::new(
        "sparrow-amgcl",
        Kind::Amgcl,
        "tests/apps/sparrow-amgcl/expected.txt",
        // Thousands of launches.
        false,
    ),
    Program::new("clsparse-cmake", Kind::Cmake, PRODUCT, false),
    Program::new("clsparse-python", Kind::Python("csrmv.py"), PRODUCT, false),
    Program::new("rust/ocl", Kind::Rust("with-ocl"), PRODUCT, false),
    Program::new("rust/opencl3", Kind::Rust("with-opencl3"), PRODUCT, false),
];

/// Why there is no program.
pub(super) enum Refusal {
    /// Something that builds or runs it is not on this machine.
    NoTool(Error),
    /// It does not build.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Refusal::Failed(error.into())
    }
}

impl Program {
    const fn new(folder: &'static str, kind: Kind, expected: &'static str, memcheck: bool) -> Self {
        Program { folder, kind, expected, memcheck }
    }

    /// Builds it; the words that start it.
    pub(super) fn build(&self, with: &Surroundings) -> Result<Vec<PathBuf>, Refusal> {
        let source = with.sources.join(self.folder);
        let target = with.builds.join(self.folder);
        match self.kind {
            Kind::C(package) => {
                let warnings = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"];
                let compiler = program("cc", "gcc").map_err(Refusal::NoTool)?;
                let mut command = Command::new(compiler);
                command.args(warnings).arg(source.join("main.c"));
                link(&mut command, package, with, &target)
            }
            Kind::Cpp(package) => {
                let compiler = program("c++", "g++").map_err(Refusal::NoTool)?;
                let mut command = Command::new(compiler);
                // The bindings' own header has warnings.
                command.args(["-std=c++14", "-Wall"]).arg(source.join("main.cpp"));
                link(&mut command, package, with, &target)
            }
            Kind::Amgcl => {
                let compiler = program("c++", "g++").map_err(Refusal::NoTool)?;
                let mut command = Command::new(compiler);
                // The oldest standard that the header is for.
                command.args(["-std=c++11", "-Wall", "-Wextra", "-Werror"]);
                for folder in amgcl::headers(&with.options).map_err(Refusal::NoTool)? {
                    command.arg("-isystem").arg(folder);
                }
                command.arg(source.join("main.cpp"));
                link(&mut command, "sparrow", with, &target)
            }
            Kind::Cmake => {
                let cmake = tools::program("cmake", "cmake", &with.options);
                let cmake = cmake.map_err(Refusal::NoTool)?;
                tools::program("make", "make", &with.options).map_err(Refusal::NoTool)?;
                let mut configure = Command::new(&cmake);
                configure.arg("-S").arg(source).arg("-B").arg(&target);
                configure.arg(format!("-DCMAKE_PREFIX_PATH={}", with.prefix.display()));
                configure.arg(format!("-DCMAKE_LIBRARY_PATH={}", with.loader.display()));
                if let Some(headers) = &with.headers {
                    configure.arg(format!("-DCMAKE_C_FLAGS=-isystem {}", headers.display()));
                }
                quietly(&mut configure)?;
                quietly(Command::new(&cmake).arg("--build").arg(&target))?;
                Ok(vec![target.join("csrmv")])
            }
            Kind::Rust(package) => {
                // In our own folder, where much of what they are made of is.
                let target = project::target()?;
                let mut command = Command::new(project::cargo());
                command.args(["build", "--locked", "--quiet", "--package", package]);
                command.arg("--manifest-path").arg(with.sources.join("rust/Cargo.toml"));
                command.arg("--target-dir").arg(&target);
                // Where the linker finds the loader for `ocl`; a flag of rustc's would have everything built anew.
                command.env("LIBRARY_PATH", &with.loader);
                quietly(&mut command)?;
                Ok(vec![target.join("debug").join(package)])
            }
            Kind::Python(script) => {
                let found = python::packages(PYTHON_FOLDER, PYTHON_PACKAGES, &with.options);
                let (python, packages) = found.map_err(Refusal::NoTool)?;
                let path = format!("PYTHONPATH={}", packages.display());
                Ok(vec!["env".into(), path.into(), python, source.join(script)])
            }
        }
    }
}

/// Lets a compiler make the program `target` of a library that pkg-config knows as `package`.
fn link(
    compile: &mut Command,
    package: &str,
    with: &Surroundings,
    target: &PathBuf,
) -> Result<Vec<PathBuf>, Refusal> {
    let pkg_config = tools::program("pkg-config", "pkg-config", &with.options);
    let mut ask = Command::new(pkg_config.map_err(Refusal::NoTool)?);
    ask.args(["--cflags", "--libs", package]);
    ask.env("PKG_CONFIG_PATH", with.prefix.join("lib/pkgconfig"));
    let flags = quietly(&mut ask)?;
    if let Some(headers) = &with.headers {
        compile.arg("-isystem").arg(headers);
    }
    compile.arg("-DCL_TARGET_OPENCL_VERSION=120").args(flags.split_whitespace());
    compile.arg("-L").arg(&with.loader).args(["-lOpenCL", "-pthread", "-ldl", "-o"]).arg(target);
    quietly(compile)?;
    Ok(vec![target.clone()])
}

/// What a command prints; all it has said if it fails.
fn quietly(command: &mut Command) -> Result<String, Refusal> {
    let output = command.output().map_err(Error::from)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        let failed = || -> Result<String, Error> { bail!("{command:?} failed:\n{said}") };
        return failed().map_err(Refusal::Failed);
    }
    Ok(text(&output.stdout))
}
