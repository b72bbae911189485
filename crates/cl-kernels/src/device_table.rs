//! The device table: which hyper-parameters suit which device, as data.
//!
//! Entries are looked up from the most specific to the least: platform and device name, platform and
//! architecture, vendor and type, type. Parameters a specific entry leaves out come from a less
//! specific one, and in the end from the algorithm's own defaults. Reading and writing files is the
//! `sparrow` crate's work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rules::Rules;
use crate::{CostNumbers, DeviceTraits, DeviceType, NamedParameters, ParameterError};

/// A device table: what a TOML file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceTable {
    /// Format of the file as it is written: [`DeviceTable::FORMAT`].
    pub format: u32,
    /// The entries, in the file's order.
    #[serde(default, rename = "device")]
    pub devices: Vec<DeviceEntry>,
}

/// What one entry says, and of which devices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceEntry {
    /// Device name as [`DeviceTraits::table_name`] gives it; with `*` at its end, how it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Platform name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Vendor of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Architecture, as [`DeviceTraits::architecture`] gives it; with `*` at its end, all that begin so.
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
    /// Whether its compiler has a prefetch builtin, and its processor a use for it (`cl/item/prefetch.h`). Where no entry
    /// says so it is not asked for: there are compilers that end the process over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetches: Option<bool>,
    /// Bytes of the last cache before memory, where the device's own answer is another cache's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// How fast memory was measured to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<StreamRates>,
    /// `kernel.<algorithm>.<value type>`: parameter names and values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel: BTreeMap<String, BTreeMap<String, BTreeMap<String, u32>>>,
    /// `model.<value type>`: what products cost, for matrices that no rule of this entry or a stronger one is about.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub model: BTreeMap<String, CostNumbers>,
    /// `choice.<value type>`: which algorithm suits which matrices.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub choice: BTreeMap<String, Rules>,
}

/// Rates of a device's memory as they were measured, in 10^9 bytes a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamRates {
    /// Of reading alone.
    pub read_gbytes_per_s: f64,
    /// Of copying: bytes read plus bytes written.
    pub copy_gbytes_per_s: f64,
    /// The driver they were measured with: under another they do not count.
    pub driver: String,
}

/// An entry that applies to a device, and how closely.
#[derive(Clone, Copy, Debug)]
pub struct TableMatch<'a> {
    /// The entry.
    pub entry: &'a DeviceEntry,
    /// What it matched by, most specific first: "platform and name", "name", ...
    pub by: &'static str,
    pub(crate) rank: u8,
}

impl DeviceTable {
    /// The format that is written. Format 1, which is read too, differs by names of hyper-parameters
    /// ([`current_name`](crate::current_name)).
    pub const FORMAT: u32 = 2;

    /// A table that says nothing.
    pub fn empty() -> Self {
        DeviceTable { format: Self::FORMAT, devices: Vec::new() }
    }

    /// The entries that apply to `device`, the most specific first; among equals, the file's order.
    pub fn matches(&self, device: &DeviceTraits) -> Vec<TableMatch<'_>> {
        let mut matches: Vec<_> =
            self.devices.iter().filter_map(|entry| entry.matches(device)).collect();
        matches.sort_by_key(|found| found.rank);
        matches
    }
}

impl DeviceEntry {
    /// The most specific of what the entry is matched by.
    pub fn title(&self) -> &str {
        let texts = [&self.name, &self.architecture, &self.vendor, &self.platform];
        let found = texts.into_iter().find_map(Option::as_deref);
        found.or(self.device_type.map(DeviceType::name)).unwrap_or("any device")
    }

    /// Puts what this entry says over `parameters`; whether it says anything.
    ///
    /// # Errors
    /// A parameter name that the algorithm does not have.
    pub(crate) fn apply(
        &self,
        value_type: csr_core::ValueType,
        parameters: &mut NamedParameters,
    ) -> Result<bool, ParameterError> {
        let Some(kernel) = self.kernel.get(parameters.algorithm()) else { return Ok(false) };
        // 16-bit storage sums in f32: where its own line is missing, f32's is the next best.
        let mut names = vec![value_type.accumulator().name(), value_type.name()];
        names.dedup();
        let mut has_line = false;
        for values in names.into_iter().filter_map(|name| kernel.get(name)) {
            has_line = true;
            for (name, &value) in values {
                parameters.set(name, value)?;
            }
        }
        Ok(has_line)
    }

    /// The rules for a value type; 16-bit storage takes those of f32 where it has none of its own.
    pub fn rules(&self, value_type: csr_core::ValueType) -> Option<&Rules> {
        let own = self.choice.get(value_type.name()).filter(|rules| !rules.is_empty());
        own.or_else(|| self.choice.get(value_type.accumulator().name()))
    }

    /// The numbers of the cost model for a value type; 16-bit storage takes those of f32 where it has none of its own.
    pub fn model(&self, value_type: csr_core::ValueType) -> Option<&CostNumbers> {
        let own = self.model.get(value_type.name());
        own.or_else(|| self.model.get(value_type.accumulator().name()))
    }

    /// Every field that is given must agree; the rank says which of DESIGN's levels that makes it.
    fn matches(&self, device: &DeviceTraits) -> Option<TableMatch<'_>> {
        let agrees = |field: &Option<String>, actual: &str| {
            field.as_deref().is_none_or(|wanted| match wanted.strip_suffix('*') {
                Some(beginning) => actual.starts_with(beginning),
                None => wanted == actual,
            })
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
            DeviceEntry { name: Some(text), .. } if text.ends_with('*') => {
                ("names that begin so", 4)
            }
            DeviceEntry { name: Some(_), platform: Some(_), .. } => ("platform and name", 0),
            DeviceEntry { name: Some(_), .. } => ("name", 1),
            DeviceEntry { architecture: Some(_), platform: Some(_), .. } => {
                ("platform and architecture", 2)
            }
            DeviceEntry { architecture: Some(text), .. } if text.ends_with('*') => {
                ("architectures that begin so", 4)
            }
            DeviceEntry { architecture: Some(_), .. } => ("architecture", 3),
            DeviceEntry { vendor: Some(_), .. } => ("vendor and type", 5),
            DeviceEntry { platform: Some(_), .. } => ("platform and type", 6),
            _ => ("type", 7),
        };
        Some(TableMatch { entry: self, by, rank })
    }
}
