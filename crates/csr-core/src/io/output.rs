//! Files that are written: whole or not at all, through links, with the permissions they had.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Links that a path may lead through.
const MAX_LINKS: usize = 40;

/// Where a path leads: to a name in a folder, whether there is a file of that name or not, or to something that is
/// open in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Name,
    /// A descriptor, with its number where it is one of this process.
    Descriptor(Option<u32>),
}

impl Destination {
    /// Follows links, also those to files that do not exist yet.
    ///
    /// # Errors
    /// A folder that does not exist or cannot be searched, a path that names no file, or links that lead nowhere.
    pub fn of(path: &Path) -> Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let text = path.as_os_str().as_encoded_bytes();
            if text.is_empty() {
                return Err(ErrorKind::NotFound.into());
            }
            let names_a_folder = text.ends_with(b"/") || text.ends_with(b"/.");
            let Some(name) = path.file_name().filter(|_| !names_a_folder) else {
                return Err(ErrorKind::IsADirectory.into());
            };
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
            if is_of_descriptors(&folder) {
                let kind = Kind::Descriptor(own_descriptor(&folder, name));
                return Ok(Destination { path: folder.join(name), kind });
            }
            let named = folder.join(name);
            match fs::read_link(&named) {
                Ok(target) => path = folder.join(target),
                Err(_) => return Ok(Destination { path: named, kind: Kind::Name }),
            }
        }
        Err(Error::other(format!("it leads through more than {MAX_LINKS} links")))
    }

    /// The path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The descriptor of this process that the path names: 1 for `/dev/stdout`.
    pub fn descriptor(&self) -> Option<u32> {
        match self.kind {
            Kind::Name => None,
            Kind::Descriptor(number) => number,
        }
    }

    /// Whether a regular file is there, or nothing yet: what is written then appears whole.
    ///
    /// # Errors
    /// A folder, or what cannot be looked at.
    pub fn is_regular(&self) -> Result<bool> {
        Ok(match self.metadata()? {
            None => self.kind == Kind::Name,
            Some(metadata) => self.kind == Kind::Name && metadata.is_file(),
        })
    }

    /// Of what is there.
    fn metadata(&self) -> Result<Option<Metadata>> {
        match fs::metadata(&self.path) {
            Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens what is no regular file, to be written as data comes. A pipe waits here for its reader.
    fn open(&self) -> Result<File> {
        // A descriptor that leads to a regular file is written at its end, as the process that opened it would.
        let appends = matches!(self.kind, Kind::Descriptor(_));
        File::options().write(true).append(appends).open(&self.path)
    }
}

/// Whether the names in a folder are open descriptors.
fn is_of_descriptors(folder: &Path) -> bool {
    folder == Path::new("/dev/fd") || folder.starts_with("/proc") && folder.ends_with("fd")
}

fn own_descriptor(folder: &Path, name: &OsStr) -> Option<u32> {
    let is_own = folder == Path::new("/dev/fd")
        || fs::canonicalize("/proc/self/fd").is_ok_and(|own| own == folder);
    name.to_str().filter(|_| is_own)?.parse().ok()
}

/// A file that is being written. A regular one appears under its name, or replaces what was there, when
/// [`OutputFile::finish`] is called, and what is dropped before leaves nothing; pipes, devices and open descriptors are
/// written as data comes.
///
/// What replaces a file has its owner and its permissions, and links stay links. A file that cannot be replaced so (it
/// has more names than one, its owner is another, or its folder takes no new file) stays where it is, and its content
/// is replaced once all of the new one is there.
#[derive(Debug)]
pub struct OutputFile {
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A new file in the folder of the one it becomes.
    Renamed { file: NamedTempFile, path: PathBuf, replaces: bool },
    /// A file whose content replaces that of another.
    Copied { file: NamedTempFile, path: PathBuf },
    /// A pipe, a device or a descriptor.
    Direct(File),
}

impl OutputFile {
    /// Begins a file. A pipe waits for its reader.
    ///
    /// # Errors
    /// The system's, and nothing has changed then.
    pub fn create(path: &Path) -> Result<Self> {
        OutputFile::at(&Destination::of(path)?)
    }

    /// As [`OutputFile::create`], where the path leads.
    ///
    /// # Errors
    /// As [`OutputFile::create`].
    pub fn at(destination: &Destination) -> Result<Self> {
        if !destination.is_regular()? {
            return Ok(OutputFile { target: Target::Direct(destination.open()?) });
        }
        let path = destination.path().to_owned();
        let target = match destination.metadata()? {
            None => {
                let file = temporary(folder_of(&path), 0o666)?;
                Target::Renamed { file, path, replaces: false }
            }
            Some(metadata) => over(path, &metadata)?,
        };
        Ok(OutputFile { target })
    }

    /// The file that exists until this one is whole; to be removed by a process that ends before.
    pub fn temporary(&self) -> Option<&Path> {
        match &self.target {
            Target::Renamed { file, .. } | Target::Copied { file, .. } => Some(file.path()),
            Target::Direct(_) => None,
        }
    }

    /// The file is whole: it appears under its name.
    ///
    /// # Errors
    /// The system's. Nothing is left then; where content is replaced, that of the file may be incomplete.
    pub fn finish(self) -> Result<()> {
        match self.target {
            Target::Renamed { file, path, replaces } => match file.persist(&path) {
                Ok(_) => Ok(()),
                // A file may be where no other can be put, as one that is mounted by itself.
                Err(error) if replaces => copy(&error.file, &path),
                Err(error) => Err(error.error),
            },
            Target::Copied { file, path } => copy(&file, &path),
            Target::Direct(mut file) => file.flush(),
        }
    }

    fn file(&mut self) -> &mut File {
        match &mut self.target {
            Target::Renamed { file, .. } | Target::Copied { file, .. } => file.as_file_mut(),
            Target::Direct(file) => file,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, data: &[u8]) -> Result<usize> {
        self.file().write(data)
    }

    fn flush(&mut self) -> Result<()> {
        self.file().flush()
    }
}

/// What replaces the file at `path`.
fn over(path: PathBuf, metadata: &Metadata) -> Result<Target> {
    // Who may not write a file may not replace it either.
    drop(File::options().write(true).open(&path)?);
    match temporary(folder_of(&path), 0o600) {
        Ok(file) if takes_after(file.as_file(), metadata) => {
            Ok(Target::Renamed { file, path, replaces: true })
        }
        Ok(file) => Ok(Target::Copied { file, path }),
        Err(_) => Ok(Target::Copied { file: temporary(&std::env::temp_dir(), 0o600)?, path }),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// A new file with permissions of which the mask of the user takes its part.
fn temporary(folder: &Path, mode: u32) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sparrow-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    // Without the temporary name, which says nothing to anybody.
    builder.tempfile_in(folder).map_err(|error| error.kind().into())
}

/// Gives `file` the owner and the permissions of another; false where it cannot stand for it.
#[cfg(unix)]
fn takes_after(file: &File, other: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let Ok(own) = file.metadata() else { return false };
    let (uid, gid) = (other.uid(), other.gid());
    let is_owned = (own.uid(), own.gid()) == (uid, gid)
        || fchown(file, Some(uid).filter(|uid| *uid != own.uid()), Some(gid)).is_ok();
    let permissions = fs::Permissions::from_mode(other.mode() & 0o777);
    other.nlink() == 1 && is_owned && file.set_permissions(permissions).is_ok()
}

#[cfg(not(unix))]
fn takes_after(file: &File, other: &Metadata) -> bool {
    file.set_permissions(other.permissions()).is_ok()
}

/// Replaces the content of the file at `path`.
fn copy(from: &NamedTempFile, path: &Path) -> Result<()> {
    let mut to = File::options().write(true).open(path)?;
    let length = std::io::copy(&mut from.reopen()?, &mut to)?;
    to.set_len(length)
}
