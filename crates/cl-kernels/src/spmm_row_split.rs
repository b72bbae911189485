//! `spmm_row_split`: a sub-group of items a row (`cl/spmm/spmm_row_split.cl`).

use csr_core::ValueType;

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::spmm::{check_copy_b, check_vector_width, default_vector_width};
use crate::{Array, DeviceTraits, DeviceType, ParameterError, Scalar};

/// The largest `part_nnz`, with which rows are not cut for a device's sake.
pub(crate) const WHOLE_ROWS: u32 = 1 << 20;

/// A device that has too few nodes has so many items share one, at most.
pub(crate) const MOST_ITEMS_PER_ROW: u32 = 32;

/// The most of `least_iterations`.
const MOST_ITERATIONS: u32 = 64;

/// Nodes come from a list.
pub const FEATURE_NODE_LIST: &str = "NODE_LIST";

/// Long rows are cut into parts.
pub const FEATURE_PARTS: &str = "PARTS";

/// A part is a group's, and not a team's: of sub-groups that share rows, or one. Not on CPU devices, whose items run one
/// after another, and which a barrier costs more than a second kernel.
pub const FEATURE_GROUP_A_PART: &str = "GROUP_A_PART";

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
        /// Items of a work-group; twice as many, up to 256, where the device is idle and one of those takes the longest
        /// row, if `items_per_row` is above 1.
        group_size: GROUP_SIZES,
        /// The most columns an item takes: 1, 2, 4, 8 or 16.
        vector_width: [1, 2, 4, 8, 16],
        /// Rows of B under way at a time, at least: 1 to 16.
        nnz_at_once: [1, 2, 4, 8],
        /// The most neighbouring rows with the same columns that a sub-group takes together: 1 to 8.
        rows_at_once: [1, 2, 3, 4],
        /// The most nonzeros of a row that a sub-group takes, or those that share it. On GPUs a longer row is a group's,
        /// which takes as many times more as it has of those; on CPU devices, and beyond that, it is cut into equal parts.
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
        let defaults = Self::defaults(device.device_type, value_type);
        let group_size = defaults.group_size.min(defaults.largest_group(device, value_type));
        SpmmRowSplit { group_size, ..defaults }
    }

    /// The most items a group may have, a power of two: one may have a vector in local memory, of either width.
    fn largest_group(&self, device: &DeviceTraits, value_type: ValueType) -> u32 {
        let [_, widest] = self.widths();
        let vector_bytes = u64::from(widest) * value_type.accumulator().size_bytes() as u64;
        let fitting = (device.local_bytes / vector_bytes).min(device.max_group_size);
        1 << fitting.clamp(1, 1 << 10).ilog2()
    }

    /// For devices of a kind, whose groups can be large enough.
    pub(crate) fn defaults(device_type: DeviceType, value_type: ValueType) -> Self {
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

    /// Columns an item takes, and twice as many, where sub-groups of those leave fewer items idle.
    pub fn widths(&self) -> [u32; 2] {
        [self.vector_width, 2 * self.vector_width]
    }

    /// The items a sub-group lies within.
    pub fn in_step(&self) -> u32 {
        if self.shuffles > 0 { self.shuffles } else { self.group_size }
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
        /// Parts of those that are long.
        parts: u32,
        /// Groups of a tile that take nodes.
        node_groups: u32,
        /// Groups of a tile that take parts, before the others.
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
    fn programs_are_told_how_many_share_a_row() {
        for number in 0..100 {
            let is_shared = [2, 4, 8, 16, 32].contains(&number);
            let expected = is_shared.then(|| format!("SUB_GROUPS_PER_ROW={number}"));
            assert_eq!(sharing_feature(number).map(str::to_owned), expected);
        }
    }
}
