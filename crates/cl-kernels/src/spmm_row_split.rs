//! `spmm_row_split`: a sub-group of items a row (`cl/spmm/spmm_row_split.cl`).

use csr_core::ValueType;

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::spmm::{
    GROUPS_PER_UNIT, LEAST_IDLE, Tiling, check_copy_b, check_vector_width, default_vector_width,
};
use crate::{Array, DeviceTraits, DeviceType, ParameterError, Scalar};

/// The largest `part_nnz`, with which rows are not cut for a device's sake.
const WHOLE_ROWS: u32 = 1 << 20;

/// Rows are not cut shorter for that: sums of parts go through memory.
const LEAST_PART: u32 = 128;

/// Nonzeros that a sub-group should have of a row that it shares, in the mean.
const LEAST_SHARE: f64 = 2.0;

/// A device that has too few nodes has so many items share one, at most.
const MOST_ITEMS_PER_ROW: u32 = 32;

/// The most of `least_iterations`.
const MOST_ITERATIONS: u32 = 64;

/// Rows of B that are put under way at a time, at most.
const MOST_AT_ONCE: u32 = 8;

/// From as many items a sub-group on, those that take i-nodes shuffle rather than share rows, if all have work.
const SHUFFLING_ITEMS: u32 = 4;

/// Nodes come from a list.
pub const FEATURE_NODE_LIST: &str = "NODE_LIST";

/// Groups take long rows, or parts of them.
pub const FEATURE_PARTS: &str = "PARTS";

/// A sub-group is one item, which takes all columns: for CPU devices.
pub const FEATURE_ITEM_A_ROW: &str = "ITEM_A_ROW";

/// The feature of rows that 2, 4, 8, 16 or 32 sub-groups share; `None` where each has rows of its own.
pub fn sharing_feature(sub_groups_per_row: u32) -> Option<&'static str> {
    const FEATURES: [&str; 5] = [
        "SUB_GROUPS_PER_ROW=2",
        "SUB_GROUPS_PER_ROW=4",
        "SUB_GROUPS_PER_ROW=8",
        "SUB_GROUPS_PER_ROW=16",
        "SUB_GROUPS_PER_ROW=32",
    ];
    let index = sub_groups_per_row.checked_ilog2()?.checked_sub(1)?;
    FEATURES.get(index as usize).filter(|_| sub_groups_per_row.is_power_of_two()).copied()
}

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmm/spmm_row_split.cl";

parameters! {
    /// Parameters of `spmm_row_split`.
    pub struct SpmmRowSplit for "spmm_row_split" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// The most columns an item takes: 1, 2, 4, 8 or 16.
        vector_width: [1, 2, 4, 8, 16],
        /// Rows of B under way at a time, at least: 1 to 16.
        nnz_at_once: [1, 2, 4, 8],
        /// The most neighbouring rows with the same columns that a sub-group takes together: 1 to 8.
        rows_at_once: [1, 2, 3, 4],
        /// The most nonzeros of a row that a sub-group takes, or those that share it; a longer row is a group's, which
        /// takes as many times more as it has sub-groups, and beyond that cut into equal parts.
        part_nnz: [64, 128, 256, 512, 1024],
        /// Items that run in step and shuffle columns and values: 32 on NVIDIA; 0 where each loads its own.
        shuffles: [0, 32],
        /// The most items that share a row, where columns are few; where nodes are too few for the device, 32 may: 1, where
        /// a sub-group always has it to itself, to 32.
        items_per_row: [1, 8, 16, 32] => host,
        /// More rows of B are under way at a time, up to 8, where a sub-group still has so many iterations over a row of mean
        /// length: 0, where not, to 64.
        least_iterations: [0, 2, 4] => host,
        /// Whether B is copied, where it is row-major and its rows begin where vectors may not: 0 never, 1 where that
        /// spares more bytes than it moves, on a GPU, 2 always.
        copy_b: [0, 1] => host,
    }
}

