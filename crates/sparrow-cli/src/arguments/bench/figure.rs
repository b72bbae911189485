//! What `sparrow bench figure` takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use csr_core::ValueType;
use sparrow_bench::figures::PAPER_FIGURES;
use sparrow_bench::tune::SWEEP_FIGURES;

use super::parts::Report;
use crate::arguments::numbers::Span;
use crate::arguments::{FittedGeneratorOptions, GeneratorOptions, Reading};

#[derive(Debug, Args)]
pub(crate) struct BenchFigure {
    /// Which figure
    #[arg(value_parser = figures())]
    pub(crate) figure: String,
    /// Matrices instead of the figure's own: Matrix Market files (.mtx or .mtx.gz), archives with one in each (.tar.gz),
    /// `-` (standard input), or names of matrices that are generated (`sparrow gen --help` lists them). spmm-1, -4 and -7,
    /// batched-4 and evc-hyb-15 make matrices of their own and take none
    pub(crate) matrices: Vec<OsString>,
    /// How long it may take: 90s, 4m, 1h. What does not fit is left out and named
    #[arg(long, value_name = "TIME", default_value = "4m")]
    pub(crate) budget: Span,
    /// Types of A's values, several with commas: f32, f64, f16, bf16 [default: the figure's]
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    pub(crate) value_type: Vec<ValueType>,
    /// Results of cuSPARSE and cuBLAS, or of MKL, as `sparrow-peers figure` has written them for this figure: lines
    /// next to ours. Matrices are as large as there. `cargo xtask figure` runs both
    #[arg(long, value_name = "FILE")]
    pub(crate) peers: Option<PathBuf>,
    #[command(flatten)]
    generator: FittedGeneratorOptions,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) report: Report,
    /// Measure how fast the device's memory is again, and keep that; else what was measured first counts
    #[arg(long)]
    pub(crate) measure: bool,
}

impl BenchFigure {
    /// What is asked for of generated matrices.
    pub(crate) fn generator(&self) -> GeneratorOptions {
        self.generator.into()
    }
}

/// Names of figures, each with what it shows.
pub(crate) fn figures() -> PossibleValuesParser {
    let figures = PAPER_FIGURES.iter().map(|figure| (figure.name, figure.title));
    let sweeps = SWEEP_FIGURES.iter().map(|figure| (figure.key, figure.name));
    let all = figures.chain(sweeps).map(|(name, title)| PossibleValue::new(name).help(title));
    PossibleValuesParser::new(all.collect::<Vec<_>>())
}

/// As [`figures`], of sweeps alone.
pub(crate) fn sweeps() -> PossibleValuesParser {
    let all = SWEEP_FIGURES.iter().map(|figure| PossibleValue::new(figure.key).help(figure.name));
    PossibleValuesParser::new(all.collect::<Vec<_>>())
}
