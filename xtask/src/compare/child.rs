//! Programs that are started, and what they say.

use anyhow::{Context as _, Result, bail};
use std::io::{Read as _, Seek as _};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Other people's libraries may hang on a device that they do not know; the largest matrices take a minute.
const DEADLINE: Duration = Duration::from_secs(600);
/// Between two looks at a child.
const PAUSE: Duration = Duration::from_millis(20);

/// What a command writes to its standard output; if it fails, what it complains of is the error.
///
/// # Errors
/// It does not start, does not end in time (it is then killed), or fails.
pub(super) fn said(command: &mut Command) -> Result<String> {
    said_within(DEADLINE, command)
}

fn said_within(deadline: Duration, command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    // Files, not pipes: nobody reads while we wait.
    let (mut out, mut complaints) = (tempfile::tempfile()?, tempfile::tempfile()?);
    // A backtrace tells users nothing.
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command.stdout(out.try_clone()?).stderr(complaints.try_clone()?);
    let status = wait(deadline, command, &program)?;
    let mut text = String::new();
    if status.success() {
        out.rewind()?;
        out.read_to_string(&mut text).with_context(|| format!("reading what {program} says"))?;
        return Ok(text);
    }
    let mut bytes = Vec::new();
    complaints.rewind()?;
    complaints.read_to_end(&mut bytes)?;
    match strip_error(String::from_utf8_lossy(&bytes).trim()) {
        "" => bail!("{program} ended with {status}"),
        complaint => bail!("{complaint}"),
    }
}

fn wait(deadline: Duration, command: &mut Command, program: &str) -> Result<ExitStatus> {
    let mut child = command.spawn().with_context(|| format!("starting {program}"))?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > deadline {
            child.kill().ok();
            child.wait()?;
            bail!("{program} did not end within {:.0} s", deadline.as_secs_f64());
        }
        std::thread::sleep(PAUSE);
    }
}

/// Without the word that programs begin a complaint with.
fn strip_error(complaint: &str) -> &str {
    let stripped = complaint.strip_prefix("error: ").or_else(|| complaint.strip_prefix("Error: "));
    stripped.unwrap_or(complaint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_gives_its_complaint() {
        let complain = |script: &str| {
            let error = said(Command::new("sh").args(["-c", script])).unwrap_err();
            error.to_string()
        };
        assert_eq!(complain("echo 'Error: no such device' >&2; exit 1"), "no such device");
        assert!(complain("exit 3").contains("exit status: 3"));
        assert_eq!(said(Command::new("echo").arg("{}")).unwrap(), "{}\n");
    }

    #[test]
    fn a_program_that_hangs_is_ended_and_one_that_says_much_is_not() {
        let deadline = Duration::from_millis(50);
        let error = said_within(deadline, Command::new("sleep").arg("60")).unwrap_err();
        assert!(error.to_string().contains("did not end"), "{error}");
        let much = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done";
        assert_eq!(said(Command::new("sh").args(["-c", much])).unwrap().len(), 220_000);
    }
}
