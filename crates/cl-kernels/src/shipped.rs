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

mod batched;
mod entries;
mod format;
mod helpers;
pub(crate) mod list;
mod solvers;
mod spgemm;
mod spmm;
mod vectors;

use std::collections::HashSet;

use crate::{Algorithm, DeviceTable, KernelKey, ParameterError};
use entries::Entries;
pub use list::Extent;
use list::List;

/// The specialisations of every kernel, algorithms first, with the lines of `tables`.
///
/// # Errors
/// A table line that names a parameter its algorithm does not have.
pub fn specialisations(
    tables: &[DeviceTable],
    extent: Extent,
) -> Result<Vec<KernelKey>, ParameterError> {
    let entries = Entries::of(tables);
    let mut list = List::new(&entries, extent);
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

#[cfg(test)]
mod tests {
    use csr_core::ValueType;

    use super::*;
    use crate::segmented_sum::FEATURE_FUSED;
    use crate::{Accumulate, csr_adaptive, csr_scalar, csr_vector, segmented_sum, spgemm_sets};

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
