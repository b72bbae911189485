//! What is tried: an algorithm with all of its hyper-parameters.

use std::collections::BTreeMap;

use cl_kernels::{
    Algorithm, DeviceTraits, Fit, MatrixShape, NamedParameters, Reuse, Rule, Trial, Variant,
    current_name, select,
};
use csr_core::ValueType;
use serde::{Deserialize, Serialize};
use sparrow::{PlanOptions, Tables};

/// An algorithm, one way of running it, and every hyper-parameter: the same whatever tables say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// In which way, where it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Its hyper-parameters.
    pub parameters: BTreeMap<String, u32>,
}

impl Candidate {
    /// The same, with hyper-parameters by the names that they have now ([`cl_kernels::current_name`]).
    pub(super) fn with_current_names(mut self) -> Self {
        let algorithm = self.algorithm.name();
        let current = |(name, value): (String, u32)| match current_name(algorithm, &name) {
            same if same == name => (name, value),
            renamed => (renamed.to_owned(), value),
        };
        self.parameters = self.parameters.into_iter().map(current).collect();
        self
    }

    /// What an algorithm takes on a device that no table knows.
    pub fn by_default(
        algorithm: Algorithm,
        device: &DeviceTraits,
        value_type: ValueType,
        mean_row: f64,
    ) -> Self {
        let defaults = algorithm.default_parameters(&Fit::plain(device, value_type, mean_row));
        Self::of_named(algorithm, &defaults)
    }

    /// Whether rules may take it where so many products follow. A copy of A takes its memory once more and must be told
    /// of new values, which is for applications that say that many products follow.
    pub fn may_be_chosen(&self, products: Reuse) -> bool {
        products == Reuse::Many || !self.algorithm.copies_values()
    }

    /// What tables choose for a matrix, with what they say of the algorithm.
    pub fn of_tables(
        tables: &Tables,
        device: &DeviceTraits,
        value_type: ValueType,
        matrix: &MatrixShape,
        products: Reuse,
    ) -> Self {
        let choice = select(tables, device, value_type, matrix, products);
        let mean_row = matrix.mean_row();
        let mut candidate = Self::by_tables(tables, device, value_type, choice.algorithm, mean_row);
        candidate.variant = choice.variant.or(candidate.variant);
        candidate.parameters.extend(choice.parameters);
        candidate
    }

    /// What tables have for an algorithm that is asked for by name.
    pub(super) fn by_tables(
        tables: &Tables,
        device: &DeviceTraits,
        value_type: ValueType,
        algorithm: Algorithm,
        mean_row: f64,
    ) -> Self {
        let mut candidate = Self::by_default(algorithm, device, value_type, mean_row);
        // The strongest entry has the last word.
        for (_, found) in tables.matches(device).into_iter().rev() {
            let kernel = found.entry.kernel.get(algorithm.name());
            let stated = kernel.and_then(|types| types.get(value_type.name()));
            candidate.parameters.extend(stated.cloned().into_iter().flatten());
        }
        candidate
    }

    /// An algorithm with hyper-parameters by name, all of them.
    pub(super) fn of_named(algorithm: Algorithm, named: &NamedParameters) -> Self {
        let owned = named.entries().iter().map(|(name, value)| ((*name).to_owned(), *value));
        let variant = Self::default_variant(algorithm);
        Candidate { algorithm, variant, parameters: owned.collect() }
    }

    /// What a rule comes to, where it names every hyper-parameter; but see [`Candidate::on`].
    pub fn of_rule(rule: &Rule) -> Self {
        Candidate {
            algorithm: rule.algorithm,
            variant: rule.variant.or_else(|| Self::default_variant(rule.algorithm)),
            parameters: rule.parameters.clone(),
        }
    }

    fn default_variant(algorithm: Algorithm) -> Option<Variant> {
        let has_variants = !Variant::of(algorithm).is_empty();
        has_variants.then(|| Variant::default().or_default(algorithm))
    }

    /// Without the hyper-parameter that follows the mean row of each matrix where a rule does not give it; `None` of an
    /// algorithm that has none.
    pub(super) fn by_mean_row(&self) -> Option<Candidate> {
        let name = self.algorithm.spec().by_mean_row?.name;
        let mut found = self.clone();
        found.parameters.remove(name).map(|_| found)
    }

