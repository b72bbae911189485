//! Every implementation, with hyper-parameters so small that small matrices straddle every limit.

use sparrow::{Accumulate, Algorithm, PlanOptions, Variant};
use sparrow_bench::selftest::Limits;

/// What the parameters below turn at; Oclgrind can walk through matrices around them.
pub const LIMITS: Limits = Limits { group_size: 64, nnz_per_wg: 128, share: 256 };

/// Hyper-parameters of `algorithm` that turn at [`LIMITS`].
pub fn parameters(algorithm: Algorithm) -> Vec<(String, u32)> {
    let named = |name: &str, value: usize| (name.to_owned(), value as u32);
    match algorithm {
        Algorithm::CsrVector => {
            vec![named("group_size", LIMITS.group_size), named("items_per_row", 8)]
        }
        Algorithm::CsrAdaptive => vec![
            named("group_size", LIMITS.group_size),
            named("nnz_per_wg", LIMITS.nnz_per_wg),
            named("nnz_multiplier", LIMITS.share / LIMITS.nnz_per_wg),
        ],
        _ => vec![named("group_size", LIMITS.group_size)],
    }
}

/// Every algorithm and variant that runs on any device.
pub fn implementations() -> Vec<(Algorithm, Variant)> {
    let adaptive = [Variant::Baseline, Variant::Nrs, Variant::NrsLog, Variant::Full];
    let adaptive = adaptive.map(|variant| (Algorithm::CsrAdaptive, variant));
    let plain = [(Algorithm::CsrScalar, Variant::Full), (Algorithm::CsrVector, Variant::Full)];
    plain.into_iter().chain(adaptive).collect()
}

/// Options of a plan with these small hyper-parameters.
pub fn options(algorithm: Algorithm, variant: Variant, accumulate: Accumulate) -> PlanOptions {
    PlanOptions {
        algorithm: Some(algorithm),
        variant,
        accumulate,
        parameters: parameters(algorithm),
        ..PlanOptions::default()
    }
}
