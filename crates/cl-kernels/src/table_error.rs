//! What reading device tables tells.

use std::path::PathBuf;

/// Why something in a device table is left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("device table {path}: {message}", path = .path.display())]
pub struct TableError {
    /// The table's file.
    pub path: PathBuf,
    /// What is wrong.
    pub message: String,
}
