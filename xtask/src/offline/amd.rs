//! AMD's code objects, by clang with AMD's device libraries.
//!
//! The newest clang of the distribution needs device libraries of its own year for the default code object
//! version; with version 5, which changes how kernels are described and not what they take, it works
//! with the packaged ones. Those also lack the file with one number that tells the library which chip it
//! is compiled for, where the chip is newer than they are: we write that file. Kernels are compiled to
//! assembly, which carries the figures as text, and which shows a call of a function that no library
//! defined, so there is nothing left for a linker to find.

use super::figures::{Figures, Registers};
use super::target::Target;
use anyhow::{Context as _, Result, bail};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Releases of clang that were tried with these device libraries, the newest first.
pub(super) const RELEASES: [&str; 2] = ["22", "19"];

/// Chips that the packaged device libraries do not know, and the number by which the libraries ask.
const NEWER_CHIPS: [(&str, u32); 2] = [("1100", 11000), ("1201", 12001)];

const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

/// Packages of one release.
pub(super) fn packages(release: &str) -> Vec<String> {
    vec![format!("clang-{release}"), "rocm-device-libs".to_owned()]
}

/// clang and the device libraries.
pub(super) struct Compiler {
    clang: PathBuf,
    libraries: PathBuf,
    /// Where clang's own libraries lie, if not where the system looks.
    path: Option<PathBuf>,
    version: String,
}

