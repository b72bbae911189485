//! What `spmm_row_split` and the switch want to know of a pattern: which rows go together, and how even they are.

use std::sync::Arc;

use cl_kernels::spmm::SpmmShape;
use cl_kernels::spmm_row_split::SpmmRowSplit;
use cl_kernels::spmm_row_split_plan::{
    AlikeArguments, IterationArguments, NODE_BITS, OrderArguments, SOURCE, SpmmRowSplitPlan,
};
use cl_kernels::{Accumulate, Array, DeviceType, KernelKey};
use csr_core::{OffsetType, ValueType};

use crate::launch::{Size, launch_after};
use crate::raw::Memory;
use crate::scratch::zeroed_blocking;
use crate::{AnyMatrix, DeviceArray, Program, Queue, Result};

/// Nodes whose longest the others wait for (`NODES_IN_STEP` of the kernel).
const NODES_IN_STEP: usize = 4;

/// Columns of a row of mean length that an item compares with those of the row before.
const COMPARED_COLUMNS: usize = 16;

/// Rows per i-node, in the mean, from which on they are taken together: what a program for several rows loses
/// where they are single.
const LEAST_MEAN_INODE: f64 = 1.5;

/// Nodes are put in order where fewer of a hundred items in step have work as they come: a list costs a word a node,
/// and rows of B are nearer as nodes come.
const ORDER_BELOW_PERCENT: f64 = 85.0;

/// The nodes of a pattern: rows, or runs of rows that have the same columns (i-nodes), and their order.
#[derive(Debug)]
pub(super) struct Nodes {
    count: usize,
    /// The rows of the largest.
    most_rows: u32,
    /// A word each; `None` where each row is one, in the matrix's order.
    list: Option<DeviceArray<u32>>,
    /// The first row of each i-node, and the number of rows.
    firsts: Option<Vec<u32>>,
}

impl Nodes {
    /// Nodes.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The rows of the largest.
    pub(super) fn most_rows(&self) -> u32 {
        self.most_rows
    }

    /// A word each, where there is a list.
    pub(super) fn list(&self) -> Option<Array<&Memory>> {
        self.list.as_ref().map(|list| list.argument())
    }

    /// The first row of each i-node and the number of rows, where there are i-nodes.
    pub(super) fn firsts(&self) -> Option<&[u32]> {
        self.firsts.as_deref()
    }

    /// Bytes on the device.
    pub(super) fn size_bytes(&self) -> usize {
        self.list.as_ref().map_or(0, |list| list.size_bytes())
    }
}

/// What a pattern's rows are like: what the switch between the algorithms looks at, and the nodes found on the way.
#[derive(Debug)]
pub struct RowFacts {
    /// For the switch.
    pub shape: SpmmShape,
    /// What was looked for.
    rows_at_once: u32,
    nodes: Nodes,
}

impl RowFacts {
    /// Looks at a matrix for row split with `parameters`; sixteen bytes are read back, and where it may have i-nodes a
    /// bit a row.
    ///
    /// # Errors
    /// Parameters that break a rule, a kernel that does not build, or the driver's own failure.
    pub fn find_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        parameters: &SpmmRowSplit,
    ) -> Result<Self> {
        // A node's word counts so many rows alone.
        parameters.check(queue.context().device().traits())?;
        let SpmmRowSplit { rows_at_once, part_nnz, .. } = *parameters;
        let mut nodes = find_nodes_blocking(queue, matrix, rows_at_once as usize)?;
        let (nonzeros, iterations) = count_iterations_blocking(queue, matrix, &nodes, part_nnz)?;
        let is_uneven = (nonzeros as f64) < iterations as f64 * ORDER_BELOW_PERCENT / 100.0;
        // A CPU's items run one after the other, and do not wait for each other.
        let runs_in_step = queue.context().device().traits().device_type != DeviceType::Cpu;
        if is_uneven && runs_in_step && fits_list(matrix.rows()) {
            nodes.list = Some(order_blocking(queue, matrix, &nodes)?);
        }
        let of_matrix = matrix.shape();
        let shape = SpmmShape {
            rows: of_matrix.rows,
            nnz: of_matrix.nnz,
            longest_row: of_matrix.longest_row,
            busy: if iterations > 0 { nonzeros as f64 / iterations as f64 } else { 1.0 },
            mean_inode: of_matrix.rows as f64 / nodes.count.max(1) as f64,
        };
        Ok(RowFacts { shape, rows_at_once, nodes })
    }

    /// Rows by themselves and as they come, whatever they are like: nothing is looked at but how many there are.
    pub fn as_they_come(matrix: &AnyMatrix) -> Self {
        let (rows, nnz) = (matrix.rows(), matrix.nnz() as u64);
        let nodes = Nodes { count: rows, most_rows: 1, list: None, firsts: None };
        let shape =
            SpmmShape { rows: rows as u64, nnz, longest_row: 0, busy: 1.0, mean_inode: 1.0 };
        RowFacts { shape, rows_at_once: 1, nodes }
    }

    /// Whether it was for such `parameters` that nodes were looked for.
    pub(super) fn are_of(&self, parameters: &SpmmRowSplit) -> bool {
        self.rows_at_once == parameters.rows_at_once
    }

    /// The nodes.
    pub(super) fn into_nodes(self) -> Nodes {
        self.nodes
    }
}

