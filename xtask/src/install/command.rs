//! The command under a prefix, with what shells and `man` read: it writes these itself.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use xshell::{Shell, cmd};

/// Each shell that the command knows, and where it looks for completions below a prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/sparrow"),
    ("fish", "share/fish/vendor_completions.d/sparrow.fish"),
    ("zsh", "share/zsh/site-functions/_sparrow"),
];

/// Puts the program `built`, its completions and its manual pages under `prefix`.
///
/// # Errors
/// A folder that cannot be written, or a program that does not run.
pub(super) fn put(built: &Path, prefix: &Path) -> Result<()> {
    let bin = prefix.join("bin");
    fs::create_dir_all(&bin).with_context(|| bin.display().to_string())?;
    let program = bin.join("sparrow");
    super::put_binary(built, &program, Some("--strip-all"))?;
    write_pages(&program, prefix)
}

/// What `program` writes.
fn write_pages(program: &Path, prefix: &Path) -> Result<()> {
    let sh = Shell::new()?;
    for (shell, path) in COMPLETIONS {
        let script = cmd!(sh, "{program} completions {shell}").quiet().read()?;
        super::write(&prefix.join(path), &format!("{script}\n"))?;
    }
    let folder = prefix.join("share/man/man1");
    cmd!(sh, "{program} man --folder {folder}").quiet().run()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn each_shell_finds_what_the_installed_command_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let built = folder.path().join("built");
        fs::write(&built, "#!/bin/sh\n[ \"$1\" = man ] && mkdir -p \"$3\"\necho \"$1 $2\"\n")
            .unwrap();
        fs::set_permissions(&built, fs::Permissions::from_mode(0o755)).unwrap();
        let prefix = folder.path().join("prefix");
        write_pages(&built, &prefix).unwrap();
        for (shell, path) in COMPLETIONS {
            let text = fs::read_to_string(prefix.join(path)).unwrap();
            assert_eq!(text, format!("completions {shell}\n"));
        }
        assert!(prefix.join("share/man/man1").is_dir());
    }
}
