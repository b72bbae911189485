//! `sparrow bench`: times an operation on matrices of any source, verifies each result, and compares it with the
//! device's limit. One module an operation.

mod batch;
mod cases;
mod convert;
mod figure;
mod hetero;
mod paced;
mod results;
mod spgemm;
mod spmm;
mod spmv;
mod vector;

use std::ffi::OsString;
use std::fmt::Display;

use clap::Subcommand;
use csr_core::generate::Suite;
use sparrow::{Device, Queue, Rates};
use sparrow_bench::figures::{Cases, PaperFigure};
use sparrow_bench::{Input, counted};

use crate::arguments::{BenchOperation, Global, Matrices};
use crate::commands::{check_making, tune};
use crate::failure::Failure;
use crate::output::{Files, hint};
use crate::target::queue_on;
use results::{Frame, Results};

pub(crate) fn run(global: &Global, operation: &BenchOperation) -> Result<(), Failure> {
    let figure = match operation {
        BenchOperation::Figure(arguments) => match PaperFigure::named(&arguments.figure) {
            Some(figure) => Some(figure),
            // It is a sweep's, which times points, not products.
            None => {
                figure::check_sweep(arguments)?;
                return tune::sweep_figure(global, arguments);
            }
        },
        _ => None,
    };
    let html = operation.html();
    // Of batches, the paper's small matrices may be named, too.
    let takes_small = match operation {
        BenchOperation::Batch(_) => true,
        _ => figure.is_some_and(|figure| matches!(figure.cases, Cases::Problems(_))),
    };
    let is_other = |name: &&OsString| !takes_small || batch::small(name).is_none();
    let matrices: Vec<OsString> = operation.matrices().iter().filter(is_other).cloned().collect();
    check_order(&matrices)?;
    let files = Files::new(global).reads_matrices(&matrices).reads("--peers", operation.peers());
    let words = files.writes("--html", html).check()?;
    let results = Results::new(global, html, words, operation.has_legend());
    let ended = match operation {
        BenchOperation::Spmv(arguments) => spmv::run(global, arguments, &results),
        BenchOperation::Spmm(arguments) => spmm::run(global, arguments, &results),
        BenchOperation::Spgemm(arguments) => spgemm::run(global, arguments, &results),
        BenchOperation::Batch(arguments) => batch::run(global, arguments, &results),
        BenchOperation::Hetero(arguments) => hetero::run(global, arguments, &results),
        BenchOperation::Convert(arguments) => convert::run(global, arguments, &results),
        BenchOperation::Vector(arguments) => vector::run(global, arguments, &results),
        BenchOperation::Figure(arguments) => match figure {
            Some(figure) => figure::run(global, arguments, figure, &results),
            None => Ok(()),
        },
    };
    results.finish(ended)
}

/// A queue on each device, with the rates at which it reads and copies memory, `again` measured.
fn with_rates(
    devices: &[Device],
    again: bool,
    results: &Results,
) -> Result<Vec<(Queue, Rates)>, Failure> {
    let measure = |device| {
        let queue = queue_on(device)?;
        let rates = results.rates(&queue, again)?;
        Ok((queue, rates))
    };
    devices.iter().map(measure).collect()
}

/// Refuses an operation that stands where matrices do: an option came first, and then no subcommand can.
fn check_order(matrices: &[OsString]) -> Result<(), Failure> {
    let is_operation = |text: &&str| BenchOperation::has_subcommand(text);
    let named = matrices.iter().filter(|text| Input::parse(text).is_err());
    match named.filter_map(|text| text.to_str()).find(is_operation) {
        None => Ok(()),
        Some(text) => Err(Failure::input(format!(
            "\"{text}\" is an operation, which stands before matrices and options: sparrow bench {text} [OPTIONS] [MATRICES]"
        ))),
    }
}

/// Says what is measured where no matrix is named.
fn hint_of_default(what: impl Display) {
    hint(format_args!(
        "no matrix is named: this measures {what}; sparrow bench --help says how to name others"
    ));
}

/// The matrices asked for; without any, those of `suite`.
fn inputs(matrices: &Matrices, suite: Suite) -> Result<Vec<Input>, Failure> {
    let parse = |text: &OsString| Ok(Input::parse(text)?);
    let mut inputs = matrices.matrices.iter().map(parse).collect::<Result<Vec<_>, Failure>>()?;
    let suite = match (matrices.suite, inputs.is_empty()) {
        (Some(suite), _) => Some(suite),
        (None, true) => {
            let matrices = counted(suite.classes().len(), "matrix");
            hint_of_default(format_args!("the suite {suite}, {matrices}"));
            Some(suite)
        }
        (None, false) => None,
    };
    inputs.extend(suite.into_iter().flat_map(Suite::classes).map(Input::Class));
    // The seed is that of vectors too.
    check_making(&[("--scale", matrices.generator().scale.is_some())], &inputs)?;
    Ok(inputs)
}
