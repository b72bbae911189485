//! `cargo xtask provide`: OpenCL implementations on a machine that may have none.
//!
//! In this order: what the system has; what an earlier call put into our folder; Debian packages, as
//! root or where the user said `--install`; and without root, files fetched by pip and apt-get into our
//! folder. Whatever the way, the answer is an ICD folder that holds this one implementation, found by a
//! probe in a child process, so that a program started with it sees this one and no other.

pub(crate) mod amgcl;
mod apt;
mod catalogue;
mod checksum;
mod debs;
pub(crate) mod linking;
mod loader;
pub(crate) mod peers;
pub(crate) mod petsc;
pub(crate) mod python;
mod store;
mod system;
pub(crate) mod tools;
mod wheels;

pub(crate) use apt::Extent;
pub(crate) use checksum::sha256;
pub(crate) use debs::unpacked;

use crate::implementation::Implementation;
use crate::probe::{self, Depth};
use crate::project;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};
use store::Store;

/// Options of `provide`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to provide
    #[arg(value_enum, default_value = "pocl")]
    what: What,
    /// Install packages even when not root, which calls sudo
    #[arg(long)]
    install: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    Pocl,
    Intel,
    Oclgrind,
    All,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let wanted: &[Implementation] = match arguments.what {
        What::Pocl => &[Implementation::Pocl],
        What::Intel => &[Implementation::Intel],
        What::Oclgrind => &[Implementation::Oclgrind],
        What::All => &Implementation::ALL,
    };
    let options = Options::from_environment(arguments.install)?;
    let mut code = ExitCode::SUCCESS;
    for &implementation in wanted {
        match provide(implementation, &options) {
            Ok(provided) => println!("{implementation}: {}", provided.description()),
            Err(error) => {
                code = ExitCode::FAILURE;
                eprintln!("{implementation}: not provided: {error:#}");
            }
        }
    }
    Ok(code)
}

/// How far providing may go.
pub(crate) struct Options {
    /// How packages may be installed, if at all.
    packages: apt::Permission,
    /// Behave as on a machine without OpenCL: `SPARROW_PROVIDE_IGNORE_SYSTEM=1`. Implies no packages.
    ignore_system: bool,
    /// Our folder.
    store: Store,
}

impl Options {
    /// Reads `SPARROW_PROVIDE_DIR`, `SPARROW_PROVIDE_IGNORE_SYSTEM` and `CI`. `install` is the user's
    /// word that packages may be installed.
    pub(crate) fn from_environment(install: bool) -> Result<Self> {
        let ignore_system =
            env::var("SPARROW_PROVIDE_IGNORE_SYSTEM").is_ok_and(|value| value == "1");
        let packages = if ignore_system {
            apt::Permission::No
        } else {
            apt::Permission::of_this_user(install)
        };
        Ok(Options { packages, ignore_system, store: Store::open(store_folder()?)? })
    }

    /// Whether what the system has may be used.
    pub(crate) fn uses_system(&self) -> bool {
        !self.ignore_system
    }
}

/// `SPARROW_PROVIDE_DIR`, else the user's cache folder under CI, else beside what cargo builds.
fn store_folder() -> Result<PathBuf> {
    if let Some(folder) = env::var_os("SPARROW_PROVIDE_DIR").filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).context("SPARROW_PROVIDE_DIR");
    }
    if project::is_ci() {
        use etcetera::BaseStrategy as _;
        let base = etcetera::choose_base_strategy().context("finding the user's cache folder")?;
        return Ok(base.cache_dir().join("sparrow-opencl"));
    }
    Ok(project::target()?.join("opencl"))
}

/// An implementation that answered a probe.
#[derive(Clone, Debug)]
pub(crate) struct Provided {
    /// "the system's" or where its files lie.
    origin: String,
    /// Platform version and device name, as the probe saw them.
    device: String,
    variables: Vec<(String, String)>,
}

impl Provided {
    /// What a process needs in its environment to see this implementation and no other.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        self.variables.clone()
    }

    /// One line: what it is and where it comes from.
    pub(crate) fn description(&self) -> String {
        format!("{} ({})", self.device, self.origin)
    }
}

/// Gets `implementation` by the first way that works.
///
/// # Errors
/// No way worked; the message says what to install.
pub(crate) fn provide(implementation: Implementation, options: &Options) -> Result<Provided> {
    let _lock = options.store.lock()?;
    if !options.ignore_system
        && let Some(provided) = system::find(implementation, &options.store)?
    {
        return Ok(provided);
    }
    if let Some(provided) = fetched_before(implementation, options)? {
        return Ok(provided);
    }
    let reason = format!("no OpenCL platform \"{}\" was found", implementation.platform());
    let packages = implementation.packages();
    if options.packages != apt::Permission::No && !packages.is_empty() {
        let installed = apt::install(packages, &reason, options.packages)
            .and_then(|()| system::find(implementation, &options.store));
        match installed {
            Ok(Some(provided)) => return Ok(provided),
            Ok(None) => eprintln!("packages are installed, but the platform does not show"),
            Err(error) => eprintln!("{error:#}"),
        }
    }
    check_machine()?;
    project::check_tools()?;
    eprintln!("{reason}; {}", why_not_packages(implementation, options));
    // PoCL's wheel has an LLVM of 2022, which compiles nothing on newer CPUs; the distribution's PoCL,
    // unpacked, is the better one where there is such a distribution.
    if implementation == Implementation::Pocl {
        match debs::fetch(implementation, options) {
            Ok(provided) => return Ok(provided),
            Err(error) => eprintln!("{error:#}; trying Python's package index"),
        }
    }
    wheels::fetch(implementation, options)
}

