//! Compressed rows from entries in any order (`cl/format/coo_to_csr.cl`).

use std::sync::Arc;

use cl_kernels::coo_to_csr::{
    ColumnArguments, CooToCsrKernel, FINDINGS, FirstArguments, KeyArguments, OffsetArguments,
    SOURCE, ValueArguments,
};
use cl_kernels::{Array, KernelKey};
use csr_core::{Offset, OffsetType, Value, ValueType};

use super::{check_target, group_size, plain_key};
use crate::launch::Steps;
use crate::raw::Memory;
use crate::sort::{Keyed, SortKey, bits_of, count_of};
use crate::spmv::check_value_type;
use crate::spmv::workspace::for_a_kernel_to_write;
use crate::{Context, DeviceArray, Event, Matrix, Program, Queue, Result, Scan};

/// What becomes of entries that share row and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They are added up one after another, in the order they had, in the type sums are made in.
    #[default]
    Sum,
    /// They stay beside each other, in the order they had.
    Keep,
}

/// The order that makes compressed rows of entries, found once and good for any values: the pattern is written from
/// it, and values are, as often as they change. Rows come sorted by column.
///
/// While it is found it takes 24 bytes an entry on the device (16 where row and column have 32 bits together), and
/// [`CooToCsr::size_bytes`] afterwards.
#[derive(Debug)]
pub struct CooToCsr {
    context: Context,
    rows: usize,
    cols: usize,
    entries: usize,
    nnz: usize,
    was_ordered: bool,
    keys: Keys,
    /// The number of each entry, in sorted order.
    numbers: DeviceArray<u32>,
    /// Where entries share a place and are summed: the place of each, and the number of all.
    places: Option<DeviceArray<u32>>,
}

/// Row and column of each entry, ascending.
#[derive(Debug)]
enum Keys {
    Narrow(DeviceArray<u32>),
    Wide(DeviceArray<u64>),
}

impl Keys {
    fn argument(&self) -> Array<&Memory> {
        match self {
            Keys::Narrow(keys) => keys.argument(),
            Keys::Wide(keys) => keys.argument(),
        }
    }

    fn feature(&self) -> Option<&'static str> {
        match self {
            Keys::Narrow(_) => u32::FEATURE,
            Keys::Wide(_) => u64::FEATURE,
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Keys::Narrow(keys) => keys.size_bytes(),
            Keys::Wide(keys) => keys.size_bytes(),
        }
    }
}

