//! The command line. Spellings are a contract: scripts depend on them.

mod bench;
mod examples;
mod numbers;
mod old_spelling;
mod solve;
mod tune;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use sparrow::{Accumulate, Algorithm, ParameterList, Reordering, Reuse, ValueType, Variant};

pub(crate) use bench::{
    Algorithms, BatchKind, Bench, BenchBatch, BenchConvert, BenchFigure, BenchHetero,
    BenchOperation, BenchSpgemm, BenchSpmm, BenchSpmv, BenchVector, Matrices, Sweep, sweeps,
};
use examples::{
    BENCH_EXAMPLES, COMPLETIONS_EXAMPLES, DEVICES_EXAMPLES, EXAMPLES, GEN_EXAMPLES, INFO_EXAMPLES,
    MAN_EXAMPLES, SELFTEST_EXAMPLES, SOLVE_EXAMPLES, SPMV_EXAMPLES, TUNE_EXAMPLES,
};
pub(crate) use numbers::{count, finite, from_zero, positive, whole};
pub(crate) use old_spelling::translate;
pub(crate) use solve::Solve;
pub(crate) use tune::{JudgeArguments, Merge, Tune, TuneCommand};

/// Sparse matrix products and solvers on any OpenCL device: what a device can do with a matrix of yours, how fast it is,
/// and that every result is right
#[derive(Debug, Parser)]
#[command(name = "sparrow", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Over what every command takes.
const EVERY: &str = "Options of every command";

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Where to run: part of a device's or platform's name, PLATFORM:INDEX as `sparrow devices` lists them, `host` (the
    /// host's cores, without OpenCL) or `all`; the best device found, or what SPARROW_DEVICE names, if left out
    #[arg(long, global = true, value_name = "TEXT", help_heading = EVERY)]
    pub(crate) device: Option<String>,
    /// Also write results as JSON, one object a line; to `-`, as for every output, is to standard output, and words go to
    /// standard error then
    #[arg(long, global = true, value_name = "FILE", help_heading = EVERY)]
    pub(crate) json: Option<PathBuf>,
    /// Say only what went wrong, was left out, or is not as it was asked for
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = EVERY)]
    pub(crate) quiet: bool,
    /// Trace on standard error what the library does, as SPARROW_LOG=debug
    #[arg(short, long, global = true, help_heading = EVERY)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Which devices are here, what they can do, and with --table, what tuning is known of them
    #[command(after_help = DEVICES_EXAMPLES)]
    Devices(Devices),
    /// Shape and row lengths of a matrix, and which algorithm would be chosen
    #[command(after_help = INFO_EXAMPLES)]
    Info(Info),
    /// Compute y = alpha A x + beta y and verify every row
    #[command(after_help = SPMV_EXAMPLES)]
    Spmv(Spmv),
    /// Solve A x = b by conjugate gradients (CG) or BiCGStab, and check what x leaves of b
    #[command(after_help = SOLVE_EXAMPLES)]
    Solve(Solve),
    /// Time an operation, y = A x where none is named, verify each result, and compare it with the fastest that the
    /// device's memory allows
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(Box<Bench>),
    /// Find out by trying which algorithms and hyper-parameters suit a device; applications are faster there
    /// from then on
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(Tune),
    /// Runs trials for `tune`, which can end it
    #[command(hide = true)]
    TuneWorker,
    /// Generate a matrix as a Matrix Market file; `gen --help` lists what there is
    Gen(Gen),
    /// Check every algorithm on a device against what is right, on shapes that break kernels
    #[command(after_help = SELFTEST_EXAMPLES)]
    Selftest(Selftest),
    /// Print what completes this command's words in a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(Completions),
    /// Print the manual page, or write those of all commands
    #[command(after_help = MAN_EXAMPLES)]
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// A folder, which is made, for the pages of this command and of all its commands: sparrow.1, sparrow-spmv.1, ...
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Devices {
    /// Show what tuning is known of each device: the entries of device tables that apply, strongest first
    #[arg(long)]
    pub(crate) table: bool,
    /// Measure how fast memory is and where the last cache of a GPU ends, and keep both in the user's device table
    #[arg(long)]
    pub(crate) probe: bool,
}

/// How a class is generated; refused where no class is.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct GeneratorOptions {
    /// Multiplies the rows of a generated matrix [default: 1]
    #[arg(long, value_parser = positive)]
    pub(crate) scale: Option<f64>,
    /// Seed of a generated matrix
    #[arg(long, value_parser = whole::<u64>, help = seed_help("Seed of a generated matrix"))]
    pub(crate) seed: Option<u64>,
}

/// As [`GeneratorOptions`], where a budget says how large matrices are.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FittedGeneratorOptions {
    /// Multiplies the rows of generated matrices, and the problems of a figure's batches [default: 1, or as much less as
    /// --budget asks for]
    #[arg(long, value_parser = positive)]
    scale: Option<f64>,
    /// Seed of a generated matrix
    #[arg(long, value_parser = whole::<u64>, help = seed_help("Seed of a generated matrix"))]
    seed: Option<u64>,
}

impl From<FittedGeneratorOptions> for GeneratorOptions {
    fn from(FittedGeneratorOptions { scale, seed }: FittedGeneratorOptions) -> Self {
        GeneratorOptions { scale, seed }
    }
}

/// How files are read; classes ignore it.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Reading {
    /// Take numbers in files that are too large for the type as infinite, instead of refusing them
    #[arg(long)]
    pub(crate) allow_overflow: bool,
}

