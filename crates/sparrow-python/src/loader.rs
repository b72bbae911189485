//! Which libOpenCL is opened: the one that pyopencl has, so that both see the same platforms, and so that a machine on
//! which pip alone has installed OpenCL has one.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Result;

/// What the binding asks first.
const VARIABLE: &str = "OPENCL_DYLIB_PATH";

/// Once a process: names the library in the environment, unless somebody has.
///
/// Two loaders in one process would enumerate the drivers twice, and a driver of the newer interface between them may
/// keep its table with the first alone.
///
/// # Errors
/// Python's own.
pub(crate) fn choose(py: Python<'_>) -> Result<()> {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Relaxed) {
        return Ok(());
    }
    let environment = py.import("os")?.getattr("environ")?;
    if !environment.contains(VARIABLE)? {
        if let Some(found) = in_process() {
            environment.set_item(VARIABLE, found.as_os_str())?;
        } else if let Some((package, found)) = beside_pyopencl(py)? {
            // It looks for drivers in its own package too, which pyopencl names so when it is imported.
            environment.set_item("PYOPENCL_HOME", package.as_os_str())?;
            environment.set_item(VARIABLE, found.as_os_str())?;
            load_drivers(py, &package.join(".libs"))?;
        }
    }
    DONE.store(true, Ordering::Relaxed);
    Ok(())
}

/// The libOpenCL that this process has open already.
fn in_process() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut paths = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    paths.find(|path| is_loader(path)).map(Path::to_owned)
}

/// The package, and the library that its wheel has brought: found without importing it.
fn beside_pyopencl(py: Python<'_>) -> Result<Option<(PathBuf, PathBuf)>> {
    let spec = py.import("importlib.util")?.call_method1("find_spec", ("pyopencl",))?;
    if spec.is_none() {
        return Ok(None);
    }
    let packages: Vec<PathBuf> = match spec.getattr("submodule_search_locations")? {
        none if none.is_none() => return Ok(None),
        some => some.try_iter()?.map(|one| one?.extract()).collect::<PyResult<_>>()?,
    };
    for package in packages {
        let files = std::fs::read_dir(package.join(".libs")).into_iter().flatten().flatten();
        if let Some(library) = files.map(|file| file.path()).find(|path| is_loader(path)) {
            return Ok(Some((package, library)));
        }
    }
    Ok(None)
}

/// Loads the drivers that pip has put beside the loader, which names them without a folder: what is in the process already
/// is found by its name, as pyopencl's own path would have it found.
fn load_drivers(py: Python<'_>, folder: &Path) -> Result<()> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    for list in files.filter(|path| path.extension().is_some_and(|end| end == "icd")) {
        let named = std::fs::read_to_string(&list).unwrap_or_default();
        let driver = folder.join(named.trim());
        // One that does not load is none, and the loader leaves it out as well.
        if driver.is_file() {
            let _ = py.import("ctypes")?.call_method1("CDLL", (driver.as_os_str(),));
        }
    }
    Ok(())
}

fn is_loader(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("libOpenCL") && name.contains(".so")
}

/// `sys.modules`, where a module is looked for that nobody may have imported.
pub(crate) fn imported<'py>(py: Python<'py>, name: &str) -> Result<Option<Bound<'py, PyAny>>> {
    let modules = py.import("sys")?.getattr("modules")?;
    let modules = modules.cast_into::<PyDict>().map_err(PyErr::from)?;
    Ok(modules.get_item(name)?)
}
