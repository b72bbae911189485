//! Runs a program and ends it when it hangs.
//!
//! How long a program takes says nothing on a machine that others use too. What it prints is its progress, a line a
//! test. It hangs if it prints nothing while it uses more processor time than any single test should (a kernel that
//! spins), or if it prints nothing for long and uses next to no processor time (a wait that nothing ends).

use super::cpu;
use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a program may take between one output and the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Processor time of the program and its children.
    cpu: Duration,
    /// Time in which it uses less than a hundredth of a processor.
    idle: Duration,
}

impl Patience {
    /// For tests; longer for whole products.
    pub(super) const fn new(full: bool) -> Self {
        let minutes = if full { 240 } else { 20 };
        Patience { cpu: Duration::from_secs(minutes * 60), idle: Duration::from_secs(20 * 60) }
    }
}

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ran {
    /// Why it was ended, if it did not end by itself.
    pub(super) status: Result<ExitStatus, String>,
    /// Both outputs, as they came.
    pub(super) output: String,
    /// Processor time, children included.
    pub(super) cpu: Duration,
    pub(super) took: Duration,
}

impl Ran {
    pub(super) fn is_success(&self) -> bool {
        self.status.as_ref().is_ok_and(ExitStatus::success)
    }

    /// For people: how it ended, if not well.
    pub(super) fn ending(&self) -> String {
        match &self.status {
            Ok(status) => format!("ended with {status}"),
            Err(reason) => reason.clone(),
        }
    }
}

/// How often the program is looked at, and how often its processor time is summed.
const LOOK: Duration = Duration::from_millis(20);
const SUM: Duration = Duration::from_secs(2);

/// Runs it in a process group of its own.
///
/// # Errors
/// It does not start, or there is no temporary file.
pub(super) fn run(command: &mut Command, patience: Patience) -> Result<Ran> {
    let folder = tempfile::tempdir().context("a temporary directory")?;
    let log = folder.path().join("output");
    let file = File::create(&log)?;
    let program = command.get_program().to_string_lossy().into_owned();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {program}"))?;
    let (reason, seen) = wait(&child, &log, patience)?;
    // What it had not waited for when it was ended is in the sum alone.
    let cpu = cpu::of_process(&child.id().to_string()).max(seen);
    let status = child.wait()?;
    let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let status = reason.map_or(Ok(status), Err);
    Ok(Ran { status, output, cpu, took: start.elapsed() })
}

/// Ends when the child has, which is then still to be waited for; why it was ended, if it was, and the processor time
/// that was seen last.
fn wait(child: &Child, log: &Path, patience: Patience) -> Result<(Option<String>, Duration)> {
    let pid = Pid::from_child(child);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let mut progress = Progress::begin();
    let mut summed = Instant::now();
    while waitid(WaitId::Pid(pid), options)?.is_none() {
        std::thread::sleep(LOOK);
        if summed.elapsed() < SUM.min(patience.idle) {
            continue;
        }
        summed = Instant::now();
        let length = fs::metadata(log).map_or(0, |metadata| metadata.len());
        let reason = progress.look(length, cpu::of_group(child.id()), summed, patience);
        if reason.is_some() {
            kill_process_group(pid, Signal::KILL)?;
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
            return Ok((reason, progress.seen));
        }
    }
    Ok((None, progress.seen))
}

/// What was seen when the program last printed something.
struct Progress {
    printed: u64,
    cpu: Duration,
    at: Instant,
    /// When it was last seen to use a processor, and what it had used.
    busy: (Duration, Instant),
    /// What it had used at the last look.
    seen: Duration,
}

impl Progress {
    fn begin() -> Self {
        let now = Instant::now();
        Progress {
            printed: 0,
            cpu: Duration::ZERO,
            at: now,
            busy: (Duration::ZERO, now),
            seen: Duration::ZERO,
        }
    }

    /// Why the program hangs, if it does.
    fn look(
        &mut self,
        printed: u64,
        cpu: Duration,
        now: Instant,
        patience: Patience,
    ) -> Option<String> {
        self.seen = cpu;
        // A child that nobody waited for takes its time with it.
        let is_less = cpu < self.busy.0;
        if printed != self.printed || is_less {
            *self = Progress { printed, cpu, at: now, busy: (cpu, now), seen: cpu };
            return None;
        }
        let used = cpu - self.cpu;
        if used > patience.cpu {
            let seconds = used.as_secs_f64();
            return Some(format!("hangs: it printed nothing in {seconds:.0} s of processor time"));
        }
        let idle = now - self.busy.1;
        if cpu > self.busy.0 + idle / 100 {
            self.busy = (cpu, now);
        } else if idle > patience.idle {
            let seconds = (now - self.at).as_secs_f64();
            return Some(format!("hangs: it printed nothing in {seconds:.0} s and did nothing"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str, patience: Patience) -> Ran {
        run(Command::new("sh").args(["-c", text]), patience).unwrap()
    }

    const SOON: Patience =
        Patience { cpu: Duration::from_secs(3600), idle: Duration::from_millis(500) };

    #[test]
    fn what_ends_by_itself_has_a_status_and_an_output() {
        let ran = script("echo out; echo err >&2; exit 3", Patience::new(false));
        assert_eq!(ran.output, "out\nerr\n");
        assert_eq!(ran.status.as_ref().unwrap().code(), Some(3));
        assert_eq!(ran.ending(), "ended with exit status: 3");
    }

    #[test]
    fn what_waits_for_nothing_is_ended_with_its_children() {
        let ran = script("echo begun; sleep 600 & sleep 600", SOON);
        assert_eq!(ran.output, "begun\n");
        assert!(ran.ending().contains("did nothing"), "{ran:?}");
        assert!(ran.took < Duration::from_secs(300));
    }

    #[test]
    fn what_spins_silently_is_ended_by_its_processor_time() {
        let patience = Patience { cpu: Duration::from_millis(300), ..SOON };
        let ran = script("sh -c 'while :; do :; done'", patience);
        assert!(ran.ending().contains("processor time"), "{ran:?}");
        assert!(ran.cpu > Duration::from_millis(200), "{ran:?}");
    }

    #[test]
    fn whoever_prints_or_works_is_left_alone() {
        let patience = Patience { cpu: Duration::from_secs(10), idle: Duration::from_secs(60) };
        let mut progress = Progress::begin();
        let begin = progress.at;
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let used = Duration::from_secs;
        assert_eq!(progress.look(1, used(9), at(100), patience), None);
        // On a busy machine it gets little, but it gets some.
        assert_eq!(progress.look(1, used(11), at(200), patience), None);
        assert_eq!(progress.look(1, used(14), at(400), patience), None);
        assert_eq!(progress.look(2, used(18), at(410), patience), None);
        assert_eq!(progress.look(3, used(28), at(411), patience), None);
        assert!(progress.look(3, used(39), at(420), patience).is_some());
    }
}
