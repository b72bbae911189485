//! What is tested: every algorithm and variant, with hyper-parameters so small that small matrices
//! straddle every limit, and with those a user would get.

use cl_kernels::TestSet;
use sparrow::{Accumulate, Algorithm, DeviceTraits, DeviceType, PlanOptions, ValueType, Variant};

use super::Axes;

/// An algorithm with its variant and hyper-parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// What runs.
    pub algorithm: Algorithm,
    /// The way in which it runs.
    pub variant: Variant,
    /// Hyper-parameters over the device table's; none: those a user gets.
    pub parameters: Vec<(String, u32)>,
    /// The name of a further set of hyper-parameters ([`TestSet`]); empty for those of every algorithm.
    pub set: &'static str,
}

impl Configuration {
    /// With the hyper-parameters whose limits are [`LIMITS`](super::LIMITS).
    pub fn small(algorithm: Algorithm, variant: Variant) -> Self {
        let parameters = owned(algorithm.spec().test_parameters);
        Configuration { algorithm, variant, parameters, set: "" }
    }

    /// With one of the algorithm's further sets.
    fn of_set(algorithm: Algorithm, set: &TestSet) -> Self {
        let mut found = Self::small(algorithm, algorithm.spec().default_variant);
        found.parameters.extend(owned(set.parameters));
        Configuration { set: set.label, ..found }
    }

    /// Whether it asks nothing of a device: that its groups progress while others wait, or what a further set needs.
    pub fn runs_anywhere(&self) -> bool {
        self.variant != Variant::Spin && self.set.is_empty()
    }

    /// With the hyper-parameters a user gets.
    pub fn tuned(algorithm: Algorithm) -> Self {
        let variant = Variant::Full.or_default(algorithm);
        Configuration { algorithm, variant, parameters: Vec::new(), set: "" }
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
        let sets = Algorithm::ALL.into_iter().flat_map(|algorithm| {
            algorithm.spec().test_sets.iter().map(move |set| Self::of_set(algorithm, set))
        });
        small.chain(sets).chain(Algorithm::ALL.map(Self::tuned)).collect()
    }

    /// Whether both are one algorithm with the same hyper-parameters, in whatever way it runs.
    pub(super) fn shares_programs(&self, other: &Self) -> bool {
        self.algorithm == other.algorithm
            && self.parameters == other.parameters
            && self.set == other.set
    }

    /// As reports name it: `csr_adaptive/full`, with `tuned` where a user's hyper-parameters run.
    pub fn name(&self) -> String {
        let mut name = self.algorithm.to_string();
        if !self.variant_name().is_empty() {
            name = format!("{name}/{}", self.variant);
        }
        if !self.set.is_empty() {
            name = format!("{name} {}", self.set);
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
        let spec = self.algorithm.spec();
        if spec.is_for_cpus && device.device_type != DeviceType::Cpu {
            return Some("it is for CPU devices");
        }
        let set = spec.test_sets.iter().find(|set| set.label == self.set);
        if let Some(obstacle) = set.and_then(|set| (set.obstacle)(device)) {
            return Some(obstacle);
        }
        if self.variant.or_default(self.algorithm) != Variant::Spin {
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

/// The same parameters as options of a plan have them.
fn owned(parameters: &[(&str, u32)]) -> Vec<(String, u32)> {
    parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}
