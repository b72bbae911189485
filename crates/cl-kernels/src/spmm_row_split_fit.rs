//! What a matrix, its columns and a device make of the parameters of `spmm_row_split`.

use csr_core::ValueType;

use crate::DeviceTraits;
use crate::spmm::{GROUPS_PER_UNIT, LEAST_IDLE, Tiling};
use crate::spmm_row_split::{MOST_ITEMS_PER_ROW, SpmmRowSplit, WHOLE_ROWS};

/// Rows are not cut shorter for that: sums of parts go through memory.
const LEAST_PART: u32 = 128;

/// Nonzeros that a sub-group should have of a row that it shares, in the mean.
const LEAST_SHARE: f64 = 2.0;

/// Rows of B that are put under way at a time, at most.
const MOST_AT_ONCE: u32 = 8;

/// From as many items a sub-group on, those that take i-nodes shuffle rather than share rows, if all have work.
const SHUFFLING_ITEMS: u32 = 4;

/// Groups are not made larger for long rows: fewer fit a unit.
const MOST_GROUP_SIZE: u32 = 256;

impl SpmmRowSplit {
    /// Sub-groups that share a row, of which the mean one has `mean_row` nonzeros: a power of two. Few columns leave
    /// sub-groups of one or two items, which would take long over a long row, and whose neighbours would read rows of A
    /// that lie apart. Few nodes leave most of the device idle, which should have as many times their items as `idle`
    /// says.
    ///
    /// Asked of parameters that shuffle, it is 1 where i-nodes had better do that.
    pub fn sub_groups_per_row(&self, tiling: &Tiling, mean_row: f64, idle: f64) -> u32 {
        let shuffles = self.shuffles > 0 && self.rows_at_once > 1;
        if shuffles && tiling.sub_group_size >= SHUFFLING_ITEMS && idle < LEAST_IDLE {
            return 1;
        }
        let fitting = |items: u32| items.min(self.group_size) / tiling.sub_group_size;
        let filling = (idle * LEAST_IDLE) as u32;
        let most = fitting(self.items_per_row).max(filling.min(fitting(MOST_ITEMS_PER_ROW)));
        let with_work = (mean_row / LEAST_SHARE).clamp(1.0, f64::from(most.max(1))) as u32;
        1 << with_work.ilog2()
    }

    /// With as many rows of B under way at a time as leave `least_iterations` over a row of mean length, or one where the
    /// device is idle: a sub-group waits for them once an iteration.
    #[must_use]
    pub fn under_way(self, tiling: &Tiling, mean_row: f64, idle: f64) -> Self {
        let iterations = match self.least_iterations {
            0 => return self,
            _ if idle >= LEAST_IDLE => 1,
            // Those of an i-node take registers for each of its rows, and leave fewer sub-groups to a unit.
            _ if self.rows_at_once > 1 => return self,
            least => least,
        };
        let share = mean_row / f64::from(tiling.sub_groups_per_row * iterations);
        let at_once = 1 << (share.max(1.0) as u32).ilog2();
        SpmmRowSplit { nnz_at_once: self.nnz_at_once.max(at_once.min(MOST_AT_ONCE)), ..self }
    }

    /// The most nonzeros of a row that a sub-group takes, for a matrix whose sub-groups load `loads` rows of B: `part_nnz`,
    /// or a half or less of it where the device would have too few sub-groups; the largest stays, and so does what
    /// several share.
    pub fn useful_part(&self, device: &DeviceTraits, tiling: &Tiling, loads: f64) -> u32 {
        if self.part_nnz == WHOLE_ROWS || tiling.sub_groups_per_row > 1 {
            return self.part_nnz;
        }
        let sub_groups =
            self.group_size / self.in_step() * (self.in_step() / tiling.sub_group_size);
        let groups = device.compute_units.max(1) * GROUPS_PER_UNIT;
        let fitting = loads * f64::from(tiling.tiles) / (f64::from(groups) * f64::from(sub_groups));
        let mut part = self.part_nnz;
        while part > LEAST_PART && fitting < f64::from(part) / std::f64::consts::SQRT_2 {
            part /= 2;
        }
        part
    }

