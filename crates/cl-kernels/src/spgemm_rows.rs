//! `spgemm_rows`: rows of C = A B in classes, and the rows of each class (`cl/spgemm/spgemm_rows.cl`).

use csr_core::{ValueType, counted};

use crate::ParameterError;
use crate::parameters::{GROUP_SIZES, parameters};
use crate::spgemm_bitmap::SpgemmBitmap;
use crate::spgemm_hash::SpgemmHash;
use crate::spgemm_parts::SpgemmParts;
use crate::spgemm_tiny::SpgemmTiny;
use crate::spgemm_values::SpgemmValues;
use crate::{DeviceTraits, DeviceType};

mod arguments;

pub use arguments::{
    ClassifyArguments, ListArguments, ListOutputArguments, OutputArguments, WindowArguments,
};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_rows.cl";

/// Classes of rows by their products (`CLASSES` of the kernel).
pub const ROW_CLASSES: usize = 10;

/// The first of them whose rows have their values summed by another kernel than finds their columns.
pub const SUMMED_ROWS: usize = 4;

/// The last of them: rows at which all groups work together.
pub const LONG_ROWS: usize = 9;

/// Classes of rows by the entries of C.
pub const OUTPUT_CLASSES: usize = 5;

/// Those that are summed in windows.
pub const WINDOW_ROWS: usize = 3;

/// The last class: rows that are summed in windows, and have many entries of A.
pub const CROWDED_ROWS: usize = 4;

/// The items of a group that looks at a row of its own, by how much there is to do.
const GROUPS: [u32; 3] = [32, 128, 256];

parameters! {
    /// Parameters of `spgemm_rows`.
    pub struct SpgemmRows for "spgemm_rows" {
        /// Items of a work-group that looks at rows: a power of two.
        group_size: GROUP_SIZES,
        /// Products of a tiny row, at most.
        tiny: [8, 16, 32],
        /// Products of a brief row, at most.
        brief: [8, 16, 32],
        /// Products of a short row, at most.
        short: [32, 64],
        /// Items of a tiny row: a power of two.
        tiny_items: [1, 2, 4, 8] => host,
        /// Items of a brief row: a power of two.
        brief_items: [1, 2, 4, 8, 16] => host,
        /// Items of a short row: a power of two.
        short_items: [1, 4, 8, 16] => host,
        /// Products of a row whose columns a small group hashes, at most: a power of two.
        few: [128, 256, 512],
        /// Products of a row whose columns a group hashes, at most: a power of two.
        scattered: [1024, 2048],
        /// Words of a small group's bitmap.
        near: [256, 512, 1024],
        /// Words of a group's bitmap.
        middle: [1024, 2048, 4096],
        /// Words of a large group's bitmap, which is laid over one window after the other.
        wide: [4096, 8192],
        /// What a row takes, in products, before it may be long: all groups work at it together.
        least_long: [8192, 16384, 32768, 65536, 131072, 262144],
        /// Parts of a compute unit's share of all products, one of which a long row is more than.
        unit_shares: [4, 8, 16, 32] => host,
        /// Entries of a row of C that a small group sums, at most.
        small_outputs: [64, 128, 256],
        /// Entries of a row of C that a group sums, at most.
        middle_outputs: [256, 512],
        /// Entries of longer rows that a large group sums at a time.
        window_outputs: [512, 1024],
        /// Entries of a row of A whose parts in the windows of C's row may be sorted, at least.
        crowded: [4096, 8192, 16384, 32768],
        /// Looks at entries that sorting a part spares, at least.
        crowded_looks: [4, 8, 16, 32] => host,
        /// Items for each compute unit that compute all rows, each by itself with a set of columns; 0 where groups do.
        items_per_unit: [0, 1] => host,
    }
}

/// What computes the rows of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKernel {
    /// `spgemm_tiny`.
    Tiny(SpgemmTiny),
    /// `spgemm_hash`.
    Hash(SpgemmHash),
    /// `spgemm_bitmap`.
    Bitmap(SpgemmBitmap),
}

