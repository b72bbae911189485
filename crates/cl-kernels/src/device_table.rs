//! The device table: which hyper-parameters suit which device, as data.
//!
//! Entries are looked up from the most specific to the least: platform and device name, platform and
//! architecture, vendor and type, type. Parameters a specific entry leaves out come from a less
//! specific one, and in the end from the algorithm's own defaults. Reading and writing files is the
//! `sparrow` crate's work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::algorithm::known;
use crate::batched::Batched;
use crate::evc_hyb::EvcHybSwitch;
use crate::spmm::SpmmSwitch;
use crate::spmm_merge::SpmmMerge;
use crate::spmm_row_split::SpmmRowSplit;
use crate::{Algorithm, DeviceTraits, DeviceType, ParameterError, Parameters};

/// A device table: what a TOML file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceTable {
    /// Format of the file: 1.
    pub format: u32,
    /// The entries, in the file's order.
    #[serde(default, rename = "device")]
    pub devices: Vec<DeviceEntry>,
}

/// What one entry says, and of which devices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceEntry {
    /// Device name as [`DeviceTraits::table_name`] gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Platform name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Vendor of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Architecture, as [`DeviceTraits::architecture`] gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Kind of device.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub device_type: Option<DeviceType>,
    /// The driver it was measured with; not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Where the numbers come from: a measurement or a paper's table.
    pub origin: String,
    /// Whether groups of one launch make progress while others wait: a fact no query tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups_progress: Option<bool>,
    /// Bytes of the last cache before memory, where the device's own answer is another cache's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// `kernel.<algorithm>.<value type>`: parameter names and values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel: BTreeMap<String, BTreeMap<String, BTreeMap<String, u32>>>,
}

/// An entry that applies to a device, and how closely.
#[derive(Clone, Copy, Debug)]
pub struct TableMatch<'a> {
    /// The entry.
    pub entry: &'a DeviceEntry,
    /// What it matched by, most specific first: "platform and name", "name", ...
    pub by: &'static str,
    rank: u8,
}

impl DeviceTable {
    /// The only format there is so far.
    pub const FORMAT: u32 = 1;

    /// A table that says nothing.
    pub fn empty() -> Self {
        DeviceTable { format: Self::FORMAT, devices: Vec::new() }
    }

    /// Refuses algorithms, value types and parameters that nothing has: a misspelt line would be passed
    /// over in silence.
    ///
    /// # Errors
    /// The first unknown name, with the names there are.
    pub fn check_names(&self) -> Result<(), String> {
        for (algorithm, value_types) in self.devices.iter().flat_map(|entry| &entry.kernel) {
            let check = parameter_check(algorithm)?;
            for (value_type, parameters) in value_types {
                value_type.parse::<csr_core::ValueType>()?;
                for name in parameters.keys() {
                    check(name).map_err(|error| error.to_string())?;
                }
            }
        }
        Ok(())
    }

    /// The entries that apply to `device`, the most specific first; among equals, the file's order.
    pub fn matches(&self, device: &DeviceTraits) -> Vec<TableMatch<'_>> {
        let mut matches: Vec<_> =
            self.devices.iter().filter_map(|entry| entry.matches(device)).collect();
        matches.sort_by_key(|found| found.rank);
        matches
    }

    /// Whether groups of one launch are known to make progress on `device`; unknown is no.
    pub fn groups_progress(&self, device: &DeviceTraits) -> bool {
        self.matches(device).iter().find_map(|found| found.entry.groups_progress).unwrap_or(false)
    }

    /// Puts what the table says of `device` over `defaults`.
    ///
    /// # Errors
    /// A parameter name that the algorithm does not have.
    pub fn parameters<P: Parameters>(
        &self,
        device: &DeviceTraits,
        value_type: csr_core::ValueType,
        defaults: P,
    ) -> Result<P, ParameterError> {
        let mut parameters = defaults;
        for found in self.matches(device).iter().rev() {
            found.entry.apply(value_type, &mut parameters)?;
        }
        Ok(parameters)
    }
}

/// Refuses hyper-parameters that one line of a table does not have.
type ParameterCheck = Box<dyn Fn(&str) -> Result<(), ParameterError>>;

/// The check of a line.
fn parameter_check(line: &str) -> Result<ParameterCheck, String> {
    // The batched algorithms are one program; switches are none.
    Ok(match line {
        Batched::ALGORITHM => Box::new(known::<Batched>),
        EvcHybSwitch::ALGORITHM => Box::new(known::<EvcHybSwitch>),
        SpmmSwitch::ALGORITHM => Box::new(known::<SpmmSwitch>),
        SpmmRowSplit::ALGORITHM => Box::new(known::<SpmmRowSplit>),
        SpmmMerge::ALGORITHM => Box::new(known::<SpmmMerge>),
        _ => {
            let algorithm = line.parse::<Algorithm>()?;
            Box::new(move |name: &str| algorithm.check_parameter(name))
        }
    })
}

