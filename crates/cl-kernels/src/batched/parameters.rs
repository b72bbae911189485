//! Hyper-parameters of the batched algorithms: defaults, and what devices allow.

use csr_core::{ValueType, counted};

use crate::parameters::parameters;
use crate::{Accumulate, DeviceTraits, DeviceType, ParameterError};

/// Rows of a slice of sliced ELL.
pub const SLICE_ROWS: usize = 32;

/// The most elements of x that pairs have in local memory, where words of their columns have 15 bits for each
/// (`cl/batched/by_two.h`).
pub const MOST_X_OF_PAIRS: u32 = 1 << 15;

/// Items of a wide group at most: kernels that say their group's size are compiled for no more by NVIDIA's driver, and run
/// in groups of no more on AMD's unless told otherwise.
const MOST_WIDE: usize = 256;

const NAME: &str = "batched";

parameters! {
    /// Parameters of the batched algorithms.
    pub struct Batched for "batched" {
        /// Items that share a chunk, as many as the device runs in step: a power of two, 1 to 64.
        sub_group_size: [8, 16, 32, 64],
        /// Sub-groups of a work-group: a power of two, 1 to 64.
        sub_groups_per_group: [1, 2, 4, 8, 16],
        /// Entries an item takes in a step: a power of two, 1 to 16.
        nnz_per_item: [2, 4, 8, 16],
        /// The most elements of x that lie in local memory: 1 or more.
        x_local: [256, 512, 1024, 2048],
        /// The most rows of a task: 32 or more.
        rows_per_task: [256, 512, 1024, 2048],
        /// 1: where all problems are of one pattern and by `batched_csr_i`, groups compute two at once, and have twice
        /// the sub-groups, whose items take half the entries ([`Batched::by_pairs`]). 0: one by one.
        pairs: [0, 1],
        /// 1: where tasks are few, groups have twice the sub-groups ([`Batched::wide`]). 0: never.
        wide_if_few: [0, 1] => host,
    }
}

impl Batched {
    /// Sane values for a device nothing is known of: groups of 128, of fewer sub-groups where groups are small,
    /// and less in local memory where that is.
    pub fn default_for(device: &DeviceTraits, value_type: ValueType) -> Self {
        // On a CPU an item is a loop, and sub-groups of few items have little to tell each other.
        let most = if device.device_type == DeviceType::Cpu { 8 } else { 64 };
        let mut parameters = Self::defaults(1 << device.simd_width.clamp(8, most).ilog2());
        parameters.wide_if_few = u32::from(device.device_type != DeviceType::Cpu);
        while parameters.check(device, value_type).is_err() {
            if parameters.rows_per_task > 32 {
                parameters.x_local /= 2;
                parameters.rows_per_task /= 2;
            } else if parameters.sub_groups_per_group > 1 {
                parameters.sub_groups_per_group /= 2;
            } else if parameters.group_size() as u64 > device.max_group_size {
                parameters.sub_group_size /= 2;
            } else if parameters.nnz_per_item > 2 {
                parameters.nnz_per_item /= 2;
            } else if parameters.x_local > 1 {
                parameters.x_local /= 2;
            } else if parameters.sub_group_size > 1 {
                parameters.sub_group_size /= 2;
            } else {
                break;
            }
        }
        parameters
    }

    /// For items that run in step by `sub_group_size`.
    pub(crate) fn defaults(sub_group_size: u32) -> Self {
        Batched {
            sub_group_size,
            sub_groups_per_group: (128 / sub_group_size).clamp(1, 8),
            nnz_per_item: 8,
            x_local: 1024,
            rows_per_task: 1024,
            pairs: 0,
            wide_if_few: 0,
        }
    }

    /// Of the kernel that computes problems in pairs: an entry is two values there, so an item takes half as many, and
    /// a group has twice the items.
    pub fn by_pairs(self) -> Self {
        Batched {
            sub_groups_per_group: self.sub_groups_per_group * 2,
            nnz_per_item: self.nnz_per_item / 2,
            pairs: 1,
            ..self
        }
    }