/// Whether words of a list can name all rows.
fn fits_list(rows: usize) -> bool {
    rows <= 1 << (u32::BITS - NODE_BITS)
}

/// Rows, or i-nodes of up to `most` rows where there are some. A bit a row is read back.
fn find_nodes_blocking(queue: &Queue, matrix: &AnyMatrix, most: usize) -> Result<Nodes> {
    let rows = matrix.rows();
    let single = Nodes { count: rows, most_rows: 1, list: None, firsts: None };
    if most < 2 || rows == 0 || !fits_list(rows) {
        return Ok(single);
    }
    let (program, group_size) = program(queue, matrix.offset_type())?;
    let mut kernel = program.kernel("find_alike_rows")?;
    let alike = zeroed_blocking(queue, rows.div_ceil(32))?;
    let row_items = (matrix.nnz() / rows / COMPARED_COLUMNS).next_power_of_two().min(group_size);
    let arguments = AlikeArguments {
        rows: rows as u32,
        row_items: row_items as u32,
        offsets: matrix.offsets().argument(),
        columns: matrix.columns().argument(),
        alike: alike.argument(),
    };
    let size = Size { groups: rows.div_ceil(group_size / row_items), group_size };
    // SAFETY: there is a bit for each row, and the offsets and columns are a pattern's.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let found = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
    queue.settle_blocking(&found)?;
    let runs = run_lengths(&alike.read_blocking(queue)?, rows);
    let most = useful_rows(&runs, most);
    let firsts = first_rows(&runs, most);
    let count = firsts.len() - 1;
    if (rows as f64) < count as f64 * LEAST_MEAN_INODE {
        return Ok(single);
    }
    let word = |pair: &[u32]| pair[0] << NODE_BITS | (pair[1] - pair[0] - 1);
    let words: Vec<u32> = firsts.windows(2).map(word).collect();
    let list = Some(DeviceArray::upload_blocking(queue, &words)?);
    Ok(Nodes { count, most_rows: most as u32, list, firsts: Some(firsts) })
}

/// Lengths of the runs of rows that are alike; bit `row` of `alike` says that a row is like the one before.
fn run_lengths(alike: &[u32], rows: usize) -> Vec<u32> {
    let mut runs = Vec::new();
    for row in 0..rows {
        match runs.last_mut() {
            Some(run) if alike[row / 32] >> (row % 32) & 1 == 1 => *run += 1,
            _ => runs.push(1),
        }
    }
    runs
}

/// The fewest rows at once, up to `most`, with which runs are cut into hardly more nodes than with `most`: each more
/// costs registers.
fn useful_rows(runs: &[u32], most: usize) -> usize {
    let nodes =
        |most: usize| -> usize { runs.iter().map(|run| (*run as usize).div_ceil(most)).sum() };
    let few = nodes(most) + nodes(most) / 20;
    (1..most).find(|fewer| nodes(*fewer) <= few).unwrap_or(most)
}

/// The first row of each node, and the number of rows: runs cut into nodes of up to `most` rows, as equal as can be.
fn first_rows(runs: &[u32], most: usize) -> Vec<u32> {
    let mut firsts = Vec::with_capacity(runs.len() + 1);
    let mut begin = 0;
    for run in runs {
        let parts = run.div_ceil(most as u32);
        firsts.extend((0..parts).map(|part| begin + run / parts * part + part.min(run % parts)));
        begin += run;
    }
    firsts.push(begin);
    firsts
}

