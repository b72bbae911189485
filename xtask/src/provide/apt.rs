//! Debian's package client: installing with root's rights, and fetching single files without.

use super::store::Store;
use super::{catalogue, checksum};
use crate::project;
use anyhow::{Context as _, Result, bail};
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// With whose rights packages may be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permission {
    /// Not at all: no package client, or no rights and no word from the user.
    No,
    /// We are root already.
    Root,
    /// The user said `--install`.
    Sudo,
}

impl Permission {
    /// `install` is the user's word; without it sudo is never called, under CI neither.
    pub(super) fn of_this_user(install: bool) -> Self {
        let client = project::find_program("apt-get").is_some();
        Self::decide(client, is_root(), install)
    }

    fn decide(client: bool, root: bool, install: bool) -> Self {
        match (client, root, install) {
            (false, _, _) | (true, false, false) => Permission::No,
            (true, true, _) => Permission::Root,
            (true, false, true) => Permission::Sudo,
        }
    }

    fn command(self, program: &str) -> Command {
        match self {
            Permission::Sudo => {
                let mut command = Command::new("sudo");
                command.args(["DEBIAN_FRONTEND=noninteractive", program]);
                command
            }
            _ => {
                let mut command = Command::new(program);
                command.env("DEBIAN_FRONTEND", "noninteractive");
                command
            }
        }
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Installs packages after saying why and how large.
pub(super) fn install(packages: &[&str], reason: &str, permission: Permission) -> Result<()> {
    let names = packages.join(" ");
    let files = match uris("install", packages, &[]) {
        Ok(files) => files,
        Err(_) => {
            eprintln!("reading the package lists (apt-get update)");
            run(permission.command("apt-get").args(["update", quiet()]))?;
            uris("install", packages, &[])?
        }
    };
    let bytes = files.iter().map(|file| file.bytes).sum();
    eprintln!("{reason}; installing {names}: {} files, {}", files.len(), project::megabytes(bytes));
    let options = ["install", "-y", quiet(), "-o", "Dpkg::Use-Pty=0", "--no-install-recommends"];
    run(permission.command("apt-get").args(options).args(packages))
        .with_context(|| format!("installing {names}"))
}

/// What to fetch of a package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Its own file.
    Alone,
    /// With everything it depends on that is not installed.
    WithDependencies,
}

/// Fetches packages without root and unpacks them into `folder/tree`; nothing is installed.
///
/// # Errors
/// There is no apt-get or dpkg, no such package, or a SHA-256 is not the expected one.
pub(super) fn download(
    packages: &[&str],
    extent: Extent,
    reason: &str,
    folder: &Path,
    store: &Store,
) -> Result<()> {
    for client in ["apt-get", "dpkg"] {
        if project::find_program(client).is_none() {
            bail!("there is no {client} on PATH");
        }
    }
    // The system's package lists, if they are fresh; a bare image has none, so we keep our own.
    if fetch(packages, extent, reason, folder, &[]).is_ok() {
        return Ok(());
    }
    let (lists, cache) = (store.path("apt-lists"), folder.join("cache"));
    let options = [
        format!("Dir::State::Lists={}", lists.display()),
        format!("Dir::Cache={}", cache.display()),
        "Acquire::Languages=none".to_owned(),
    ];
    std::fs::create_dir_all(cache.join("archives/partial"))?;
    if lists.is_dir() && fetch(packages, extent, reason, folder, &options).is_ok() {
        return Ok(());
    }
    eprintln!(
        "the package lists are missing or old: reading them into {} (about 9 MB)",
        lists.display()
    );
    std::fs::create_dir_all(lists.join("partial"))?;
    run(apt_get(&options).args(["update", quiet()]))?;
    fetch(packages, extent, reason, folder, &options)
}

fn fetch(
    packages: &[&str],
    extent: Extent,
    reason: &str,
    folder: &Path,
    options: &[String],
) -> Result<()> {
    let mut names: Vec<String> = packages.iter().map(|&name| name.to_owned()).collect();
    if extent == Extent::WithDependencies {
        let files = uris("install", &names, options)?;
        names = files.iter().map(|file| package_of(&file.name).to_owned()).collect();
        names.retain(|name| !is_left_out(name));
    }
    let files = uris("download", &names, options)?;
    let size = project::megabytes(files.iter().map(|file| file.bytes).sum());
    match files.as_slice() {
        [] => bail!("apt-get names no file for {}", packages.join(" ")),
        [file] => eprintln!("{reason}: fetching {} ({size})", file.name),
        _ => eprintln!(
            "{reason}: fetching {} packages, {size}, about five times that on disk",
            files.len()
        ),
    }
    run(apt_get(options).args(["download", quiet()]).args(names).current_dir(folder))?;
    for file in &files {
        let path = folder.join(&file.name);
        let pinned = catalogue::PACKAGE_FILES.iter().find(|(name, _)| *name == file.name);
        checksum::verify(&path, pinned.map_or(file.sha256.as_str(), |(_, sha256)| sha256))?;
        run(Command::new("dpkg").arg("-x").arg(&path).arg(folder.join("tree")))?;
    }
    Ok(())
}

fn package_of(file: &str) -> &str {
    file.split('_').next().unwrap_or(file)
}

/// A line a file on a terminal, nothing in a log.
fn quiet() -> &'static str {
    if io::stderr().is_terminal() { "-q" } else { "-qq" }
}

