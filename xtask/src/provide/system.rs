//! Implementations that the system already has.

use super::store::Store;
use super::{Place, Provided, check};
use crate::implementation::Implementation;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where Debian, Fedora and a build by hand put Oclgrind's library; no package registers an .icd file.
const OCLGRIND: &[&str] = &[
    "/usr/lib/oclgrind/liboclgrind-rt-icd.so",
    "/usr/lib64/oclgrind/liboclgrind-rt-icd.so",
    "/usr/local/lib/oclgrind/liboclgrind-rt-icd.so",
];

/// The system's implementation in an ICD folder of its own, if it has it and it answers.
pub(super) fn find(implementation: Implementation, store: &Store) -> Result<Option<Provided>> {
    for candidate in candidates(implementation) {
        // Foreign libraries are tried under a name of their own: what is in use is not touched.
        let trial = format!("trial-{}", implementation.word());
        if let Err(error) = check(implementation, &place(store, &trial, &candidate)?) {
            if candidate.library.to_lowercase().contains(implementation.word()) {
                eprintln!("passing over {}: {error:#}", candidate.named_by);
            }
            continue;
        }
        let name = format!("system-{}", implementation.word());
        return check(implementation, &place(store, &name, &candidate)?).map(Some);
    }
    Ok(None)
}

fn place(store: &Store, name: &str, candidate: &Candidate) -> Result<Place> {
    Ok(Place {
        origin: format!("the system's, by {}", candidate.named_by),
        icd_folder: store.icd_folder(name, Some(&candidate.library))?,
        loader: None,
        libraries: None,
    })
}

/// A library that may hold an implementation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The .icd file, or the library itself.
    named_by: String,
    library: String,
}

/// Library names with what named them; likely ones first, so that few drivers are loaded in vain.
fn candidates(implementation: Implementation) -> Vec<Candidate> {
    let mut found = icd_files(&vendors_folder());
    found
        .sort_by_key(|candidate| !candidate.library.to_lowercase().contains(implementation.word()));
    if implementation == Implementation::Oclgrind {
        let there = OCLGRIND.iter().filter(|library| Path::new(library).is_file());
        found.splice(
            0..0,
            there.map(|&library| Candidate {
                named_by: library.to_owned(),
                library: library.to_owned(),
            }),
        );
    }
    found
}

fn vendors_folder() -> PathBuf {
    match env::var_os("OCL_ICD_VENDORS").filter(|folder| !folder.is_empty()) {
        Some(folder) => folder.into(),
        None => "/etc/OpenCL/vendors".into(),
    }
}

/// The .icd files of a folder and the library each names.
fn icd_files(folder: &Path) -> Vec<Candidate> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "icd"))
        .filter_map(|path| {
            let library = fs::read_to_string(&path).ok()?.lines().next()?.trim().to_owned();
            Some(Candidate { named_by: path.display().to_string(), library })
        })
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn icd_files_give_their_library_and_others_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("b.icd"), "libb.so.1\n").unwrap();
        fs::write(folder.path().join("a.icd"), "  /opt/liba.so").unwrap();
        fs::write(folder.path().join("empty.icd"), "").unwrap();
        fs::write(folder.path().join("c.icd.old"), "libc.so").unwrap();
        let libraries: Vec<_> =
            icd_files(folder.path()).into_iter().map(|file| file.library).collect();
        assert_eq!(libraries, ["/opt/liba.so", "libb.so.1"]);
        assert!(icd_files(&folder.path().join("missing")).is_empty());
    }
}
