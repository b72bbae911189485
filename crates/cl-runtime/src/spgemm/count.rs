//! The count pass: how many entries each row of C has.

use cl_kernels::spgemm_listed::CountArguments;
use cl_kernels::spgemm_rows::{LONG_ROWS, RowKernel, SpgemmRows};
use cl_kernels::{spgemm_bitmap, spgemm_hash, spgemm_tiny};
use csr_core::{RowLengths, ValueType, for_offset_type};

use super::lists::{Patterns, RowListing, RowLists, list_bytes};
use super::long::{self, LongRows};
use super::programs::groups;
use super::sorted::{Order, SortedRows};
use super::tallies::OutputTallies;
use super::{Kept, Spgemm, patterns};
use crate::arena::Arena;
use crate::row_lengths::{self, is_for_the_host};
use crate::scan::check_total;
use crate::{AnyMatrix, Queue, Result, Scan};

impl Spgemm {
    /// Counts chunk after chunk, and makes offsets of the counts; keeps the lists of a single chunk, which are in
    /// `arena`. Where that is all, B ascends and no row is long, the device is waited for twice. With sets there are no
    /// lists, and nothing of B is looked at before.
    pub(super) fn count(
        &mut self,
        queue: &Queue,
        a: &AnyMatrix,
        b: &AnyMatrix,
        mut arena: Arena,
        scan: impl FnOnce() -> Result<Scan>,
    ) -> Result<()> {
        if let Some(sets) = self.sets {
            self.count_in_sets(queue, a, b, sets)?;
            if is_for_the_host(queue.context().device().traits()) {
                self.find_offsets_on_host_blocking(queue)?;
            } else {
                self.find_offsets(queue, &mut scan()?)?;
            }
            self.products = self.tallies.read_rows_blocking(queue)?.products;
            self.set_idle(true);
            return Ok(());
        }
        let mut scan = scan()?;
        let mut sorted = SortedRows::of(b)?;
        Order::count_descents(queue, b, &self.tallies.descents()?)?;
        let mut kept = None;
        for (number, rows) in self.chunks.clone().into_iter().enumerate() {
            if number > 0 {
                self.tallies.clear_blocking(queue)?;
            }
            if self.chunks.len() > 1 {
                arena = Arena::new(queue, list_bytes(rows.len()))?;
            }
            let listing = RowListing::take(&mut arena, rows)?;
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
        let found = self.find_offsets(queue, &mut scan)?;
        self.products += found.long_products;
        if let Some((rows, long)) = kept {
            let row_program = (self.types.offset_type, &self.parameters);
            let found = (&found, &self.tallies.window_cursor()?);
            let outputs = rows.outputs(queue, row_program, &self.counts, found)?;
            if !outputs.windows().is_empty() {
                // Who multiplies may do so in another queue.
                queue.finish_blocking()?;
            }
            self.kept = Some(Kept { rows, outputs, long });
        }
        self.set_idle(true);
        Ok(())
    }

    /// Makes row offsets of the counts, and reads back how many entries C has, and what was counted of its rows.
    fn find_offsets(&mut self, queue: &Queue, scan: &mut Scan) -> Result<OutputTallies> {
        scan.enqueue(queue, &self.counts, &self.offsets)?;
        row_lengths::enqueue(queue, &self.offsets, &self.tallies.lengths()?)?;
        let found = self.tallies.read_outputs_blocking(queue)?;
        self.nnz = check_total(self.types.offset_type, found.total)? as usize;
        self.row_lengths = found.lengths;
        Ok(found)
    }

    /// The same by the host, in whose memory the counts are.
    fn find_offsets_on_host_blocking(&mut self, queue: &Queue) -> Result<()> {
        let counts = self.counts.read_blocking(queue)?;
        let total = counts.iter().copied().map(u64::from).sum();
        let offset_type = self.types.offset_type;
        self.nnz = check_total(offset_type, total)? as usize;
        for_offset_type!(offset_type, O => {
            // Below the total, which the type counts.
            let sums = counts.iter().scan(0, |sum, &count| {
                *sum += O::from(count);
                Some(*sum)
            });
            let offsets: Vec<O> = std::iter::once(0).chain(sums).collect();
            self.row_lengths = RowLengths::of(&offsets);
            self.offsets.typed_mut()?.write_blocking(queue, &offsets)
        })
    }

    /// Has the device sort rows into classes and list them.
    pub(super) fn list(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        listing: &RowListing,
    ) -> Result<()> {
        let limits = (&self.parameters, self.long_work);
        listing.enqueue(queue, limits, patterns, &self.counts, &self.tallies)
    }

    /// The same by their entries, where another kernel sums them than finds their columns.
    pub(super) fn list_outputs(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        rows: &RowLists,
    ) -> Result<()> {
        if rows.summed()?.is_empty() {
            return Ok(());
        }
        let parameters = &self.parameters;
        rows.enqueue_outputs(queue, parameters, patterns, &self.counts, &self.tallies)
    }

    /// Counts the long rows, and returns their columns where they are one batch. Where all rows are one chunk and these
    /// one batch, nothing is waited for, and their products are found by the next read of the tallies.
    fn count_long(
        &mut self,
        queue: &Queue,
        patterns: Patterns<'_>,
        lists: &RowLists,
    ) -> Result<Option<LongRows>> {
        let rows = lists.of_class(LONG_ROWS)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let (listed, bytes) = ((&rows, self.cols), self.scratch_bytes);
        let entries = lists.long_entries;
        if self.chunks.len() == 1 && long::is_one_batch(queue, patterns, listed, entries, bytes)? {
            let total = self.tallies.long_products()?;
            let rows = LongRows::enqueue(queue, patterns, listed, entries as u32, total)?;
            rows.count(queue, &self.counts)?;
            return Ok(Some(rows));
        }
        let mut last = None;
        let mut products = 0;
        let counts = &self.counts;
        let each = |rows: LongRows, of_rows| {
            rows.count(queue, counts)?;
            products += of_rows;
            last = Some(rows);
            Ok(())
        };
        let batches = long::find_blocking(queue, patterns, listed, bytes, each)?;
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
        let Patterns { offset_type, a_offsets, a_columns, b_begins, b_ends, b_columns, .. } =
            patterns;
        let (tasks, count, rows) = (listed.len(), listed.len() as u32, listed.argument());
        let counts = self.counts.argument();
        let arguments = CountArguments {
            count,
            rows,
            a_offsets,
            a_columns,
            b_begins,
            b_ends,
            b_columns,
            counts,
        };
        let pattern_only = (ValueType::F32, offset_type);
        // SAFETY: the patterns are checked ones that belong together, the rows are A's, and C has a count for each.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            match self.parameters.row_kernel(class, SpgemmRows::most_items(device)) {
                RowKernel::Tiny(tiny) => {
                    let (source, types) = (spgemm_tiny::SOURCE, self.program_types());
                    let groups = groups(queue, source, types, &tiny, tiny.group_size)?;
                    groups.run_items(queue, &arguments, tasks * tiny.row_items as usize)
                }
                RowKernel::Hash(hash) => {
                    let source = spgemm_hash::SOURCE;
                    let groups = groups(queue, source, pattern_only, &hash, hash.group_size)?;
                    groups.run_tasks(queue, &arguments, tasks)
                }
                RowKernel::Bitmap(bitmap) => {
                    let source = spgemm_bitmap::SOURCE;
                    let groups = groups(queue, source, pattern_only, &bitmap, bitmap.group_size)?;
                    groups.run_tasks(queue, &arguments, tasks)
                }
            }
        }
    }
}