impl DeviceEntry {
    /// Puts what this entry says over `parameters`.
    ///
    /// # Errors
    /// A parameter name that the algorithm does not have.
    pub(crate) fn apply<P: Parameters>(
        &self,
        value_type: csr_core::ValueType,
        parameters: &mut P,
    ) -> Result<(), ParameterError> {
        let Some(kernel) = self.kernel.get(P::ALGORITHM) else { return Ok(()) };
        // 16-bit storage sums in f32: where its own line is missing, f32's is the next best.
        let lines = [value_type.accumulator().name(), value_type.name()];
        for values in lines.iter().filter_map(|line| kernel.get(*line)) {
            for (name, &value) in values {
                parameters.set(name, value)?;
            }
        }
        Ok(())
    }

    /// Every field that is given must agree; the rank says which of DESIGN's levels that makes it.
    fn matches(&self, device: &DeviceTraits) -> Option<TableMatch<'_>> {
        let agrees = |field: &Option<String>, actual: &str| {
            field.as_deref().is_none_or(|wanted| wanted == actual)
        };
        let all_agree = agrees(&self.name, device.table_name())
            && agrees(&self.platform, &device.platform)
            && agrees(&self.vendor, &device.vendor)
            && agrees(&self.architecture, &device.architecture)
            && self.device_type.is_none_or(|wanted| wanted == device.device_type);
        if !all_agree {
            return None;
        }
        let (by, rank) = match self {
            DeviceEntry { name: Some(_), platform: Some(_), .. } => ("platform and name", 0),
            DeviceEntry { name: Some(_), .. } => ("name", 1),
            DeviceEntry { architecture: Some(_), platform: Some(_), .. } => {
                ("platform and architecture", 2)
            }
            DeviceEntry { architecture: Some(_), .. } => ("architecture", 3),
            DeviceEntry { vendor: Some(_), .. } => ("vendor and type", 4),
            DeviceEntry { platform: Some(_), .. } => ("platform and type", 5),
            _ => ("type", 6),
        };
        Some(TableMatch { entry: self, by, rank })
    }
}

#[cfg(test)]
mod tests {
    use csr_core::ValueType;

    use super::*;
    use crate::csr_adaptive::CsrAdaptive;
    use crate::select::tests::gpu;

    const TABLE: &str = r#"
        format = 1
        [[device]]
        type = "gpu"
        origin = "a guess"
        [device.kernel.csr_adaptive.f32]
        group_size = 128
        nnz_per_wg = 512
        [[device]]
        name = "Hawaii"
        platform = "AMD"
        origin = "Table I"
        [device.kernel.csr_adaptive.f32]
        nnz_per_wg = 1024
    "#;

    fn parameters(name: &str) -> CsrAdaptive {
        let table: DeviceTable = toml::from_str(TABLE).unwrap();
        let mut device = gpu();
        device.name = name.to_owned();
        device.platform = "AMD".to_owned();
        let defaults = CsrAdaptive::default_for(ValueType::F32);
        table.parameters(&device, ValueType::F32, defaults).unwrap()
    }

    #[test]
    fn the_specific_entry_wins_and_the_general_one_fills_in() {
        assert_eq!(parameters("Hawaii").nnz_per_wg, 1024);
        assert_eq!(parameters("Hawaii").group_size, 128);
        assert_eq!(parameters("Fiji").nnz_per_wg, 512);
        assert_eq!(parameters("Hawaii:sramecc+").nnz_per_wg, 1024);
    }

    #[test]
    fn sixteen_bit_storage_takes_the_line_of_f32() {
        let table: DeviceTable = toml::from_str(TABLE).unwrap();
        let defaults = CsrAdaptive::default_for(ValueType::F16);
        let found = table.parameters(&gpu(), ValueType::F16, defaults).unwrap();
        assert_eq!(found.nnz_per_wg, 512);
    }

    #[test]
    fn a_misspelt_parameter_is_an_error_with_the_names_there_are() {
        let table: DeviceTable = toml::from_str(&TABLE.replace("group_size", "grup_size")).unwrap();
        let defaults = CsrAdaptive::default_for(ValueType::F32);
        let error = table.parameters(&gpu(), ValueType::F32, defaults).unwrap_err();
        assert_eq!(
            error.to_string(),
            "csr_adaptive has no parameter \"grup_size\"; it has group_size, nnz_per_wg, \
             num_rows_stream, nnz_multiplier"
        );
    }

    #[test]
    fn nothing_is_assumed_to_make_progress() {
        assert!(!DeviceTable::empty().groups_progress(&gpu()));
    }
}