/// Nonzeros of one row of each node that is not cut; and how many they would be if each of four neighbouring nodes
/// were as long as the longest of them.
fn count_iterations_blocking(
    queue: &Queue,
    matrix: &AnyMatrix,
    nodes: &Nodes,
    part_nnz: u32,
) -> Result<(u64, u64)> {
    let (program, group_size) = program(queue, matrix.offset_type())?;
    let mut kernel = program.kernel("count_iterations")?;
    let counts = zeroed_blocking(queue, 4)?;
    let offsets = matrix.offsets().argument();
    let arguments = IterationArguments {
        nodes: nodes.count as u32,
        has_list: nodes.list.is_some().into(),
        part_nnz,
        node_list: nodes.list().unwrap_or_else(Array::none),
        offsets,
        counts: counts.argument(),
    };
    let runs = nodes.count.div_ceil(NODES_IN_STEP);
    let most = queue.context().device().traits().compute_units as usize * 16;
    let size = Size { groups: runs.div_ceil(group_size).min(most), group_size };
    // SAFETY: the list's rows are the matrix's, there are rows + 1 offsets, and four words of results.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let counted = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
    queue.settle_blocking(&counted)?;
    let words = counts.read_blocking(queue)?;
    let wide = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
    Ok((wide(0), wide(2)))
}

/// The list of the nodes, neighbours in order of length.
fn order_blocking(queue: &Queue, matrix: &AnyMatrix, nodes: &Nodes) -> Result<DeviceArray<u32>> {
    let (program, group_size) = program(queue, matrix.offset_type())?;
    let mut kernel = program.kernel("order_nodes")?;
    // Zeros for Oclgrind, as in `Tiles`.
    let ordered = zeroed_blocking(queue, nodes.count)?;
    let offsets = matrix.offsets().argument();
    let arguments = OrderArguments {
        nodes: nodes.count as u32,
        has_list: nodes.list.is_some().into(),
        node_list: nodes.list().unwrap_or_else(Array::none),
        offsets,
        ordered: ordered.argument(),
    };
    let size = Size { groups: nodes.count.div_ceil(group_size), group_size };
    // SAFETY: the list's rows are the matrix's, there are rows + 1 offsets, and a word of result a node.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let done = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
    // Launches may follow on other queues.
    done.wait()?;
    Ok(ordered)
}

/// The kernels that look at rows, and the items of their groups.
pub(super) fn program(queue: &Queue, offset_type: OffsetType) -> Result<(Arc<Program>, usize)> {
    let context = queue.context();
    let group_size = 1usize << context.device().traits().max_group_size.clamp(1, 256).ilog2();
    let parameters = SpmmRowSplitPlan { group_size: group_size as u32 };
    let key =
        KernelKey::new(SOURCE, ValueType::F32, offset_type, Accumulate::Plain, false, &parameters);
    Ok((context.program(&key)?, group_size))
}

#[cfg(test)]
mod tests {
    use super::{first_rows, run_lengths, useful_rows};

    #[test]
    fn runs_end_where_rows_differ() {
        // Rows 1, 2 and 3 are like row 0, and row 5 is like row 4.
        assert_eq!(run_lengths(&[0b10_1110], 6), [4, 2]);
        assert_eq!(run_lengths(&[0], 3), [1, 1, 1]);
        // Across words.
        assert_eq!(run_lengths(&[!1, 1], 34), [33, 1]);
    }

    #[test]
    fn runs_are_cut_into_equal_nodes_of_no_more_rows_than_help() {
        assert_eq!(first_rows(&[4, 2], 3), [0, 2, 4, 6]);
        assert_eq!(first_rows(&[7, 1], 3), [0, 3, 5, 7, 8]);
        assert_eq!(first_rows(&[2], 8), [0, 2]);
        // Runs of six are two nodes with 3 as with 4, and runs of four two with 2 as with 3.
        assert_eq!(useful_rows(&[6, 6, 3], 4), 3);
        assert_eq!(useful_rows(&[4, 4], 3), 2);
        assert_eq!(useful_rows(&[4, 6], 4), 4);
        assert_eq!(useful_rows(&[1, 1], 4), 1);
    }
}