impl From<GeneratorOptions> for sparrow_bench::GeneratorOptions {
    fn from(generator: GeneratorOptions) -> Self {
        sparrow_bench::GeneratorOptions {
            scale: generator.scale.unwrap_or(1.0),
            seed: generator.seed.unwrap_or(csr_core::generate::DEFAULT_SEED),
        }
    }
}

/// What is taken of a vector's file that holds several.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Column {
    /// Which column to take where the file of a vector has several, from 1; the first, with a line that says so, if
    /// left out
    #[arg(long, value_name = "K", value_parser = count::<u32>)]
    pub(crate) column: Option<u32>,
}

/// What names a matrix.
pub(crate) const MATRIX: &str = "A Matrix Market file (.mtx or .mtx.gz), an archive with one in it (.tar.gz), `-` \
                                 (standard input), or the name of a matrix that is generated (`sparrow gen --help` lists \
                                 them)";

/// What puts a matrix in another order.
pub(crate) const REORDERING: &str = "Put rows and columns of the matrix in another order first, in a copy: none, rcm (reverse \
                                     Cuthill-McKee, of square matrices) or clusters (of rows that share columns); `info \
                                     --explain` says whether it pays";

/// What every option for a vector takes.
pub(crate) const VECTOR: &str = "FILE|random:SEED|ones|archive";

#[derive(Debug, Args)]
pub(crate) struct Info {
    #[arg(help = MATRIX)]
    pub(crate) matrix: OsString,
    /// Say which algorithm would be chosen on the device, with which parameters, and why
    #[arg(long)]
    pub(crate) explain: bool,
    /// With --explain, how many products with the matrix follow: once, several (some tens) or many (hundreds)
    #[arg(long, default_value = "several", requires = "explain")]
    pub(crate) products: Reuse,
    #[command(flatten)]
    pub(crate) generator: GeneratorOptions,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
pub(crate) struct Spmv {
    #[arg(help = MATRIX)]
    pub(crate) matrix: OsString,
    /// Scales A x
    #[arg(long, default_value_t = 1.0, value_parser = finite)]
    pub(crate) alpha: f64,
    /// Scales y before; needs --y unless it is 0
    #[arg(long, default_value_t = 0.0, value_parser = finite)]
    pub(crate) beta: f64,
    /// x: a Matrix Market file; numbers from -1 to 1, drawn by a seed (random:SEED); ones; or `archive`: NAME_x.mtx in the
    /// matrix's archive
    #[arg(long, default_value = "random:1", value_name = VECTOR)]
    pub(crate) x: OsString,
    /// y before the product, as --x; `archive` is NAME_y.mtx
    #[arg(long, value_name = VECTOR)]
    pub(crate) y: Option<OsString>,
    #[command(flatten)]
    pub(crate) column: Column,
    /// Where y goes after the product, as a Matrix Market array
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Type of A's values: f32, f64, f16 or bf16; vectors and sums are f32 for 16-bit values [default: f64, or f32 where
    /// the device has no f64]
    #[arg(long, value_name = "TYPE")]
    pub(crate) value_type: Option<ValueType>,
    #[arg(long, value_name = "NAME", help = algorithm_help("The algorithm"))]
    pub(crate) algorithm: Option<Algorithm>,
    /// One of the ways in which the named algorithm runs, as `bench spmv --help` lists them; its default one if left out
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<Variant>,
    /// How a row is summed: plain, or compensated, which keeps what each addition rounds off
    #[arg(long, value_name = "HOW", default_value = "plain")]
    pub(crate) accumulate: Accumulate,
    #[arg(long, value_name = "NAME", default_value = "none", help = REORDERING)]
    pub(crate) reordering: Reordering,
    #[command(flatten)]
    pub(crate) generator: GeneratorOptions,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
pub(crate) struct Selftest {
    /// Every combination of shapes, types, coefficients and placements, instead of a selection in which every two of them
    /// are combined; some minutes
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, Args)]
#[command(after_help = classes_help())]
pub(crate) struct Gen {
    /// Which matrix, from the list below, in upper or lower case
    pub(crate) class: String,
    /// Where the matrix goes: .mtx or .mtx.gz, or `-` (standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) generator: GeneratorOptions,
}

/// What names an algorithm of SpMV.
pub(crate) fn algorithm_help(what: &str) -> String {
    format!("{what}: {}; chosen for matrix and device if left out", names(&Algorithm::ALL))
}

/// Names with commas.
pub(crate) fn names(all: &[impl std::fmt::Display]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn seed_help(what: &str) -> String {
    format!("{what} [default: {}]", csr_core::generate::DEFAULT_SEED)
}

/// The command line as it is parsed, completed and described.
pub(crate) fn command() -> clap::Command {
    numbers::with_signs(Arguments::command())
}

/// Parses arguments, the program's name first.
///
/// # Errors
/// Bad usage; or an answer, such as help, which is no failure.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let mut matches = command().try_get_matches_from(arguments)?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command()))
}

fn classes_help() -> String {
    let lines = csr_core::generate::Class::all()
        .map(|class| format!("  {:<18} {}", class.name(), class.description()));
    format!("{GEN_EXAMPLES}\n\nClasses:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two parts that are flattened into one command may bring an option of one name each: it compiles, and then every
    /// use of the command panics.
    #[test]
    fn no_command_has_two_options_of_one_name() {
        command().debug_assert();
    }
}
