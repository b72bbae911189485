//! Every implementation that runs on any device, with the suite's small hyper-parameters.

use crate::is_full;
use sparrow::{Accumulate, Algorithm, PlanOptions, Variant};
use sparrow_bench::selftest::Configuration;

/// Every algorithm and variant that runs on any device.
pub fn implementations() -> Vec<(Algorithm, Variant)> {
    let all = Configuration::all().into_iter().filter(|configuration| {
        !configuration.parameters.is_empty()
            && configuration.runs_anywhere()
            && !configuration.variant.blocks()
    });
    all.map(|configuration| (configuration.algorithm, configuration.variant)).collect()
}

/// Options of a plan with small hyper-parameters.
pub fn options(algorithm: Algorithm, variant: Variant, accumulate: Accumulate) -> PlanOptions {
    Configuration::small(algorithm, variant).options(accumulate)
}

/// Every algorithm; under memcheck, which looks at the library's calls and memory and not at what kernels compute, one for
/// each way in which plans own memory: an arena that becomes the first workspace, parts of one array that kernels fill, two
/// products in one, and stages that wait for one another. `--full` has all of them under memcheck, too.
pub fn algorithms() -> Vec<Algorithm> {
    let of_each_kind =
        vec![Algorithm::CsrFlat, Algorithm::SellSigma, Algorithm::Hyb, Algorithm::SegmentedSum];
    if is_under_memcheck() { of_each_kind } else { Algorithm::ALL.to_vec() }
}

/// Whether `cargo xtask test` runs the test under memcheck, where each instruction takes some thirty times as long.
fn is_under_memcheck() -> bool {
    !is_full() && std::env::var_os("SPARROW_TEST_MEMCHECK").is_some_and(|value| value == "1")
}