    /// With groups of twice the items where one then takes a row of `longest_row` nonzeros, of a matrix that leaves the
    /// device `idle`: no row is cut then, and no second launch follows, which would take longer than the first. `ways` are
    /// how items may reach `columns` columns, the first first. As it is where a group is large enough or would still be
    /// too small, where items would be dealt out otherwise, and where it needs more local memory than there is.
    #[must_use]
    pub fn taking_whole_rows(
        self,
        device: &DeviceTraits,
        value_type: ValueType,
        (columns, ways): (u32, &[Tiling]),
        longest_row: u64,
        idle: f64,
    ) -> Self {
        let doubled = SpmmRowSplit { group_size: 2 * self.group_size, ..self };
        let taken = |parameters: &SpmmRowSplit, way: &Tiling| {
            let teams = parameters.in_step() / way.items_per_row();
            u64::from(teams) * u64::from(self.part_nnz)
        };
        let [first, ..] = ways else { return self };
        let gains = taken(&self, first) < longest_row && longest_row <= taken(&doubled, first);
        let deals_alike = |way: &Tiling| {
            let other = Tiling::new(columns, way.vector_width, doubled.in_step());
            other.shared(way.sub_groups_per_row) == *way
        };
        let rows_added = if first.sub_groups_per_row > 1 { self.rows_at_once } else { 1 };
        let widest = ways.iter().map(|way| way.vector_width).max().unwrap_or(1);
        let sums = u64::from(doubled.group_size) * u64::from(rows_added) * u64::from(widest);
        let sum_bytes = value_type.accumulator().size_bytes() as u64;
        let fits = u64::from(doubled.group_size) <= device.max_group_size
            && sums * sum_bytes <= device.local_bytes;
        // Sub-groups that shuffle lie within items that run in step, however many a group has.
        let may_be_larger = idle >= LEAST_IDLE
            && self.items_per_row > 1
            && self.shuffles == 0
            && doubled.group_size <= MOST_GROUP_SIZE;
        if may_be_larger && gains && fits && ways.iter().all(deals_alike) { doubled } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceType;
    use crate::tests::gpu;

    #[test]
    fn few_columns_have_rows_shared_and_many_where_the_device_is_idle() {
        let parameters = SpmmRowSplit::defaults(DeviceType::Gpu, ValueType::F32);
        let single = parameters.row_by_row();
        let shuffling = SpmmRowSplit { shuffles: 32, ..parameters };
        let shared = |parameters: &SpmmRowSplit, columns, mean_row, idle| {
            let tiling = Tiling::new(columns, 4, parameters.in_step());
            parameters.sub_groups_per_row(&tiling, mean_row, idle)
        };
        for (parameters, columns, mean_row, idle, sub_groups) in [
            (&single, 4, 64.0, 1.0, 8),
            (&single, 8, 64.0, 1.0, 4),
            (&single, 12, 64.0, 1.0, 2),
            (&single, 32, 64.0, 1.0, 1),
            // Each has two nonzeros.
            (&single, 4, 5.0, 1.0, 2),
            (&single, 4, 3.9, 1.0, 1),
            (&single, 4, 0.0, 1.0, 1),
            // At most 32 items; no more than fill the device, but for few columns.
            (&single, 4, 64.0, 100.0, 32),
            (&single, 32, 64.0, 100.0, 4),
            (&single, 32, 64.0, 1.5, 2),
            (&single, 32, 64.0, 1.4, 1),
            (&single, 32, 3.0, 100.0, 1),
            (&single, 8, 64.0, 1.5, 4),
            // I-nodes shuffle rather, if the device is busy.
            (&shuffling, 12, 64.0, 1.0, 2),
            (&shuffling, 16, 64.0, 1.0, 1),
            (&shuffling, 16, 64.0, 4.0, 4),
        ] {
            let found = shared(parameters, columns, mean_row, idle);
            assert_eq!(found, sub_groups, "{columns} columns, {mean_row}, {idle}");
        }
        let cpu = SpmmRowSplit::defaults(DeviceType::Cpu, ValueType::F32);
        assert_eq!(cpu.sharing(), None);
        assert_eq!(parameters.published().sharing(), None);
        assert_eq!(shuffling.sharing().map(|it| it.shuffles), Some(0));
    }

    #[test]
    fn more_rows_of_b_are_under_way_for_long_rows_and_where_the_device_is_idle() {
        let single = SpmmRowSplit::defaults(DeviceType::Gpu, ValueType::F32).row_by_row();
        let nodes = SpmmRowSplit { rows_at_once: 3, ..single };
        let cpu = SpmmRowSplit::defaults(DeviceType::Cpu, ValueType::F32);
        let tiling = Tiling::new(32, 4, 128);
        for (parameters, sharing, mean_row, idle, at_once) in [
            (&single, 1, 64.0, 1.0, 8),
            (&single, 1, 31.0, 1.0, 4),
            (&single, 1, 4.0, 1.0, 2),
            (&single, 2, 31.0, 1.0, 2),
            (&single, 1, 9.0, 2.0, 8),
            (&single, 4, 30.0, 2.0, 4),
            (&single, 1, 0.0, 2.0, 2),
            (&nodes, 1, 64.0, 1.0, 2),
            (&nodes, 1, 64.0, 2.0, 8),
            (&cpu, 1, 64.0, 2.0, 2),
            (&single.published(), 1, 64.0, 2.0, 2),
        ] {
            let found = parameters.under_way(&tiling.shared(sharing), mean_row, idle).nnz_at_once;
            assert_eq!(found, at_once, "{sharing}, {mean_row}, {idle}");
        }
        // What is asked for stays.
        let many = SpmmRowSplit { nnz_at_once: 16, ..single };
        assert_eq!(many.under_way(&tiling, 64.0, 1.0).nnz_at_once, 16);
    }

    #[test]
    fn a_group_is_doubled_where_it_then_takes_the_longest_row_of_an_idle_device() {
        let default = SpmmRowSplit {
            rows_at_once: 3,
            ..SpmmRowSplit::defaults(DeviceType::Gpu, ValueType::F32)
        };
        let small = SpmmRowSplit { group_size: 16, ..default };
        let gpu = gpu();
        let of_128 = DeviceTraits { max_group_size: 128, ..gpu.clone() };
        let little_local = DeviceTraits { local_bytes: 8 << 10, ..gpu.clone() };
        let shuffling = SpmmRowSplit { shuffles: 32, ..default };
        // Four teams in a group of 128.
        for (parameters, device, columns, longest_row, idle, group_size) in [
            (default, &gpu, 64, 1_024, 3.0, 128),
            (default, &gpu, 64, 1_025, 3.0, 256),
            (default, &gpu, 64, 2_048, 3.0, 256),
            (default, &gpu, 64, 2_049, 3.0, 128),
            (default, &gpu, 64, 1_711, 1.4, 128),
            (default, &of_128, 64, 1_711, 3.0, 128),
            (default, &little_local, 64, 1_711, 3.0, 128),
            (SpmmRowSplit { group_size: 256, ..default }, &gpu, 64, 3_000, 3.0, 256),
            (shuffling, &gpu, 64, 1_711, 3.0, 128),
            (default.published(), &gpu, 64, 1 << 22, 3.0, 128),
            // Three tiles of eight items, but one of 22 in a group of 32.
            (SpmmRowSplit { vector_width: 2, ..small }, &gpu, 44, 400, 3.0, 16),
        ] {
            let of = |parameters: &SpmmRowSplit| {
                Tiling::new(columns, parameters.vector_width, parameters.in_step()).shared(2)
            };
            let ways = [of(&parameters)];
            let ways = (columns, ways.as_slice());
            let fitted =
                parameters.taking_whole_rows(device, ValueType::F32, ways, longest_row, idle);
            assert_eq!(fitted.group_size, group_size, "{longest_row} nonzeros, {idle}");
            assert!(fitted.in_step() >= of(&fitted).items_per_row(), "{columns} columns");
        }
    }
}
