//! Runs compilers that are programs of their own.

use anyhow::{Context as _, Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a compiler and returns what it prints; `libraries` is where its own lie.
///
/// # Errors
/// It does not start, or what it says when it fails.
pub(super) fn run(command: &mut Command, libraries: Option<&Path>) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    if let Some(libraries) = libraries {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("starting {program}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        // clang explains on standard error, while half a file may be on the other; ocloc the other way.
        let said = String::from_utf8_lossy(&output.stderr);
        let said = if said.trim().is_empty() { printed.as_str() } else { &said };
        let lines: Vec<_> = said.trim().lines().take(20).collect();
        bail!("{program} ended with {}: {}", output.status, lines.join("\n"));
    }
    Ok(printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(script: &str) -> String {
        run(Command::new("sh").args(["-c", script]), None).unwrap_err().to_string()
    }

    #[test]
    fn a_failure_says_what_the_compiler_said_wherever_it_said_it() {
        assert!(
            message("echo assembly; echo 'a.cl:1: error' >&2; exit 1").ends_with(": a.cl:1: error")
        );
        assert!(message("echo 'a.cl:2: error'; exit 1").ends_with(": a.cl:2: error"));
        let printed = run(Command::new("sh").args(["-c", "echo fine; echo note >&2"]), None);
        assert_eq!(printed.unwrap(), "fine\n");
    }
}