    /// What runs on matrices of this mean row: the same, but where it goes by the mean row.
    #[must_use]
    pub fn on(&self, mean_row: f64) -> Candidate {
        match self.algorithm.spec().by_mean_row {
            Some(by) if !self.parameters.contains_key(by.name) => {
                let others = |name: &str| self.parameters.get(name).copied();
                self.with(by.name, (by.value)(mean_row, &others))
            }
            _ => self.clone(),
        }
    }

    /// Whether kernel and device allow it.
    pub fn fits(&self, device: &DeviceTraits, value_type: ValueType) -> bool {
        let given = self.parameters.iter().map(|(name, value)| (name.as_str(), *value));
        let fit = Fit::plain(device, value_type, 1.0);
        self.algorithm.check_parameters(&given.collect::<Vec<_>>(), &fit).is_ok()
    }

    /// The same with one hyper-parameter changed.
    #[must_use]
    pub fn with(&self, name: &str, value: u32) -> Self {
        let mut changed = self.clone();
        changed.parameters.insert(name.to_owned(), value);
        changed
    }

    /// Those that differ in one hyper-parameter by one step of its space, and that fit.
    pub fn neighbours(&self, device: &DeviceTraits, value_type: ValueType) -> Vec<Candidate> {
        let mut found = Vec::new();
        for space in self.algorithm.space() {
            let Some(&now) = self.parameters.get(space.name) else { continue };
            let below = space.values.iter().rev().find(|value| **value < now);
            let above = space.values.iter().find(|value| **value > now);
            found.extend(above.into_iter().chain(below).map(|&value| self.with(space.name, value)));
        }
        found.retain(|candidate| candidate.fits(device, value_type));
        found
    }

    /// A plan of it, by name, that no table changes.
    pub fn plan_options(&self, tables: &Tables) -> PlanOptions {
        PlanOptions {
            algorithm: Some(self.algorithm),
            variant: self.variant.unwrap_or_default(),
            parameters: self.parameters.iter().map(|(k, v)| (k.clone(), *v)).collect(),
            tables: Some(tables.clone()),
            ..PlanOptions::default()
        }
    }

    /// A rule that always takes it.
    pub fn rule(&self) -> Rule {
        Rule {
            when: Default::default(),
            algorithm: self.algorithm,
            variant: self.variant.filter(|_| self.variant != Self::default_variant(self.algorithm)),
            parameters: self.parameters.clone(),
        }
    }
}

/// `csr_vector(group_size=256,items_per_row=8)`.
impl std::fmt::Display for Candidate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.algorithm)?;
        if let Some(variant) = self.variant.filter(|_| self.rule().variant.is_some()) {
            write!(f, " {variant}")?;
        }
        let parameters = self.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        write!(f, "({})", parameters.collect::<Vec<_>>().join(","))
    }
}

