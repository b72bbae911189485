//! The fill pass: columns and values of C.

use cl_kernels::spgemm_listed::FillArguments;
use cl_kernels::spgemm_rows::{LONG_ROWS, RowKernel, SpgemmRows, WINDOW_ROWS};
use cl_kernels::{Array, spgemm_bitmap, spgemm_hash, spgemm_tiny, spgemm_values};
use csr_core::ValueType;

use super::lists::{Patterns, RowListing, RowLists, list_bytes};
use super::long::{self, LongRows};
use super::programs::{groups, value_groups};
use super::{Kept, Spgemm, patterns};
use crate::arena::{Arena, bytes_of_elements};
use crate::raw::Memory;
use crate::scratch::any_for_a_kernel_to_write;
use crate::{AnyArray, AnyMatrix, DeviceArray, MatrixTypes, Queue, Result};

/// What kernels of the fill pass read and write besides lists and patterns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled<'a> {
    pub(super) a_values: Array<&'a Memory>,
    pub(super) b_values: Array<&'a Memory>,
    pub(super) c_offsets: Array<&'a Memory>,
    pub(super) c_columns: Array<&'a Memory>,
    pub(super) c_values: Array<&'a Memory>,
}

impl Spgemm {
    /// Allocates C and fills it, chunk after chunk.
    pub(super) fn fill(
        &mut self,
        queue: &Queue,
        a: &AnyMatrix,
        matrix_b: &AnyMatrix,
    ) -> Result<AnyMatrix> {
        self.set_idle(false);
        let b = self.sorted(queue, matrix_b)?;
        let [offsets, columns, values] = self.arrays_of_c(queue)?;
        let filled = Filled {
            a_values: a.values().argument(),
            b_values: b.values.argument(),
            c_offsets: offsets.argument(),
            c_columns: columns.argument(),
            c_values: values.argument(),
        };
        let patterns = patterns(a, &b);
        if let Some(sets) = self.sets {
            self.fill_from_sets(queue, (a, matrix_b), filled, sets)?;
        } else if let Some(kept) = &self.kept {
            self.fill_rows(queue, patterns, filled, kept)?;
        } else {
            for rows in self.chunks.clone() {
                self.tallies.clear_blocking(queue)?;
                let mut arena = Arena::new(queue, list_bytes(rows.len()))?;
                let listing = RowListing::take(&mut arena, rows)?;
                self.list(queue, patterns, &listing)?;
                let rows = listing.found(&self.tallies.read_rows_blocking(queue)?);
                self.list_outputs(queue, patterns, &rows)?;
                let found = self.tallies.read_outputs_blocking(queue)?;
                let row_program = (self.types.offset_type, &self.parameters);
                let found = (&found, &self.tallies.window_cursor()?);
                let outputs = rows.outputs(queue, row_program, &self.counts, found)?;
                let found = Kept { rows, outputs, long: None };
                self.fill_rows(queue, patterns, filled, &found)?;
                // The lists of the next chunk take the memory of these.
                queue.finish_blocking()?;
            }
        }
        queue.finish_blocking()?;
        self.set_idle(true);
        let (context, lengths) = (queue.context(), self.row_lengths);
        // SAFETY: the kernels before have written a pattern, and rows of these lengths were counted.
        #[expect(unsafe_code, reason = "the pattern is this module's own")]
        unsafe {
            AnyMatrix::from_measured_arrays(context, self.cols, offsets, columns, values, lengths)
        }
    }

    /// C's offsets, which are the count's, and memory for its columns and values: all in one buffer where they may be,
    /// which a driver makes and releases in less time than several.
    fn arrays_of_c(&self, queue: &Queue) -> Result<[AnyArray; 3]> {
        let MatrixTypes { offset_type, column_type, value_type } = self.types;
        let (starts, nnz) = (self.offsets.len(), self.nnz);
        if self.sets.is_some() {
            return Ok([
                self.offsets.slice(0..starts)?,
                any_for_a_kernel_to_write(queue, column_type, nnz)?,
                any_for_a_kernel_to_write(queue, value_type, nnz)?,
            ]);
        }
        let bytes = bytes_of_elements(offset_type, starts)
            .saturating_add(bytes_of_elements(column_type, nnz))
            .saturating_add(bytes_of_elements(value_type, nnz));
        let traits = queue.context().device().traits();
        // Oclgrind forgets what is in the rest where a part is written from the host.
        let is_one = self.in_one_buffer
            && !traits.is_oclgrind()
            && bytes as u64 <= traits.max_allocation_bytes;
        let mut arrays = if is_one {
            let mut arena = Arena::new(queue, bytes)?;
            [
                arena.take_any(offset_type, starts)?,
                arena.take_any(column_type, nnz)?,
                arena.take_any(value_type, nnz)?,
            ]
        } else {
            [
                any_for_a_kernel_to_write(queue, offset_type, starts)?,
                any_for_a_kernel_to_write(queue, column_type, nnz)?,
                any_for_a_kernel_to_write(queue, value_type, nnz)?,
            ]
        };
        // The count's are in memory that goes back to the context.
        if let Some(copied) = arrays[0].copy_from(queue, &self.offsets)? {
            queue.settle_blocking(&copied)?;
        }
        Ok(arrays)
    }

