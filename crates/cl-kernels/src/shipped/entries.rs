//! What the entries of device tables that are not a CPU's say of hyper-parameters.

use csr_core::ValueType;

use super::list::TableEntries;
use crate::{DeviceEntry, DeviceTable, DeviceType, NamedParameters, ParameterError, Reuse};

/// Those entries.
pub(super) struct Entries<'a>(Vec<&'a DeviceEntry>);

impl<'a> Entries<'a> {
    /// Those of `tables`.
    pub(super) fn of(tables: &'a [DeviceTable]) -> Self {
        let entries = tables.iter().flat_map(|table| &table.devices);
        Entries(entries.filter(|entry| entry.device_type != Some(DeviceType::Cpu)).collect())
    }
}

impl TableEntries for Entries<'_> {
    fn entries(&self) -> usize {
        self.0.len()
    }

    fn changes(
        &self,
        entry: usize,
        value_type: ValueType,
        defaults: &NamedParameters,
    ) -> Result<Vec<Vec<(String, u32)>>, ParameterError> {
        let entry = self.0[entry];
        let mut named = defaults.clone();
        entry.apply(value_type, &mut named)?;
        let line: Vec<_> =
            named.entries().iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        // Rules go over the line of their algorithm.
        let rules = entry.rules(value_type).into_iter();
        let rules = rules.flat_map(|rules| Reuse::ALL.map(|count| rules.own(count))).flatten();
        let of_rules = rules.filter(|rule| rule.algorithm.name() == defaults.algorithm());
        let mut changes = vec![line.clone()];
        for rule in of_rules {
            let own = rule.parameters.iter().map(|(name, value)| (name.clone(), *value));
            changes.push(line.iter().cloned().chain(own).collect());
        }
        Ok(changes)
    }
}
