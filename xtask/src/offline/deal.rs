//! Which targets a configuration of the cover is compiled for.
//!
//! Targets of a family that run as many items in step differ little in the code they get. They share a source's
//! configurations: each is compiled for one of them, and a few of every source for all.

use super::configurations::Configuration;
use super::target::Target;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};

/// Configurations of a source that all targets get.
const FOR_ALL: usize = 4;

/// The places of configurations among those of their source, in an order that has nothing to do with what they are:
/// neighbours in the list differ in one thing, so that a turn by the list's order would give one target the f32 alone.
pub(super) struct Deal<'a> {
    places: HashMap<&'a str, usize>,
}

impl<'a> Deal<'a> {
    pub(super) fn new(cover: &'a [Configuration]) -> Self {
        let mut sources: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for Configuration { source, key, .. } in cover {
            sources.entry(source).or_default().push((Sha256::digest(key), key.as_str()));
        }
        let places = sources.into_values().flat_map(|mut keys| {
            keys.sort();
            keys.into_iter().enumerate().map(|(place, (_, key))| (key, place))
        });
        Deal { places: places.collect() }
    }

    /// Whether `target` gets `configuration`, which is for it: one that is not of the cover it does not.
    pub(super) fn gives(&self, configuration: &Configuration, target: &'static Target) -> bool {
        let Some(&place) = self.places.get(configuration.key.as_str()) else { return false };
        let shares = |other: &&'static Target| {
            other.simd_widths == target.simd_widths && other.obstacle(configuration).is_none()
        };
        let sharers: Vec<_> = target.family.targets().filter(shares).collect();
        place < FOR_ALL || sharers.get(place % sharers.len().max(1)) == Some(&target)
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::TARGETS;
    use super::*;

    fn configurations() -> Vec<Configuration> {
        let one = |number: usize| {
            let value = ["F64", "F32"][number % 2];
            Configuration {
                source: "spmv/a.cl".to_owned(),
                key: format!("a.{value}.{number}"),
                options: format!("-DVALUE_{value} -DGROUP_SIZE=64"),
            }
        };
        (0..100).map(one).collect()
    }

    #[test]
    fn each_configuration_has_a_target_of_each_width_and_a_few_have_all() {
        let cover = configurations();
        let deal = Deal::new(&cover);
        let mut for_all = 0;
        for configuration in &cover {
            let able = |target: &&Target| target.obstacle(configuration).is_none();
            let able: Vec<_> = TARGETS.iter().filter(able).collect();
            let given: Vec<_> =
                able.iter().filter(|target| deal.gives(configuration, target)).collect();
            let widths = |of: &[&Target]| {
                let mut widths: Vec<_> =
                    of.iter().map(|target| (target.family.name(), target.simd_widths)).collect();
                widths.dedup();
                widths
            };
            let given: Vec<_> = given.into_iter().copied().collect();
            assert_eq!(widths(&given), widths(&able));
            for_all += usize::from(given.len() == able.len());
            assert!(given.len() == able.len() || given.len() == widths(&able).len());
        }
        assert_eq!(for_all, FOR_ALL);
    }

    #[test]
    fn no_target_is_left_without_a_value_type() {
        let cover = configurations();
        let deal = Deal::new(&cover);
        for target in &TARGETS {
            for f64 in [true, false] {
                let of_it = cover.iter().filter(|one| one.uses_f64() == f64);
                let given =
                    of_it.filter(|one| target.obstacle(one).is_none() && deal.gives(one, target));
                assert_eq!(given.count() > 0, target.has_f64 || !f64, "{}", target.name);
            }
        }
    }

    #[test]
    fn what_is_not_of_the_cover_is_given_to_nobody() {
        let cover = configurations();
        let deal = Deal::new(&cover[1..]);
        assert!(!TARGETS.iter().any(|target| deal.gives(&cover[0], target)));
    }
}
