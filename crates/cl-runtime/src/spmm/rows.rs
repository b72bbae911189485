//! What `spmm_row_split` and the switch want to know of a pattern: how even its rows are, and its i-nodes.

use cl_kernels::spmm::SpmmShape;
use cl_kernels::spmm_row_split_plan::{AlikeArguments, SOURCE, SpmmRowSplitPlan, StepArguments};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{Offset, Value, ValueType};

use crate::launch::{Size, launch};
use crate::spmv::workspace::zeroed_blocking;
use crate::{DeviceArray, Matrix, Program, Queue, Result};

/// Rows whose longest the others wait for (`ROWS_IN_STEP` of the kernel).
const ROWS_IN_STEP: usize = 4;

/// Rows per i-node, in the mean, from which on they are taken together: what a program for several rows loses
/// where they are single.
const LEAST_MEAN_INODE: f64 = 1.5;

/// I-nodes: runs of neighbouring rows that have the same columns.
#[derive(Debug)]
pub(super) struct Inodes {
    rows: DeviceArray<u32>,
    /// What `rows` holds.
    firsts: Vec<u32>,
}

impl Inodes {
    /// Finds runs of up to `most` rows; `None` where that is one, or hardly any rows are alike. A bit a row is read
    /// back.
    pub(super) fn find_blocking<V: Value, O: Offset>(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        most: usize,
    ) -> Result<Option<Self>> {
        let rows = matrix.rows();
        if most < 2 || rows == 0 {
            return Ok(None);
        }
        let (program, group_size) = program::<O>(queue)?;
        let mut kernel = program.kernel("find_alike_rows")?;
        // Zeros for Oclgrind, as in `Pieces`.
        let alike = zeroed_blocking(queue, rows.div_ceil(32))?;
        let arguments = AlikeArguments {
            rows: rows as u32,
            offsets: matrix.offsets().argument(),
            columns: matrix.columns().argument(),
            alike: alike.argument(),
        };
        let size = Size { groups: rows.div_ceil(group_size), group_size };
        // SAFETY: there is a bit for each row, and the offsets and columns are a pattern's.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let found = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
        queue.settle_blocking(&found)?;
        let firsts = first_rows(&alike.read_blocking(queue)?, rows, most);
        let mean = rows as f64 / (firsts.len() - 1) as f64;
        if mean < LEAST_MEAN_INODE {
            return Ok(None);
        }
        Ok(Some(Inodes { rows: DeviceArray::upload_blocking(queue, &firsts)?, firsts }))
    }

    /// I-nodes.
    pub(super) fn count(&self) -> usize {
        self.rows.len() - 1
    }

    /// The first row of each, and the number of rows.
    pub(super) fn rows(&self) -> &DeviceArray<u32> {
        &self.rows
    }

    /// As [`Inodes::rows`], on the host.
    pub(super) fn firsts(&self) -> &[u32] {
        &self.firsts
    }

    /// Bytes on the device.
    pub(super) fn size_bytes(&self) -> usize {
        self.rows.size_bytes()
    }
}

/// The first row of each run of up to `most` rows, and the number of rows; bit `row` of `alike` says that a row is
/// like the one before.
fn first_rows(alike: &[u32], rows: usize, most: usize) -> Vec<u32> {
    let mut firsts = Vec::with_capacity(rows / most + 2);
    let mut first = 0;
    for row in 0..rows {
        let is_alike = alike[row / 32] >> (row % 32) & 1 == 1;
        if row == 0 || !is_alike || row - first == most {
            first = row;
            firsts.push(row as u32);
        }
    }
    firsts.push(rows as u32);
    firsts
}

/// What a pattern's rows are like: what the switch between the algorithms looks at, and i-nodes found on the way.
#[derive(Debug)]
pub struct RowFacts {
    /// For the switch.
    pub shape: SpmmShape,
    rows_at_once: usize,
    inodes: Option<Inodes>,
}

impl RowFacts {
    /// Looks at a matrix; eight bytes are read back, and where i-nodes of up to `rows_at_once` rows are looked for a
    /// bit a row.
    ///
    /// # Errors
    /// A kernel that does not build, or the driver's own failure.
    pub fn find_blocking<V: Value, O: Offset>(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        rows_at_once: usize,
    ) -> Result<Self> {
        let inodes = Inodes::find_blocking(queue, matrix, rows_at_once)?;
        let of_matrix = matrix.shape();
        let rows = of_matrix.rows;
        let shape = SpmmShape {
            rows,
            nnz: of_matrix.nnz,
            longest_row: of_matrix.longest_row,
            steps: count_steps_blocking(queue, matrix)?,
            mean_inode: inodes.as_ref().map_or(1.0, |inodes| rows as f64 / inodes.count() as f64),
        };
        Ok(RowFacts { shape, rows_at_once, inodes })
    }

    /// The i-nodes of up to `rows_at_once` rows, if it was those that were looked for.
    pub(super) fn into_inodes(self, rows_at_once: usize) -> Option<Option<Inodes>> {
        (self.rows_at_once == rows_at_once).then_some(self.inodes)
    }
}

/// Nonzeros if each of four neighbouring rows were as long as the longest of them.
fn count_steps_blocking<V: Value, O: Offset>(queue: &Queue, matrix: &Matrix<V, O>) -> Result<u64> {
    let (program, group_size) = program::<O>(queue)?;
    let mut kernel = program.kernel("count_steps")?;
    let steps = zeroed_blocking(queue, 2)?;
    let arguments = StepArguments {
        rows: matrix.rows() as u32,
        offsets: matrix.offsets().argument(),
        steps: steps.argument(),
    };
    let runs = matrix.rows().div_ceil(ROWS_IN_STEP);
    let most = queue.context().device().traits().compute_units as usize * 16;
    let size = Size { groups: runs.div_ceil(group_size).min(most), group_size };
    // SAFETY: there are rows + 1 offsets and two words of result.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let counted = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
    queue.settle_blocking(&counted)?;
    let words = steps.read_blocking(queue)?;
    Ok(u64::from(words[0]) | u64::from(words[1]) << 32)
}

/// The kernels that look at rows, and the items of their groups.
pub(super) fn program<O: Offset>(queue: &Queue) -> Result<(std::sync::Arc<Program>, usize)> {
    let context = queue.context();
    let group_size = 1usize << context.device().traits().max_group_size.clamp(32, 256).ilog2();
    let parameters = SpmmRowSplitPlan { group_size: group_size as u32 };
    let key =
        KernelKey::new(SOURCE, ValueType::F32, O::TYPE, Accumulate::Plain, false, &parameters);
    Ok((context.program(&key)?, group_size))
}

#[cfg(test)]
mod tests {
    use super::first_rows;

    #[test]
    fn runs_end_where_rows_differ_and_where_they_are_long_enough() {
        // Rows 1, 2 and 3 are like row 0, and row 5 is like row 4.
        assert_eq!(first_rows(&[0b10_1110], 6, 3), [0, 3, 4, 6]);
        assert_eq!(first_rows(&[0b10_1110], 6, 8), [0, 4, 6]);
        assert_eq!(first_rows(&[0], 3, 3), [0, 1, 2, 3]);
        // Across words.
        let alike = [!1, 1];
        assert_eq!(first_rows(&alike, 33, 3).len(), 12);
    }
}
