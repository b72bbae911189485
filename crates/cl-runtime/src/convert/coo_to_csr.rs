//! Compressed rows from entries in any order (`cl/format/coo_to_csr.cl`).

use std::sync::Arc;

use cl_kernels::coo_to_csr::{
    ColumnArguments, CooToCsrKernel, FINDINGS, FirstArguments, KeyArguments, OffsetArguments,
    SOURCE, ValueArguments,
};
use cl_kernels::{Array, KernelKey};
use csr_core::{OffsetType, ValueType};

use super::{ONE_EACH, check_indices, check_target, group_size, plain_key};
use crate::launch::LaunchSequence;
use crate::raw::Memory;
use crate::scratch::{any_for_a_kernel_to_write, for_a_kernel_to_write};
use crate::sort::{KeyType, Keyed, bits_of, count_of};
use crate::{
    AnyArray, AnyMatrix, Context, DeviceArray, Error, Event, Program, Queue, Result, Scan,
    check_apart,
};

/// What becomes of entries that share row and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They are added up one after another, in the order they had, in the type sums are made in.
    #[default]
    Sum,
    /// They stay next to each other, in the order they had.
    Keep,
}

/// The order that makes compressed rows of entries, found once and good for any values: the pattern is written from
/// it, and values are, as often as they change. Rows come sorted by column.
///
/// While it is found it takes 24 bytes an entry on the device (16 where row and column have 32 bits together), and
/// [`AnyCooToCsr::size_bytes`] afterwards.
#[derive(Debug)]
pub struct AnyCooToCsr {
    context: Context,
    rows: usize,
    cols: usize,
    entries: usize,
    nnz: usize,
    was_ordered: bool,
    /// Row and column of each entry, ascending.
    keys: AnyArray,
    key_type: KeyType,
    /// The number of each entry, in sorted order.
    numbers: DeviceArray<u32>,
    /// Where entries share a row and column and are summed: the index of each, and the number of all.
    indices: Option<DeviceArray<u32>>,
}