impl SpgemmRows {
    /// What suits a device's local memory.
    pub fn default_for(device: &DeviceTraits) -> Self {
        let has_48_kib = device.local_bytes >= 48 << 10;
        let mut defaults = Self::defaults(Self::most_items(device), has_48_kib);
        // Items compute all rows. Where groups do, few are there at once: a look takes no longer than its share of the
        // work.
        if device.device_type == DeviceType::Cpu {
            let (crowded_looks, items_per_unit) = (32, 1);
            let (tiny_items, brief_items, short_items) = (1, 1, 1);
            defaults = SpgemmRows {
                crowded_looks,
                tiny_items,
                brief_items,
                short_items,
                items_per_unit,
                ..defaults
            };
        }
        // For f64, so that both types have the same.
        let too_large = |of: &Self| {
            let mut found = of.local_bytes(device, ValueType::F64).into_iter();
            found.find(|(_, value, bytes)| *bytes > device.local_bytes && *value > 1)
        };
        while let Some((name, value, _)) = too_large(&defaults) {
            let halved = crate::Parameters::set(&mut defaults, name, value / 2);
            debug_assert!(halved.is_ok(), "{name} is one of them");
        }
        defaults
    }

    /// The same for groups of up to `max_group_size` items; `has_48_kib` says that there are 48 KiB of local memory.
    pub(crate) fn defaults(max_group_size: u64, has_48_kib: bool) -> Self {
        SpgemmRows {
            group_size: 1 << max_group_size.clamp(1, 256).ilog2(),
            tiny: 16,
            brief: 32,
            short: 64,
            tiny_items: 4,
            brief_items: 8,
            short_items: 16,
            few: 256,
            scattered: 2048,
            near: 512,
            middle: 2048,
            wide: if has_48_kib { 8192 } else { 4096 },
            least_long: 16384,
            unit_shares: 8,
            small_outputs: 128,
            middle_outputs: 512,
            window_outputs: if has_48_kib { 1024 } else { 512 },
            crowded: 8192,
            crowded_looks: 16,
            items_per_unit: 0,
        }
    }

    /// Items of the largest groups that look at rows of their own: those of the device, or where local memory is small so
    /// many that what each of them takes leaves half of it.
    pub fn most_items(device: &DeviceTraits) -> u64 {
        match device.local_bytes {
            0..0x8000 => device.max_group_size.min((device.local_bytes / 256).max(1)),
            _ => device.max_group_size,
        }
    }

    /// What a row takes more than, in products, that is long, on a device of so many compute units: A's nonzeros name
    /// rows of B of the mean length, as far as anybody knows.
    pub fn long_work(&self, a_nnz: u64, (b_rows, b_nnz): (u64, u64), compute_units: u32) -> u64 {
        let products = u128::from(a_nnz) * u128::from(b_nnz) / u128::from(b_rows.max(1));
        let parts = u128::from(compute_units.max(1)) * u128::from(self.unit_shares.max(1));
        let part = u64::try_from(products / parts).unwrap_or(u64::MAX);
        part.max(self.least_long.into())
    }

    /// What computes the rows of `class`, from 1 on and before [`LONG_ROWS`], in groups of up to `max_group_size` items.
    pub fn row_kernel(&self, class: usize, max_group_size: u64) -> RowKernel {
        let [small, middle, large] = GROUPS.map(|size| clamp(size, max_group_size));
        let tiny = |group_size, capacity, row_items: u32| {
            let row_items = row_items.min(group_size);
            RowKernel::Tiny(SpgemmTiny { group_size, capacity, row_items })
        };
        let group_size = clamp(64, max_group_size);
        let hash = |group_size, capacity| RowKernel::Hash(SpgemmHash { group_size, capacity });
        let bitmap = |group_size, words| RowKernel::Bitmap(SpgemmBitmap { group_size, words });
        match class {
            0 | 1 => tiny(group_size, self.tiny, self.tiny_items),
            2 => tiny(group_size, self.brief, self.brief_items),
            3 if self.short_items == 1 => tiny(small, self.short, 1),
            3 => tiny(group_size, self.short, self.short_items),
            4 => bitmap(small, self.near),
            5 => hash(small, self.few),
            6 => bitmap(middle, self.middle),
            7 => hash(middle, self.scattered),
            _ => bitmap(large, self.wide),
        }
    }

    /// What sums the windows of crowded rows.
    pub fn part_kernel(&self, max_group_size: u64) -> SpgemmParts {
        let SpgemmValues { group_size, outputs, products_per_item } =
            self.value_kernel(WINDOW_ROWS, max_group_size);
        SpgemmParts { group_size, outputs, products_per_item }
    }

    /// What sums the rows of C of `class`, from 1 on, in such groups; [`WINDOW_ROWS`] takes windows.
    pub fn value_kernel(&self, class: usize, max_group_size: u64) -> SpgemmValues {
        let outputs = match class {
            0 | 1 => self.small_outputs,
            2 => self.middle_outputs,
            _ => self.window_outputs,
        };
        let group_size = clamp(GROUPS[class.clamp(1, 3) - 1], max_group_size);
        SpgemmValues { group_size, outputs, products_per_item: 4 }
    }

