//! Which configurations of the cover are compiled in a plain run, and for which targets.
//!
//! As few as do, so that, of every source, each family's compiler meets each option that its targets can take, and both
//! ways of summing f32 and f64; a 16-bit type, whose code is f32's but for a load, meets both in one family or the other.
//! A source of products meets each target in f32 and in f64 too, any other source one target of each family. The rest
//! of the cover is compiled under `--full`.

use super::configurations::Configuration;
use super::target::{TARGETS, Target};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is to be met of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pair<'a> {
    /// A value type, and how its values are summed, by the family of this name, or by any.
    Sum(Option<&'static str>, &'a str, bool),
    /// The family's name, and a compiler's option.
    Option(&'static str, &'a str),
    /// The target's name, and a value type.
    Target(&'static str, &'a str),
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

    /// Takes what meets most that has not been met, until all of a source is; of the best, for a target that has got least.
    fn source(&mut self, configurations: impl Iterator<Item = &'a Configuration>) {
        let able = configurations.flat_map(|configuration| {
            let able = TARGETS.iter().filter(|target| target.obstacle(configuration).is_none());
            able.map(move |target| (configuration, target, pairs(configuration, target)))
        });
        let able: Vec<_> = able.collect();
        let mut met = BTreeSet::new();
        let mut given = BTreeMap::<&str, usize>::new();
        let new = |met: &BTreeSet<Pair<'a>>, all: &BTreeSet<_>| all.difference(met).count();
        let best = |met: &_, given: &BTreeMap<_, _>| {
            able.iter().max_by_key(|(_, target, all)| {
                let has = given.get(target.name).copied().unwrap_or(0);
                (new(met, all), std::cmp::Reverse(has))
            })
        };
        while let Some((configuration, target, all)) = best(&met, &given) {
            if new(&met, all) == 0 {
                break;
            }
            met.extend(all);
            *given.entry(target.name).or_default() += 1;
            self.give(configuration, target);
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
    let is_stored_short = value.ends_with("16");
    pairs.insert(Pair::Sum((!is_stored_short).then_some(family), value, is_compensated));
    if is_product(&configuration.source) && !is_stored_short {
        pairs.insert(Pair::Target(target.name, value));
    }
    pairs
}

/// Whether a source has products, and not what is done before them.
fn is_product(source: &str) -> bool {
    let folder = source.split('/').next().unwrap_or_default();
    ["spmv", "spmm", "batched"].contains(&folder) && !source.contains("_plan")
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

    fn targets_of<'a>(deal: &'a Deal<'_>) -> impl Fn(&Configuration) -> usize + 'a {
        |one| TARGETS.iter().filter(|target| deal.gives(one, target)).count()
    }

    #[test]
    fn few_do_and_none_with_f64_is_for_a_target_without_it() {
        let cover = configurations();
        let deal = Deal::new(&cover);
        // f32 and f64 with both sums in two families, and those of seven targets; one of them is without f64.
        let all: usize = cover.iter().map(targets_of(&deal)).sum();
        assert!((13..20).contains(&all), "{all}");
        let helpers: Vec<_> = cover
            .iter()
            .map(|one| Configuration { source: "format/a.cl".to_owned(), ..one.clone() })
            .collect();
        let deal = Deal::new(&helpers);
        let all: usize = helpers.iter().map(targets_of(&deal)).sum();
        assert!((8..13).contains(&all), "{all}");
        let with_f64 = cover.iter().filter(|one| one.uses_f64());
        let given =
            with_f64.flat_map(|one| TARGETS.iter().filter(|target| deal.gives(one, target)));
        assert!(given.into_iter().all(|target| target.has_f64));
    }

    #[test]
    fn each_compiler_meets_each_type_with_its_sums_and_each_option_and_each_target_is_met() {
        let cover = configurations();
        // Two alone are hardly enough.
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
