//! Where the project lies, and the programs its commands call.

use anyhow::{Context as _, Result, bail};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The root of the checkout.
pub(crate) fn root() -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = manifest.parent().context("xtask lies inside the project's folder")?;
    if !root.join("Cargo.toml").is_file() {
        bail!(
            "no Cargo.toml in {}: the checkout this xtask was built in has moved",
            root.display()
        );
    }
    Ok(root.to_owned())
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> Result<PathBuf> {
    let root = root()?;
    Ok(match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    })
}

/// The cargo to call. rustup keeps a toolchain chosen by `cargo +NAME` in the environment, so its
/// launcher on PATH is the right one; without it, the cargo that runs us.
pub(crate) fn cargo() -> OsString {
    match find_program("cargo") {
        Some(_) => "cargo".into(),
        None => env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
    }
}

/// Whether the environment calls itself continuous integration.
pub(crate) fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The full path of `program` if a folder of PATH holds it.
pub(crate) fn find_program(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Fails with one sentence a missing tool; rustc and cargo are there, or this would not run.
pub(crate) fn check_tools() -> Result<()> {
    let tools = [
        (
            "cc",
            "cargo links with it: install gcc (Debian, Ubuntu: `apt-get install gcc libc6-dev`)",
        ),
        ("ld", "PoCL calls it for every kernel: install binutils (it comes with gcc)"),
        ("rustc", "install Rust by rustup (a distribution's own is often too old: 1.95 is needed)"),
    ];
    for (tool, advice) in tools {
        if find_program(tool).is_none() {
            bail!("`{tool}` is not on PATH; {advice}");
        }
    }
    Ok(())
}

/// A size as people read it, in decimal units.
pub(crate) fn megabytes(bytes: u64) -> String {
    if bytes < 1_000_000 {
        format!("{} kB", bytes.div_ceil(1000))
    } else {
        format!("{} MB", (bytes + 500_000) / 1_000_000)
    }
}

/// `value` as one word of a POSIX shell.
pub(crate) fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+=@%,".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_to_what_people_read() {
        assert_eq!(megabytes(43_016), "44 kB");
        assert_eq!(megabytes(58_106_985), "58 MB");
        assert_eq!(megabytes(273_284_421), "273 MB");
    }

    #[test]
    fn values_survive_the_shell() {
        for value in ["plain/path-1.0", "two words", "it's", "$(not run) `nor this` \"\\", ""] {
            let script = format!("printf %s {}", quoted(value));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), value);
        }
    }
}
