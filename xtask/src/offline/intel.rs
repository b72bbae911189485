//! Intel's graphics, by the `ocloc` of their driver's package.
//!
//! The output format that newer drivers read ("zebin") carries the kernels' figures as text, also for the
//! devices that get another format by default.

use super::figures::{Figures, Registers};
use super::target::Target;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package of Debian and Ubuntu.
pub(super) const PACKAGES: [&str; 1] = ["intel-opencl-icd"];

/// `ocloc`.
pub(super) struct Compiler {
    ocloc: PathBuf,
    /// Where its libraries lie, if not where the system looks.
    path: Option<PathBuf>,
    version: String,
}

impl Compiler {
    /// The compiler below `prefix`, which is the system's root or a folder of unpacked packages.
    ///
    /// # Errors
    /// It is not there or does not run.
    pub(super) fn find(prefix: &Path, scratch: &Path) -> Result<Self> {
        let ocloc = prefix.join("usr/bin/ocloc");
        if !ocloc.is_file() {
            bail!("there is no {}", ocloc.display());
        }
        let path = (prefix != Path::new("/")).then(|| prefix.join("usr/lib/x86_64-linux-gnu"));
        let mut compiler = Compiler { ocloc, path, version: String::new() };
        // The answer comes in a file of the question's name.
        const QUESTION: &str = "OCL_DRIVER_VERSION";
        let mut query = Command::new(&compiler.ocloc);
        compiler.run(query.args(["query", QUESTION]).current_dir(scratch))?;
        let answer = fs::read_to_string(scratch.join(QUESTION)).context("ocloc's version")?;
        let version = answer.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        compiler.version = format!("ocloc {version}");
        Ok(compiler)
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn compile(
        &self,
        target: &Target,
        source: &Path,
        options: &str,
    ) -> Result<Vec<Figures>> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(&self.ocloc);
        command.args(["compile", "-q", "--format", "zebin", "-exclude_ir", "-output_no_suffix"]);
        command.args(["-device", target.name, "-options", options, "-output", "kernel"]);
        command.arg("-out_dir").arg(folder.path()).arg("-file").arg(source);
        self.run(command.current_dir(folder.path()))?;
        let binary = fs::read(folder.path().join("kernel")).context("reading what ocloc wrote")?;
        figures(&description(&binary).context("the binary holds no description")?)
    }

    fn run(&self, command: &mut Command) -> Result<String> {
        super::tools::run(command, self.path.as_deref())
    }
}

/// The text that describes the kernels: the section `.ze_info`, which ends before a zero byte.
fn description(binary: &[u8]) -> Option<String> {
    const START: &[u8] = b"version:";
    let begin = binary.windows(START.len()).position(|window| window == START)?;
    let length = binary[begin..].iter().position(|&byte| byte == 0)?;
    String::from_utf8(binary[begin..begin + length].to_vec()).ok()
}

/// Reads the kernels' figures from the description.
fn figures(description: &str) -> Result<Vec<Figures>> {
    let kernels = description.split_once("\nkernels:").context("it describes no kernels")?.1;
    // Other lists at the outermost level follow; a kernel is an item at two columns.
    let end = kernels.find("\nkernels_misc_info:").unwrap_or(kernels.len());
    kernels[..end].split("\n  - name:").skip(1).map(kernel_figures).collect()
}

fn kernel_figures(item: &str) -> Result<Figures> {
    let (name, fields) = item.split_once('\n').context("a kernel has a name only")?;
    let field = |name: &str| {
        let start = format!("{name}:");
        fields.lines().find_map(|line| Some(line.trim().strip_prefix(&start)?.trim().to_owned()))
    };
    let number = |name: &str| -> Result<Option<u64>> {
        let parse = |text: String| text.parse().with_context(|| format!("{name} is \"{text}\""));
        field(name).map(parse).transpose()
    };
    let group = field("required_work_group_size").context("it requires no work-group size")?;
    let sizes: Option<Vec<u64>> =
        group.trim_matches(['[', ']']).split(',').map(|size| size.trim().parse().ok()).collect();
    let scratch_bytes = scratch_bytes(fields)?;
    Ok(Figures {
        kernel: name.trim().to_owned(),
        registers: Registers::Intel {
            general: number("grf_count")?.context("it has no grf_count")?,
            simd: number("simd_size")?.context("it has no simd_size")?,
        },
        // Left out where it is 0.
        local_bytes: number("slm_size")?.unwrap_or(0),
        // Spilled registers are counted in bytes, together with private arrays.
        spilled: 0,
        scratch_bytes,
        group_limit: sizes.with_context(|| format!("a work-group of {group}"))?.iter().product(),
    })
}

/// The buffers a hardware thread has to itself: spilled registers and private arrays.
fn scratch_bytes(fields: &str) -> Result<u64> {
    let Some((_, buffers)) = fields.split_once("    per_thread_memory_buffers:\n") else {
        return Ok(0);
    };
    let of_buffers = buffers.lines().take_while(|line| line.starts_with("      "));
    let sizes = of_buffers.filter_map(|line| line.trim().strip_prefix("size:"));
    sizes.map(|size| size.trim().parse::<u64>().with_context(|| format!("a buffer of{size}"))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    // From ocloc 22.43 for dg2, without most of its lines; the second kernel was made to spill.
    const DESCRIPTION: &str = "\
version:         '1.20'
kernels:
  - name:            mark_row_blocks
    execution_env:
      grf_count:       128
      required_work_group_size: [ 256, 1, 1 ]
      simd_size:       16
      slm_size:        9760
    payload_arguments:
      - arg_type:        arg_byvalue
        size:            4
    per_thread_payload_arguments:
      - arg_type:        local_id
        size:            96
  - name:            spill
    execution_env:
      grf_count:       128
      required_work_group_size: [ 64, 2, 1 ]
      simd_size:       8
    per_thread_memory_buffers:
      - type:            scratch
        usage:           spill_fill_space
        size:            8192
      - type:            global
        usage:           private_space
        size:            1280
        is_simt_thread:  true
kernels_misc_info:
  - name:            mark_row_blocks
    args_info:
      - index:           0
        size:            7
...
";

    #[test]
    fn figures_are_read_from_the_description() {
        let found = figures(DESCRIPTION).unwrap();
        let mark = Figures {
            kernel: "mark_row_blocks".to_owned(),
            registers: Registers::Intel { general: 128, simd: 16 },
            local_bytes: 9760,
            spilled: 0,
            scratch_bytes: 0,
            group_limit: 256,
        };
        let spill = Figures {
            kernel: "spill".to_owned(),
            registers: Registers::Intel { general: 128, simd: 8 },
            local_bytes: 0,
            spilled: 0,
            scratch_bytes: 9472,
            group_limit: 128,
        };
        assert_eq!(found, [mark, spill]);
    }

    #[test]
    fn the_description_is_found_in_the_binary() {
        let binary = [b"\x7fELF\0\x01\0", DESCRIPTION.as_bytes(), b"\0\xff\xff"].concat();
        assert_eq!(description(&binary).unwrap(), DESCRIPTION);
        assert_eq!(description(b"\x7fELF\0"), None);
    }

    #[test]
    fn a_missing_field_is_an_error() {
        let text = DESCRIPTION.replace("      simd_size:       8\n", "");
        assert_eq!(figures(&text).unwrap_err().to_string(), "it has no simd_size");
        assert!(figures("version: '1.20'\n").is_err());
    }
}
