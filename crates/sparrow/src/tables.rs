//! Device tables as files: the user's own above the shipped ones.
//!
//! The user's is `$XDG_CONFIG_HOME/sparrow/devices.toml`, or the file `SPARROW_TABLE` names (`off`: none).
//! What it says goes over everything shipped, whose files are `data/tuning/*.toml`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cl_kernels::{DeviceTable, TableError, Tables, parse_device_table};

use crate::Result;

/// The user's table, if there is one, then the shipped ones; read once a process.
///
/// # Errors
/// A table that cannot be read or understood, by name.
pub fn usual_tables() -> Result<Tables> {
    static TABLES: OnceLock<Result<Tables, TableError>> = OnceLock::new();
    let read = || {
        let user = user_table().map(|path| read_table(&path)).transpose()?;
        Tables::with_user(user)
    };
    Ok(TABLES.get_or_init(read).clone()?)
}

/// The user's table, where there is one.
fn user_table() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    match std::env::var_os("SPARROW_TABLE") {
        Some(value) if value == "off" => None,
        Some(value) if !value.is_empty() => Some(value.into()),
        _ => {
            let folders = etcetera::base_strategy::Xdg::new().ok()?;
            let path = folders.config_dir().join("sparrow").join("devices.toml");
            path.exists().then_some(path)
        }
    }
}

fn read_table(path: &Path) -> Result<(PathBuf, DeviceTable), TableError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| TableError { path: path.to_owned(), message: error.to_string() })?;
    Ok((path.to_owned(), parse_device_table(path, &text)?))
}
