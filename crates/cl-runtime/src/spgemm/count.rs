//! The count pass: how many entries each row of C has.

use cl_kernels::spgemm_rows::{LONG_ROWS, RowKernel};
use cl_kernels::{spgemm_bitmap, spgemm_hash, spgemm_tiny};
use csr_core::{Accumulator, Offset, ValueType};

use super::lists::{OutputLists, Patterns, RowLists};
use super::long::{self, LongRows};
use super::programs::groups;
use super::{Kept, Spgemm};
use crate::{Queue, Result};

impl<V: Accumulator, O: Offset> Spgemm<V, O> {
    /// Counts chunk after chunk; keeps the lists of a single one.
    pub(super) fn count(&mut self, queue: &Queue, patterns: Patterns<'_>) -> Result<()> {
        for rows in self.chunks.clone() {
            let limits = (&self.parameters, self.long_work);
            let rows = RowLists::find_blocking::<O>(queue, limits, patterns, rows)?;
            self.products += rows.products;
            for class in 1..LONG_ROWS {
                self.count_class(queue, patterns, &rows, class)?;
            }
            let long = self.count_long(queue, patterns, &rows)?;
            if self.chunks.len() == 1 {
                let parameters = &self.parameters;
                let outputs = OutputLists::find_blocking::<O>(
                    queue,
                    parameters,
                    patterns,
                    &rows,
                    &self.counts,
                )?;
                self.kept = Some(Kept { rows, outputs, long });
            }
        }
        Ok(())
    }

    /// Counts the long rows, and returns their columns where they are one batch.
    fn count_long(
        &mut self,
        queue: &Queue,
        patterns: Patterns<'_>,
        lists: &RowLists,
    ) -> Result<Option<LongRows>> {
        let listed = (&lists.of_class(LONG_ROWS)?, self.cols);
        let mut last = None;
        let mut products = 0;
        let counts = &self.counts;
        let each = |rows: LongRows, of_rows| {
            rows.count::<O>(queue, counts)?;
            products += of_rows;
            last = Some(rows);
            Ok(())
        };
        let bytes = self.scratch_bytes;
        let batches = long::find_blocking::<O>(queue, patterns, listed, bytes, each)?;
        self.products += products;
        Ok(last.filter(|_| batches == 1))
    }

    fn count_class(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        lists: &RowLists,
        class: usize,
    ) -> Result<()> {
        let listed = lists.of_class(class)?;
        if listed.is_empty() {
            return Ok(());
        }
        let device = queue.context().device().traits();
        let Patterns { a_offsets, a_columns, b_begins, b_ends, b_columns } = patterns;
        let (tasks, count, rows) = (listed.len(), listed.len() as u32, listed.argument());
        let counts = self.counts.argument();
        let pattern_only = (ValueType::F32, O::TYPE);
        // SAFETY: the patterns are checked ones that belong together, the rows are A's, and C has a count for each.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            match self.parameters.row_kernel(class, device.max_group_size) {
                RowKernel::Tiny(tiny) => {
                    let types = (V::TYPE, O::TYPE);
                    let groups = groups(queue, spgemm_tiny::SOURCE, types, &tiny, tiny.group_size)?;
                    let arguments = spgemm_tiny::CountArguments {
                        count,
                        rows,
                        a_offsets,
                        a_columns,
                        b_begins,
                        b_ends,
                        b_columns,
                        counts,
                    };
                    groups.run_items(queue, &arguments, tasks)
                }
                RowKernel::Hash(hash) => {
                    let source = spgemm_hash::SOURCE;
                    let groups = groups(queue, source, pattern_only, &hash, hash.group_size)?;
                    let arguments = spgemm_hash::CountArguments {
                        count,
                        rows,
                        a_offsets,
                        a_columns,
                        b_begins,
                        b_ends,
                        b_columns,
                        counts,
                    };
                    groups.run_tasks(queue, &arguments, tasks)
                }
                RowKernel::Bitmap(bitmap) => {
                    let source = spgemm_bitmap::SOURCE;
                    let groups = groups(queue, source, pattern_only, &bitmap, bitmap.group_size)?;
                    let arguments = spgemm_bitmap::CountArguments {
                        count,
                        rows,
                        a_offsets,
                        a_columns,
                        b_begins,
                        b_ends,
                        b_columns,
                        counts,
                    };
                    groups.run_tasks(queue, &arguments, tasks)
                }
            }
        }
    }
}
