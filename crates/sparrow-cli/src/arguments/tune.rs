//! What `sparrow tune` takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use csr_core::ValueType;
use csr_core::generate::Suite;
use sparrow::Reuse;

use super::examples::{JUDGE_EXAMPLES, MERGE_EXAMPLES};
use super::numbers::Span;
use super::{FittedGeneratorOptions, GeneratorOptions, Reading, positive, sweeps};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Tune {
    #[command(subcommand)]
    pub(crate) command: Option<TuneCommand>,
    /// With --sweep, matrices instead of the papers': Matrix Market files, archives with one in each, `-` (standard
    /// input), or names of matrices that are generated
    #[arg(requires = "sweep")]
    pub(crate) matrices: Vec<OsString>,
    /// 20 seconds and nine matrices a device, instead of two minutes and matrices of more sizes
    #[arg(long, conflicts_with_all = ["full", "budget"])]
    pub(crate) quick: bool,
    /// Matrices with rows of every length and unevenness and of every size, as long as it takes (an hour at most)
    #[arg(long, conflicts_with = "budget")]
    pub(crate) full: bool,
    /// Time for a device, or for --sweep: 90s, 2m, 1h [default: 2m, for --sweep 4m]
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<Span>,
    /// Types of A's values, f32 and f64, with a comma; 16-bit values take what suits f32
    #[arg(long, value_name = "TYPES", default_value = "f32,f64", value_delimiter = ',')]
    pub(crate) value_type: Vec<ValueType>,
    /// The device table that the result goes to; the user's own if left out
    #[arg(long, value_name = "TABLE")]
    pub(crate) into: Option<PathBuf>,
    /// Where every raw timing goes; a file of the user's data folder if left out
    #[arg(long, value_name = "FILE")]
    pub(crate) raw: Option<PathBuf>,
    /// Instead of tuning, redraw the papers' figures of how hyper-parameters matter: CSR-Adaptive's Figures 4 and 8,
    /// the segmented sum's 7 and 8. It says first how long it will take; matrices are as large as --budget allows
    #[arg(long, conflicts_with_all = ["quick", "full", "into", "raw"])]
    pub(crate) sweep: bool,
    /// With --sweep, these figures alone, several with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "sweep", value_parser = sweeps())]
    pub(crate) figure: Vec<String>,
    /// With --sweep, also write the figures as one self-contained file
    #[arg(long, value_name = "FILE", requires = "sweep")]
    pub(crate) html: Option<PathBuf>,
    /// How the matrices of --sweep are made
    #[command(flatten, next_help_heading = "Options of --sweep")]
    generator: FittedGeneratorOptions,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Tune {
    /// What is asked for of the matrices of `--sweep`.
    pub(crate) fn generator(&self) -> GeneratorOptions {
        self.generator.into()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum TuneCommand {
    /// Make entries of a device table from raw timings, of this machine or of others
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(Merge),
    /// Compare the automatic choice with the best of everything that was tried on this device, and with no tuning
    #[command(after_help = JUDGE_EXAMPLES)]
    Judge(JudgeArguments),
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    /// Matrix Market files (.mtx or .mtx.gz), archives with one in each (.tar.gz), `-` (standard input), or names of
    /// matrices that are generated; without any, the quick suite
    pub(crate) matrices: Vec<OsString>,
    /// Several generated matrices at once: quick, hetero, evc-hyb, csr-adaptive,
    /// papers or full
    #[arg(long, value_name = "NAME", conflicts_with = "matrices")]
    pub(crate) suite: Option<Suite>,
    /// Types of A's values, with a comma: f32, f64
    #[arg(long, value_name = "TYPES", default_value = "f32,f64", value_delimiter = ',')]
    pub(crate) value_type: Vec<ValueType>,
    /// How many products with a matrix follow: once, several (some tens) or many (hundreds); a plan's set-up is shared out
    /// among them
    #[arg(long, default_value = "several")]
    pub(crate) products: Reuse,
    /// Raw timings whose candidates are the list; those of the user's data folder if left out
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pub(crate) from: Vec<PathBuf>,
    /// Milliseconds that a sample takes at least; up to ten times as many where all products that follow take no longer
    #[arg(long, default_value_t = 2.0, value_parser = positive)]
    pub(crate) sample_ms: f64,
    #[command(flatten)]
    pub(crate) generator: GeneratorOptions,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Files that `tune` has written
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The device table; entries of devices that no file mentions stay as they are. The user's own if left out
    #[arg(long, value_name = "TABLE")]
    pub(crate) into: Option<PathBuf>,
}