    fn fill_rows(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        filled: Filled<'_>,
        kept: &Kept,
    ) -> Result<()> {
        for class in 1..LONG_ROWS {
            self.fill_class(queue, patterns, filled, &kept.rows, class)?;
        }
        let (offsets, columns) = (filled.c_offsets, filled.c_columns);
        match &kept.long {
            Some(long) => long.fill(queue, offsets, columns)?,
            None => {
                let listed = (&kept.rows.of_class(LONG_ROWS)?, self.cols);
                let each = |rows: LongRows, _| rows.fill(queue, offsets, columns);
                long::find_blocking(queue, patterns, listed, self.scratch_bytes, each)?;
            }
        }
        for class in 1..WINDOW_ROWS {
            let rows = kept.outputs.rows(class)?;
            self.fill_values(queue, patterns, filled, (&rows, rows.len()), class)?;
        }
        self.fill_windows(queue, patterns, filled, kept.outputs.windows())?;
        self.fill_crowded(queue, patterns, filled, &kept.outputs)
    }

    /// The columns of the rows of a class, and the values of tiny ones.
    fn fill_class(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        filled: Filled<'_>,
        lists: &RowLists,
        class: usize,
    ) -> Result<()> {
        let listed = lists.of_class(class)?;
        if listed.is_empty() {
            return Ok(());
        }
        let device = queue.context().device().traits();
        let Patterns { a_offsets, a_columns, b_begins, b_ends, b_columns, .. } = patterns;
        let Filled { a_values, b_values, c_offsets, c_columns, c_values } = filled;
        let (tasks, count, rows) = (listed.len(), listed.len() as u32, listed.argument());
        let of_columns = FillArguments {
            count,
            rows,
            a_offsets,
            a_columns,
            b_begins,
            b_ends,
            b_columns,
            c_offsets,
            c_columns,
        };
        let pattern_only = (ValueType::F32, patterns.offset_type);
        // SAFETY: the patterns are those that were counted, and C has as many entries as the count says.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            match self.parameters.row_kernel(class, SpgemmRows::most_items(device)) {
                RowKernel::Tiny(tiny) => {
                    let (source, types) = (spgemm_tiny::SOURCE, self.program_types());
                    let groups = groups(queue, source, types, &tiny, tiny.group_size)?;
                    let arguments = spgemm_tiny::FillArguments {
                        count,
                        rows,
                        a_offsets,
                        a_columns,
                        a_values,
                        b_begins,
                        b_ends,
                        b_columns,
                        b_values,
                        c_offsets,
                        c_columns,
                        c_values,
                    };
                    groups.run_items(queue, &arguments, tasks * tiny.row_items as usize)
                }
                RowKernel::Hash(hash) => {
                    let source = spgemm_hash::SOURCE;
                    let groups = groups(queue, source, pattern_only, &hash, hash.group_size)?;
                    groups.run_tasks(queue, &of_columns, tasks)
                }
                RowKernel::Bitmap(bitmap) => {
                    let source = spgemm_bitmap::SOURCE;
                    let groups = groups(queue, source, pattern_only, &bitmap, bitmap.group_size)?;
                    groups.run_tasks(queue, &of_columns, tasks)
                }
            }
        }
    }

    /// The values of windows of rows of C, whose columns are there.
    pub(super) fn fill_windows(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        filled: Filled<'_>,
        windows: &DeviceArray<u32>,
    ) -> Result<()> {
        let tasks = (windows, windows.len() / 2);
        self.fill_values(queue, patterns, filled, tasks, WINDOW_ROWS)
    }

    /// The values of what the kernel of a class takes, so many rows or windows, whose columns are there.
    fn fill_values(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        filled: Filled<'_>,
        (tasks, count): (&DeviceArray<u32>, usize),
        class: usize,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let Patterns { a_offsets, a_columns, b_begins, b_ends, b_columns, .. } = patterns;
        let Filled { a_values, b_values, c_offsets, c_columns, c_values } = filled;
        let groups = value_groups(queue, self.program_types(), &self.parameters, class)?;
        let arguments = spgemm_values::Arguments {
            count: count as u32,
            tasks: tasks.argument(),
            a_offsets,
            a_columns,
            a_values,
            b_begins,
            b_ends,
            b_columns,
            b_values,
            c_offsets,
            c_columns,
            c_values,
        };
        // SAFETY: the patterns are those that were counted, and C's columns were written before in this queue.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            groups.run_tasks(queue, &arguments, count)
        }
    }
}
