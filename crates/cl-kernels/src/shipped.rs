//! Every specialisation that ships: what compilers without a device are asked to compile.
//!
//! Hyper-parameters are those a GPU can be given without being asked: each algorithm's defaults, and the
//! defaults under every line and every rule of the device tables that is not a CPU's. Value types and features go with them in full, and ways
//! of summing for f32 and f64; but the cover takes the two forms of `segmented_sum`, which share most of their
//! code, in turn. The code for f16 and bf16 is that of f32 but for a load: where an algorithm has
//! four sets of hyper-parameters or more, the cover takes either way of summing for every other set. Offset
//! types and where alpha and beta lie change an address and two loads: the cover takes one or two of their
//! four pairs, in turn, so that each of them meets each value type, each way of summing and each of the other
//! two. The product takes everything.

use std::collections::HashSet;
use std::slice;

use csr_core::{OffsetType, ValueType};

use crate::batched_plan::BatchedPlan;
use crate::csr_adaptive::FEATURE_SPIN;
use crate::csr_adaptive_plan::CsrAdaptivePlan;
use crate::csr_flat_plan::CsrFlatPlan;
use crate::dense_product::DenseProductKernel;
use crate::dense_rows::DenseRows;
use crate::gather_rate::GatherRate;
use crate::gather_values::GatherValues;
use crate::launch_cost::LaunchCost;
use crate::rates::Rates;
use crate::row_lengths::RowLengthsKernel;
use crate::row_offsets::RowOffsetsKernel;
use crate::spmm_merge_plan::SpmmMergePlan;
use crate::spmm_row_split_plan::SpmmRowSplitPlan;
use crate::{
    Accumulate, Algorithm, DeviceTable, DeviceType, KernelKey, NamedParameters, ParameterError,
    Parameters, Products,
};
use crate::{
    batched_plan, csr_adaptive_plan, csr_flat_plan, dense_product, dense_rows, gather_rate,
    gather_values, launch_cost, rates, row_lengths, row_offsets, spmm_merge_plan,
    spmm_row_split_plan,
};

/// How many of the specialisations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One or two of four pairs of offset type and scalars: less than half of the product.
    Cover,
    /// All of them.
    Product,
}

/// The specialisations of every kernel, algorithms first, with the lines of `tables`.
///
/// # Errors
/// A table line that names a parameter its algorithm does not have.
pub fn specialisations(
    tables: &[DeviceTable],
    extent: Extent,
) -> Result<Vec<KernelKey>, ParameterError> {
    let mut list = List { tables, extent, keys: Vec::new() };
    for algorithm in Algorithm::ALL {
        (algorithm.spec().offline)(&mut list)?;
    }
    list.batched()?;
    list.spmm()?;
    list.spgemm();
    list.helpers();
    list.solvers()?;
    list.vectors();
    list.formats();
    // Sets that differ in what the host alone reads have one kernel.
    let mut seen = HashSet::new();
    list.keys.retain(|key| seen.insert(key.clone()));
    Ok(list.keys)
}

/// The pairs of offset type and where scalars lie.
const ROUND: [(OffsetType, bool); 4] = [
    (OffsetType::U32, false),
    (OffsetType::U64, true),
    (OffsetType::U32, true),
    (OffsetType::U64, false),
];

mod batched;
mod format;
mod solvers;
mod spgemm;
mod spmm;
mod vectors;

/// The specialisations so far.
pub(crate) struct List<'a> {
    tables: &'a [DeviceTable],
    pub(crate) extent: Extent,
    pub(crate) keys: Vec<KernelKey>,
}

