//! How a dense vector is dealt to work-groups: neighbouring elements, in whole tiles.

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

/// What each group has: `piece` elements, and the last one the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// Elements of a piece: whole tiles.
    pub piece: u64,
    /// Pieces, and groups; 0 without elements.
    pub groups: u64,
}

/// A CPU's groups are few, since one that has little to do costs more than its work.
const MOST_GROUPS_ON_CPU: u64 = 256;
const LEAST_PIECE_ON_CPU: u64 = 8192;

impl Tiling {
    /// The lanes that tilings are made of.
    pub const LANES: [u32; 4] = [2, 4, 8, 16];

    /// What `device` streams elements of so many bytes with: loads of 16 bytes, on a CPU of 64.
    pub fn default_for(device: &DeviceTraits, element_bytes: usize) -> Self {
        let (group_size, load_bytes) = match device.device_type {
            DeviceType::Cpu => (1, 64),
            _ => (1u32 << device.max_group_size.clamp(1, 256).ilog2(), 16),
        };
        Tiling { group_size, lanes: load_bytes / element_bytes as u32, loads: 4 }
    }

    /// Elements that a group loads before it uses any of them.
    pub fn tile(&self) -> u64 {
        u64::from(self.group_size) * u64::from(self.lanes) * u64::from(self.loads)
    }

    /// Deals `count` elements to `most_groups` groups at most: a function of these numbers alone, so that sums always
    /// come about in the same order.
    pub fn pieces(&self, count: u64, most_groups: u64) -> Pieces {
        let (most_groups, least) = match self.group_size {
            1 => (MOST_GROUPS_ON_CPU.min(most_groups), LEAST_PIECE_ON_CPU),
            _ => (most_groups, 1),
        };
        let piece = count.div_ceil(most_groups).max(least).next_multiple_of(self.tile());
        Pieces { piece, groups: count.div_ceil(piece) }
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
    fn pieces_hold_every_element_once_and_none_is_empty() {
        for tiling in TILINGS {
            for count in [1, 63, 4096, 4097, 100_000, 10_000_000, (1 << 40) + 1] {
                let Pieces { piece, groups } = tiling.pieces(count, 2048);
                assert!(piece * groups >= count && piece * (groups - 1) < count, "{count}");
                assert!((1..=2048).contains(&groups), "{count}: {groups} groups");
                assert_eq!(piece % tiling.tile(), 0);
            }
            assert_eq!(tiling.pieces(0, 2048).groups, 0);
        }
    }

    #[test]
    fn a_cpu_device_has_few_groups_and_none_with_little_to_do() {
        let cpu = TILINGS[2];
        assert_eq!(cpu.pieces(8192, 2048).groups, 1);
        assert_eq!(cpu.pieces(10_000_000, 2048).groups, 256);
    }
}