impl AnyCooToCsr {
    /// Checks and sorts the entries of a matrix of `rows` x `cols`, whose rows and columns are `row_indices` and
    /// `column_indices`, and counts what will be stored. Reads 20 bytes back; entries that are in order already are
    /// not sorted.
    ///
    /// # Errors
    /// A row or column outside the matrix, by the entry; arrays of different length or of another context; sizes
    /// above 2^32 - 1; an array above the device's largest allocation, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        (rows, cols): (usize, usize),
        row_indices: &DeviceArray<u32>,
        column_indices: &DeviceArray<u32>,
        duplicates: Duplicates,
    ) -> Result<Self> {
        let entries = row_indices.len();
        queue.context().check_typed("the array of row indices", row_indices)?;
        let needed = (entries, "one for each row index");
        check_indices(queue.context(), "the array of column indices", column_indices, needed)?;
        for (what, value) in [("rows", rows), ("columns", cols), ("entries", entries)] {
            count_of(&format!("the number of {what}"), value)?;
        }
        let entries = Entries { rows, cols, row_indices, column_indices };
        let is_narrow = entries.row_bits() + entries.column_bits() <= u32::BITS;
        let key_type = if is_narrow { KeyType::U32 } else { KeyType::U64 };
        entries.order_blocking(queue, duplicates, key_type)
    }

    /// Entries of the result.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Whether the entries stood in order of row and column, so that nothing was sorted.
    pub fn was_ordered(&self) -> bool {
        self.was_ordered
    }

    /// Bytes that it keeps on the device.
    pub fn size_bytes(&self) -> usize {
        let indices = self.indices.as_ref().map_or(0, |indices| indices.size_bytes());
        self.keys.size_bytes() + self.numbers.size_bytes() + indices
    }

    /// Writes row offsets (rows + 1) and columns (nnz). Enqueued, not waited for; the event is the last launch's.
    ///
    /// # Errors
    /// Offsets of no type that offsets have, arrays of another length or context or that overlap, or the driver's own failure.
    pub fn write_pattern(
        &self,
        queue: &Queue,
        offsets: &mut AnyArray,
        columns: &mut DeviceArray<u32>,
    ) -> Result<Event> {
        let offset_type = offsets.offset_type()?;
        self.check_queue(queue)?;
        let needed = (self.rows + 1, "one more than rows");
        check_target(&self.context, "the array of row offsets", offsets, needed)?;
        check_indices(&self.context, "the array of columns", columns, (self.nnz, ONE_EACH))?;
        let of_columns: &AnyArray = columns;
        check_apart(("the array of row offsets", offsets), [("the array of columns", of_columns)])?;
        let (program, group_size) = program(queue, ValueType::F32, offset_type, self.key_type)?;
        let mut sequence = LaunchSequence::new(queue, &program, group_size);
        let arguments = ColumnArguments {
            nnz: self.entries as u32,
            column_bits: bits_of(self.cols.saturating_sub(1)),
            is_packed: self.indices.is_some().into(),
            keys: self.keys.argument(),
            indices: self.indices(),
            columns: columns.argument(),
        };
        let groups = sequence.groups(self.entries);
        // SAFETY: there are as many keys as entries and one index more, and indices are below nnz.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            sequence.run(&arguments, groups)?
        };
        let arguments = OffsetArguments {
            rows: self.rows as u32,
            nnz: self.entries as u32,
            column_bits: bits_of(self.cols.saturating_sub(1)),
            is_packed: self.indices.is_some().into(),
            keys: self.keys.argument(),
            indices: self.indices(),
            offsets: offsets.argument(),
        };
        let groups = sequence.groups(self.rows + 1);
        // SAFETY: as before; there are rows + 1 offsets.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            sequence.run(&arguments, groups)
        }
    }

    /// Writes the value of each stored entry (nnz) from the values of the entries, in the order these had. Enqueued,
    /// not waited for.
    ///
    /// # Errors
    /// Arrays of another length or context, of different types or that overlap, a device without the value type's arithmetic, or the
    /// driver's own failure.
    pub fn write_values(&self, queue: &Queue, from: &AnyArray, to: &mut AnyArray) -> Result<Event> {
        let value_type = from.value_type("the array of the entries' values")?;
        to.check_element("the array of values", value_type)?;
        self.check_queue(queue)?;
        self.context.check_value_type(value_type)?;
        let needed = (self.entries, "one for each entry");
        check_target(&self.context, "the array of the entries' values", from, needed)?;
        check_target(&self.context, "the array of values", to, (self.nnz, ONE_EACH))?;
        check_apart(("the array of values", to), [("the array of the entries' values", from)])?;
        let (program, group_size) = program(queue, value_type, OffsetType::U32, self.key_type)?;
        let mut sequence = LaunchSequence::new(queue, &program, group_size);
        let arguments = ValueArguments {
            nnz: self.entries as u32,
            is_packed: self.indices.is_some().into(),
            numbers: self.numbers.argument(),
            indices: self.indices(),
            from: from.argument(),
            to: to.argument(),
        };
        let groups = sequence.groups(self.entries);
        // SAFETY: numbers are those of the entries, and indices are below nnz.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            sequence.run(&arguments, groups)
        }
    }

    /// The matrix with offsets of this type, in arrays of its own. Reads 12 bytes back for the choice of an algorithm.
    ///
    /// # Errors
    /// As [`AnyCooToCsr::write_pattern`] and [`AnyCooToCsr::write_values`].
    pub fn matrix_blocking(
        &self,
        queue: &Queue,
        offset_type: OffsetType,
        values: &AnyArray,
    ) -> Result<AnyMatrix> {
        let mut of_result = any_for_a_kernel_to_write(queue, values.element(), self.nnz)?;
        self.write_values(queue, values, &mut of_result)?;
        let mut offsets = any_for_a_kernel_to_write(queue, offset_type, self.rows + 1)?;
        let mut columns = for_a_kernel_to_write(queue, self.nnz)?;
        self.write_pattern(queue, &mut offsets, &mut columns)?;
        // SAFETY: all entries were found inside the matrix, and the arrays made from them.
        #[expect(unsafe_code, reason = "the arrays are this module's own")]
        unsafe {
            let columns = columns.into_any();
            AnyMatrix::from_arrays_blocking(queue, self.cols, offsets, columns, of_result)
        }
    }

    fn indices(&self) -> Array<&Memory> {
        // Not read where there are none.
        self.indices.as_ref().unwrap_or(&self.numbers).argument()
    }

    fn check_queue(&self, queue: &Queue) -> Result<()> {
        queue.context().check_array("the order of the entries", &self.numbers)
    }
}

/// What is to be ordered.
struct Entries<'a> {
    rows: usize,
    cols: usize,
    row_indices: &'a DeviceArray<u32>,
    column_indices: &'a DeviceArray<u32>,
}