/// What an earlier call left in our folder. What does not answer any more is removed.
fn fetched_before(implementation: Implementation, options: &Options) -> Result<Option<Provided>> {
    let ways: [(PathBuf, Check); 2] = [
        (debs::folder(implementation, options), debs::check_folder),
        (wheels::folder(implementation, options), wheels::check_folder),
    ];
    for (folder, check) in ways {
        if !folder.is_dir() {
            continue;
        }
        match check(implementation, &folder, options) {
            Ok(provided) => return Ok(Some(provided)),
            Err(error) => {
                eprintln!("{error:#}; removing {}", folder.display());
                fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
            }
        }
    }
    Ok(None)
}

type Check = fn(Implementation, &Path, &Options) -> Result<Provided>;

fn why_not_packages(implementation: Implementation, options: &Options) -> &'static str {
    if implementation.packages().is_empty() {
        "Debian and Ubuntu have no package of it"
    } else if options.packages == apt::Permission::No {
        "packages are installed only as root or by `cargo xtask provide --install`"
    } else {
        "packages did not help"
    }
}

/// Variables that lead to some device: none if the system has one, else those of a provided PoCL.
pub(crate) fn some_device(options: &Options) -> Result<Vec<(String, String)>> {
    if !options.ignore_system {
        match probe::probe(&[], Depth::List) {
            Ok(report) if report.first_device().is_some() => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => eprintln!("the system's OpenCL is unusable ({error:#})"),
        }
    }
    Ok(provide(Implementation::Pocl, options)?.variables())
}

/// Where an implementation's parts lie.
struct Place {
    /// For people: whose it is.
    origin: String,
    /// The folder with its .icd file.
    icd_folder: PathBuf,
    /// The libOpenCL to use; none if the system finds its own.
    loader: Option<PathBuf>,
    /// Where the dynamic linker has to look for libraries.
    libraries: Option<PathBuf>,
}

/// Looks for the implementation in a child process and compiles a kernel there.
///
/// # Errors
/// The platform does not show, or its compiler fails.
fn check(implementation: Implementation, place: &Place) -> Result<Provided> {
    let variables = variables(implementation, place)?;
    let report = probe::probe(&variables, Depth::Build)?;
    let name = implementation.platform();
    let platform = report
        .platform(name)
        .with_context(|| format!("no platform \"{name}\" shows ({})", place.origin))?;
    if let Some(error) = &platform.build_error {
        bail!("{implementation} ({}) compiles no kernel here: {}", place.origin, error.trim());
    }
    let names: Vec<_> = platform.devices.iter().map(|device| device.name.trim()).collect();
    Ok(Provided {
        origin: place.origin.clone(),
        device: format!("{} on {}", platform.version.trim(), names.join(", ")),
        variables,
    })
}

fn variables(implementation: Implementation, place: &Place) -> Result<Vec<(String, String)>> {
    let text = |path: &Path| {
        path.to_str().map(str::to_owned).with_context(|| format!("{} is no UTF-8", path.display()))
    };
    let mut variables = vec![("OCL_ICD_VENDORS".to_owned(), text(&place.icd_folder)?)];
    let mut folders = Vec::new();
    if let Some(loader) = &place.loader {
        // For programs that load libOpenCL themselves; its folder for those that are linked with it.
        variables.push(("OPENCL_DYLIB_PATH".to_owned(), text(loader)?));
        folders.push(text(loader.parent().context("a loader lies in a folder")?)?);
    }
    if let Some(libraries) = &place.libraries {
        folders.push(text(libraries)?);
    }
    if !folders.is_empty() {
        let others = env::var("LD_LIBRARY_PATH").unwrap_or_default();
        let cargos = folders_of_cargo();
        let is_users = |other: &&str| {
            !other.is_empty() && !cargos.iter().any(|folder| Path::new(other).starts_with(folder))
        };
        folders.extend(others.split(':').filter(is_users).map(str::to_owned));
        let mut seen = Vec::new();
        folders.retain(|folder| {
            !seen.contains(folder) && {
                seen.push(folder.clone());
                true
            }
        });
        variables.push(("LD_LIBRARY_PATH".to_owned(), folders.join(":")));
    }
    let own = implementation.variables().iter();
    variables.extend(own.map(|&(name, value)| (name.to_owned(), value.to_owned())));
    Ok(variables)
}

/// What cargo puts before the user's own folders while it runs this program: beside the program, and in
/// the toolchain.
fn folders_of_cargo() -> Vec<PathBuf> {
    let program = env::current_exe().ok();
    let cargo = env::var_os("CARGO").map(PathBuf::from);
    let beside = program.as_deref().and_then(Path::parent);
    let toolchain = cargo.as_deref().and_then(Path::parent).and_then(Path::parent);
    let beside = beside.map(Path::to_owned);
    beside.into_iter().chain(toolchain.map(|folder| folder.join("lib"))).collect()
}

/// The refusal on machines for which nobody publishes these files.
fn check_machine() -> Result<()> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(());
    }
    bail!(
        "files are known for Linux on x86-64 only: install an OpenCL implementation of your system"
    )
}
