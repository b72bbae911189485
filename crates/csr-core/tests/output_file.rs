//! Files that are written: whole or not at all, through links, with the permissions they had.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use csr_core::io::{Destination, OutputFile};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn write(path: &Path, text: &str) {
    let mut file = OutputFile::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.finish().unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn what_replaces_a_file_has_its_permissions() {
    let folder = Folder::new();
    for mode_before in [0o600, 0o640, 0o644, 0o755, 0o666] {
        let path = folder.put("a", "old", mode_before);
        write(&path, "new");
        assert_eq!((mode(&path), &*fs::read_to_string(&path).unwrap()), (mode_before, "new"));
    }
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn what_is_dropped_before_it_is_whole_leaves_nothing() {
    let folder = Folder::new();
    let old = folder.put("old", "old", 0o600);
    for path in [&old, &folder.path("new")] {
        let mut file = OutputFile::create(path).unwrap();
        file.write_all(b"half").unwrap();
        let temporary = file.temporary().unwrap().to_owned();
        assert!(temporary.is_file());
        drop(file);
    }
    assert_eq!((folder.names(), &*fs::read_to_string(&old).unwrap()), (vec!["old".into()], "old"));
}

#[test]
fn links_stay_links_also_where_they_lead_to_nothing_yet() {
    let folder = Folder::new();
    fs::create_dir(folder.path("far")).unwrap();
    symlink("two", folder.path("one")).unwrap();
    symlink("far/away", folder.path("two")).unwrap();
    for text in ["first", "second"] {
        write(&folder.path("one"), text);
        assert_eq!(fs::read_to_string(folder.path("far/away")).unwrap(), text);
    }
    assert!(folder.path("one").is_symlink() && folder.path("two").is_symlink());
    assert_eq!(folder.names(), ["far", "one", "two"]);

    symlink("loop", folder.path("loop")).unwrap();
    let error = OutputFile::create(&folder.path("loop")).unwrap_err();
    assert!(error.to_string().contains("links"), "{error}");
}

#[test]
fn a_file_of_two_names_keeps_both() {
    let folder = Folder::new();
    let (one, two) = (folder.put("one", "a longer text", 0o600), folder.path("two"));
    fs::hard_link(&one, &two).unwrap();
    write(&one, "new");
    assert_eq!(fs::read_to_string(&two).unwrap(), "new");
    assert_eq!(fs::metadata(&one).unwrap().ino(), fs::metadata(&two).unwrap().ino());
    assert_eq!(folder.names(), ["one", "two"]);
}

#[test]
fn a_pipe_is_written_to_and_stays() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || {
            let mut text = String::new();
            File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
            text
        }
    });
    assert!(!Destination::of(&pipe).unwrap().is_regular().unwrap());
    write(&pipe, "through");
    assert_eq!(reader.join().unwrap(), "through");
    assert_eq!(folder.names(), ["pipe"]);
}

#[test]
fn descriptors_are_known_by_their_number_and_files_behind_them_are_not_replaced() {
    use std::os::fd::AsRawFd;
    let folder = Folder::new();
    let path = folder.put("a", "before ", 0o600);
    let open = File::options().append(true).open(&path).unwrap();
    let name = PathBuf::from(format!("/dev/fd/{}", open.as_raw_fd()));
    let number = u32::try_from(open.as_raw_fd()).unwrap();
    assert_eq!(Destination::of(&name).unwrap().descriptor(), Some(number));
    let before = fs::metadata(&path).unwrap().ino();
    write(&name, "after");
    assert_eq!(fs::read_to_string(&path).unwrap(), "before after");
    assert_eq!(fs::metadata(&path).unwrap().ino(), before);
    assert_eq!(Destination::of(&path).unwrap().descriptor(), None);
}

#[test]
fn paths_that_name_no_file_are_refused() {
    let folder = Folder::new();
    let kind = |name: &str| OutputFile::create(&folder.path(name)).unwrap_err().kind();
    assert_eq!(kind("none/a"), ErrorKind::NotFound);
    assert_eq!((kind("a/"), kind("a/."), kind("")), ([ErrorKind::IsADirectory; 3]).into());
    assert_eq!(OutputFile::create(Path::new("")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(folder.names(), Vec::<String>::new());
}
