//! `spmm_row_split_plan`: how even rows are, which are alike, which are long, and their order (`cl/spmm/spmm_row_split_plan.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Bits of a node that say how many rows it has, less one.
pub const NODE_BITS: u32 = 3;

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmm/spmm_row_split_plan.cl";

parameters! {
    /// Parameters of `spmm_row_split_plan`.
    pub struct SpmmRowSplitPlan for "spmm_row_split_plan" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `count_iterations`.
    pub struct IterationArguments<M> for "count_iterations" {
        /// Nodes; rows, where there is no list.
        nodes: u32,
        /// 1 where there is a list of nodes.
        has_list: u32,
        /// The most nonzeros of a row that is not cut.
        part_nnz: u32,
        /// A word for each node: `NODE_BITS` of its rows less one, and above them the first row.
        node_list: Array<M>,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The results in two words each, 0 before: nonzeros of one row of each node, and iterations.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `order_nodes`.
    pub struct OrderArguments<M> for "order_nodes" {
        /// Nodes; rows, where there is no list.
        nodes: u32,
        /// 1 where there is a list of nodes.
        has_list: u32,
        /// A word for each node.
        node_list: Array<M>,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The same words, each group's in order of length.
        ordered: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `find_alike_rows`.
    pub struct AlikeArguments<M> for "find_alike_rows" {
        /// Rows of A.
        rows: u32,
        /// Items that compare a row: a power of two, at most a group's.
        row_items: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// The result, a bit a row, 0 before.
        alike: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `find_long_rows`.
    pub struct LongArguments<M> for "find_long_rows" {
        /// Rows of A.
        rows: u32,
        /// The most nonzeros of a row that is not long.
        part_nnz: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The result, in any order: each long row, and the number of its parts.
        found: Array<M>,
        /// How many there are, 0 before.
        count: Array<M>,
    }
}
