//! Kernel binaries on disk save a build and are never trusted: what is damaged is built and written anew.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use cl_runtime::raw::fault::{Kind, arm, live};
use conformance::{Fixture, device, is_device_here, options, say};
use sha2::{Digest, Sha256};
use sparrow::{Accumulate, Algorithm, BinaryCache, Context, Plan, Queue, Variant};
use tempfile::TempDir;

/// Names the folder below which ours lies.
const USERS_CACHE: &str = "XDG_CACHE_HOME";

/// How an entry begins; the SHA-256 of the rest follows.
const MAGIC: &[u8] = b"sparrow-binary/1\n";

/// Before the process's first call to OpenCL: the driver's own caches are empty folders too, so that a
/// build is a build, and so is the user's. Each lies below this folder under its variable's name.
fn empty_caches() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        for name in ["POCL_CACHE_DIR", "CUDA_CACHE_PATH", "NEO_CACHE_DIR", USERS_CACHE] {
            let inside = folder.path().join(name);
            fs::create_dir(&inside).unwrap();
            // SAFETY: device tests run one after the other, and no other thread of this process has
            // begun anything yet.
            #[expect(unsafe_code, reason = "drivers take their folders from the environment")]
            unsafe {
                std::env::set_var(name, inside);
                std::env::remove_var("SPARROW_CACHE_DIR");
            }
        }
        folder
    });
    folder.path()
}

/// Multiplies in a context of its own with this cache; whether the program came from the disk.
fn multiply(cache: BinaryCache, algorithm: Algorithm) -> bool {
    let (queue, fixture) = begin(cache);
    let options = options(algorithm, Variant::Full, Accumulate::Plain);
    end(&queue, &fixture, &fixture.plan(&queue, &options).0)
}

/// A context of its own with this cache, and a problem in it.
fn begin(cache: BinaryCache) -> (Queue, Fixture<f32>) {
    empty_caches();
    let queue = Queue::new(&Context::with_cache(&device(), cache).unwrap()).unwrap();
    let fixture = Fixture::new(&queue, 1);
    (queue, fixture)
}

