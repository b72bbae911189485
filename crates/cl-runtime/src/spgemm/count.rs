//! The count pass: how many entries each row of C has.

use cl_kernels::spgemm_rows::{LONG_ROWS, RowKernel};
use cl_kernels::{spgemm_bitmap, spgemm_hash, spgemm_tiny};
use csr_core::{Accumulator, Offset, ValueType};

use super::lists::{Patterns, RowListing, RowLists, list_bytes};
use super::long::{self, LongRows};
use super::programs::groups;
use super::sorted::{Order, SortedRows};
use super::{Kept, Spgemm, patterns};
use crate::room::Room;
use crate::row_lengths;
use crate::scan::check_total;
use crate::{Matrix, Queue, Result, Scan};

impl<V: Accumulator, O: Offset> Spgemm<V, O> {
    /// Counts chunk after chunk, and makes offsets of the counts; keeps the lists of a single chunk, which are in `room`.
    /// Where that is all, B ascends and no row is long, the device is waited for twice.
    pub(super) fn count(
        &mut self,
        queue: &Queue,
        a: &Matrix<V, O>,
        b: &Matrix<V, O>,
        mut room: Room,
        scan: &mut Scan<O>,
    ) -> Result<()> {
        let mut sorted = SortedRows::of(b)?;
        Order::count_descents(queue, b, &self.tallies.descents()?)?;
        let mut kept = None;
        for (number, rows) in self.chunks.clone().into_iter().enumerate() {
            if number > 0 {
                self.tallies.clear_blocking(queue)?;
            }
            if self.chunks.len() > 1 {
                room = Room::new(queue, list_bytes(rows.len()))?;
            }
            let listing = RowListing::take(&mut room, rows)?;
            self.list(queue, patterns(a, &sorted), &listing)?;
            let mut found = self.tallies.read_rows_blocking(queue)?;
            if number == 0 && !Order::is_kept(&found.descents) {
                self.order = Some(Order::find(queue, b)?);
                sorted = self.sorted(queue, b)?;
                self.tallies.clear_blocking(queue)?;
                self.list(queue, patterns(a, &sorted), &listing)?;
                found = self.tallies.read_rows_blocking(queue)?;
            }
            let patterns = patterns(a, &sorted);
            let rows = listing.found(&found);
            self.products += rows.products;
            for class in 1..LONG_ROWS {
                self.count_class(queue, patterns, &rows, class)?;
            }
            let long = self.count_long(queue, patterns, &rows)?;
            if self.chunks.len() == 1 {
                self.list_outputs(queue, patterns, &rows)?;
                kept = Some((rows, long));
            }
        }
        scan.enqueue(queue, &self.counts, &self.offsets)?;
        row_lengths::enqueue(queue, &self.offsets, &self.tallies.lengths()?)?;
        let found = self.tallies.read_outputs_blocking(queue)?;
        self.nnz = check_total::<O>(found.total)? as usize;
        self.row_lengths = found.lengths;
        if let Some((rows, long)) = kept {
            let outputs = rows.outputs::<O>(queue, &self.parameters, &self.counts, &found)?;
            if !outputs.windows().is_empty() {
                // Who multiplies may do so in another queue.
                queue.finish_blocking()?;
            }
            self.kept = Some(Kept { rows, outputs, long });
        }
        Ok(())
    }

    /// Has the device sort rows into classes and list them.
    pub(super) fn list(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        listing: &RowListing,
    ) -> Result<()> {
        let limits = (&self.parameters, self.long_work);
        listing.enqueue::<O>(queue, limits, patterns, &self.counts, &self.tallies)
    }

    /// The same by their entries, where another kernel sums them than finds their columns.
    pub(super) fn list_outputs(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        rows: &RowLists,
    ) -> Result<()> {
        if !rows.has_summed() {
            return Ok(());
        }
        let parameters = &self.parameters;
        rows.enqueue_outputs::<O>(queue, parameters, patterns, &self.counts, &self.tallies)
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
                    groups.run_items(queue, &arguments, tasks * tiny.row_items as usize)
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