/// The first candidates on matrices of this mean row, the likeliest first: each algorithm with its defaults, and with what
/// its descriptor says to try.
pub(super) fn coarse(
    device: &DeviceTraits,
    value_type: ValueType,
    mean_row: f64,
) -> Vec<Candidate> {
    let fit = Fit::plain(device, value_type, mean_row);
    let mut found = Vec::new();
    for algorithm in Algorithm::ALL {
        if !algorithm.spec().is_tried_on(device.device_type) {
            continue;
        }
        let default = Candidate::by_default(algorithm, device, value_type, mean_row);
        found.push(default.clone());
        found.extend((algorithm.spec().trials)(&fit).into_iter().map(|trial| match trial {
            Trial::Parameter(name, value) => default.with(name, value),
            Trial::Variant(variant) => Candidate { variant: Some(variant), ..default.clone() },
        }));
    }
    found.retain(|candidate| candidate.fits(device, value_type));
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cl_kernels::DeviceType;

    use super::*;
    use crate::tune::tests::device;

    #[test]
    fn coarse_candidates_fit_and_differ() {
        for mean_row in [1.0, 8.0, 2000.0] {
            let found = coarse(&device(), ValueType::F64, mean_row);
            assert!(found.iter().all(|candidate| candidate.fits(&device(), ValueType::F64)));
            let distinct: BTreeSet<_> = found.iter().collect();
            assert_eq!(distinct.len(), found.len());
            let cpu = DeviceTraits { device_type: DeviceType::Cpu, ..device() };
            let of_cpu = coarse(&cpu, ValueType::F64, mean_row);
            for algorithm in Algorithm::ALL {
                let is_of = |candidate: &Candidate| candidate.algorithm == algorithm;
                let is_tried = |on| algorithm.spec().is_tried_on(on);
                let (gpu, cpu) = (device().device_type, DeviceType::Cpu);
                assert_eq!(of_cpu.iter().any(is_of), is_tried(cpu), "{algorithm}");
                assert_eq!(found.iter().any(is_of), is_tried(gpu), "{algorithm}");
            }
        }
    }

    #[test]
    fn what_tables_choose_has_their_parameters_and_the_rules_over_them() {
        let h200 = DeviceTraits {
            name: "NVIDIA H200".to_owned(),
            platform: "NVIDIA CUDA".to_owned(),
            vendor: "NVIDIA Corporation".to_owned(),
            architecture: "sm_90".to_owned(),
            compute_units: 132,
            ..device()
        };
        let (rows, nnz) = (1 << 20, 30 << 20);
        let even = MatrixShape { rows, nnz, longest_row: 40, in_step: nnz, changes: 0 };
        let of = |device, value_type, products| {
            let tables = Tables::with_user(None);
            let found = Candidate::of_tables(&tables, device, value_type, &even, products);
            assert!(found.fits(device, value_type), "{found}");
            found.to_string()
        };
        // By the table's line of the kernel, by a rule over it, by the cost model, and where no table knows the device.
        let text =
            "csr_flat(group_size=256,registers=40,shared_rows=0,tile_nnz=4096,whole_row=256)";
        assert_eq!(of(&h200, ValueType::F32, Reuse::Several), text);
        let text =
            "csr_flat(group_size=256,registers=40,shared_rows=0,tile_nnz=3072,whole_row=256)";
        assert_eq!(of(&h200, ValueType::F64, Reuse::Several), text);
        let many = of(&h200, ValueType::F64, Reuse::Many);
        assert!(many.starts_with("sell_sigma(coded_values=1,group_size=128"), "{many}");
        let default = Candidate::by_default(Algorithm::CsrFlat, &device(), ValueType::F32, 30.0);
        assert_eq!(of(&device(), ValueType::F32, Reuse::Several), default.to_string());
    }

    #[test]
    fn neighbours_are_one_step_away_and_fit() {
        let default = Candidate::by_default(Algorithm::CsrAdaptive, &device(), ValueType::F64, 8.0);
        let found = default.neighbours(&device(), ValueType::F64);
        assert!(found.contains(&default.with("nnz_per_wg", 1536)));
        assert!(found.contains(&default.with("num_rows_stream", 2)));
        // 512 is no multiple of a group of 1024, and is none of those one step away.
        assert!(found.iter().all(|one| one.fits(&device(), ValueType::F64)));
        assert!(found.iter().all(|one| {
            let differing = one.parameters.iter().zip(&default.parameters).filter(|(a, b)| a != b);
            differing.count() == 1
        }));
    }

    #[test]
    fn csr_vector_without_items_a_row_goes_by_the_mean_row_of_each_matrix() {
        let default = |algorithm, mean_row| {
            Candidate::by_default(algorithm, &device(), ValueType::F32, mean_row)
        };
        let by_mean_row = default(Algorithm::CsrVector, 8.0).by_mean_row().unwrap();
        assert_eq!(by_mean_row.to_string(), "csr_vector(group_size=256)");
        for mean_row in [1.0, 8.0, 40.0, 2000.0] {
            assert_eq!(by_mean_row.on(mean_row), default(Algorithm::CsrVector, mean_row));
        }
        let told = default(Algorithm::CsrVector, 8.0);
        assert_eq!(told.on(40.0), told);
        assert_eq!(default(Algorithm::CsrScalar, 8.0).by_mean_row(), None);
    }

    #[test]
    fn a_candidate_says_its_variant_where_it_is_not_the_default() {
        let default =
            Candidate::by_default(Algorithm::SegmentedSum, &device(), ValueType::F32, 8.0);
        assert!(default.to_string().starts_with("segmented_sum("));
        let other = Candidate { variant: Some(Variant::Device), ..default };
        assert!(other.to_string().starts_with("segmented_sum device("), "{other}");
    }
}