    /// Of kernels that compute them one by one.
    pub fn one_by_one(self) -> Self {
        Batched { pairs: 0, ..self }
    }

    /// Of launches of few tasks, which may take as long as the largest of them: twice the sub-groups, where they are asked
    /// for and fit the device. `in_step`: of the kernel whose items run in step.
    pub fn wide(self, device: &DeviceTraits, value_type: ValueType, in_step: bool) -> Option<Self> {
        let wide = Batched {
            sub_groups_per_group: self.sub_groups_per_group * 2,
            wide_if_few: 0,
            ..self.one_by_one()
        };
        let fits = wide.group_size() <= MOST_WIDE
            && wide.check(device, value_type).is_ok()
            && (!in_step || wide.runs_in_step(device, value_type));
        (self.wide_if_few == 1 && fits).then_some(wide)
    }

    /// Whether the items of a sub-group run in step and can vote (`SUB_GROUP_BALLOT`, `cl/subgroup/sub_group.h`). One
    /// item alone does on every device; there it takes more local memory, which the device has to have.
    pub fn runs_in_step(&self, device: &DeviceTraits, value_type: ValueType) -> bool {
        let fits = || {
            let (x_local, sums) = (("x_local", self.x_local.into()), self.in_step_sums(value_type));
            let check = device.check_local_sums(NAME, x_local, sums, value_type, Accumulate::Plain);
            check.is_ok()
        };
        self.are_in_step(device) || (self.sub_group_size == 1 && fits())
    }

    fn are_in_step(&self, device: &DeviceTraits) -> bool {
        self.sub_group_size == 32 && device.shuffle_sizes.contains(&self.sub_group_size)
    }

    /// The most nonzeros of a task of [`super::BatchedKernel::CsrIInStep`]: positions, of which up to 31 come before
    /// them, have 16 bits. One item would have too many steps.
    pub fn most_nnz_in_step(&self) -> u32 {
        self.positions_in_step() - 32
    }

    fn positions_in_step(&self) -> u32 {
        if self.sub_group_size == 1 { 1 << 12 } else { 1 << 16 }
    }

    /// Items of a work-group.
    pub fn group_size(&self) -> usize {
        self.sub_group_size as usize * self.sub_groups_per_group as usize
    }

