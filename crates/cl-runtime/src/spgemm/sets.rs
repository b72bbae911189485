//! Both passes where items compute rows by themselves, with a set of columns each: on CPU devices.

use cl_kernels::spgemm_sets::{CountArguments, FillArguments, key, set_words};

use super::Spgemm;
use super::fill::Filled;
use super::programs::Groups;
use crate::scratch::for_a_kernel_to_write;
use crate::{AnyMatrix, DeviceArray, Queue, Result};

/// How many items have a set, and how large each is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sets {
    items: usize,
    set_words: usize,
    prefetches: bool,
}

/// What a pass of all items takes besides matrices.
struct PassMemory {
    cursor: DeviceArray<u32>,
    sets: DeviceArray<u64>,
}

impl Sets {
    /// For a C of so many columns: `most_items` sets, or as many as keep to `scratch_bytes`; `None` where that is none,
    /// and groups are to compute the rows.
    pub(super) fn for_columns(
        cols: usize,
        most_items: u64,
        scratch_bytes: u64,
        prefetches: bool,
    ) -> Option<Self> {
        let set_words = set_words(cols);
        let most = scratch_bytes / (size_of::<u64>() * set_words) as u64;
        let items = most_items.min(most) as usize;
        (items > 0).then_some(Sets { items, set_words, prefetches })
    }

    /// Memory of one pass.
    fn memory(&self, queue: &Queue) -> Result<PassMemory> {
        let cursor = DeviceArray::upload_blocking(queue, &[0u32])?;
        let sets = for_a_kernel_to_write(queue, self.items * self.set_words)?;
        Ok(PassMemory { cursor, sets })
    }
}

impl Spgemm {
    fn set_program(&self, queue: &Queue, sets: Sets) -> Result<Groups> {
        let key = key(self.program_types(), sets.prefetches);
        Ok(Groups::new(queue.context().program(&key)?, 1))
    }

    /// Has the device count the entries of each row of C, and all products.
    pub(super) fn count_in_sets(
        &self,
        queue: &Queue,
        a: &AnyMatrix,
        b: &AnyMatrix,
        sets: Sets,
    ) -> Result<()> {
        let memory = sets.memory(queue)?;
        let product_words = self.tallies.products()?;
        let arguments = CountArguments {
            rows: a.rows() as u32,
            cols: self.cols as u32,
            set_words: sets.set_words as u64,
            a_offsets: a.offsets().argument(),
            a_columns: a.columns().argument(),
            b_offsets: b.offsets().argument(),
            b_columns: b.columns().argument(),
            cursor: memory.cursor.argument(),
            sets: memory.sets.argument(),
            counts: self.counts.argument(),
            product_words: product_words.argument(),
        };
        // SAFETY: the patterns are checked ones that belong together, there is a set for each item, and a count for each
        // row.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            self.set_program(queue, sets)?.run(queue, &arguments, sets.items.min(a.rows()))
        }
    }

    /// Has the device write columns and values of C.
    pub(super) fn fill_from_sets(
        &self,
        queue: &Queue,
        (a, b): (&AnyMatrix, &AnyMatrix),
        filled: Filled<'_>,
        sets: Sets,
    ) -> Result<()> {
        let memory = sets.memory(queue)?;
        let Filled { a_values, b_values, c_offsets, c_columns, c_values } = filled;
        let arguments = FillArguments {
            rows: a.rows() as u32,
            cols: self.cols as u32,
            set_words: sets.set_words as u64,
            a_offsets: a.offsets().argument(),
            a_columns: a.columns().argument(),
            a_values,
            b_offsets: b.offsets().argument(),
            b_columns: b.columns().argument(),
            b_values,
            cursor: memory.cursor.argument(),
            sets: memory.sets.argument(),
            c_offsets,
            c_columns,
            c_values,
        };
        // SAFETY: the patterns are those that were counted, C has as many entries as the count says, and there is a set
        // for each item.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            self.set_program(queue, sets)?.run(queue, &arguments, sets.items.min(a.rows()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_keep_to_the_scratch_memory_and_groups_compute_where_none_does() {
        let items = |most_items, scratch_bytes| {
            Sets::for_columns(1000, most_items, scratch_bytes, false).map(|sets| sets.items)
        };
        assert_eq!(items(6, 64 << 20), Some(6));
        let one = 8 * set_words(1000) as u64;
        assert_eq!(items(6, 4 * one), Some(4));
        assert_eq!(items(6, one - 1), None);
        assert_eq!(items(0, 64 << 20), None);
    }
}
