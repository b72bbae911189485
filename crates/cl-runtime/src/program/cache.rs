//! Kernel binaries on disk: one file a kernel, device and driver.
//!
//! A file holds a magic line, the SHA-256 of the rest, the identity it was built for as text, and the
//! binary. Its name is the SHA-256 of that identity. Anything that does not agree is ignored and
//! written anew: the cache saves time and is never trusted. The folder is the user's alone (0700).
//! Failing to write is no failure of the caller's: it is traced, and the next start builds again.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use cl_kernels::{DeviceTraits, KernelKey};
use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"sparrow-binary/1\n";
const DIGEST_BYTES: usize = 32;

/// Where kernel binaries are kept between runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BinaryCache {
    /// Where the environment says: in the folder `SPARROW_CACHE_DIR`, nowhere if that is `off`, and without it
    /// in `$XDG_CACHE_HOME/sparrow`, but nowhere on PoCL: it keeps its own, and compiles each kernel once more
    /// to hand a binary out.
    #[default]
    Default,
    /// Nowhere.
    Off,
    /// In this folder, made when first needed.
    Folder(PathBuf),
}

impl BinaryCache {
    /// The folder for `device`'s binaries, if any are kept.
    fn folder(&self, device: &DeviceTraits) -> Option<PathBuf> {
        use etcetera::BaseStrategy;
        match self {
            BinaryCache::Off => None,
            BinaryCache::Folder(folder) => Some(folder.clone()),
            BinaryCache::Default => match std::env::var_os("SPARROW_CACHE_DIR") {
                Some(value) if value == "off" => None,
                Some(value) if !value.is_empty() => Some(value.into()),
                _ if device.keeps_its_own_binaries() => None,
                _ => Some(etcetera::base_strategy::Xdg::new().ok()?.cache_dir().join("sparrow")),
            },
        }
    }

    pub(crate) fn entry(
        &self,
        device: &DeviceTraits,
        key: &KernelKey,
        source: &str,
        options: &str,
    ) -> Option<Entry> {
        let folder = self.folder(device)?;
        let source_digest = hex(&Sha256::digest(source.as_bytes()));
        let identity = format!(
            "kernel {key}\noptions {options}\nsource {source_digest}\ndevice {}\nplatform {}\n\
             version {}\ndriver {}\n",
            device.name, device.platform, device.version, device.driver
        );
        let name = format!("{}-{}.bin", key.algorithm, hex(&Sha256::digest(identity.as_bytes())));
        Some(Entry { path: folder.join(name), identity })
    }
}

/// One file of the cache.
#[derive(Debug)]
pub(crate) struct Entry {
    path: PathBuf,
    identity: String,
}

impl Entry {
    /// The binary, if the file is there, whole, and made for exactly this.
    pub(crate) fn load(&self) -> Option<Vec<u8>> {
        let bytes = fs::read(&self.path).ok()?;
        let binary = self.parse(&bytes);
        if binary.is_none() {
            tracing::warn!(path = %self.path.display(), "damaged cache entry; rebuilding");
        }
        binary.map(<[u8]>::to_vec)
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (digest, content) = rest.split_at_checked(DIGEST_BYTES)?;
        if Sha256::digest(content)[..] != *digest {
            return None;
        }
        content.strip_prefix(self.identity.as_bytes())
    }

    /// Writes the binary by rename, so that no reader ever sees half of it.
    pub(crate) fn store(&self, binary: &[u8]) {
        if let Err(error) = self.try_store(binary) {
            tracing::warn!(path = %self.path.display(), %error, "cannot keep a kernel binary");
        }
    }

    fn try_store(&self, binary: &[u8]) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        create_private(folder)?;
        let content = [self.identity.as_bytes(), binary].concat();
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(&content))?;
        file.write_all(&content)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(folder: &Path, driver: &str) -> Entry {
        let identity = format!("kernel k\ndriver {driver}\n");
        Entry { path: folder.join("sparrow").join("k.bin"), identity }
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        entry(folder.path(), "1").store(b"binary");
        assert_eq!(entry(folder.path(), "1").load().unwrap(), b"binary");
    }

    #[test]
    fn a_binary_of_another_driver_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        entry(folder.path(), "1").store(b"binary");
        assert_eq!(entry(folder.path(), "2").load(), None);
    }

    #[test]
    fn every_damaged_byte_and_every_cut_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let entry = entry(folder.path(), "1");
        entry.store(b"binary");
        let whole = fs::read(&entry.path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&entry.path, &damaged).unwrap();
            assert_eq!(entry.load(), None, "byte {at} damaged");
            fs::write(&entry.path, &whole[..at]).unwrap();
            assert_eq!(entry.load(), None, "cut to {at} bytes");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        entry(folder.path(), "1").store(b"binary");
        let mode = fs::metadata(folder.path().join("sparrow")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