    /// Checks the parameters against the kernel's rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
    ) -> Result<(), ParameterError> {
        let refuse = |name, value: u32, rule: String| {
            let value = u64::from(value);
            Err(ParameterError::Invalid { algorithm: NAME, name, value, rule })
        };
        for (name, value, least, most) in [
            ("sub_group_size", self.sub_group_size, 1, 64),
            ("sub_groups_per_group", self.sub_groups_per_group, 1, 64),
            ("nnz_per_item", self.nnz_per_item, 1, 16),
        ] {
            if !value.is_power_of_two() || !(least..=most).contains(&value) {
                let rule = format!("it must be a power of two, {least} to {most}");
                return refuse(name, value, rule);
            }
        }
        for (name, value) in [("pairs", self.pairs), ("wide_if_few", self.wide_if_few)] {
            if value > 1 {
                return refuse(name, value, "it must be 0 or 1".to_owned());
            }
        }
        if self.pairs == 1 && self.nnz_per_item < 2 {
            let rule = "pairs take half of it, so it must be 2 or more".to_owned();
            return refuse("nnz_per_item", self.nnz_per_item, rule);
        }
        let together = self.pairs + 1;
        let items = self.group_size() as u64 * u64::from(together);
        if items > device.max_group_size {
            let most = device.max_group_size / u64::from(self.sub_group_size * together);
            let rule = format!(
                "{} allows groups of {}: 1 to {most} sub_groups of {}{}",
                device.name,
                counted(device.max_group_size, "item"),
                self.sub_group_size,
                if self.pairs == 1 { ", since pairs take twice as many" } else { "" }
            );
            return refuse("sub_groups_per_group", self.sub_groups_per_group, rule);
        }
        if !(1..=65_536).contains(&self.x_local) {
            return refuse("x_local", self.x_local, "it must be 1 to 65536".to_owned());
        }
        if !(SLICE_ROWS as u32..=65_536).contains(&self.rows_per_task) {
            return refuse(
                "rows_per_task",
                self.rows_per_task,
                "it must be 32 to 65536".to_owned(),
            );
        }
        if self.pairs == 1 && self.x_local > MOST_X_OF_PAIRS {
            let rule = format!("pairs tell {MOST_X_OF_PAIRS} elements apart");
            return refuse("x_local", self.x_local, rule);
        }
        let most = self.local_sums(device, value_type);
        let x_local = ("x_local", self.x_local.into());
        device.check_local_sums(NAME, x_local, most, value_type, Accumulate::Plain)
    }

    /// Sums that local memory holds for the kernel that takes most of it, as the kernels' heads say.
    fn local_sums(&self, device: &DeviceTraits, value_type: ValueType) -> u64 {
        let words_a_sum = value_type.accumulator().size_bytes() as u64 / 4;
        let in_sums = |sums: u64, words: u64| sums + words.div_ceil(words_a_sum);
        let (x, rows) = (u64::from(self.x_local), u64::from(self.rows_per_task) + 1);
        let (items, sub_groups) = (self.group_size() as u64, u64::from(self.sub_groups_per_group));
        let step = u64::from(self.sub_group_size * self.nnz_per_item);
        // Each sub-group's products, and an empty slot for sixteen of them.
        let products = sub_groups * (step + step / 16);
        let csr_i = in_sums(x + products + items + 3 * sub_groups, rows);
        let words_of_coo = sub_groups * step + items + 4 * sub_groups;
        let coo = in_sums(x + products + items + 2 * sub_groups, words_of_coo);
        let most = csr_i.max(coo);
        if self.are_in_step(device) { most.max(self.in_step_sums(value_type)) } else { most }
    }

    /// The same of the kernel by sub-groups in step: a sum for each step of every chunk, half a word for each row. Of
    /// pairs two of each but the half words, twice the sub-groups, and an empty slot for eight products.
    fn in_step_sums(&self, value_type: ValueType) -> u64 {
        let words_a_sum = value_type.accumulator().size_bytes() as u64 / 4;
        let words = (u64::from(self.rows_per_task) + 1).div_ceil(2).div_ceil(words_a_sum);
        let x = u64::from(self.x_local).next_multiple_of(8);
        let sums = |sub_groups: u32, step: u32, slots: u32| {
            let products = sub_groups * (step + step / slots);
            let steps = self.positions_in_step() / step.max(1) + 7 * sub_groups;
            x + u64::from(products + steps)
        };
        let (sub_groups, step) =
            (self.sub_groups_per_group, self.sub_group_size * self.nnz_per_item);
        let alone = sums(sub_groups, step, 16);
        let of_pairs = 2 * sums(2 * sub_groups, step / 2, 8);
        words + if self.pairs == 1 { of_pairs } else { alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::gpu;

    #[test]
    fn defaults_fit_every_device_and_shrink_with_its_memory() {
        for local_kib in [256, 48, 32, 16] {
            for max_group_size in [1024, 256, 64] {
                let device = DeviceTraits { local_bytes: local_kib << 10, max_group_size, ..gpu() };
                for value_type in ValueType::ALL {
                    let found = Batched::default_for(&device, value_type);
                    assert_eq!(found.check(&device, value_type), Ok(()), "{local_kib} {found}");
                }
            }
        }
        let found = Batched::default_for(&gpu(), ValueType::F64);
        assert_eq!((found.group_size(), found.x_local), (128, 1024));
    }

    #[test]
    fn sums_of_steps_are_counted_where_items_run_in_step() {
        let of = |local_kib: u64, shuffle_sizes: &[u32]| {
            let shuffle_sizes = shuffle_sizes.to_vec();
            DeviceTraits { local_bytes: local_kib << 10, shuffle_sizes, ..gpu() }
        };
        // Two entries an item: 1,024 steps have a part each, twice as many for pairs, of two sums.
        let short = Batched { nnz_per_item: 2, ..Batched::defaults(32) };
        assert_eq!(short.check(&of(20, &[]), ValueType::F64), Ok(()));
        assert!(short.check(&of(20, &[32]), ValueType::F64).is_err());
        assert_eq!(short.check(&of(24, &[32]), ValueType::F64), Ok(()));
        let pairs = Batched { pairs: 1, ..short };
        assert_eq!(pairs.check(&of(48, &[]), ValueType::F64), Ok(()));
        assert!(pairs.check(&of(48, &[32]), ValueType::F64).is_err());
        let default = Batched { pairs: 1, ..Batched::defaults(32) };
        assert_eq!(default.check(&of(48, &[32]), ValueType::F64), Ok(()));
    }

    #[test]
    fn one_item_runs_in_step_where_local_memory_suffices() {
        let of = |local_kib: u64| DeviceTraits { local_bytes: local_kib << 10, ..gpu() };
        let one = Batched::defaults(1);
        assert!(one.runs_in_step(&of(16), ValueType::F64));
        assert!(!one.runs_in_step(&of(8), ValueType::F64));
        assert!(!Batched::defaults(8).runs_in_step(&of(64), ValueType::F64));
    }

    #[test]
    fn groups_become_wide_where_that_is_asked_for_and_fits() {
        let of = |local_kib: u64| DeviceTraits { local_bytes: local_kib << 10, ..gpu() };
        let wide = |parameters: Batched, local_kib, in_step| {
            let wide = parameters.wide(&of(local_kib), ValueType::F64, in_step);
            wide.map(|wide| (wide.group_size(), wide.wide_if_few))
        };
        let asked = |parameters| Batched { wide_if_few: 1, ..parameters };
        assert_eq!(wide(asked(Batched::defaults(32)), 48, false), Some((256, 0)));
        assert_eq!(wide(Batched::defaults(32), 48, false), None);
        assert_eq!(wide(asked(Batched::defaults(32)), 24, false), None);
        let large = Batched { sub_groups_per_group: 8, ..Batched::defaults(32) };
        assert_eq!(wide(asked(large), 256, false), None);
        // Sub-groups of one item have a sum for each step of every chunk.
        let one = asked(Batched { sub_groups_per_group: 32, ..Batched::defaults(1) });
        let least = |in_step| (8..64).find(|kib| wide(one, *kib, in_step).is_some());
        assert!(least(false) < least(true) && least(true).is_some());
    }

    #[test]
    fn pairs_fit_48_kib_with_the_defaults_and_no_less() {
        let pairs = Batched { pairs: 1, ..Batched::defaults(32) };
        let of = |local_kib: u64| DeviceTraits {
            local_bytes: local_kib << 10,
            shuffle_sizes: vec![32],
            ..gpu()
        };
        assert_eq!(pairs.check(&of(48), ValueType::F64), Ok(()));
        assert!(pairs.check(&of(40), ValueType::F64).is_err());
        assert_eq!(pairs.check(&of(32), ValueType::F32), Ok(()));
        assert_eq!((pairs.by_pairs().group_size(), pairs.by_pairs().nnz_per_item), (256, 4));
        let refused = |parameters: Batched| {
            parameters.check(&of(48), ValueType::F32).unwrap_err().to_string()
        };
        assert!(refused(Batched { pairs: 2, ..pairs }).contains("pairs = 2"));
        assert!(refused(Batched { wide_if_few: 2, ..pairs }).contains("wide_if_few = 2"));
        assert!(refused(Batched { nnz_per_item: 1, ..pairs }).contains("nnz_per_item = 1"));
        let large = Batched { x_local: MOST_X_OF_PAIRS + 1, ..pairs };
        assert!(refused(large).contains("pairs tell 32768 elements apart"));
        let most = Batched { sub_groups_per_group: 32, nnz_per_item: 2, ..pairs };
        assert!(refused(most).contains("1 to 16 sub_groups of 32, since pairs take twice as many"));
    }
}
