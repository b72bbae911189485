//! Our folder of OpenCL implementations.
//!
//! `NAME-VERSION/` holds one unpacked implementation each and appears by one rename, so what is there is
//! whole; `icd/NAME/` the .icd files, written anew on each use because they hold absolute paths and the
//! folder may have moved; `downloads/` files that were fetched and checked but not yet unpacked.

use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The folder, which exists.
pub(super) struct Store {
    folder: PathBuf,
}

impl Store {
    /// Makes the folder if it is not there.
    pub(super) fn open(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
        Ok(Store { folder })
    }

    /// Waits for other calls that work in the same folder; the lock ends with the value.
    pub(super) fn lock(&self) -> Result<File> {
        let path = self.folder.join("lock");
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        file.lock().with_context(|| format!("locking {}", path.display()))?;
        Ok(file)
    }

    /// A folder or file in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder of files fetched and checked.
    pub(super) fn downloads(&self) -> Result<PathBuf> {
        let folder = self.folder.join("downloads");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(folder)
    }

    /// A temporary folder on the same file system, removed when dropped.
    pub(super) fn temporary(&self) -> Result<tempfile::TempDir> {
        let builder = tempfile::Builder::new().prefix("unfinished-").tempdir_in(&self.folder);
        builder.with_context(|| format!("a temporary folder in {}", self.folder.display()))
    }

    /// An ICD folder called `name` whose only file says `library`; none if `library` is `None`.
    pub(super) fn icd_folder(&self, name: &str, library: Option<&str>) -> Result<PathBuf> {
        let folder = self.folder.join("icd").join(name);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        if let Some(library) = library {
            let file = folder.join("one.icd");
            let text = format!("{library}\n");
            // Left alone if it is right: another process may be reading it.
            if fs::read_to_string(&file).ok().as_deref() != Some(&text) {
                fs::write(&file, text).with_context(|| file.display().to_string())?;
            }
        }
        Ok(folder)
    }
}

/// Gives files of equal content one copy on disk, by hard links; returns the bytes that saved.
///
/// A wheel cannot hold links, so each library in it comes under all its names as a copy.
pub(super) fn link_copies(folder: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let mut seen: Vec<(u64, PathBuf)> = Vec::new();
    let mut saved = 0;
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<std::io::Result<_>>()?;
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let (path, metadata) = (entry.path(), entry.metadata()?);
        if !metadata.is_file() {
            continue;
        }
        let size = metadata.len();
        let mut copies = seen.iter().filter(|(other, _)| *other == size).map(|(_, other)| other);
        let same = copies.find_map(|other| match same_content(other, &path) {
            Ok(true) => Some(Ok(other.clone())),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        });
        match same.transpose()? {
            Some(other) if fs::metadata(&other)?.ino() != metadata.ino() => {
                fs::remove_file(&path)?;
                fs::hard_link(&other, &path).with_context(|| path.display().to_string())?;
                saved += size;
            }
            Some(_) => {}
            None => seen.push((size, path)),
        }
    }
    Ok(saved)
}

fn same_content(a: &Path, b: &Path) -> Result<bool> {
    Ok(super::checksum::sha256(a)? == super::checksum::sha256(b)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn copies_become_links_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a.so", "library"), ("a.so.1", "library"), ("b.so", "livrary")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(link_copies(folder.path()).unwrap(), 7);
        let inode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().ino();
        assert_eq!(inode("a.so"), inode("a.so.1"));
        assert_ne!(inode("a.so"), inode("b.so"));
        assert_eq!(fs::read_to_string(folder.path().join("b.so")).unwrap(), "livrary");
        assert_eq!(link_copies(folder.path()).unwrap(), 0, "a second time there is nothing to do");
    }

    #[test]
    fn an_icd_folder_names_one_library() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("new/store")).unwrap();
        store.icd_folder("x", Some("/old/liba.so")).unwrap();
        let icd = store.icd_folder("x", Some("/new/liba.so")).unwrap();
        let files: Vec<_> = fs::read_dir(&icd).unwrap().collect();
        assert_eq!(files.len(), 1);
        assert_eq!(fs::read_to_string(icd.join("one.icd")).unwrap(), "/new/liba.so\n");
    }
}
