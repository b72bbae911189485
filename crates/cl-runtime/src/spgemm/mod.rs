//! SpGEMM: C = A B, all three in compressed rows on the device.
//!
//! [`Spgemm::count_blocking`] finds how many entries each row of C has, so that C is allocated as large as it is;
//! [`Spgemm::multiply_blocking`] fills it, as often as there are new values. `lists.rs` says which kernel takes which
//! row, `long.rs` finds the columns of long rows and `parts.rs` the values of crowded ones, `sorted.rs` sorts a B that is
//! not. On CPU devices none of these is needed: `sets.rs` has items compute rows by themselves.

mod count;
mod entries;
mod fill;
mod lists;
mod long;
mod parts;
mod programs;
mod sets;
mod sorted;
mod tallies;

use std::ops::Range;

use cl_kernels::spgemm_rows::SpgemmRows;
use csr_core::{OffsetType, RowLengths, ValueType};

use crate::arena::{bytes_of, bytes_of_elements};
use crate::kept_memory::BorrowedMemory;
use crate::scratch::any_for_a_kernel_to_write;
use crate::{
    AnyArray, AnyMatrix, Context, DeviceArray, Error, MatrixTypes, Queue, Result, Scan,
    check_matrix_types, check_size,
};

use lists::{BYTES_PER_ROW, OutputLists, Patterns, RowLists, list_bytes};
use long::LongRows;
use sets::Sets;
use sorted::{Order, SortedRows};
use tallies::Tallies;

/// The pattern of C = A B, counted. Good for any values of A and B.
#[derive(Debug)]
pub struct Spgemm {
    context: Context,
    /// Of A, B and C.
    types: MatrixTypes,
    parameters: SpgemmRows,
    /// Of A and of B.
    pattern_ids: [u64; 2],
    cols: usize,
    products: u64,
    nnz: usize,
    /// Row offsets of C.
    offsets: AnyArray,
    /// The entries of each row of C.
    counts: DeviceArray<u32>,
    row_lengths: RowLengths,
    tallies: Tallies,
    chunks: Vec<Range<usize>>,
    /// What a row that is long takes more than, in products.
    long_work: u64,
    scratch_bytes: u64,
    /// Whether C's arrays are parts of one buffer where they may be.
    in_one_buffer: bool,
    /// Where items compute rows by themselves.
    sets: Option<Sets>,
    /// Of the one chunk, where there is one.
    kept: Option<Kept>,
    /// Where the rows of B do not ascend.
    order: Option<Order>,
    copy_bytes: usize,
    /// What counts and lists are in: the last field, so that these are gone when it goes back to the context.
    memory: BorrowedMemory,
}

/// What the fill pass need not find again.
#[derive(Debug)]
struct Kept {
    rows: RowLists,
    outputs: OutputLists,
    /// The columns of all long rows, where they are one batch.
    long: Option<LongRows>,
}

impl Spgemm {
    /// Says whether every command that uses the count's memory has ended.
    fn set_idle(&mut self, is_idle: bool) {
        self.memory.set_idle(is_idle);
        if let Some(long) = self.kept.as_mut().and_then(|kept| kept.long.as_mut()) {
            long.set_idle(is_idle);
        }
    }
}

impl Spgemm {
    /// Counts the entries of C = A B. Lists of rows take no more than `scratch_bytes` at a time: what needs more is
    /// computed in chunks of rows. The columns of long rows take as much again, or what one row needs. Sets of columns
    /// take no more either, and there are no lists then: those kernels prefetch where `prefetches` says so.
    /// With `in_one_buffer` the arrays of every C that follows may be parts of one buffer.
    ///
    /// # Errors
    /// A with another number of columns than B has rows, or of other types; values that products are not made in;
    /// matrices of another context, parameters or a value type that the device cannot do, more entries than the offset
    /// type counts, or the driver's own failure.
    pub fn count_blocking(
        queue: &Queue,
        a: &AnyMatrix,
        b: &AnyMatrix,
        parameters: SpgemmRows,
        scratch_bytes: u64,
        (in_one_buffer, prefetches): (bool, bool),
    ) -> Result<Self> {
        let context = queue.context().clone();
        check_operands(&context, a, b)?;
        let types = a.types();
        let MatrixTypes { value_type, offset_type, .. } = types;
        parameters.check(context.device().traits(), value_type)?;
        context.check_value_type(value_type)?;
        let rows = a.rows();
        let of_b = (b.rows() as u64, b.nnz() as u64);
        let units = context.device().traits().compute_units;
        let long_work = parameters.long_work(a.nnz() as u64, of_b, units);
        let most_items = u64::from(units.max(1)) * u64::from(parameters.items_per_unit);
        let sets = Sets::for_columns(b.cols(), most_items, scratch_bytes, prefetches);
        // Without lists all rows are one chunk.
        let chunks = chunks(rows, sets.map_or(scratch_bytes, |_| u64::MAX));
        let scan = crate::scan::default_parameters(queue);
        // The lists of a single chunk are kept as long as the counts are.
        let has_kept_lists = sets.is_none() && chunks.len() == 1;
        let lists = if has_kept_lists { list_bytes(rows) } else { 0 };
        let offset_bytes =
            if sets.is_none() { bytes_of_elements(offset_type, rows + 1) } else { 0 };
        let bytes = offset_bytes
            + Tallies::BYTES
            + bytes_of::<u64>(scan.tile())
            + bytes_of::<u32>(rows)
            + lists;
        let memory = context.kept_memory().borrow(queue, bytes)?;
        let mut arena = memory.arena()?;
        let tallies = Tallies::new_blocking(queue, &mut arena)?;
        let sums = arena.take(scan.tile())?;
        let counts = arena.take(rows)?;
        let offsets = match sets {
            None => arena.take_any(offset_type, rows + 1)?,
            Some(_) => any_for_a_kernel_to_write(queue, offset_type, rows + 1)?,
        };
        let of_scan = (sums, tallies.total()?);
        let scan = || Scan::in_memory_blocking(queue, offset_type, scan, of_scan);
        let mut spgemm = Spgemm {
            context,
            types,
            parameters,
            pattern_ids: [a.pattern_id(), b.pattern_id()],
            cols: b.cols(),
            products: 0,
            nnz: 0,
            offsets,
            counts,
            row_lengths: RowLengths::default(),
            tallies,
            chunks,
            long_work,
            scratch_bytes,
            in_one_buffer,
            sets,
            kept: None,
            order: None,
            copy_bytes: 0,
            memory,
        };
        spgemm.count(queue, a, b, arena, scan)?;
        Ok(spgemm)
    }