/// Multiplies; whether the program came from the disk.
fn end(queue: &Queue, fixture: &Fixture<f32>, plan: &Plan<f32>) -> bool {
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let mut y = fixture.poisoned_y(queue);
    fixture.launch(queue, (plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
    fixture.check(&y.read_blocking(queue).unwrap(), Accumulate::Plain);
    queue.context().program(plan.key()).unwrap().is_from_cache()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

/// The one entry of an algorithm.
fn entry_of(folder: &Path, algorithm: Algorithm) -> PathBuf {
    let begins = format!("{algorithm}-");
    let is_its = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&begins);
    let found: Vec<_> = entries(folder).into_iter().filter(is_its).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// A folder with the binaries of two algorithms.
struct Filled {
    _folder: TempDir,
    path: PathBuf,
}

impl Filled {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparrow");
        for algorithm in [Algorithm::CsrScalar, Algorithm::CsrVector] {
            assert!(
                !multiply(BinaryCache::Folder(path.clone()), algorithm),
                "an empty cache served"
            );
        }
        Filled { _folder: folder, path }
    }

    fn cache(&self) -> BinaryCache {
        BinaryCache::Folder(self.path.clone())
    }

    /// Spoils the entry of `csr_scalar`; the next context builds and writes it anew, the one after
    /// loads it.
    fn is_rebuilt_after(&self, what: &str, spoil: impl FnOnce(&Path, Vec<u8>)) {
        let entry = entry_of(&self.path, Algorithm::CsrScalar);
        spoil(&entry, fs::read(&entry).unwrap());
        let spoilt = fs::read(&entry).ok();
        assert!(!multiply(self.cache(), Algorithm::CsrScalar), "{what}: it was used");
        let rewritten = fs::read(entry_of(&self.path, Algorithm::CsrScalar)).unwrap();
        assert_ne!(Some(rewritten), spoilt, "{what}: it was not written anew");
        assert!(multiply(self.cache(), Algorithm::CsrScalar), "{what}: the new one is not used");
    }
}

#[test]
fn a_second_context_loads_what_the_first_built() {
    let filled = Filled::new();
    let before = entries(&filled.path);
    for algorithm in [Algorithm::CsrScalar, Algorithm::CsrVector] {
        assert!(multiply(filled.cache(), algorithm), "{algorithm} was built again");
    }
    assert_eq!(entries(&filled.path), before);
}

#[test]
fn a_damaged_entry_is_built_and_written_anew() {
    let filled = Filled::new();
    filled.is_rebuilt_after("a flipped byte at the end", |path, mut bytes| {
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(path, bytes).unwrap();
    });
    filled.is_rebuilt_after("flipped bytes in the middle", |path, mut bytes| {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 8].iter_mut().for_each(|byte| *byte = !*byte);
        fs::write(path, bytes).unwrap();
    });
    // Ends inside the magic line, after it, inside the digest, after it, inside the identity, inside the
    // binary, and one byte before the end.
    for keep in [0, 1, MAGIC.len(), MAGIC.len() + 7, MAGIC.len() + 32, MAGIC.len() + 60] {
        filled.is_rebuilt_after(&format!("cut to {keep} bytes"), |path, bytes| {
            assert!(bytes.starts_with(MAGIC), "the form has changed");
            fs::write(path, &bytes[..keep]).unwrap();
        });
    }
    for (what, parts, kept) in [("half", 2, 1), ("all but a tenth", 10, 9)] {
        filled.is_rebuilt_after(&format!("cut to {what}"), |path, bytes| {
            fs::write(path, &bytes[..bytes.len() * kept / parts]).unwrap();
        });
    }
    filled.is_rebuilt_after("cut by a byte", |path, bytes| {
        fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
    });
    filled.is_rebuilt_after("a byte too many", |path, bytes| {
        fs::write(path, [bytes, vec![0]].concat()).unwrap();
    });
    filled.is_rebuilt_after("gone", |path, _| fs::remove_file(path).unwrap());
}

#[test]
fn a_foreign_entry_is_built_and_written_anew() {
    let filled = Filled::new();
    filled.is_rebuilt_after("not ours at all", |path, _| {
        fs::write(path, b"\x7fELF something else").unwrap();
    });
    filled.is_rebuilt_after("the whole entry of another kernel", |path, _| {
        fs::copy(entry_of(&filled.path, Algorithm::CsrVector), path).unwrap();
    });
    // Whole by its checksum and made for this kernel, but no binary of any driver.
    filled.is_rebuilt_after("a binary that the driver refuses", |path, bytes| {
        let (identity, _) = identity_and_binary(&bytes);
        fs::write(path, entry(identity, b"no binary")).unwrap();
    });
    // Whole, and where this driver's entry would be.
    filled.is_rebuilt_after("an entry of another driver", |path, bytes| {
        let (identity, binary) = identity_and_binary(&bytes);
        let line = identity.iter().rposition(|&byte| byte == b' ').unwrap();
        let other = [&identity[..line + 1], b"another version\n"].concat();
        fs::write(path, entry(&other, binary)).unwrap();
    });
}

/// What a whole entry says it was made for, and the binary. The last line names the driver.
fn identity_and_binary(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (digest, content) = bytes.strip_prefix(MAGIC).unwrap().split_at(32);
    assert_eq!(Sha256::digest(content)[..], *digest, "the form has changed");
    let last_line = b"\ndriver ";
    let driver = content.windows(last_line.len()).position(|part| part == last_line).unwrap();
    let end = content[driver + 1..].iter().position(|&byte| byte == b'\n').unwrap();
    content.split_at(driver + 1 + end + 1)
}

/// A whole entry.
fn entry(identity: &[u8], binary: &[u8]) -> Vec<u8> {
    let content = [identity, binary].concat();
    [MAGIC, &Sha256::digest(&content)[..], &content].concat()
}

#[test]
fn a_failed_build_leaves_no_binary_behind() {
    let options = options(Algorithm::CsrScalar, Variant::Full, Accumulate::Plain);
    for k in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparrow");
        let (queue, fixture) = begin(BinaryCache::Folder(path.clone()));
        let armed = arm(Kind::Build, k);
        Plan::new_blocking(&queue, &fixture.a, &options).unwrap_err();
        assert!(armed.disarm().is_some());
        assert_eq!(entries(&path), Vec::<PathBuf>::new());
        let (plan, _) = fixture.plan(&queue, &options);
        assert!(!end(&queue, &fixture, &plan));
        assert_eq!(entries(&path).len(), 1);
    }
}