impl CooToCsr {
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
        queue.context().check_array("the array of row indices", row_indices)?;
        check_target(queue.context(), "the array of column indices", column_indices, entries)?;
        for (what, value) in [("rows", rows), ("columns", cols), ("entries", entries)] {
            count_of(&format!("the number of {what}"), value)?;
        }
        let entries = Entries { rows, cols, row_indices, column_indices };
        if entries.row_bits() + entries.column_bits() <= u32::BITS {
            entries.order_blocking::<u32>(queue, duplicates, Keys::Narrow)
        } else {
            entries.order_blocking::<u64>(queue, duplicates, Keys::Wide)
        }
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
        let places = self.places.as_ref().map_or(0, DeviceArray::size_bytes);
        self.keys.size_bytes() + self.numbers.size_bytes() + places
    }

    /// Writes row offsets (rows + 1) and columns (nnz). Enqueued, not waited for; the event is the last launch's.
    ///
    /// # Errors
    /// Arrays of another length or context, or the driver's own failure.
    pub fn write_pattern<O: Offset>(
        &self,
        queue: &Queue,
        offsets: &mut DeviceArray<O>,
        columns: &mut DeviceArray<u32>,
    ) -> Result<Event> {
        self.check_queue(queue)?;
        check_target(&self.context, "the array of row offsets", offsets, self.rows + 1)?;
        check_target(&self.context, "the array of columns", columns, self.nnz)?;
        let (program, group_size) = program(queue, ValueType::F32, O::TYPE, self.keys.feature())?;
        let mut steps = Steps::new(queue, &program, group_size);
        let arguments = ColumnArguments {
            nnz: self.entries as u32,
            column_bits: bits_of(self.cols.saturating_sub(1)),
            is_packed: self.places.is_some().into(),
            keys: self.keys.argument(),
            places: self.places(),
            columns: columns.argument(),
        };
        let groups = steps.groups(self.entries);
        // SAFETY: there are as many keys as entries and one place more, and places are below nnz.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            steps.run(&arguments, groups)?
        };
        let arguments = OffsetArguments {
            rows: self.rows as u32,
            nnz: self.entries as u32,
            column_bits: bits_of(self.cols.saturating_sub(1)),
            is_packed: self.places.is_some().into(),
            keys: self.keys.argument(),
            places: self.places(),
            offsets: offsets.argument(),
        };
        let groups = steps.groups(self.rows + 1);
        // SAFETY: as before; there are rows + 1 offsets.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            steps.run(&arguments, groups)
        }
    }

    /// Writes the value of each stored entry (nnz) from the values of the entries, in the order these had. Enqueued,
    /// not waited for.
    ///
    /// # Errors
    /// Arrays of another length or context, a device without the value type's arithmetic, or the driver's own failure.
    pub fn write_values<V: Value>(
        &self,
        queue: &Queue,
        from: &DeviceArray<V>,
        to: &mut DeviceArray<V>,
    ) -> Result<Event> {
        self.check_queue(queue)?;
        check_value_type(&self.context, V::TYPE)?;
        check_target(&self.context, "the array of the entries' values", from, self.entries)?;
        check_target(&self.context, "the array of values", to, self.nnz)?;
        let (program, group_size) = program(queue, V::TYPE, OffsetType::U32, self.keys.feature())?;
        let mut steps = Steps::new(queue, &program, group_size);
        let arguments = ValueArguments {
            nnz: self.entries as u32,
            is_packed: self.places.is_some().into(),
            numbers: self.numbers.argument(),
            places: self.places(),
            from: from.argument(),
            to: to.argument(),
        };
        let groups = steps.groups(self.entries);
        // SAFETY: numbers are those of the entries, and places are below nnz.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            steps.run(&arguments, groups)
        }
    }

    /// The matrix, in arrays of its own. Reads 12 bytes back for the choice of an algorithm.
    ///
    /// # Errors
    /// As [`CooToCsr::write_pattern`] and [`CooToCsr::write_values`].
    pub fn matrix_blocking<V: Value, O: Offset>(
        &self,
        queue: &Queue,
        values: &DeviceArray<V>,
    ) -> Result<Matrix<V, O>> {
        let mut of_result = for_a_kernel_to_write(queue, self.nnz)?;
        self.write_values(queue, values, &mut of_result)?;
        let mut offsets = for_a_kernel_to_write::<O>(queue, self.rows + 1)?;
        let mut columns = for_a_kernel_to_write(queue, self.nnz)?;
        self.write_pattern(queue, &mut offsets, &mut columns)?;
        // SAFETY: all entries were found inside the matrix, and the arrays made from them.
        #[expect(unsafe_code, reason = "the arrays are this module's own")]
        unsafe {
            Matrix::from_arrays_blocking(queue, self.cols, offsets, columns, of_result)
        }
    }

    fn places(&self) -> Array<&Memory> {
        // Not read where there are none.
        self.places.as_ref().unwrap_or(&self.numbers).argument()
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

    fn order_blocking<K: SortKey>(
        self,
        queue: &Queue,
        duplicates: Duplicates,
        keys: impl FnOnce(DeviceArray<K>) -> Keys,
    ) -> Result<CooToCsr> {
        let entries = self.row_indices.len();
        let (program, group_size) = program(queue, ValueType::F32, OffsetType::U32, K::FEATURE)?;
        let mut steps = Steps::new(queue, &program, group_size);
        let unsorted = Keyed::<K>::allocate(queue, entries)?;
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
        let groups = steps.groups(entries);
        // SAFETY: there are `entries` rows and columns, keys and numbers, and three words of findings.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            steps.run(&arguments, groups)?
        };
        let mut found = [0; FINDINGS];
        findings.read_into_blocking(queue, &mut found)?;
        let [is_unordered, row_outside, column_outside] = found;
        self.check_inside_blocking(queue, row_outside, column_outside)?;
        let was_ordered = is_unordered == 0;
        let bits = self.row_bits() + self.column_bits();
        let sorted = if was_ordered { unsorted } else { unsorted.sort(queue, bits)? };
        let places = match duplicates {
            Duplicates::Keep => None,
            Duplicates::Sum => places_blocking(queue, &mut steps, &sorted)?,
        };
        let (nnz, places) = places.map_or((entries, None), |(nnz, places)| (nnz, Some(places)));
        let Keyed { keys: of_entries, numbers } = sorted;
        Ok(CooToCsr {
            context: queue.context().clone(),
            rows: self.rows,
            cols: self.cols,
            entries,
            nnz,
            was_ordered,
            keys: keys(of_entries),
            numbers,
            places,
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

/// How many places sorted entries have, and the place of each; `None` where each has its own.
fn places_blocking<K: SortKey>(
    queue: &Queue,
    steps: &mut Steps<'_>,
    sorted: &Keyed<K>,
) -> Result<Option<(usize, DeviceArray<u32>)>> {
    let entries = sorted.keys.len();
    let firsts = for_a_kernel_to_write::<u32>(queue, entries)?;
    let places = for_a_kernel_to_write::<u32>(queue, entries + 1)?;
    let (keys, marks) = (sorted.keys.argument(), firsts.argument());
    let groups = steps.groups(entries);
    // SAFETY: a mark for each key.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        steps.run(&FirstArguments { nnz: entries as u32, keys, firsts: marks }, groups)?
    };
    let mut scan = Scan::<u32>::new_blocking(queue)?;
    scan.enqueue(queue, &firsts, &places)?;
    let nnz = scan.total_blocking(queue)? as usize;
    Ok((nnz < entries).then_some((nnz, places)))
}

/// Offsets (rows + 1) of ascending `keys`, each a row.
pub(super) fn write_offsets_of_rows<O: Offset>(
    queue: &Queue,
    keys: &DeviceArray<u32>,
    offsets: &DeviceArray<O>,
) -> Result<Event> {
    let (program, group_size) = program(queue, ValueType::F32, O::TYPE, u32::FEATURE)?;
    let mut steps = Steps::new(queue, &program, group_size);
    let arguments = OffsetArguments {
        rows: (offsets.len() - 1) as u32,
        nnz: keys.len() as u32,
        column_bits: 0,
        is_packed: 0,
        keys: keys.argument(),
        // Not read then.
        places: keys.argument(),
        offsets: offsets.argument(),
    };
    let groups = steps.groups(offsets.len());
    // SAFETY: keys and offsets are as many as the arguments say.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        steps.run(&arguments, groups)
    }
}

fn program(
    queue: &Queue,
    value_type: ValueType,
    offset_type: OffsetType,
    feature: Option<&'static str>,
) -> Result<(Arc<Program>, usize)> {
    let group_size = group_size(queue.context());
    let parameters = CooToCsrKernel { group_size };
    let key: KernelKey = plain_key(SOURCE, value_type, offset_type, &parameters);
    let key = match feature {
        Some(feature) => key.with_feature(feature),
        None => key,
    };
    Ok((queue.context().program(&key)?, group_size as usize))
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