    /// B's rows in order: B itself, or a copy.
    fn sorted(&mut self, queue: &Queue, b: &AnyMatrix) -> Result<SortedRows> {
        match &self.order {
            None => SortedRows::of(b),
            Some(order) => {
                let sorted = order.sorted(queue, b)?;
                self.copy_bytes = sorted.size_bytes();
                Ok(sorted)
            }
        }
    }

    /// C = A B, columns ascending in each row. The pattern depends on those of A and B alone: an entry whose products
    /// cancel stays. An entry's products are added in the order in which A's row stores its entries, always.
    ///
    /// # Errors
    /// Matrices of other patterns than those that were counted, or of another context; a C that the device cannot hold;
    /// or the driver's own failure.
    pub fn multiply_blocking(
        &mut self,
        queue: &Queue,
        a: &AnyMatrix,
        b: &AnyMatrix,
    ) -> Result<AnyMatrix> {
        check_operands(queue.context(), a, b)?;
        queue.context().check_array("the offsets of C", &self.offsets)?;
        let found = [("A", a.pattern_id()), ("B", b.pattern_id())];
        for ((what, id), counted) in found.into_iter().zip(self.pattern_ids) {
            if id != counted {
                return Err(Error::Pattern { what });
            }
        }
        // A known pattern can come back with arrays of other types.
        check_matrix_types(("A", a.types()), ("the plan", self.types))?;
        self.fill(queue, a, b)
    }

    /// Rows of C.
    pub fn rows(&self) -> usize {
        self.counts.len()
    }

    /// Columns of C.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Entries of C.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Products of an entry of A and one of B.
    pub fn products(&self) -> u64 {
        self.products
    }

    /// The row offsets of C: rows + 1.
    pub fn offsets(&self) -> &AnyArray {
        &self.offsets
    }

    /// Chunks of rows that are computed one after the other.
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Bytes on the device that the count holds, C's row offsets among them; with a B whose rows do not ascend, the
    /// order of its entries and, during a product, a copy.
    pub fn size_bytes(&self) -> usize {
        let kept = self.kept.as_ref().map_or(0, |kept| {
            let long = kept.long.as_ref().map_or(0, LongRows::size_bytes);
            self.rows() * BYTES_PER_ROW as usize + long
        });
        let order = self.order.as_ref().map_or(0, Order::size_bytes);
        self.offsets.size_bytes()
            + self.counts.size_bytes()
            + Tallies::BYTES
            + kept
            + order
            + self.copy_bytes
    }

    /// What A, B and C hold.
    pub fn types(&self) -> MatrixTypes {
        self.types
    }

    /// Of values and offsets, as programs are told apart.
    fn program_types(&self) -> (ValueType, OffsetType) {
        (self.types.value_type, self.types.offset_type)
    }

    /// The context it was counted in.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

/// Chunks of so many rows that their lists keep to `scratch_bytes`; one row at least, and none for no rows.
fn chunks(rows: usize, scratch_bytes: u64) -> Vec<Range<usize>> {
    let each = (scratch_bytes / BYTES_PER_ROW).clamp(1, u32::MAX.into()) as usize;
    (0..rows).step_by(each).map(|first| first..(first + each).min(rows)).collect()
}

fn patterns<'a>(a: &'a AnyMatrix, b: &'a SortedRows) -> Patterns<'a> {
    Patterns {
        offset_type: a.offset_type(),
        a_mean: a.nnz() / a.rows().max(1),
        a_offsets: a.offsets().argument(),
        a_columns: a.columns().argument(),
        b_begins: b.begins.argument(),
        b_ends: b.ends.argument(),
        b_columns: b.columns.argument(),
    }
}

fn check_operands(context: &Context, a: &AnyMatrix, b: &AnyMatrix) -> Result<()> {
    check_types(a.types(), b.types())?;
    check_size("B", (b.rows(), "row"), a.cols(), "as many as A has columns")?;
    for (name, matrix) in [("A", a), ("B", b)] {
        if !matrix.context().shares_memory_with(context) {
            return Err(Error::context(name, "the queue"));
        }
    }
    Ok(())
}

/// Refuses operands of different types, and values that are for storing alone.
fn check_types(a: MatrixTypes, b: MatrixTypes) -> Result<()> {
    if a.value_type != a.value_type.accumulator() {
        return Err(Error::element_type("A", a.value_type, "f32 or f64"));
    }
    check_matrix_types(("A", a), ("B", b))
}

#[cfg(test)]
mod tests {
    #[test]
    fn chunks_cover_all_rows_and_keep_to_the_limit() {
        assert_eq!(super::chunks(7, 30), [0..3, 3..6, 6..7]);
        assert_eq!(super::chunks(2, 0), [0..1, 1..2]);
        assert_eq!(super::chunks(0, 30), []);
    }
}
