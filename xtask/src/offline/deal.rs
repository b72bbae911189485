//! Which targets a configuration of the cover is compiled for.
//!
//! Each is compiled for one target at least. They are dealt so that, of every source, each family's compiler meets each
//! value type with each way of summing and every other option that its targets can take, and each target is met.

use super::configurations::Configuration;
use super::target::{TARGETS, Target};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is to be met of a source: an option by a family, or a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pair<'a> {
    /// The family's name, a value type, and how its values are summed.
    Sum(&'static str, &'a str, bool),
    /// The family's name, and a compiler's option.
    Option(&'static str, &'a str),
    Target(&'static str),
}

/// The targets of each configuration of the cover, by its key.
pub(super) struct Deal<'a> {
    targets: HashMap<&'a str, Vec<&'static Target>>,
}

impl<'a> Deal<'a> {
    pub(super) fn new(cover: &'a [Configuration]) -> Self {
        let mut sources: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for configuration in cover {
            // An order that has nothing to do with what they are: neighbours in the list differ in one thing.
            let order = Sha256::digest(&configuration.key);
            sources.entry(&configuration.source).or_default().push((order, configuration));
        }
        let mut deal = Deal { targets: HashMap::new() };
        for mut configurations in sources.into_values() {
            configurations.sort_by_key(|(order, _)| *order);
            deal.source(configurations.into_iter().map(|(_, configuration)| configuration));
        }
        deal
    }

    /// Gives each configuration of a source to the target that meets most by it, and then to others what is left.
    fn source(&mut self, configurations: impl Iterator<Item = &'a Configuration> + Clone) {
        let mut met = BTreeSet::new();
        let mut given = BTreeMap::<&str, usize>::new();
        for configuration in configurations.clone() {
            let able = TARGETS.iter().filter(|target| target.obstacle(configuration).is_none());
            // Of the best, one that has got least.
            let best = able.max_by_key(|target| {
                let new = pairs(configuration, target).difference(&met).count();
                (new, std::cmp::Reverse(given.get(target.name).copied().unwrap_or(0)))
            });
            if let Some(target) = best {
                met.extend(pairs(configuration, target));
                *given.entry(target.name).or_default() += 1;
                self.give(configuration, target);
            }
        }
        for target in &TARGETS {
            for configuration in configurations.clone() {
                if target.obstacle(configuration).is_some() || self.gives(configuration, target) {
                    continue;
                }
                let all = pairs(configuration, target);
                if all.difference(&met).next().is_some() {
                    met.extend(all);
                    self.give(configuration, target);
                }
            }
        }
    }

    fn give(&mut self, configuration: &'a Configuration, target: &'static Target) {
        self.targets.entry(&configuration.key).or_default().push(target);
    }

    /// Whether `target` gets `configuration`: one that is not of the cover it does not.
    pub(super) fn gives(&self, configuration: &Configuration, target: &'static Target) -> bool {
        let targets = self.targets.get(configuration.key.as_str());
        targets.is_some_and(|targets| targets.contains(&target))
    }
}

/// What a target meets by a configuration.
fn pairs<'a>(configuration: &'a Configuration, target: &'static Target) -> BTreeSet<Pair<'a>> {
    let family = target.family.name();
    let options = configuration.options.split(' ');
    let value = options.clone().find(|option| option.starts_with("-DVALUE_")).unwrap_or_default();
    let is_compensated = options.clone().any(|option| option == "-DCOMPENSATED");
    let mut pairs: BTreeSet<_> = options.map(|option| Pair::Option(family, option)).collect();
    pairs.extend([Pair::Sum(family, value, is_compensated), Pair::Target(target.name)]);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configurations() -> Vec<Configuration> {
        let one = |number: usize| {
            let value = ["F64", "F32", "F16"][number % 3];
            let sum = ["", " -DCOMPENSATED"][number / 3 % 2];
            let size = [64, 128][number / 6 % 2];
            Configuration {
                source: "spmv/a.cl".to_owned(),
                key: format!("a.{value}.{number}"),
                options: format!("-DVALUE_{value}{sum} -DGROUP_SIZE={size}"),
            }
        };
        (0..60).map(one).collect()
    }

    #[test]
    fn each_configuration_has_a_target_and_most_have_one() {
        let cover = configurations();
        let deal = Deal::new(&cover);
        let targets =
            |one: &Configuration| TARGETS.iter().filter(|target| deal.gives(one, target)).count();
        assert!(cover.iter().all(|one| targets(one) > 0));
        let all: usize = cover.iter().map(targets).sum();
        assert!(all < cover.len() + TARGETS.len(), "{all}");
        let with_f64 = cover.iter().filter(|one| one.uses_f64());
        let given =
            with_f64.flat_map(|one| TARGETS.iter().filter(|target| deal.gives(one, target)));
        assert!(given.into_iter().all(|target| target.has_f64));
    }

    #[test]
    fn each_compiler_meets_each_type_with_each_sum_and_each_option_and_each_target_is_met() {
        let cover = configurations();
        // Two alone are hardly enough for seven targets.
        for cover in [&cover[..], &cover[..2]] {
            let deal = Deal::new(cover);
            let able = |target: &'static Target| {
                cover.iter().filter(move |one| target.obstacle(one).is_none())
            };
            let possible: BTreeSet<_> = TARGETS
                .iter()
                .flat_map(|target| able(target).flat_map(|one| pairs(one, target)))
                .collect();
            let met: BTreeSet<_> = TARGETS
                .iter()
                .flat_map(|target| {
                    let given = able(target).filter(|one| deal.gives(one, target));
                    given.flat_map(|one| pairs(one, target))
                })
                .collect();
            assert_eq!(met, possible);
        }
    }

    #[test]
    fn what_is_not_of_the_cover_is_given_to_nobody() {
        let cover = configurations();
        let deal = Deal::new(&cover[1..]);
        assert!(!TARGETS.iter().any(|target| deal.gives(&cover[0], target)));
    }
}
