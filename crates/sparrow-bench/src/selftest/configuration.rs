//! What is tested: every algorithm and variant, with hyper-parameters so small that small matrices
//! straddle every limit, and with those a user would get.

use sparrow::{Accumulate, Algorithm, DeviceTraits, DeviceType, PlanOptions, ValueType, Variant};

use super::{Axes, Limits};

/// What the small hyper-parameters turn at; an interpreter can walk through matrices around them.
pub const LIMITS: Limits = Limits { group_size: 64, nnz_per_wg: 128, share: 256, tile: 32 };

const SHARED_ROWS: &str = "shared_rows";

/// An algorithm with its variant and hyper-parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// What runs.
    pub algorithm: Algorithm,
    /// The way in which it runs.
    pub variant: Variant,
    /// Hyper-parameters over the device table's; none: those a user gets.
    pub parameters: Vec<(String, u32)>,
}

impl Configuration {
    /// With the hyper-parameters that turn at [`LIMITS`].
    pub fn small(algorithm: Algorithm, variant: Variant) -> Self {
        let named = |name: &str, value: usize| (name.to_owned(), value as u32);
        let group_size = named("group_size", LIMITS.group_size);
        let parameters = match algorithm {
            Algorithm::CsrVector => vec![group_size, named("items_per_row", 8)],
            Algorithm::CsrAdaptive => vec![
                group_size,
                named("nnz_per_wg", LIMITS.nnz_per_wg),
                named("nnz_multiplier", LIMITS.share / LIMITS.nnz_per_wg),
            ],
            Algorithm::CsrFlat => vec![
                group_size,
                named("piece_nnz", LIMITS.nnz_per_wg),
                named("whole_row", LIMITS.tile),
            ],
            Algorithm::CsrPieces => vec![
                named("lanes", 4),
                named("pieces_per_unit", 1024),
                named("least_piece", LIMITS.nnz_per_wg),
            ],
            Algorithm::Sell => vec![named("slice_rows", 4), named("pieces_per_unit", 5)],
            Algorithm::SellSigma => vec![
                named("group_size", 64),
                named("lane_nnz", 3),
                named("window_rows", 50),
                named("pairs_at_once", 3),
            ],
            Algorithm::SegmentedSum => vec![
                named("bunch_size", 8),
                named("nnz_per_item", LIMITS.tile / 8),
                named("tiles_per_bunch", 2),
                named("bunches_per_group", 4),
            ],
            Algorithm::EvcHyb => vec![
                group_size,
                named("longest_short_row", LIMITS.tile),
                named("alignment", 8),
                named("nnz_per_item", 8),
                named("rows_per_item", 4),
                named("nnz_at_once", 3),
                named("long_nnz_per_item", 8),
            ],
            _ => vec![group_size],
        };
        Configuration { algorithm, variant, parameters }
    }

    /// `csr_flat` where teams of items share rows, as rules for rows of thousands have it.
    pub fn shared_rows() -> Self {
        let mut configuration = Self::small(Algorithm::CsrFlat, Variant::Full);
        configuration.parameters.push((SHARED_ROWS.to_owned(), 1));
        configuration
    }

    fn shares_rows(&self) -> bool {
        self.parameters.iter().any(|(name, value)| name == SHARED_ROWS && *value > 0)
    }

    /// Whether it asks nothing of a device: that its groups progress while others wait, or that items run in step.
    pub fn runs_anywhere(&self) -> bool {
        self.variant != Variant::Spin && !self.shares_rows()
    }

    /// With the hyper-parameters a user gets.
    pub fn tuned(algorithm: Algorithm) -> Self {
        let variant = Variant::Full.or_usual(algorithm);
        Configuration { algorithm, variant, parameters: Vec::new() }
    }

    /// Everything there is.
    pub fn all() -> Vec<Self> {
        let variants = |algorithm| match Variant::of(algorithm) {
            [] => &[Variant::Full],
            several => several,
        };
        let small = Algorithm::ALL.into_iter().flat_map(|algorithm| {
            variants(algorithm).iter().map(move |&variant| Self::small(algorithm, variant))
        });
        small.chain([Self::shared_rows()]).chain(Algorithm::ALL.map(Self::tuned)).collect()
    }

    /// As reports name it: `csr_adaptive/full`, with `tuned` where a user's hyper-parameters run.
    pub fn name(&self) -> String {
        let mut name = self.algorithm.to_string();
        if !self.variant_name().is_empty() {
            name = format!("{name}/{}", self.variant);
        }
        if self.shares_rows() {
            name += " shared rows";
        }
        if self.parameters.is_empty() { format!("{name} tuned") } else { name }
    }

    /// The variant; empty where the algorithm has one only.
    pub fn variant_name(&self) -> &'static str {
        if Variant::of(self.algorithm).is_empty() { "" } else { self.variant.name() }
    }

    /// Options of a plan.
    pub fn options(&self, accumulate: Accumulate) -> PlanOptions {
        PlanOptions {
            algorithm: Some(self.algorithm),
            variant: self.variant,
            accumulate,
            parameters: self.parameters.clone(),
            ..PlanOptions::default()
        }
    }

    /// Why a combination cannot run on a device; `None` where it must.
    pub fn obstacle(
        &self,
        device: &DeviceTraits,
        groups_progress: bool,
        axes: &Axes,
    ) -> Option<&'static str> {
        let is_f64 = axes.value_type == ValueType::F64;
        if is_f64 && !device.has_f64 {
            return Some("the device has no f64");
        }
        let is_for_cpus = matches!(self.algorithm, Algorithm::CsrPieces | Algorithm::Sell);
        if is_for_cpus && device.device_type != DeviceType::Cpu {
            return Some("it is for CPU devices");
        }
        if self.shares_rows() && !device.takes_register_limits() {
            return Some("items of a team are not known to run in step");
        }
        if self.algorithm != Algorithm::CsrAdaptive || self.variant != Variant::Spin {
            return None;
        }
        if !groups_progress {
            return Some(
                "no device table says that the device's groups progress while others wait",
            );
        }
        if axes.accumulate == Accumulate::Compensated {
            return Some("float atomics cannot add compensated sums");
        }
        (is_f64 && !device.has_int64_atomics).then_some("the device has no 64-bit atomics")
    }
}