impl Compiler {
    /// The compiler below `prefix`, which is the system's root or a folder of unpacked packages; the
    /// device libraries are gathered in `scratch`.
    ///
    /// # Errors
    /// Something is missing or does not run.
    pub(super) fn find(prefix: &Path, release: &str, scratch: &Path) -> Result<Self> {
        let clang = prefix.join(format!("usr/lib/llvm-{release}/bin/clang"));
        let packaged = prefix.join(LIBRARIES);
        for file in [&clang, &packaged.join("ocml.bc")] {
            if !file.is_file() {
                bail!("there is no {}", file.display());
            }
        }
        let path = (prefix != Path::new("/")).then(|| prefix.join("usr/lib/x86_64-linux-gnu"));
        let libraries = scratch.join("device-libraries");
        let mut compiler = Compiler { clang, libraries, path, version: String::new() };
        let output = compiler.run(Command::new(&compiler.clang).arg("--version"))?;
        let sum = crate::provide::sha256(&packaged.join("ocml.bc"))?;
        let first = output.lines().next().unwrap_or_default();
        let clang_version = first.split_whitespace().skip_while(|word| *word != "version").nth(1);
        compiler.version = format!(
            "clang {} with device libraries {}",
            clang_version.with_context(|| format!("clang calls itself \"{first}\""))?,
            &sum[..8]
        );
        compiler.gather_libraries(&packaged)?;
        Ok(compiler)
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    fn gather_libraries(&self, packaged: &Path) -> Result<()> {
        fs::create_dir(&self.libraries)?;
        for entry in fs::read_dir(packaged)? {
            let entry = entry?;
            symlink(entry.path().canonicalize()?, self.libraries.join(entry.file_name()))?;
        }
        for (chip, number) in NEWER_CHIPS {
            let library = self.libraries.join(format!("oclc_isa_version_{chip}.bc"));
            if library.exists() {
                continue;
            }
            let source = self.libraries.join(format!("{chip}.ll"));
            let text = format!(
                "target triple = \"amdgcn-amd-amdhsa\"\n@__oclc_ISA_version = linkonce_odr protected \
                 local_unnamed_addr addrspace(4) constant i32 {number}, align 4\n"
            );
            fs::write(&source, text)?;
            let mut command = Command::new(&self.clang);
            command.args(["-target", "amdgcn-amd-amdhsa", "-nogpulib", "-w", "-x", "ir"]);
            command.args(["-emit-llvm", "-c", "-o"]).arg(&library).arg(&source);
            self.run(&mut command)?;
        }
        Ok(())
    }

    pub(super) fn compile(
        &self,
        target: &Target,
        source: &Path,
        options: &str,
    ) -> Result<Vec<Figures>> {
        let mut command = Command::new(&self.clang);
        command.args(["-target", "amdgcn-amd-amdhsa", "-mcode-object-version=5", "-w", "-O3"]);
        command.arg(format!("-mcpu={}", target.name));
        command.arg(format!("--rocm-device-lib-path={}", self.libraries.display()));
        command.args(["-x", "cl"]).args(options.split(' '));
        command.args(["-S", "-o", "-"]).arg(source);
        figures(&self.run(&mut command)?)
    }

    fn run(&self, command: &mut Command) -> Result<String> {
        super::tools::run(command, self.path.as_deref())
    }
}

/// Reads the kernels' figures from the metadata at the end of the assembly.
fn figures(assembly: &str) -> Result<Vec<Figures>> {
    if let Some(function) = undefined_function(assembly) {
        bail!("it calls {function}, which the device libraries lack");
    }
    let begin = assembly.find("\namdhsa.kernels:").context("the assembly has no metadata")?;
    let mut kernels: Vec<HashMap<&str, &str>> = Vec::new();
    // One list item a kernel, at two columns; its fields at four; their own lists lie deeper.
    for line in assembly[begin..].lines().skip(2) {
        let is_item = line.starts_with("  - .");
        if is_item {
            kernels.push(HashMap::new());
        } else if !line.starts_with(' ') {
            break;
        }
        let field = if is_item { line.strip_prefix("  - .") } else { line.strip_prefix("    .") };
        if let (Some((name, value)), Some(kernel)) =
            (field.and_then(|field| field.split_once(':')), kernels.last_mut())
        {
            kernel.insert(name, value.trim());
        }
    }
    kernels.iter().map(kernel_figures).collect()
}

fn kernel_figures(fields: &HashMap<&str, &str>) -> Result<Figures> {
    let text = |name: &str| {
        fields.get(name).copied().with_context(|| format!("the metadata lacks .{name}"))
    };
    let number = |name: &str| -> Result<u64> {
        text(name)?.parse().with_context(|| format!(".{name} is \"{}\"", fields[name]))
    };
    // Only chips with accumulation registers have that count, and there .vgpr_count is the total.
    Ok(Figures {
        kernel: text("name")?.to_owned(),
        registers: Registers::Amd { vector: number("vgpr_count")?, scalar: number("sgpr_count")? },
        local_bytes: number("group_segment_fixed_size")?,
        spilled: number("vgpr_spill_count")? + number("sgpr_spill_count")?,
        scratch_bytes: number("private_segment_fixed_size")?,
        group_limit: number("max_flat_workgroup_size")?,
    })
}

/// A function that is called and was not there to be inlined.
fn undefined_function(assembly: &str) -> Option<&str> {
    let at = assembly.find("@gotpcrel32").or_else(|| assembly.find("@rel32"))?;
    assembly[..at].rsplit([' ', '\t', ',']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    // From clang 22.1.8 for gfx90a, without most of its lines.
    const ASSEMBLY: &str = "\
\ts_endpgm
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .offset:         0
        .size:           8
        .name:           x
    .group_segment_fixed_size: 16400
    .max_flat_workgroup_size: 256
    .name:           csr_adaptive
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 256
      - 1
      - 1
    .sgpr_count:     52
    .sgpr_spill_count: 0
    .vgpr_count:     24
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     190
    .group_segment_fixed_size: 0
    .max_flat_workgroup_size: 1024
    .name:           spill
    .private_segment_fixed_size: 860
    .sgpr_count:     14
    .sgpr_spill_count: 2
    .vgpr_count:     446
    .vgpr_spill_count: 426
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
...
\t.end_amdgpu_metadata
";

    #[test]
    fn figures_are_read_from_the_metadata() {
        let found = figures(ASSEMBLY).unwrap();
        let adaptive = Figures {
            kernel: "csr_adaptive".to_owned(),
            registers: Registers::Amd { vector: 24, scalar: 52 },
            local_bytes: 16400,
            spilled: 0,
            scratch_bytes: 0,
            group_limit: 256,
        };
        let spill = Figures {
            kernel: "spill".to_owned(),
            registers: Registers::Amd { vector: 446, scalar: 14 },
            local_bytes: 0,
            spilled: 428,
            scratch_bytes: 860,
            group_limit: 1024,
        };
        assert_eq!(found, [adaptive, spill]);
    }

    #[test]
    fn a_missing_field_and_missing_metadata_are_errors() {
        let message = |text: &str| figures(text).unwrap_err().to_string();
        assert_eq!(
            message(&ASSEMBLY.replace("    .vgpr_spill_count: 0\n", "")),
            "the metadata lacks .vgpr_spill_count"
        );
        assert_eq!(message("\ts_endpgm\n"), "the assembly has no metadata");
    }

    #[test]
    fn a_call_of_what_no_library_defines_is_an_error() {
        let call = "\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, get_local_id@gotpcrel32@lo+4\n";
        assert_eq!(
            figures(&format!("{call}{ASSEMBLY}")).unwrap_err().to_string(),
            "it calls get_local_id, which the device libraries lack"
        );
    }
}
