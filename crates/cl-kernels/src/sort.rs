//! `sort`: numbers by 32- or 64-bit keys (`cl/format/sort.cl`).

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};
use crate::{Array, DeviceTraits};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/sort.cl";

/// The feature of keys of 32 bits.
pub const FEATURE_NARROW_KEYS: &str = "NARROW_KEYS";

parameters! {
    /// Parameters of `sort`.
    pub struct Sort for "sort" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Neighbouring keys that an item moves.
        keys_per_item: [4, 8, 16],
    }
}

impl Sort {
    /// What fits the device: groups of 128 items and tiles of 2,048 keys where it has 24 KiB of local memory.
    pub fn for_device(device: &DeviceTraits) -> Self {
        let most = 1u32 << device.max_group_size.clamp(1, 128).ilog2();
        let sets = [(most, 16), (most, 8), (most.min(64), 8)];
        let fits = |sort: &Sort| sort.local_bytes(8) <= device.local_bytes;
        let small = [(most.min(32), 4), (most.min(16), 4)];
        let smallest = Sort { group_size: most.min(4), keys_per_item: 4 };
        let mut sets = sets
            .into_iter()
            .chain(small)
            .map(|(group_size, keys_per_item)| Sort { group_size, keys_per_item });
        sets.find(fits).unwrap_or(smallest)
    }

    /// Keys that a group takes.
    pub fn tile(&self) -> usize {
        (self.group_size * self.keys_per_item) as usize
    }

    /// Bits of a key that a count, a scan and a move sort by (`DIGIT_BITS` of the kernel): few where tiles are small,
    /// which have no use for a tally of many digits.
    pub fn digit_bits(&self) -> u32 {
        if self.tile() <= 32 { 4 } else { 8 }
    }

    /// Bytes of local memory of a group that moves keys of `key_bytes`.
    pub fn local_bytes(&self, key_bytes: u64) -> u64 {
        let (tile, group_size) = (self.tile() as u64, u64::from(self.group_size));
        (tile + group_size) * key_bytes + group_size * (2 * 16 + 8) + (4 << self.digit_bits())
    }
}

arguments! {
    /// Arguments of the kernel `count_digits`.
    pub struct CountArguments<M> for "count_digits" {
        /// Keys.
        count: u32,
        /// Bits below the digit.
        shift: u32,
        /// The keys.
        keys: Array<M>,
        /// How often each digit is in each tile, by digit.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `move_by_digit`.
    pub struct MoveArguments<M> for "move_by_digit" {
        /// Keys.
        count: u32,
        /// Bits below the digit.
        shift: u32,
        /// Where each tile's keys with each digit go.
        scanned: Array<M>,
        /// The keys.
        keys: Array<M>,
        /// What goes with them.
        numbers: Array<M>,
        /// The keys in order of the digit.
        sorted_keys: Array<M>,
        /// What goes with them.
        sorted_numbers: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::gpu;

    #[test]
    fn tiles_are_as_large_as_local_memory_allows() {
        let with = |local_bytes, max_group_size| {
            Sort::for_device(&DeviceTraits { local_bytes, max_group_size, ..gpu() })
        };
        assert_eq!(with(48 << 10, 1024), Sort { group_size: 128, keys_per_item: 16 });
        assert_eq!(with(16 << 10, 1024), Sort { group_size: 128, keys_per_item: 8 });
        assert_eq!(with(8 << 10, 1024), Sort { group_size: 64, keys_per_item: 8 });
        assert_eq!(with(4 << 10, 1024), Sort { group_size: 32, keys_per_item: 4 });
        assert_eq!(with(1 << 10, 1024), Sort { group_size: 4, keys_per_item: 4 });
        assert_eq!(with(1 << 10, 1), Sort { group_size: 1, keys_per_item: 16 });
        for local_bytes in [1 << 10, 2 << 10, 4 << 10, 32 << 10] {
            assert!(with(local_bytes, 1024).local_bytes(8) <= local_bytes);
        }
        assert_eq!(with(48 << 10, 1), Sort { group_size: 1, keys_per_item: 16 });
    }
}
