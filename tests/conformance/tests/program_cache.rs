//! Kernel binaries on disk save a build and are never trusted: what is damaged is built and written anew.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use conformance::{Fixture, device, options};
use sha2::{Digest, Sha256};
use sparrow::{Accumulate, Algorithm, BinaryCache, Context, Plan, Queue, Variant};
use tempfile::TempDir;

/// Before the process's first call to OpenCL: the driver's own caches are empty folders too, so that a
/// build is a build.
fn empty_driver_caches() {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        for name in ["POCL_CACHE_DIR", "CUDA_CACHE_PATH", "NEO_CACHE_DIR"] {
            let inside = folder.path().join(name);
            fs::create_dir(&inside).unwrap();
            // SAFETY: device tests run one after the other, and no other thread of this process has
            // begun anything yet.
            #[expect(unsafe_code, reason = "drivers take their folders from the environment")]
            unsafe {
                std::env::set_var(name, inside);
            }
        }
        folder
    });
}

/// Multiplies in a context of its own with this cache; whether the program came from the disk.
fn multiply(cache: BinaryCache, algorithm: Algorithm) -> bool {
    empty_driver_caches();
    let context = Context::with_cache(&device(), cache).unwrap();
    let queue = Queue::new(&context).unwrap();
    let fixture = Fixture::<f32>::new(&queue, 1);
    let options = options(algorithm, Variant::Full, Accumulate::Plain);
    let (plan, mut workspace): (Plan<f32>, _) = fixture.plan(&queue, &options);
    let mut y = fixture.poisoned_y(&queue);
    fixture.launch(&queue, (&plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
    fixture.check(&y.read_blocking(&queue).unwrap(), Accumulate::Plain);
    context.program(plan.key()).unwrap().is_from_cache()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
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
    filled.is_rebuilt_after("cut short", |path, bytes| {
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    });
    filled.is_rebuilt_after("empty", |path, _| fs::write(path, []).unwrap());
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
        let magic = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let content = &bytes[magic + 32..];
        assert_eq!(Sha256::digest(content)[..], bytes[magic..magic + 32], "the form has changed");
        let last_line = b"\ndriver ";
        let driver = content.windows(last_line.len()).position(|part| part == last_line).unwrap();
        let end = content[driver + 1..].iter().position(|&byte| byte == b'\n').unwrap();
        let forged = [&content[..driver + 1 + end + 1], b"no binary"].concat();
        let forged = [&bytes[..magic], &Sha256::digest(&forged)[..], &forged].concat();
        fs::write(path, forged).unwrap();
    });
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
