//! The list of specialisations as it grows: what algorithms and other kernels add to it, and how the cover takes choices
//! in turn (`shipped.rs` says which).

use std::slice;

use csr_core::{OffsetType, ValueType};

use crate::value_coding::{FEATURE_CODES, FEATURE_VALUES_ALONE};
use crate::{Accumulate, KernelKey, NamedParameters, ParameterError, Parameters};

/// How many of the specialisations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One or two of four pairs of offset type and scalars: less than half of the product.
    Cover,
    /// All of them.
    Product,
}

/// The pairs of offset type and where scalars lie.
pub(super) const ROUND: [(OffsetType, bool); 4] = [
    (OffsetType::U32, false),
    (OffsetType::U64, true),
    (OffsetType::U32, true),
    (OffsetType::U64, false),
];

/// What device tables say of hyper-parameters, an entry after the other: names and values, so that algorithms can fill
/// the list without knowing tables.
pub(super) trait TableEntries {
    /// Entries.
    fn entries(&self) -> usize;

    /// The hyper-parameters of an algorithm by an entry, over `defaults`: its line, and that with each of its rules over
    /// it.
    ///
    /// # Errors
    /// A parameter that the algorithm does not have.
    fn changes(
        &self,
        entry: usize,
        value_type: ValueType,
        defaults: &NamedParameters,
    ) -> Result<Vec<Vec<(String, u32)>>, ParameterError>;
}

/// The specialisations so far.
pub(crate) struct List<'a> {
    tables: &'a dyn TableEntries,
    pub(crate) extent: Extent,
    pub(crate) keys: Vec<KernelKey>,
}

impl<'a> List<'a> {
    /// None yet, with the lines of `tables` to come.
    pub(super) fn new(tables: &'a dyn TableEntries, extent: Extent) -> Self {
        List { tables, extent, keys: Vec::new() }
    }

    /// One algorithm with either way of summing, in forms that differ by a feature; in the cover, forms are taken in
    /// turn.
    pub(crate) fn spmv<P: Parameters>(
        &mut self,
        source: &'static str,
        forms: &[Option<&'static str>],
        defaults: impl Fn(ValueType) -> Vec<P>,
    ) -> Result<(), ParameterError> {
        self.spmv_summed(source, forms, &[Accumulate::Plain, Accumulate::Compensated], defaults)
    }

    /// The same with these ways of summing alone.
    pub(crate) fn spmv_summed<P: Parameters>(
        &mut self,
        source: &'static str,
        forms: &[Option<&'static str>],
        sums: &[Accumulate],
        defaults: impl Fn(ValueType) -> Vec<P>,
    ) -> Result<(), ParameterError> {
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
        for entry in 0..self.tables.entries() {
            for default in &defaults {
                let named = NamedParameters::of(default);
                for changes in self.tables.changes(entry, value_type, &named)? {
                    let mut set = default.clone();
                    changes.iter().try_for_each(|(name, value)| set.set(name, *value))?;
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

    /// A kernel that is no product, with plain sums.
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

    /// A kernel that moves codes of values.
    pub(crate) fn codes_helper<P: Parameters>(
        &mut self,
        source: &'static str,
        offset_type: OffsetType,
        parameters: &P,
    ) {
        let (f32, plain) = (ValueType::F32, Accumulate::Plain);
        let key = KernelKey::new(source, f32, offset_type, plain, false, parameters);
        self.keys.push(key.with_feature(FEATURE_VALUES_ALONE).with_feature(FEATURE_CODES));
    }
}