    /// Refuses parameters that the kernels or the device cannot do.
    ///
    /// # Errors
    /// The first parameter that breaks a rule.
    pub fn check(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
    ) -> Result<(), ParameterError> {
        let algorithm = "spgemm_rows";
        crate::parameters::check_group_size(algorithm, self.group_size, device)?;
        let refuse = |name, value: u32, rule: String| {
            Err(ParameterError::Invalid { algorithm, name, value: u64::from(value), rule })
        };
        let powers = [
            ("tiny_items", self.tiny_items),
            ("brief_items", self.brief_items),
            ("short_items", self.short_items),
            ("few", self.few),
            ("scattered", self.scattered),
        ];
        for (name, value) in powers {
            if !value.is_power_of_two() {
                return refuse(name, value, "it must be a power of two".to_owned());
            }
        }
        let entries = crate::Parameters::entries(self);
        let may_be_none = |name: &str| name == "items_per_unit";
        let none = entries.into_iter().find(|(name, value)| *value == 0 && !may_be_none(name));
        if let Some((name, value)) = none {
            return refuse(name, value, "it must be at least 1".to_owned());
        }
        for (name, value, bytes) in self.local_bytes(device, value_type) {
            if bytes > device.local_bytes {
                let rule = format!(
                    "{} has {} of local memory, and it takes {bytes}",
                    device.name,
                    counted(device.local_bytes, "byte")
                );
                return refuse(name, value, rule);
            }
        }
        Ok(())
    }

    /// The local memory that each parameter has a group take.
    fn local_bytes(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
    ) -> Vec<(&'static str, u32, u64)> {
        let number = value_type.size_bytes() as u64;
        let of_row = |name, value, class| {
            let bytes = match self.row_kernel(class, Self::most_items(device)) {
                RowKernel::Tiny(tiny) => tiny.local_bytes(number),
                RowKernel::Hash(hash) => {
                    12 * u64::from(hash.capacity) + 24 * u64::from(hash.group_size) + 64
                }
                RowKernel::Bitmap(bitmap) => {
                    4 * u64::from(bitmap.words) + 24 * u64::from(bitmap.group_size) + 64
                }
            };
            (name, value, bytes)
        };
        let of_values = |name, value, class| {
            let SpgemmValues { group_size, outputs, products_per_item } =
                self.value_kernel(class, Self::most_items(device));
            let products = u64::from(group_size) * u64::from(products_per_item);
            let mask_words = if class == WINDOW_ROWS { 2 } else { 1 };
            let entries = u64::from(group_size).min(32 * mask_words);
            let bytes = u64::from(outputs) * (8 + 4 * mask_words + number)
                + products * number
                + entries * (24 + number);
            let list = if class == WINDOW_ROWS {
                (u64::from(group_size) + entries) * (12 + number)
            } else {
                0
            };
            (name, value, bytes + list + 128)
        };
        // Of each row that a group looks at with several items: 20 bytes; and a sum for each item.
        let of_looks = 28 * u64::from(self.group_size) + 128;
        vec![
            ("group_size", self.group_size, of_looks),
            of_row("tiny", self.tiny, 1),
            of_row("brief", self.brief, 2),
            of_row("short", self.short, 3),
            of_row("near", self.near, 4),
            of_row("few", self.few, 5),
            of_row("middle", self.middle, 6),
            of_row("scattered", self.scattered, 7),
            of_row("wide", self.wide, 8),
            of_values("small_outputs", self.small_outputs, 1),
            of_values("middle_outputs", self.middle_outputs, 2),
            of_values("window_outputs", self.window_outputs, 3),
        ]
    }
}

/// A group size that the device has.
fn clamp(size: u32, max_group_size: u64) -> u32 {
    1 << max_group_size.clamp(1, u64::from(size)).ilog2()
}

#[cfg(test)]
mod tests {
    use super::SpgemmRows;

    #[test]
    fn long_rows_take_more_than_a_part_of_a_units_share_and_than_the_least() {
        let rows =
            SpgemmRows { least_long: 100, unit_shares: 4, ..SpgemmRows::defaults(256, true) };
        // 1000 entries of A name rows of 8 entries: 8000 products, 1000 a part of 2 units.
        assert_eq!(rows.long_work(1000, (10, 80), 2), 1000);
        assert_eq!(rows.long_work(1000, (10, 80), 200), 100);
        assert_eq!(rows.long_work(0, (0, 0), 0), 100);
        assert_eq!(rows.long_work(u64::MAX, (1, u64::MAX), 1), u64::MAX);
    }
}
