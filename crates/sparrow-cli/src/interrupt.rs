//! What happens when the command is interrupted: by Ctrl-C (INT), TERM or HUP.
//!
//! The command ends at once, with status 128 and the signal's number. Before, what a long run has found is reported
//! ([`Findings`]), and files that are not whole yet are removed. A command that ends itself in an orderly way says so
//! ([`end_myself`]) and is ended by the second signal.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a report may take. It may wait for a pipe that is not read.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long a file may take to get its name.
const FILES: Duration = Duration::from_secs(5);

type LastWords = Box<dyn FnOnce(u8) + Send>;

static REPORT: Mutex<Option<LastWords>> = Mutex::new(None);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static ENDS_ITSELF: AtomicBool = AtomicBool::new(false);
/// The first signal; 0 before there is one.
static SIGNAL: AtomicU8 = AtomicU8::new(0);

/// Files to be removed, where an interrupt comes before they are whole. While it is held, none comes.
pub(crate) fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    lock(&UNFINISHED)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves what is kept here as it was.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on the command looks at [`signal`] and ends itself.
pub(crate) fn end_myself() {
    ENDS_ITSELF.store(true, Ordering::Relaxed);
}

/// From now on a signal ends the command at once, as at first.
pub(crate) fn end_at_once() {
    ENDS_ITSELF.store(false, Ordering::Relaxed);
}

/// The signal that has interrupted.
pub(crate) fn signal() -> Option<u8> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// As [`signal`], of one too that has reached the process and not its thread for signals yet: for what has failed, perhaps
/// since there was a signal. Compilers of drivers remove their files then, and fail.
pub(crate) fn signal_soon() -> Option<u8> {
    /// Far more than a thread takes to wake, and nothing compared with what follows a failure.
    const WAITS: u32 = 20;
    (0..WAITS).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        signal()
    })
}

/// What a long run has found so far, reported where an interrupt ends it.
pub(crate) struct Findings<T>(Arc<Mutex<Kept<T>>>);

struct Kept<T> {
    found: T,
    is_reported: bool,
}

impl<T: Send + 'static> Findings<T> {
    /// `report` is what is done at an interrupt.
    pub(crate) fn keep(found: T, report: fn(&mut T)) -> Self {
        let kept = Arc::new(Mutex::new(Kept { found, is_reported: false }));
        let shared = Arc::clone(&kept);
        *lock(&REPORT) = Some(Box::new(move |signal| {
            // Held until the process has ended, so that nothing is reported twice.
            let mut kept = lock(&shared);
            if !kept.is_reported {
                report(&mut kept.found);
            }
            end(signal)
        }));
        Findings(kept)
    }

    /// Looks at it or adds to it.
    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut lock(&self.0).found)
    }

    /// Reports it at the end of the run.
    pub(crate) fn finish<R>(self, report: impl FnOnce(&mut T) -> R) -> R {
        let mut kept = lock(&self.0);
        kept.is_reported = true;
        report(&mut kept.found)
    }
}

/// Takes the signals. Hanging up is left ignored where it is, as by `nohup`.
#[cfg(unix)]
pub(crate) fn listen() -> std::io::Result<()> {
    let signals = signals().filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP));
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            interrupted(signal as u8);
        }
    })?;
    Ok(())
}

/// Lets signals pass: the process that has started this one is told, and ends it.
#[cfg(unix)]
pub(crate) fn ignore() -> std::io::Result<()> {
    for signal in signals() {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn listen() -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn ignore() -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

#[cfg(unix)]
fn signals() -> impl Iterator<Item = i32> {
    [SIGINT, SIGTERM, SIGHUP].into_iter()
}

/// Whether a signal was ignored when the process began, where the system says so.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(unix)]
fn interrupted(signal: u8) {
    let is_first = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if !is_first {
        end(signal);
    }
    if ENDS_ITSELF.load(Ordering::Relaxed) {
        return;
    }
    let Some(report) = lock(&REPORT).take() else { end(signal) };
    // On threads of their own: a second signal, or the time, ends the process before.
    std::thread::spawn(move || report(signal));
    std::thread::spawn(move || {
        std::thread::sleep(LAST_WORDS);
        end(signal)
    });
}

/// Ends the process, and leaves no file that is not whole.
fn end(signal: u8) -> ! {
    let start = Instant::now();
    loop {
        if let Ok(unfinished) = UNFINISHED.try_lock() {
            for path in unfinished.iter() {
                // It may have got its name, or have been removed.
                let _ = std::fs::remove_file(path);
            }
            exit(signal)
        }
        if start.elapsed() > FILES {
            exit(signal)
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Without what a driver does at an ordinary end, which may wait for a kernel.
fn exit(signal: u8) -> ! {
    let status = 128 + i32::from(signal);
    #[cfg(unix)]
    signal_hook::low_level::exit(status);
    #[cfg(not(unix))]
    std::process::exit(status);
}