impl List<'_> {
    /// One algorithm, in forms that differ by a feature; in the cover, forms are taken in turn.
    pub(crate) fn spmv<P: Parameters>(
        &mut self,
        source: &'static str,
        forms: &[Option<&'static str>],
        defaults: impl Fn(ValueType) -> Vec<P>,
    ) -> Result<(), ParameterError> {
        // Float atomics cannot be compensated: that pair is refused at run time.
        let sums: &[Accumulate] = match forms {
            [Some(FEATURE_SPIN)] => &[Accumulate::Plain],
            _ => &[Accumulate::Plain, Accumulate::Compensated],
        };
        for (turn, value_type) in ValueType::ALL.into_iter().enumerate() {
            let sets = self.parameter_sets(value_type, defaults(value_type))?;
            for (turn, &accumulate) in (turn..).zip(sums) {
                for (number, parameters) in sets.iter().enumerate() {
                    // Two sets with one form, so that forms and pairs come round at different times.
                    let forms = match self.extent {
                        Extent::Product => forms,
                        Extent::Cover => slice::from_ref(&forms[(turn + number / 2) % forms.len()]),
                    };
                    let turn = turn + number;
                    // Half of the turns are taken: all pairs come round in the others.
                    let turn = match self.sums_in_turn(value_type, sums.len(), sets.len()) {
                        true if turn % 2 == 1 => continue,
                        true => turn / 2,
                        false => turn,
                    };
                    for (offset_type, scalars_on_device) in self.pairs(turn, sets.len()) {
                        let key = KernelKey::new(
                            source,
                            value_type,
                            offset_type,
                            accumulate,
                            scalars_on_device,
                            parameters,
                        );
                        self.keys.extend(forms.iter().map(|form| match form {
                            Some(feature) => key.clone().with_feature(feature),
                            None => key.clone(),
                        }));
                    }
                }
            }
        }
        Ok(())
    }

    /// Everything so far of a source, without features, once more with another value of a parameter.
    pub(crate) fn repeat(&mut self, source: &'static str, name: &'static str, value: u32) {
        let mut keys: Vec<_> =
            self.keys.iter().filter(|key| key.source == source).cloned().collect();
        keys.retain(|key| key.features.is_empty());
        for entry in keys.iter_mut().flat_map(|key| &mut key.parameters) {
            if entry.0 == name {
                entry.1 = value;
            }
        }
        keys.retain(|key| !self.keys.contains(key));
        self.keys.extend(keys);
    }

    /// Leaves out what `keep` refuses of a source.
    pub(crate) fn retain(&mut self, source: &str, keep: impl Fn(&KernelKey) -> bool) {
        self.keys.retain(|key| key.source != source || keep(key));
    }

    /// The defaults alone and under each entry of the tables, each set once.
    pub(crate) fn parameter_sets<P: Parameters>(
        &self,
        value_type: ValueType,
        defaults: Vec<P>,
    ) -> Result<Vec<P>, ParameterError> {
        let mut sets = defaults.clone();
        let entries = self.tables.iter().flat_map(|table| &table.devices);
        for entry in entries.filter(|entry| entry.device_type != Some(DeviceType::Cpu)) {
            for default in &defaults {
                let mut named = NamedParameters::of(default);
                entry.apply(value_type, &mut named)?;
                let mut set = default.clone();
                set.take(&named)?;
                // Rules go over the line of their algorithm.
                let rules = entry.rules(value_type).into_iter();
                let rules = rules.flat_map(|rules| Products::ALL.map(|count| rules.own(count)));
                let of_rules = rules.flatten().filter(|rule| rule.algorithm.name() == P::ALGORITHM);
                let mut of_entry = vec![set.clone()];
                for rule in of_rules {
                    let mut set = set.clone();
                    let parameters = &mut rule.parameters.iter();
                    parameters.try_for_each(|(name, value)| set.set(name, *value))?;
                    of_entry.push(set);
                }
                for mut set in of_entry {
                    // Where an algorithm has such a limit, NVIDIA's compiler alone is told.
                    let _ = set.set("registers", 0);
                    if !sets.contains(&set) {
                        sets.push(set);
                    }
                }
            }
        }
        Ok(sets)
    }

    /// Whether each of `sets` parameter sets is taken with only one of `sums` ways of summing.
    fn sums_in_turn(&self, value_type: ValueType, sums: usize, sets: usize) -> bool {
        let is_stored_short = value_type != value_type.accumulator();
        self.extent == Extent::Cover && is_stored_short && sums > 1 && sets >= ROUND.len()
    }

    /// The pairs for one of `sets` parameter sets: where there are four or more, one each, in turn, since
    /// they go all the way round; else two, which hold both of each.
    pub(crate) fn pairs(&self, turn: usize, sets: usize) -> Vec<(OffsetType, bool)> {
        match self.extent {
            Extent::Product => ROUND.to_vec(),
            Extent::Cover if sets >= ROUND.len() => vec![ROUND[turn % ROUND.len()]],
            Extent::Cover => ROUND[turn % 2 * 2..][..2].to_vec(),
        }
    }

    /// Kernels beside the products: few enough for all of them. Group sizes are those that the runtime
    /// takes on a GPU.
    fn helpers(&mut self) {
        let offsets = [OffsetType::U32, OffsetType::U64];
        for offset_type in offsets {
            // As many items as the device allows: a driver for AMD may allow 256, others more.
            for group_size in [256, 512] {
                let parameters = CsrAdaptivePlan { group_size };
                self.helper(csr_adaptive_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            }
            let parameters = CsrFlatPlan { group_size: 64 };
            self.helper(csr_flat_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = SpmmMergePlan { group_size: 64, tile_length: 512, slack: 64 };
            self.helper(spmm_merge_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = SpmmRowSplitPlan { group_size: 256 };
            self.helper(spmm_row_split_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = BatchedPlan { group_size: 64 };
            self.helper(batched_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = RowLengthsKernel { group_size: 256 };
            self.helper(row_lengths::SOURCE, ValueType::F32, offset_type, &parameters);
            for value_type in ValueType::ALL {
                let parameters = GatherValues { group_size: 256 };
                self.helper(gather_values::SOURCE, value_type, offset_type, &parameters);
                let parameters = DenseProductKernel { group_size: 256 };
                self.helper(dense_product::SOURCE, value_type, offset_type, &parameters);
            }
        }
        for value_type in ValueType::ALL {
            let parameters = DenseRows { group_size: 256 };
            self.helper(dense_rows::SOURCE, value_type, OffsetType::U32, &parameters);
        }
        for value_type in [ValueType::F32, ValueType::F64] {
            let parameters = GatherRate { group_size: 256 };
            self.helper(gather_rate::SOURCE, value_type, OffsetType::U32, &parameters);
        }
        let parameters = RowOffsetsKernel { group_size: 256 };
        self.helper(row_offsets::SOURCE, ValueType::F32, OffsetType::U32, &parameters);
        let parameters = LaunchCost { group_size: 64 };
        self.helper(launch_cost::SOURCE, ValueType::F32, OffsetType::U32, &parameters);
        let parameters = Rates { group_size: 256 };
        self.helper(rates::SOURCE, ValueType::F32, OffsetType::U32, &parameters);
    }

    pub(crate) fn helper<P: Parameters>(
        &mut self,
        source: &'static str,
        value_type: ValueType,
        offset_type: OffsetType,
        parameters: &P,
    ) {
        let plain = Accumulate::Plain;
        self.keys.push(KernelKey::new(source, value_type, offset_type, plain, false, parameters));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmented_sum::FEATURE_FUSED;
    use crate::{csr_adaptive, csr_scalar, csr_vector, segmented_sum, spgemm_sets};

    fn table(line: &str) -> DeviceTable {
        let head = "format = 2\n[[device]]\nname = \"A\"\norigin = \"a test\"\n";
        toml::from_str(&format!("{head}[device.kernel.csr_adaptive.{line}")).unwrap()
    }

    #[test]
    fn every_kernel_source_is_there_but_those_for_cpus() {
        let keys = specialisations(&[], Extent::Cover).unwrap();
        let specs = Algorithm::ALL.map(Algorithm::spec).into_iter();
        let of_cpus = specs.filter(|spec| spec.is_for_cpus).flat_map(|spec| spec.kernels);
        let mut others: Vec<_> = of_cpus.map(|kernel| kernel.source).collect();
        others.push(spgemm_sets::SOURCE);
        for source in crate::SOURCES.iter().filter(|source| source.path.ends_with(".cl")) {
            let is_there = keys.iter().any(|key| key.source == source.path);
            assert_eq!(is_there, !others.contains(&source.path), "{}", source.path);
        }
    }

    #[test]
    fn the_product_holds_the_cover_and_nothing_comes_twice() {
        let product = specialisations(&[], Extent::Product).unwrap();
        let distinct: HashSet<_> = product.iter().collect();
        assert_eq!(distinct.len(), product.len());
        let cover = specialisations(&[], Extent::Cover).unwrap();
        assert!(cover.len() < product.len() / 2, "{} of {}", cover.len(), product.len());
        assert!(cover.iter().all(|key| distinct.contains(key)));
    }

    #[test]
    fn in_the_cover_each_two_of_the_choices_meet() {
        let cover = specialisations(&[], Extent::Cover).unwrap();
        let sources =
            [csr_scalar::SOURCE, csr_vector::SOURCE, csr_adaptive::SOURCE, segmented_sum::SOURCE];
        for source in sources {
            let pairs = |project: fn(&KernelKey) -> (String, String)| -> usize {
                let keys = cover.iter().filter(|key| key.source == source);
                keys.map(project).collect::<HashSet<_>>().len()
            };
            let met = [
                (8, pairs(|k| (k.value_type.to_string(), k.offset_type.to_string()))),
                (8, pairs(|k| (k.value_type.to_string(), k.scalars_on_device.to_string()))),
                (4, pairs(|k| (k.accumulate.to_string(), k.offset_type.to_string()))),
                (4, pairs(|k| (k.accumulate.to_string(), k.scalars_on_device.to_string()))),
                (4, pairs(|k| (k.offset_type.to_string(), k.scalars_on_device.to_string()))),
                (8, pairs(|k| (k.value_type.to_string(), k.accumulate.to_string()))),
            ];
            for (number, (expected, found)) in met.into_iter().enumerate() {
                assert_eq!(found, expected, "{source}, pair {number}");
            }
        }
    }

    #[test]
    fn in_the_cover_each_form_of_segmented_sum_meets_each_other_choice() {
        let cover = specialisations(&[], Extent::Cover).unwrap();
        for form in [None, Some(&FEATURE_FUSED)] {
            let keys = || {
                let keys = cover.iter().filter(|key| key.source == segmented_sum::SOURCE);
                keys.filter(|key| key.features.first() == form)
            };
            let met = |project: fn(&KernelKey) -> String| -> usize {
                keys().map(project).collect::<HashSet<_>>().len()
            };
            // Four types with two ways of summing, four pairs of the next, four sets.
            assert_eq!(met(|k| format!("{} {}", k.value_type, k.accumulate)), 8);
            assert_eq!(met(|k| format!("{} {}", k.offset_type, k.scalars_on_device)), 4);
            assert_eq!(met(|k| format!("{:?}", k.parameters)), 4);
        }
    }

    #[test]
    fn in_the_cover_f32_and_f64_meet_every_way_of_summing_with_every_set() {
        let cover = specialisations(&[], Extent::Cover).unwrap();
        let product = specialisations(&[], Extent::Product).unwrap();
        let met = |keys: &[KernelKey]| -> HashSet<_> {
            let keys = keys.iter().filter(|key| key.value_type == key.value_type.accumulator());
            keys.map(|k| format!("{} {:?} {}", k.source, k.parameters, k.accumulate)).collect()
        };
        assert_eq!(met(&cover), met(&product));
    }

    #[test]
    fn a_table_line_adds_its_parameters_and_a_misspelt_one_is_an_error() {
        let with = |line: &str| specialisations(&[table(line)], Extent::Cover);
        let plain = specialisations(&[], Extent::Cover).unwrap().len();
        let keys = with("f64]\nnnz_per_wg = 1536").unwrap();
        let added: Vec<_> =
            keys.iter().filter(|key| key.parameters.contains(&("nnz_per_wg", 1536))).collect();
        // Two pairs for plain, compensated and spin; two more of the first two for the baseline.
        assert_eq!(added.len(), 10);
        assert_eq!(keys.len(), plain + 10);
        assert!(added.iter().all(|key| key.value_type == ValueType::F64));
        assert!(with("f64]\nnnz_pr_wg = 1536").is_err());
    }

    #[test]
    fn spin_is_never_compensated() {
        let keys = specialisations(&[], Extent::Product).unwrap();
        let spin: Vec<_> =
            keys.iter().filter(|key| key.features == [csr_adaptive::FEATURE_SPIN]).collect();
        assert_eq!(spin.len(), 16);
        assert!(spin.iter().all(|key| key.accumulate == Accumulate::Plain));
    }
}
