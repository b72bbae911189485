//! Rows longer than a sub-group of `spmm_row_split` takes, with neighbours that have the same columns: in parts, which are
//! a group's each or a team's.

use cl_kernels::Array;
use cl_kernels::spmm_row_split_plan::LongArguments;

use super::rows::{Nodes, program};
use crate::launch::{Size, launch_after};
use crate::raw::Memory;
use crate::scratch::zeroed_blocking;
use crate::{AnyMatrix, DeviceArray, Queue, Result};

/// I-nodes (rows, where there are none) that are taken in parts, or by a whole group.
#[derive(Debug)]
pub(super) struct LongNodes {
    /// Of each, four words: first row, rows, first part, parts; those of several parts come first.
    nodes: DeviceArray<u32>,
    /// Those of several parts.
    cut_count: usize,
    /// Of each part, its node.
    part_nodes: DeviceArray<u32>,
    /// A part is a group's.
    by_group: bool,
}

impl LongNodes {
    /// Finds the nodes with rows of more than `part_nnz` nonzeros; `None` where there are none. A part is a group's of so
    /// many teams, which takes as many times more; or a team's, without a number. Two words a long row are read back.
    pub(super) fn find_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        nodes: &Nodes,
        part_nnz: u32,
        teams: Option<u32>,
    ) -> Result<Option<Self>> {
        if matrix.shape().longest_row <= u64::from(part_nnz) {
            return Ok(None);
        }
        let mut rows = long_rows_blocking(queue, matrix, part_nnz)?;
        rows.iter_mut().for_each(|(_, parts)| *parts = parts.div_ceil(teams.unwrap_or(1)));
        let (nodes, part_nodes) = cut_nodes(&rows, nodes.firsts())?;
        Ok(Some(LongNodes {
            cut_count: nodes.chunks_exact(4).filter(|node| node[3] > 1).count(),
            nodes: DeviceArray::upload_blocking(queue, &nodes)?,
            part_nodes: DeviceArray::upload_blocking(queue, &part_nodes)?,
            by_group: teams.is_some(),
        }))
    }

    /// Whether a part is a group's.
    pub(super) fn by_group(&self) -> bool {
        self.by_group
    }

    /// Nodes that are cut: of several parts.
    pub(super) fn cut_count(&self) -> usize {
        self.cut_count
    }

    /// Parts; a node that is not cut is one.
    pub(super) fn parts(&self) -> usize {
        self.part_nodes.len()
    }

    /// Parts whose sums are stored, to be added up: none where no node is cut.
    pub(super) fn stored_parts(&self) -> usize {
        let of_one_group = self.nodes.len() / 4 - self.cut_count;
        self.parts() - of_one_group
    }

    /// For the kernels.
    pub(super) fn nodes(&self) -> Array<&Memory> {
        self.nodes.argument()
    }

    /// For the kernel.
    pub(super) fn part_nodes(&self) -> Array<&Memory> {
        self.part_nodes.argument()
    }

    /// Bytes on the device.
    pub(super) fn size_bytes(&self) -> usize {
        self.nodes.size_bytes() + self.part_nodes.size_bytes()
    }
}

/// Each row of more than `part_nnz` nonzeros, and the number of its parts; rows ascend.
fn long_rows_blocking(queue: &Queue, matrix: &AnyMatrix, part_nnz: u32) -> Result<Vec<(u32, u32)>> {
    let (program, group_size) = program(queue, matrix.offset_type())?;
    let mut kernel = program.kernel("find_long_rows")?;
    // More cannot be as long.
    let most = (matrix.nnz() / part_nnz as usize).min(matrix.rows());
    // Zeros for Oclgrind, as in `Tiles`.
    let found = zeroed_blocking(queue, 2 * most)?;
    let count = zeroed_blocking(queue, 1)?;
    let arguments = LongArguments {
        rows: matrix.rows() as u32,
        part_nnz,
        offsets: matrix.offsets().argument(),
        found: found.argument(),
        count: count.argument(),
    };
    let size = Size { groups: matrix.rows().div_ceil(group_size), group_size };
    // SAFETY: `found` has a pair for each row that can be as long, and the offsets are a pattern's.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let listed = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
    queue.settle_blocking(&listed)?;
    let count = count.read_blocking(queue)?.first().map_or(0, |count| *count as usize);
    let words = found.slice(0..2 * count.min(most))?.read_blocking(queue)?;
    let mut rows: Vec<_> = words.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    rows.sort_unstable();
    Ok(rows)
}

/// The words of nodes, those of several parts first, and of parts; `firsts` are the first rows of i-nodes, all of whose
/// rows are long if one is.
fn cut_nodes(rows: &[(u32, u32)], firsts: Option<&[u32]>) -> Result<(Vec<u32>, Vec<u32>)> {
    let (mut nodes, mut part_nodes) = (Vec::new(), Vec::new());
    let of_several = rows.iter().filter(|(_, parts)| *parts > 1);
    let of_one = rows.iter().filter(|(_, parts)| *parts <= 1);
    for &(row, parts) in of_several.chain(of_one) {
        let rows_of_node = match firsts {
            None => 1,
            Some(firsts) => match firsts.binary_search(&row) {
                Ok(node) => firsts[node + 1] - row,
                // Its node began before, and is there already.
                Err(_) => continue,
            },
        };
        let end = part_nodes.len() + parts as usize;
        if end > u32::MAX as usize {
            let (what, limit) = ("the number of parts of long rows", u64::from(u32::MAX));
            return Err(csr_core::Error::TooLarge { what, value: end as u64, limit }.into());
        }
        let node = (nodes.len() / 4) as u32;
        nodes.extend([row, rows_of_node, part_nodes.len() as u32, parts]);
        part_nodes.resize(end, node);
    }
    Ok((nodes, part_nodes))
}

#[cfg(test)]
mod tests {
    use super::cut_nodes;

    #[test]
    fn nodes_are_cut_with_all_their_rows() {
        let rows = [(2, 3), (3, 3), (7, 2)];
        let (nodes, parts) = cut_nodes(&rows, None).unwrap_or_default();
        assert_eq!(nodes, [2, 1, 0, 3, 3, 1, 3, 3, 7, 1, 6, 2]);
        assert_eq!(parts, [0, 0, 0, 1, 1, 1, 2, 2]);
        let (nodes, parts) = cut_nodes(&rows, Some(&[0, 2, 4, 7, 8])).unwrap_or_default();
        assert_eq!(nodes, [2, 2, 0, 3, 7, 1, 3, 2]);
        assert_eq!(parts, [0, 0, 0, 1, 1]);
        // What one group takes comes last.
        let (nodes, parts) = cut_nodes(&[(1, 1), (4, 2)], None).unwrap_or_default();
        assert_eq!(nodes, [4, 1, 0, 2, 1, 1, 2, 1]);
        assert_eq!(parts, [0, 0, 1]);
    }
}
