//! SHA-256 of files, compared with what was pinned.

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The SHA-256 of a file, in hexadecimal.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| path.display().to_string())?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let length = file.read(&mut buffer).with_context(|| path.display().to_string())?;
        if length == 0 {
            break;
        }
        hasher.update(&buffer[..length]);
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

/// Fails, naming both sums, if the file is not the one that was pinned.
pub(super) fn verify(path: &Path, expected: &str) -> Result<()> {
    let found = sha256(path)?;
    if found != expected {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        bail!("{name} has SHA-256 {found} where {expected} is expected: not used");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_refused_and_both_sums_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc.whl");
        std::fs::write(&path, "abc").unwrap();
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        verify(&path, sum).unwrap();
        std::fs::write(&path, "abd").unwrap();
        let message = verify(&path, sum).unwrap_err().to_string();
        assert!(message.contains("abc.whl") && message.contains(sum), "{message}");
        assert!(
            message.contains("a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9")
        );
    }
}