impl Entries<'_> {
    fn row_bits(&self) -> u32 {
        bits_of(self.rows.saturating_sub(1))
    }

    fn column_bits(&self) -> u32 {
        bits_of(self.cols.saturating_sub(1))
    }

    fn order_blocking(
        self,
        queue: &Queue,
        duplicates: Duplicates,
        key_type: KeyType,
    ) -> Result<AnyCooToCsr> {
        let entries = self.row_indices.len();
        let (program, group_size) = program(queue, ValueType::F32, OffsetType::U32, key_type)?;
        let mut sequence = LaunchSequence::new(queue, &program, group_size);
        let unsorted = Keyed::allocate(queue, key_type, entries)?;
        let findings = DeviceArray::upload_blocking(queue, &[0, u32::MAX, u32::MAX])?;
        let arguments = KeyArguments {
            nnz: entries as u32,
            rows: self.rows as u32,
            cols: self.cols as u32,
            column_bits: self.column_bits(),
            row_indices: self.row_indices.argument(),
            column_indices: self.column_indices.argument(),
            keys: unsorted.keys.argument(),
            numbers: unsorted.numbers.argument(),
            findings: findings.argument(),
        };
        let groups = sequence.groups(entries);
        // SAFETY: there are `entries` rows and columns, keys and numbers, and three words of findings.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            sequence.run(&arguments, groups)?
        };
        let mut found = [0; FINDINGS];
        findings.read_into_blocking(queue, &mut found)?;
        let [is_unordered, row_outside, column_outside] = found;
        self.check_inside_blocking(queue, row_outside, column_outside)?;
        let was_ordered = is_unordered == 0;
        let bits = self.row_bits() + self.column_bits();
        let sorted = if was_ordered { unsorted } else { unsorted.sort(queue, bits)? };
        let indices = match duplicates {
            Duplicates::Keep => None,
            Duplicates::Sum => indices_blocking(queue, &mut sequence, &sorted)?,
        };
        let (nnz, indices) = indices.map_or((entries, None), |(nnz, indices)| (nnz, Some(indices)));
        let Keyed { keys, numbers } = sorted;
        Ok(AnyCooToCsr {
            context: queue.context().clone(),
            rows: self.rows,
            cols: self.cols,
            entries,
            nnz,
            was_ordered,
            keys,
            key_type,
            numbers,
            indices,
        })
    }

    /// Refuses the first entry outside the matrix, `u32::MAX` where there is none.
    fn check_inside_blocking(&self, queue: &Queue, row: u32, column: u32) -> Result<()> {
        let value_of = |indices: &DeviceArray<u32>, entry: usize| -> Result<u32> {
            let mut value = [0];
            indices.slice(entry..entry + 1)?.read_into_blocking(queue, &mut value)?;
            Ok(value[0])
        };
        let (row_entry, column_entry) = (row as usize, column as usize);
        if row != u32::MAX {
            let row = value_of(self.row_indices, row_entry)?;
            return Err(csr_core::Error::Row { row, entry: row_entry, rows: self.rows }.into());
        }
        if column != u32::MAX {
            let column = value_of(self.column_indices, column_entry)?;
            let (entry, cols) = (column_entry, self.cols);
            return Err(csr_core::Error::Column { column, entry, cols }.into());
        }
        Ok(())
    }
}

/// How many rows and columns sorted entries have, and the index of each among them; `None` where each has its own.
fn indices_blocking(
    queue: &Queue,
    sequence: &mut LaunchSequence<'_>,
    sorted: &Keyed,
) -> Result<Option<(usize, DeviceArray<u32>)>> {
    let entries = sorted.keys.len();
    let firsts = for_a_kernel_to_write::<u32>(queue, entries)?;
    let indices = for_a_kernel_to_write::<u32>(queue, entries + 1)?;
    let (keys, marks) = (sorted.keys.argument(), firsts.argument());
    let groups = sequence.groups(entries);
    // SAFETY: a mark for each key.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        sequence.run(&FirstArguments { nnz: entries as u32, keys, firsts: marks }, groups)?
    };
    let mut scan = Scan::new_blocking(queue, OffsetType::U32)?;
    scan.enqueue(queue, &firsts, &indices)?;
    let nnz = scan.total_blocking(queue)? as usize;
    Ok((nnz < entries).then_some((nnz, indices)))
}

/// Offsets (rows + 1) of ascending `keys`, each a row.
pub(super) fn write_offsets_of_rows(
    queue: &Queue,
    keys: &AnyArray,
    offsets: &AnyArray,
) -> Result<Event> {
    let (key_type, offset_type) = (KeyType::of(keys)?, offsets.offset_type()?);
    let (program, group_size) = program(queue, ValueType::F32, offset_type, key_type)?;
    let mut sequence = LaunchSequence::new(queue, &program, group_size);
    let arguments = OffsetArguments {
        rows: (offsets.len() - 1) as u32,
        nnz: keys.len() as u32,
        column_bits: 0,
        is_packed: 0,
        keys: keys.argument(),
        // Not read then.
        indices: keys.argument(),
        offsets: offsets.argument(),
    };
    let groups = sequence.groups(offsets.len());
    // SAFETY: keys and offsets are as many as the arguments say.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        sequence.run(&arguments, groups)
    }
}

fn program(
    queue: &Queue,
    value_type: ValueType,
    offset_type: OffsetType,
    key_type: KeyType,
) -> Result<(Arc<Program>, usize)> {
    queue.fitting(Error::kernel_group_limit, |queue| {
        let group_size = group_size(queue.context());
        let parameters = CooToCsrKernel { group_size };
        let key: KernelKey = plain_key(SOURCE, value_type, offset_type, &parameters);
        let key = match key_type.feature() {
            Some(feature) => key.with_feature(feature),
            None => key,
        };
        Ok((queue.context().program(&key)?, group_size as usize))
    })
}

#[cfg(test)]
mod tests {
    use super::bits_of;

    #[test]
    fn a_key_holds_the_largest_index() {
        assert_eq!([0, 1, 2, 255, 256].map(bits_of), [0, 1, 2, 8, 9]);
        assert_eq!(bits_of(u32::MAX as usize), 32);
    }
}