impl SpmmRowSplit {
    /// Sane values for a device nothing is known of.
    pub fn default_for(device: &DeviceTraits, value_type: ValueType) -> Self {
        let defaults = Self::usual(device.device_type, value_type);
        let most = 1 << device.max_group_size.clamp(1, 1 << 10).ilog2();
        // An item may have a vector in local memory for each row of an i-node.
        let vector_bytes = defaults.vector_width as usize * value_type.accumulator().size_bytes();
        let item_bytes = u64::from(defaults.rows_at_once) * vector_bytes as u64;
        let fitting = 1 << (device.local_bytes / item_bytes).clamp(1, 1 << 10).ilog2();
        SpmmRowSplit { group_size: defaults.group_size.min(most).min(fitting), ..defaults }
    }

    /// For devices of a kind, whose groups can be large enough.
    pub(crate) fn usual(device_type: DeviceType, value_type: ValueType) -> Self {
        SpmmRowSplit {
            group_size: if device_type == DeviceType::Cpu { 64 } else { 128 },
            vector_width: default_vector_width(device_type, value_type),
            nnz_at_once: 2,
            rows_at_once: 4,
            // A CPU has few units to share a row, and sums it fast.
            part_nnz: if device_type == DeviceType::Cpu { 1 << 14 } else { 256 },
            shuffles: 0,
            // A CPU's items run one after another.
            items_per_row: if device_type == DeviceType::Cpu { 1 } else { 8 },
            // What is summed in 64 bits is fewer columns an item.
            least_iterations: match (device_type, value_type.accumulator()) {
                (DeviceType::Cpu, _) => 0,
                (_, ValueType::F64) => 2,
                _ => 4,
            },
            copy_b: 1,
        }
    }

    /// As a program takes them that loads rows of B for one row of A at a time.
    #[must_use]
    pub fn row_by_row(self) -> Self {
        SpmmRowSplit { rows_at_once: 1, shuffles: 0, ..self }
    }

    /// As published: each row by itself, and whole, up to 2^20 nonzeros; B as it is.
    #[must_use]
    pub fn published(self) -> Self {
        SpmmRowSplit {
            part_nnz: WHOLE_ROWS,
            items_per_row: 1,
            least_iterations: 0,
            copy_b: 0,
            ..self.row_by_row()
        }
    }

    /// With rows that several sub-groups share, which do not shuffle; `None` where the parameters have each row for one.
    pub fn sharing(self) -> Option<Self> {
        (self.items_per_row > 1).then_some(SpmmRowSplit { shuffles: 0, ..self })
    }

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

    /// Columns an item takes, and twice as many, where sub-groups of those leave fewer items idle.
    pub fn widths(&self) -> [u32; 2] {
        [self.vector_width, 2 * self.vector_width]
    }

    /// The items a sub-group lies within.
    pub fn in_step(&self) -> u32 {
        if self.shuffles > 0 { self.shuffles } else { self.group_size }
    }

    /// The most nonzeros of a row that is not cut, for a matrix whose sub-groups load `loads` rows of B: `part_nnz`, or a
    /// half or less of it where the device would have too few sub-groups; the largest stays, and so does what several
    /// share.
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

    /// Checks the parameters against the kernel's rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "spmm_row_split";
        check_group_size(ALGORITHM, self.group_size, device)?;
        check_vector_width(ALGORITHM, self.vector_width)?;
        check_copy_b(ALGORITHM, self.copy_b)?;
        let ranges = [
            ("nnz_at_once", self.nnz_at_once, 16),
            ("rows_at_once", self.rows_at_once, 8),
            ("part_nnz", self.part_nnz, WHOLE_ROWS),
            ("items_per_row", self.items_per_row, MOST_ITEMS_PER_ROW),
        ];
        if self.least_iterations > MOST_ITERATIONS {
            let (name, value) = ("least_iterations", self.least_iterations.into());
            let rule = format!("it must be 0 to {MOST_ITERATIONS}");
            return Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule });
        }
        for (name, value, most) in ranges {
            if value == 0 || value > most {
                let rule = format!("it must be 1 to {most}");
                let value = value.into();
                return Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule });
            }
        }
        if self.shuffles > 0 {
            let refuse = |rule: String| {
                let (name, value) = ("shuffles", self.shuffles.into());
                Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
            };
            let group_size = self.group_size;
            if !device.shuffle_sizes.contains(&self.shuffles) {
                let sizes = &device.shuffle_sizes;
                return refuse(format!("{} shuffles among as many items: {sizes:?}", device.name));
            }
            if !group_size.is_multiple_of(self.shuffles) {
                return refuse(format!("it must divide group_size, {group_size}"));
            }
        }
        Ok(())
    }
}