/// A second C library beside the system's breaks every program; and no compiler for C++ is needed.
fn is_left_out(package: &str) -> bool {
    ["libc6", "lib32", "libstdc++-", "libobjc"].iter().any(|start| package.starts_with(start))
}

fn apt_get(options: &[String]) -> Command {
    let mut command = Command::new("apt-get");
    // As root apt drops its rights for downloads, and then cannot write into our folder.
    command.args(["-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3"]);
    for option in options {
        command.args(["-o", option]);
    }
    command
}

/// A file that apt-get would fetch.
#[derive(Debug, PartialEq, Eq)]
struct ArchiveFile {
    name: String,
    bytes: u64,
    /// From the archive's signed index; empty, which matches no file, if that gives another kind only.
    sha256: String,
}

fn uris(
    action: &str,
    packages: &[impl AsRef<OsStr>],
    options: &[String],
) -> Result<Vec<ArchiveFile>> {
    let mut command = apt_get(options);
    command.args([action, "--print-uris", "-q"]);
    if action == "install" {
        command.args(["-y", "--no-install-recommends", "--reinstall"]);
    }
    let output = command.args(packages).output().context("starting apt-get")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(archive_file).collect())
}

/// Reads `'URI' name size SHA256:sum`; other lines are not about files.
fn archive_file(line: &str) -> Option<ArchiveFile> {
    let mut words = line.strip_prefix('\'')?.split_once('\'')?.1.split_whitespace();
    let name = words.next()?.to_owned();
    let bytes = words.next()?.parse().ok()?;
    let sha256 = words.next().and_then(|sum| sum.strip_prefix("SHA256:")).unwrap_or_default();
    Some(ArchiveFile { name, bytes, sha256: sha256.to_owned() })
}

/// Runs a package client with its output on our standard error: ours may be read by a shell.
pub(super) fn run(command: &mut Command) -> Result<()> {
    let program = PathBuf::from(command.get_program());
    let status = command
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .status()
        .with_context(|| format!("starting {}", program.display()))?;
    if !status.success() {
        bail!("{} ended with {status}", program.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_installed_without_rights_or_the_users_word() {
        assert_eq!(Permission::decide(true, false, false), Permission::No);
        assert_eq!(Permission::decide(false, true, true), Permission::No);
        assert_eq!(Permission::decide(true, true, false), Permission::Root);
        assert_eq!(Permission::decide(true, false, true), Permission::Sudo);
    }

    #[test]
    fn sizes_and_sums_are_read_from_what_apt_prints() {
        let line =
            "'scheme:pool/libx_1%253a1.0%2bb_amd64.deb' libx_1%3a1.0+b_amd64.deb 43016 SHA256:ddd8";
        let file = archive_file(line).unwrap();
        let expected = ArchiveFile {
            name: "libx_1%3a1.0+b_amd64.deb".into(),
            bytes: 43016,
            sha256: "ddd8".into(),
        };
        assert_eq!(file, expected);
        assert_eq!(archive_file("Need to get 43.0 kB of archives."), None);
        assert_eq!(archive_file("'u' name 12 MD5Sum:ab").unwrap().sha256, "");
    }
}
