//! What OpenCL a process with a given environment would see.
//!
//! Loading an OpenCL driver runs foreign code: it may crash, hang or print. So we never load one in the
//! process that asks. A child of the same program does, writes what it found as JSON, and its death is
//! an answer like any other.

use anyhow::{Context as _, Result, bail};
use opencl3::context::Context;
use opencl3::device::{
    CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, Device,
};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use serde::{Deserialize, Serialize};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Starting PoCL takes a tenth of a second, Intel's runtime one; a hung driver must not hang us.
const DEADLINE: Duration = Duration::from_secs(60);

/// cl3's code for "no libOpenCL could be loaded".
const LOADER_MISSING: i32 = -2000;

/// Compiled to see whether the compiler works: a PoCL whose LLVM does not know the CPU lists a device
/// and then compiles nothing.
const KERNEL: &str = "kernel void probe(global float *a) { a[get_global_id(0)] += sqrt(a[0]); }";

/// Options of the hidden command.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Compile a kernel for each platform's first device
    #[arg(long)]
    build: bool,
}

/// How far to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// List platforms and devices.
    List,
    /// Compile a kernel too.
    Build,
}

/// What the child found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Whether a libOpenCL could be loaded at all.
    pub(crate) loader: bool,
    /// Platforms, in the loader's order.
    pub(crate) platforms: Vec<PlatformReport>,
}

/// A platform and its devices.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlatformReport {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) devices: Vec<DeviceReport>,
    /// Why a kernel does not compile for the first device; none if it does or was not tried.
    pub(crate) build_error: Option<String>,
}

/// A device, by the strings OpenCL gives.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DeviceReport {
    pub(crate) name: String,
    /// `cpu`, `gpu`, `accelerator` or `other`.
    pub(crate) kind: String,
    pub(crate) version: String,
    pub(crate) driver: String,
}

impl Report {
    /// The platform of that exact name, if it has a device.
    pub(crate) fn platform(&self, name: &str) -> Option<&PlatformReport> {
        self.platforms.iter().find(|platform| platform.name == name && !platform.devices.is_empty())
    }

    /// The first device there is, with its platform.
    pub(crate) fn first_device(&self) -> Option<(&PlatformReport, &DeviceReport)> {
        self.platforms.iter().find_map(|platform| Some((platform, platform.devices.first()?)))
    }
}

/// The hidden command: prints the report of this very process.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let depth = if arguments.build { Depth::Build } else { Depth::List };
    println!("{}", serde_json::to_string(&report_here(depth))?);
    Ok(ExitCode::SUCCESS)
}

fn report_here(depth: Depth) -> Report {
    // Without a platform an ICD loader answers with an error or with an empty list, as it likes.
    let platforms = match get_platforms() {
        Ok(platforms) => platforms,
        Err(error) => return Report { loader: error.0 != LOADER_MISSING, platforms: Vec::new() },
    };
    let report = |platform: &opencl3::platform::Platform| {
        let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default();
        let devices: Vec<_> = ids.into_iter().map(Device::new).collect();
        let first = devices.first().filter(|_| depth == Depth::Build);
        PlatformReport {
            name: platform.name().unwrap_or_default(),
            version: platform.version().unwrap_or_default(),
            build_error: first.and_then(|device| build(device).err()),
            devices: devices.iter().map(device_report).collect(),
        }
    };
    Report { loader: true, platforms: platforms.iter().map(report).collect() }
}

/// The compiler's complaint, if it has one.
fn build(device: &Device) -> Result<(), String> {
    let context = Context::from_device(device).map_err(|error| error.to_string())?;
    Program::create_and_build_from_source(&context, KERNEL, "").map(drop)
}

fn device_report(device: &Device) -> DeviceReport {
    let kind = match device.dev_type().unwrap_or_default() {
        kind if kind & CL_DEVICE_TYPE_GPU != 0 => "gpu",
        kind if kind & CL_DEVICE_TYPE_ACCELERATOR != 0 => "accelerator",
        kind if kind & CL_DEVICE_TYPE_CPU != 0 => "cpu",
        _ => "other",
    };
    DeviceReport {
        name: device.name().unwrap_or_default(),
        kind: kind.to_owned(),
        version: device.version().unwrap_or_default(),
        driver: device.driver_version().unwrap_or_default(),
    }
}

/// What a child with these variables, on top of ours, sees.
///
/// # Errors
/// The child crashed, printed something else, or did not answer in time.
pub(crate) fn probe(variables: &[(String, String)], depth: Depth) -> Result<Report> {
    let program = std::env::current_exe().context("finding our own program file")?;
    let mut child = Command::new(program)
        .arg("probe")
        .args((depth == Depth::Build).then_some("--build"))
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("starting the probe")?;
    let start = Instant::now();
    // The report is far smaller than a pipe's buffer, so the child never waits for us to read.
    while child.try_wait()?.is_none() {
        if start.elapsed() > DEADLINE {
            child.kill().ok();
            child.wait()?;
            bail!("listing OpenCL devices did not end within {} s", DEADLINE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("listing OpenCL devices ended with {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the probe printed something that is no report")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(name: &str, devices: usize) -> PlatformReport {
        let device = |index| DeviceReport {
            name: format!("device {index}"),
            kind: "cpu".to_owned(),
            version: String::new(),
            driver: String::new(),
        };
        let devices = (0..devices).map(device).collect();
        PlatformReport { name: name.to_owned(), version: String::new(), devices, build_error: None }
    }

    #[test]
    fn a_platform_without_devices_does_not_count() {
        let report = Report { loader: true, platforms: vec![platform("A", 0), platform("B", 1)] };
        assert!(report.platform("A").is_none());
        assert_eq!(report.first_device().map(|(platform, _)| platform.name.as_str()), Some("B"));
    }

    #[test]
    fn platform_names_match_whole() {
        let report =
            Report { loader: true, platforms: vec![platform("Intel(R) OpenCL Graphics", 1)] };
        assert!(report.platform("Intel(R) OpenCL").is_none());
    }
}
