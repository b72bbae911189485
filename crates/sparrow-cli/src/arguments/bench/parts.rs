//! What several operations of `sparrow bench` take.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use csr_core::ValueType;
use csr_core::generate::Suite;

use crate::arguments::numbers::Span;
use crate::arguments::{FittedGeneratorOptions, GeneratorOptions, ParameterList, Reading};

/// How long a run may take whose matrices are its own.
const DEFAULT_BUDGET: Duration = Duration::from_secs(4 * 60);

/// What is measured, and how long that may take.
#[derive(Clone, Debug, Args)]
pub(crate) struct Matrices {
    /// Matrix Market files (.mtx or .mtx.gz), archives with one in each (.tar.gz), `-` (standard input), or names of
    /// matrices that are generated (`sparrow gen --help` lists them)
    pub(crate) matrices: Vec<OsString>,
    /// Several generated matrices at once: quick (12 under 3 million nonzeros), hetero (the 20 of the paper on segmented
    /// sums), evc-hyb (the 22 of that paper), csr-adaptive (the 32 of that paper), papers (the likenesses of published
    /// matrices), full (all)
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<Suite>,
    /// How long it may take: 90s, 4m, 1h. Generated matrices are as large as that allows, unless --scale says how large;
    /// what does not fit is left out and named [default: 4m where no matrix is named, else as long as it takes]
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<Span>,
    #[command(flatten)]
    pub(crate) generator: FittedGeneratorOptions,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Matrices {
    /// Whether any is named, or a suite.
    pub(crate) fn are_named(&self) -> bool {
        !self.matrices.is_empty() || self.suite.is_some()
    }

    /// How long it may take.
    pub(crate) fn budget(&self) -> Option<Duration> {
        let is_own = self.are_named();
        self.budget.map_or((!is_own).then_some(DEFAULT_BUDGET), |budget| Some(budget.0))
    }

    /// What is asked for of generated matrices.
    pub(crate) fn generator(&self) -> GeneratorOptions {
        self.generator.into()
    }
}

/// The types of A that an operation is measured in.
#[derive(Debug, Args)]
pub(crate) struct ValueTypes {
    /// Types of A's values, several with commas: f32, f64, f16, bf16
    #[arg(long, value_name = "TYPES", default_value = "f32,f64", value_delimiter = ',')]
    pub(crate) value_type: Vec<ValueType>,
}

/// The same where sums are of the type that is stored.
#[derive(Debug, Args)]
pub(crate) struct RealTypes {
    /// Types of the values, with a comma: f32, f64
    #[arg(long, value_name = "TYPES", default_value = "f32,f64", value_delimiter = ',', value_parser = real_type)]
    pub(crate) value_type: Vec<ValueType>,
}

fn real_type(text: &str) -> Result<ValueType, String> {
    match text {
        "f32" => Ok(ValueType::F32),
        "f64" => Ok(ValueType::F64),
        _ => Err("it must be f32 or f64".to_owned()),
    }
}

/// Hyper-parameters of the kernels.
#[derive(Debug, Args)]
pub(crate) struct Parameters {
    /// Hyper-parameters of the kernels over the device table's, name=value, several with commas: those in `params` of the
    /// JSON, or in `info --explain`
    #[arg(long, value_name = "NAME=VALUE,...")]
    parameters: Option<ParameterList>,
}

impl Parameters {
    /// Names and values.
    pub(crate) fn to_vec(&self) -> Vec<(String, u32)> {
        self.parameters.iter().flat_map(|list| list.0.clone()).collect()
    }
}

/// How the table is shown, and what it compares with.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// Measure how fast the device's memory is again, and keep that; else what was measured first counts
    #[arg(long)]
    pub(crate) measure: bool,
    /// Say below the table what its columns mean
    #[arg(long)]
    pub(crate) legend: bool,
}

/// The report of an operation that has one.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Also write a report with plots, one self-contained file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}