#[test]
fn a_binary_that_the_driver_cannot_load_now_is_built_from_source() {
    let filled = Filled::new();
    let options = options(Algorithm::CsrScalar, Variant::Full, Accumulate::Plain);
    let before = live();
    for (k, failed) in [
        (1, Some("clCreateProgramWithBinary")),
        (2, Some("clBuildProgram")),
        // Loaded: nothing else is built.
        (3, None),
    ] {
        let (queue, fixture) = begin(filled.cache());
        let armed = arm(Kind::Build, k);
        let (plan, _) = fixture.plan(&queue, &options);
        assert_eq!(armed.disarm(), failed);
        assert_eq!(end(&queue, &fixture, &plan), failed.is_none());
        drop((plan, fixture, queue));
        assert_eq!(live(), before);
    }
}

/// Names the folder to a process that [`two_processes_at_once_share_a_folder`] starts.
const FOLDER_OF_CHILD: &str = "SPARROW_TEST_CACHE_OF_CHILD";

/// What a child says where the first process has the device to itself.
const NO_DEVICE: &str = "no device for a second process";

#[test]
fn two_processes_at_once_share_a_folder() {
    let algorithms = [Algorithm::CsrScalar, Algorithm::CsrVector];
    if let Some(folder) = std::env::var_os(FOLDER_OF_CHILD) {
        if !is_device_here() {
            println!("{NO_DEVICE}");
            return;
        }
        let folder = PathBuf::from(folder);
        for _ in 0..4 {
            for algorithm in algorithms {
                multiply(BinaryCache::Folder(folder.clone()), algorithm);
            }
            // So that there is something to write again, while the other reads and writes.
            for path in entries(&folder) {
                let _ = fs::remove_file(path);
            }
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparrow");
    let children = [(); 2].map(|()| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "two_processes_at_once_share_a_folder", "--nocapture"]);
        command.env(FOLDER_OF_CHILD, &path).stderr(Stdio::inherit()).stdout(Stdio::piped());
        command.spawn().unwrap()
    });
    for child in children {
        let ended = child.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success() && printed.contains("1 passed"), "{printed}");
        if printed.contains(NO_DEVICE) {
            say("skipped: two processes at once: a second one finds no device here");
            return;
        }
    }
    let cache = || BinaryCache::Folder(path.clone());
    for algorithm in algorithms {
        // What one process removed last, the other may have written after it.
        multiply(cache(), algorithm);
        assert!(multiply(cache(), algorithm), "{algorithm} is not kept");
    }
    assert_eq!(entries(&path).len(), algorithms.len(), "{:?}", entries(&path));
}

#[test]
fn the_users_folder_is_used_but_where_the_implementation_keeps_its_own() {
    let served = [(); 2].map(|()| multiply(BinaryCache::Default, Algorithm::CsrScalar));
    let users = empty_caches().join(USERS_CACHE).join("sparrow");
    let is_pocl = device().traits().platform == "Portable Computing Language";
    assert_eq!(served, [false, !is_pocl]);
    assert_eq!(entries(&users).len(), if is_pocl { 0 } else { 1 });
}

#[test]
fn off_writes_nothing_and_loads_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let before = std::env::current_dir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let served = [(); 2].map(|()| multiply(BinaryCache::Off, Algorithm::CsrScalar));
    std::env::set_current_dir(before).unwrap();
    assert_eq!(served, [false; 2]);
    assert_eq!(entries(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_folder_that_cannot_be_written_costs_builds_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in the way");
    fs::write(&file, "a file where a folder should be").unwrap();
    for _ in 0..2 {
        assert!(!multiply(BinaryCache::Folder(file.join("cache")), Algorithm::CsrScalar));
    }
    assert_eq!(entries(folder.path()), [file]);
}

#[cfg(unix)]
#[test]
fn folder_and_entries_are_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let filled = Filled::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&filled.path), 0o700);
    for entry in entries(&filled.path) {
        assert_eq!(mode(&entry), 0o600, "{}", entry.display());
    }
}
