//! Every implementation that runs on any device, with the suite's small hyper-parameters.

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
