//! What the first call of each kind costs a fresh process: wall time, processor time, and the programs that it builds.
//!
//! `cargo bench -p conformance --bench first_calls [-- [--runs N] [--programs] [--matrix CLASS@SCALE] NAME...]`. Each call runs in a process of
//! its own, first with empty caches (cold: OpenCL's own and ours), then again with what that left there (warm). Processor
//! time is the process's, children included (PoCL links kernels by a child), from its start to its end: opening OpenCL is
//! in it, and the first two lines say what OpenCL itself takes. Of `--runs` (1) the least is printed. `--programs` lists
//! what was built, with its milliseconds. The matrix is a small stencil, or that of `--matrix`, which each process generates.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench shows its result")]
#![expect(clippy::expect_used, reason = "a bench without a device has nothing to say")]

mod builds;
mod c_calls;
mod calls;
mod problem;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::time::Instant;

use calls::CALLS;

/// Where drivers and Sparrow keep what they have built. `SPARROW_CACHE_DIR` stays as it is without this bench, unset:
/// naming a folder changes what is kept on PoCL.
const CACHES: [&str; 5] =
    ["POCL_CACHE_DIR", "CUDA_CACHE_PATH", "NEO_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"];

/// Names the call to a child.
const ONE: &str = "--one";

/// What a process took.
#[derive(Clone, Debug, Default)]
struct Taken {
    cpu_seconds: f64,
    wall_ms: f64,
    /// From when the operands were on the device.
    call_ms: f64,
    programs: usize,
    built: String,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut names, mut runs, mut lists, mut matrix) = (Vec::new(), 1, false, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            ONE => return one(&arguments.next().unwrap_or_default(), matrix.as_deref()),
            "--matrix" => matrix = arguments.next(),
            "--runs" => {
                runs = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1).max(1)
            }
            "--programs" => lists = true,
            _ => names.push(argument),
        }
    }
    if let Some(unknown) = names.iter().find(|name| CALLS.iter().all(|call| call.name != **name)) {
        let known: Vec<_> = CALLS.iter().map(|call| call.name).collect();
        eprintln!("no call {unknown:?}; there are {}", known.join(", "));
        return ExitCode::from(2);
    }
    if let Some(text) = &matrix
        && let Err(error) = problem::take(text)
    {
        eprintln!("{error}");
        return ExitCode::from(2);
    }
    println!("{:22} {:^34}  {:^34}", "", "cold", "warm");
    let head = format!("{:>6} {:>8} {:>8} {:>9}", "CPU s", "wall ms", "call ms", "programs");
    println!("{:22} {head}  {head}", "first call");
    for call in CALLS.iter().filter(|call| names.is_empty() || names.iter().any(|n| n == call.name))
    {
        let [cold, warm] = measured(call.name, matrix.as_deref(), runs);
        println!("{:22} {}  {}", call.name, cold.line(), warm.line());
        if lists {
            print!("{}", cold.built);
        }
    }
    ExitCode::SUCCESS
}

/// Cold and warm, the least of so many runs each.
fn measured(name: &str, matrix: Option<&str>, runs: usize) -> [Taken; 2] {
    let mut least = [Taken::default(), Taken::default()];
    for run in 0..runs {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for taken in &mut least {
            let new = child(name, matrix, folder.path());
            if run == 0 {
                *taken = new;
            } else {
                taken.cpu_seconds = taken.cpu_seconds.min(new.cpu_seconds);
                taken.wall_ms = taken.wall_ms.min(new.wall_ms);
                taken.call_ms = taken.call_ms.min(new.call_ms);
            }
        }
    }
    least
}

/// Makes the call in a process that has its caches below `folder`.
fn child(name: &str, matrix: Option<&str>, folder: &Path) -> Taken {
    let mut command = Command::new(std::env::current_exe().expect("this program's path"));
    command
        .args(matrix.iter().flat_map(|matrix| ["--matrix", matrix]))
        .args([ONE, name])
        .env_remove("SPARROW_CACHE_DIR");
    for cache in CACHES {
        let inside = folder.join(cache);
        fs::create_dir_all(&inside).expect("a folder for a cache");
        command.env(cache, inside);
    }
    let (before, start) = (children_seconds(), Instant::now());
    let output = command.output().expect("a process");
    let (wall_ms, cpu_seconds) = (start.elapsed().as_secs_f64() * 1e3, children_seconds() - before);
    let found = found(&output).unwrap_or_else(|| {
        eprintln!("{name}: {}{}", output.status, String::from_utf8_lossy(&output.stderr));
        Taken::default()
    });
    Taken { cpu_seconds, wall_ms, ..found }
}

/// What a child printed: milliseconds of the call, then its programs.
fn found(output: &Output) -> Option<Taken> {
    let text = String::from_utf8_lossy(&output.stdout);
    let (first, built) = text.split_once('\n').filter(|_| output.status.success())?;
    let call_ms = first.parse().ok()?;
    Some(Taken {
        call_ms,
        programs: built.lines().count(),
        built: built.to_owned(),
        ..Taken::default()
    })
}

/// The child's part.
fn one(name: &str, matrix: Option<&str>) -> ExitCode {
    if matrix.is_some_and(|text| problem::take(text).is_err()) {
        return ExitCode::from(2);
    }
    let builds = builds::watch();
    match CALLS.iter().find(|call| call.name == name) {
        Some(call) => {
            let ms = (call.run)();
            println!("{ms}");
            print!("{}", builds.lines());
            ExitCode::SUCCESS
        }
        None => ExitCode::from(2),
    }
}

/// Seconds of processor time of the children that have ended, and of theirs.
fn children_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program comes before, in brackets; the fields of children are the 16th and the 17th.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: f64 = fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

impl Taken {
    fn line(&self) -> String {
        let Taken { cpu_seconds, wall_ms, call_ms, programs, .. } = self;
        format!("{cpu_seconds:6.2} {wall_ms:8.0} {call_ms:8.1} {programs:>9}")
    }
}
