//! Other vendors' C libraries: opened at run time, because they are not where this is built.

use anyhow::{Result, bail};
use libloading::Library;

/// The first of these libraries that can be opened.
pub fn open(names: &[&str]) -> Result<Library> {
    let mut reason = None;
    for name in names {
        // SAFETY: numerical libraries run nothing surprising when they are loaded.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok(library),
            Err(error) => reason = reason.or(Some(error)),
        }
    }
    // The first name's reason: others fail because they are other versions' names.
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    bail!("none of {} can be opened{reason}", names.join(", "))
}

/// Calls `$name` of `$library` with arguments of the types given; an error names it.
macro_rules! call {
    ($library:expr, $name:literal, $($value:expr => $type:ty),* $(,)?) => {{
        // SAFETY: the name and the types are those of the library's header, and the pointers passed are valid.
        let status = unsafe {
            let function: libloading::Symbol<'_, unsafe extern "C" fn($($type),*) -> std::ffi::c_int> =
                anyhow::Context::context($library.get(concat!($name, "\0").as_bytes()), $name)?;
            function($($value),*)
        };
        if status != 0 {
            anyhow::bail!("{} answered {status}", $name);
        }
    }};
}

pub(crate) use call;
