//! One module a subcommand.

mod applies;
pub(crate) mod bench;
pub(crate) mod clock;
pub(crate) mod devices;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod manual;
mod reading;
mod reordering;
pub(crate) mod selftest;
pub(crate) mod solve;
pub(crate) mod spmv;
pub(crate) mod tune;
mod vectors;

use sparrow_bench::Input;

pub(crate) use applies::{check_host, check_order, check_variant, tell_products_of_named};
pub(crate) use reading::{
    Loaded, ReadMatrix, check_matrix, load, load_compact, row_in_words, tell_non_finite,
};
pub(crate) use vectors::{VectorText, Vectors};

use crate::arguments::GeneratorOptions;
use crate::failure::Failure;

/// Refuses options of how a class is generated where every matrix comes from a file; `options` are those that nothing
/// else follows.
pub(crate) fn check_making<'a>(
    options: &[(&str, bool)],
    inputs: impl IntoIterator<Item = &'a Input>,
) -> Result<(), Failure> {
    let mut inputs = inputs.into_iter().peekable();
    let Some(first) = inputs.peek().map(|input| input.name()) else { return Ok(()) };
    if inputs.any(|input| matches!(input, Input::Class(_))) {
        return Ok(());
    }
    match options.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::input(format!(
            "{option} is for matrices that are generated, and {first} is read from a file: leave it out"
        ))),
    }
}

/// As [`check_making`], of a command in which both options are of a class alone.
pub(crate) fn check_making_of(generator: GeneratorOptions, input: &Input) -> Result<(), Failure> {
    let options = [("--scale", generator.scale.is_some()), ("--seed", generator.seed.is_some())];
    check_making(&options, [input])
}