arguments! {
    /// Arguments of the kernel `spmm_row_split`.
    pub struct Arguments<M> for "spmm_row_split" {
        /// Nodes: rows of A, or runs of them.
        nodes: u32,
        /// Groups of a tile that take nodes.
        node_groups: u32,
        /// Groups of a tile that take long i-nodes or parts of them, one each, before the others.
        part_groups: u32,
        /// Columns of B and C.
        width: u32,
        /// Columns of a tile.
        tile_width: u32,
        /// Items of a sub-group.
        sub_group_size: u32,
        /// The list of nodes; without one, not read.
        node_list: Array<M>,
        /// Of each long i-node: first row, rows, first part, parts. Not read where none is.
        long_nodes: Array<M>,
        /// Of each part: its node among those. Not read where there is none.
        part_nodes: Array<M>,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// B, row-major.
        b: Array<M>,
        /// Bytes from one row of B to the next.
        b_row_bytes: u32,
        /// C.
        c: Array<M>,
        /// Elements from one row (column) of C to the next.
        c_leading: u64,
        /// Scales A B.
        alpha: Scalar<M>,
        /// Scales C; with 0, C is not read.
        beta: Scalar<M>,
        /// Sums of parts: `rows_at_once` rows of C for each part.
        partial: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `spmm_row_split_join`.
    pub struct JoinArguments<M> for "spmm_row_split_join" {
        /// I-nodes that are cut.
        cut_nodes: u32,
        /// Columns of B and C.
        width: u32,
        /// Columns of a tile.
        tile_width: u32,
        /// Items of a sub-group.
        sub_group_size: u32,
        /// Of each long i-node: first row, rows, first part, parts; those that are cut come first.
        long_nodes: Array<M>,
        /// Sums of parts.
        partial: Array<M>,
        /// C.
        c: Array<M>,
        /// Elements from one row (column) of C to the next.
        c_leading: u64,
        /// Scales A B.
        alpha: Scalar<M>,
        /// Scales C; with 0, C is not read.
        beta: Scalar<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_columns_have_rows_shared_and_many_where_the_device_is_idle() {
        let parameters = SpmmRowSplit::usual(DeviceType::Gpu, ValueType::F32);
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
        let cpu = SpmmRowSplit::usual(DeviceType::Cpu, ValueType::F32);
        assert_eq!(cpu.sharing(), None);
        assert_eq!(parameters.published().sharing(), None);
        assert_eq!(shuffling.sharing().map(|it| it.shuffles), Some(0));
    }

    #[test]
    fn more_rows_of_b_are_under_way_for_long_rows_and_where_the_device_is_idle() {
        let single = SpmmRowSplit::usual(DeviceType::Gpu, ValueType::F32).row_by_row();
        let nodes = SpmmRowSplit { rows_at_once: 3, ..single };
        let cpu = SpmmRowSplit::usual(DeviceType::Cpu, ValueType::F32);
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
    fn programs_are_told_how_many_share_a_row() {
        for number in 0..100 {
            let is_shared = [2, 4, 8, 16, 32].contains(&number);
            let expected = is_shared.then(|| format!("SUB_GROUPS_PER_ROW={number}"));
            assert_eq!(sharing_feature(number).map(str::to_owned), expected);
        }
    }
}
