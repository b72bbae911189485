//! The matrices of a figure, or of a sweep.

use std::ffi::OsString;

use csr_core::AnyCsr;
use sparrow_bench::figures::{Cases, Made, PaperFigure};
use sparrow_bench::{GeneratorOptions, Input};

use crate::arguments::{BenchFigure, Reading};
use crate::commands::clock::{is_scaled, nonzeros};
use crate::commands::{Loaded, load_compact};
use crate::failure::Failure;

/// One matrix.
pub(super) enum Case {
    /// A file or a class.
    Input(Input),
    /// Made for it.
    Made(Made),
}

impl Case {
    pub(super) fn name(&self) -> String {
        match self {
            Case::Input(input) => input.name(),
            Case::Made(made) => made.name.clone(),
        }
    }

    pub(super) fn source(&self) -> &'static str {
        match self {
            Case::Input(input) => input.source(),
            Case::Made(_) => "assembled",
        }
    }

    /// Whether a scale makes it smaller.
    pub(super) fn is_scaled(&self) -> bool {
        match self {
            Case::Input(input) => is_scaled(input),
            Case::Made(_) => true,
        }
    }

    /// Its nonzeros at a scale, as far as they are known before it is there.
    pub(super) fn nnz(&self, scale: f64) -> u64 {
        match self {
            Case::Made(made) => made.nnz(),
            Case::Input(input) => nonzeros(input, scale),
        }
    }

    pub(super) fn load(
        &self,
        generator: GeneratorOptions,
        reading: Reading,
    ) -> Result<Loaded, Failure> {
        match self {
            Case::Input(input) => load_compact(input, generator, reading),
            Case::Made(made) => {
                let matrix = AnyCsr::compact(made.generate(generator.seed)?);
                Ok(Loaded::generated(self.name(), matrix))
            }
        }
    }
}

/// The matrices that are named, or the figure's.
pub(super) fn cases(
    figure: &PaperFigure,
    named: &[OsString],
    generator: GeneratorOptions,
) -> Result<Vec<Case>, Failure> {
    let inputs = |names: &mut dyn Iterator<Item = OsString>| -> Result<Vec<Case>, Failure> {
        names.map(|name| Ok(Case::Input(Input::parse(name)?))).collect()
    };
    match figure.cases {
        Cases::Made(_) if !named.is_empty() => Err(Failure::input(format!(
            "{} makes matrices of its own: leave others out",
            figure.name
        ))),
        Cases::Made(made) => Ok(made(generator).into_iter().map(Case::Made).collect()),
        _ if !named.is_empty() => inputs(&mut named.iter().cloned()),
        Cases::Problems(_) => Ok(Vec::new()),
        Cases::Classes(names) => inputs(&mut names.iter().map(OsString::from)),
        Cases::Suite(suite) => {
            Ok(suite.classes().into_iter().map(|class| Case::Input(Input::Class(class))).collect())
        }
    }
}

/// Refuses a scale where every matrix comes from a file.
pub(super) fn check_making(arguments: &BenchFigure, cases: &[Case]) -> Result<(), Failure> {
    let inputs = cases.iter().filter_map(|case| match case {
        Case::Input(input) => Some(input),
        Case::Made(_) => None,
    });
    // The seed is that of vectors too.
    crate::commands::check_making(&[("--scale", arguments.generator().scale.is_some())], inputs)
}
