//! What the first call of each kind costs a fresh process: wall time, processor time, and the programs that it builds.
//!
//! `cargo bench -p conformance --bench first_calls -- [--runs N] [--programs] [--matrix CLASS@SCALE] [NAME]...`
//!
//! Each call runs in a process of its own, first with empty caches (cold: OpenCL's own and ours), then again with what that
//! left there (warm). Processor time is the process's, children included (PoCL links kernels by a child), from its start to
//! its end: opening OpenCL is in it, and the first two lines say what OpenCL itself takes. Of `--runs` (1) the least is
//! printed. `--programs` lists what was built, with its milliseconds. The matrix is a small stencil, or that of `--matrix`,
//! which each process generates.

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
#[derive(Clone, Debug)]
struct Taken {
    /// NaN where the system does not say.
    cpu_seconds: f64,
    wall_ms: f64,
    /// From when the operands were on the device.
    call_ms: f64,
    /// A line each.
    built: String,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut names, mut runs, mut lists, mut matrix) = (Vec::new(), 1, false, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            ONE => return one(&arguments.next().unwrap_or_default(), matrix.as_deref()),
            "--matrix" => matrix = arguments.next(),
            "--runs" => match arguments.next().and_then(|text| text.parse().ok()) {
                Some(count @ 1..) => runs = count,
                _ => {
                    eprintln!("--runs takes a number from 1 on");
                    return ExitCode::from(2);
                }
            },
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
    let mut all_succeeded = true;
    let is_asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
    for call in CALLS.iter().filter(|call| is_asked(call.name)) {
        match measured(call.name, matrix.as_deref(), runs) {
            Ok([cold, warm]) => {
                println!("{:22} {}  {}", call.name, cold.line(), warm.line());
                if lists {
                    print!("{}", cold.built);
                }
            }
            Err(error) => {
                println!("{:22} FAILED: {error}", call.name);
                all_succeeded = false;
            }
        }
    }
    if all_succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Cold and warm, the least of so many runs each; or what a process said that failed.
fn measured(name: &str, matrix: Option<&str>, runs: usize) -> Result<[Taken; 2], String> {
    let mut least: Option<[Taken; 2]> = None;
    for _ in 0..runs {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let run = || child(name, matrix, folder.path());
        let new = [run()?, run()?];
        least = Some(match least {
            None => new,
            Some([cold, warm]) => {
                let [new_cold, new_warm] = new;
                [cold.least(new_cold), warm.least(new_warm)]
            }
        });
    }
    least.ok_or_else(|| "it did not run".to_owned())
}

/// Makes the call in a process that has its caches below `folder`.
fn child(name: &str, matrix: Option<&str>, folder: &Path) -> Result<Taken, String> {
    let mut command = Command::new(std::env::current_exe().expect("this program's path"));
    let matrix = matrix.iter().flat_map(|matrix| ["--matrix", matrix]);
    command.args(matrix).args([ONE, name]).env_remove("SPARROW_CACHE_DIR");
    for cache in CACHES {
        let inside = folder.join(cache);
        fs::create_dir_all(&inside).expect("a folder for a cache");
        command.env(cache, inside);
    }
    let (before, start) = (children_seconds(), Instant::now());
    let output = command.output().expect("a process");
    let wall_ms = start.elapsed().as_secs_f64() * 1e3;
    let cpu_seconds = children_seconds() - before;
    match found(&output) {
        Some((call_ms, built)) => Ok(Taken { cpu_seconds, wall_ms, call_ms, built }),
        None => Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// What a child printed: milliseconds of the call, then its programs.
fn found(output: &Output) -> Option<(f64, String)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let (first, built) = text.split_once('\n').filter(|_| output.status.success())?;
    Some((first.parse().ok()?, built.to_owned()))
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

/// Seconds of processor time of the children that have ended, and of theirs; NaN where the system does not say.
fn children_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program comes before, in brackets; the fields of children are the 16th and the 17th.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: Vec<f64> = fields.skip(13).take(2).filter_map(|field| field.parse().ok()).collect();
    match ticks[..] {
        [user, system] => (user + system) / rustix::param::clock_ticks_per_second() as f64,
        _ => f64::NAN,
    }
}

impl Taken {
    /// The least of two runs, which built the same.
    fn least(self, other: Taken) -> Taken {
        Taken {
            cpu_seconds: self.cpu_seconds.min(other.cpu_seconds),
            wall_ms: self.wall_ms.min(other.wall_ms),
            call_ms: self.call_ms.min(other.call_ms),
            built: self.built,
        }
    }

    fn line(&self) -> String {
        let Taken { cpu_seconds, wall_ms, call_ms, built } = self;
        let programs = built.lines().count();
        format!("{cpu_seconds:6.2} {wall_ms:8.0} {call_ms:8.1} {programs:>9}")
    }
}
