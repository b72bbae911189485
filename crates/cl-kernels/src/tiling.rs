//! How a dense vector is dealt to work-groups: in whole tiles (`cl/vector/tile.h`).

use crate::parameters::check_group_size;
use crate::{DeviceTraits, DeviceType, ParameterError};

/// The parameters that all kernels on dense vectors have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Items of a work-group: a power of two; 1 on a CPU, where an item is a loop.
    pub group_size: u32,
    /// Elements of a load: 2, 4, 8 or 16.
    pub lanes: u32,
    /// Loads of an item that are in flight together, of each array.
    pub loads: u32,
}

/// A CPU's groups are few, since one that has little to do costs more than its work.
const MOST_GROUPS_ON_CPU: u64 = 256;
const LEAST_OF_GROUP_ON_CPU: u64 = 8192;

impl Tiling {
    /// The lanes that tilings are made of.
    pub const LANES: [u32; 4] = [2, 4, 8, 16];

    /// What `device` streams elements of so many bytes with: loads of 16 bytes, on a CPU of 64.
    pub fn default_for(device: &DeviceTraits, element_bytes: usize) -> Self {
        let (group_size, load_bytes, loads) = match device.device_type {
            DeviceType::Cpu => (1, 64, 4),
            // A compensated sum of f64 an item, and a few of the group's.
            _ => (device.group_size(256, 24), 16, 2),
        };
        Tiling { group_size, lanes: load_bytes / element_bytes as u32, loads }
    }

    /// Elements that a group loads before it uses any of them.
    pub fn tile(&self) -> u64 {
        u64::from(self.group_size) * u64::from(self.lanes) * u64::from(self.loads)
    }

    /// Groups for `count` elements, `most` at most; none without elements.
    pub fn groups(&self, count: u64, most: u64) -> u64 {
        match self.group_size {
            1 => count.div_ceil(LEAST_OF_GROUP_ON_CPU).min(most.min(MOST_GROUPS_ON_CPU)),
            _ => count.div_ceil(self.tile()).min(most),
        }
    }

    /// Checks the rules of the kernels and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        let algorithm = "vectors";
        check_group_size(algorithm, self.group_size, device)?;
        let refuse = |name, value: u32, rule: &str| {
            let (value, rule) = (u64::from(value), rule.to_owned());
            Err(ParameterError::Invalid { algorithm, name, value, rule })
        };
        if !Self::LANES.contains(&self.lanes) {
            return refuse("lanes", self.lanes, "it must be 2, 4, 8 or 16");
        }
        if !(1..=16).contains(&self.loads) {
            return refuse("loads", self.loads, "it must be 1 to 16");
        }
        Ok(())
    }

    /// Changes one parameter by name.
    ///
    /// # Errors
    /// A name that is none of them.
    pub fn set(&mut self, name: &str, value: u32) -> Result<(), ParameterError> {
        match name {
            "group_size" => self.group_size = value,
            "lanes" => self.lanes = value,
            "loads" => self.loads = value,
            _ => {
                let (name, known) = (name.to_owned(), "group_size, lanes, loads".to_owned());
                return Err(ParameterError::Unknown { algorithm: "vectors", name, known });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILINGS: [Tiling; 3] = [
        Tiling { group_size: 256, lanes: 4, loads: 4 },
        Tiling { group_size: 64, lanes: 2, loads: 1 },
        Tiling { group_size: 1, lanes: 16, loads: 4 },
    ];

    #[test]
    fn every_group_has_a_tile_and_there_are_no_more_than_asked_for() {
        for tiling in TILINGS {
            for count in [1, 63, 4096, 4097, 100_000, 10_000_000, (1 << 40) + 1] {
                let groups = tiling.groups(count, 2048);
                assert!((1..=2048).contains(&groups), "{count}: {groups} groups");
                assert!(groups <= count.div_ceil(tiling.tile()), "{count}: {groups} groups");
            }
            assert_eq!(tiling.groups(0, 2048), 0);
        }
    }

    #[test]
    fn a_cpu_device_has_few_groups_and_none_with_little_to_do() {
        let cpu = TILINGS[2];
        assert_eq!(cpu.groups(8192, 2048), 1);
        assert_eq!(cpu.groups(10_000_000, 2048), 256);
    }
}
