//! The command's file, for tests that run it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

/// The command's file: what `SPARROW_TEST_COMMAND` names. Without it, the command is built here, into the folder above
/// this test's: cargo names it only to tests of its own package.
fn binary() -> &'static PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(built) = std::env::var_os("SPARROW_TEST_COMMAND") {
            return PathBuf::from(built);
        }
        let build = ["build", "--locked", "--quiet", "--workspace", "--bin", "sparrow"];
        let status = Command::new(env!("CARGO")).args(build).status();
        assert!(status.is_ok_and(|status| status.success()), "the command does not build");
        let folder = std::env::current_exe().unwrap_or_default();
        let folder = folder.ancestors().nth(2).unwrap_or(Path::new("."));
        folder.join(format!("sparrow{}", std::env::consts::EXE_SUFFIX))
    })
}

/// The command, run in `folder`, where its user's data, settings and caches are too.
pub(crate) fn sparrow(folder: &Path) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(folder).env_remove("SPARROW_DEVICE").env_remove("SPARROW_TABLE");
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        command.env(name, folder.join(name));
    }
    command
}

/// The settings of benches that may share them: rates of memory that one has measured are the next one's.
#[expect(clippy::unwrap_used, reason = "support code of tests")]
pub(crate) fn settings() -> &'static Path {
    static SETTINGS: OnceLock<TempDir> = OnceLock::new();
    SETTINGS.get_or_init(|| tempfile::tempdir().unwrap()).path()
}
