//! Batches: many small matrices in arrays that all of them share.

use sparrow::{AnyBatch, BatchColumns, ElementType, Format, Problem};

use crate::buffer::array;
use crate::context::Home;
use crate::failure::{Result, guard};
use crate::pointer::{Growing, Out, handle, read, release, reserved, size, slice, starts};
use crate::types::{
    SPARROW_FORMAT_COO, SPARROW_FORMAT_CSR, SPARROW_FORMAT_ELL, SPARROW_FORMAT_SLICED_ELL, choice,
    offset_type, value_type,
};
use crate::{
    sparrow_buffer, sparrow_context, sparrow_format, sparrow_offset_type, sparrow_status,
    sparrow_value_type,
};

/// Many small matrices on the device. Their values can change by sparrow_batch_with_values, their patterns cannot,
/// and plans belong to the patterns. Any number of threads may use it at once.
pub struct sparrow_batch {
    home: Home,
    inner: AnyBatch,
}

impl sparrow_batch {
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn inner(&self) -> &AnyBatch {
        &self.inner
    }
}

/// One problem of a batch: its size, and the first element of each of its arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_problem {
    /// Rows of A.
    pub rows: u32,
    /// Columns of A.
    pub cols: u32,
    /// Entries stored, slots of padding included.
    pub entries: u32,
    /// How A is stored.
    pub format: sparrow_format,
    /// Places of each row, for SPARROW_FORMAT_ELL; else 0.
    pub ell_width: u32,
    /// 0.
    pub reserved: u32,
    /// The first row offset (CSR), row index (COO) or slice start (sliced ELL).
    pub index: u64,
    /// The first column index.
    pub columns: u64,
    /// The first value.
    pub values: u64,
    /// The first element of x.
    pub x: u64,
    /// The first element of y.
    pub y: u64,
}

/// A batch in buffers of the application's. Where no problem needs an array, it may be empty.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_batch_buffers {
    /// sizeof(sparrow_batch_buffers).
    pub size: usize,
    /// The problems, in the host's memory; they are copied.
    pub problems: *const sparrow_problem,
    /// How many there are.
    pub num_problems: u64,
    /// What `values` holds.
    pub value_type: sparrow_value_type,
    /// What `offsets` holds.
    pub offset_type: sparrow_offset_type,
    /// Bits of each column index, 16 or 32. Padding of ELL is the largest number of so many bits.
    pub column_bits: u32,
    /// 0.
    pub reserved: u32,
    /// Row offsets of problems in compressed rows.
    pub offsets: sparrow_buffer,
    /// How many there are.
    pub num_offsets: u64,
    /// Row indices of problems in coordinates and slice starts, uint32_t.
    pub indices: sparrow_buffer,
    /// How many there are.
    pub num_indices: u64,
    /// Column indices.
    pub columns: sparrow_buffer,
    /// How many there are.
    pub num_columns: u64,
    /// Values.
    pub values: sparrow_buffer,
    /// How many there are.
    pub num_values: u64,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_batch_buffers {
    const NAME: &'static str = "sparrow_batch_buffers";
    const STARTS: &'static [usize] = starts!(sparrow_batch_buffers {
        size,
        problems,
        num_problems,
        value_type,
        offset_type,
        column_bits,
        reserved,
        offsets,
        num_offsets,
        indices,
        num_indices,
        columns,
        num_columns,
        values,
        num_values
    });
}

fn problem(problem: &sparrow_problem, index: usize) -> Result<Problem> {
    let field = |name: &str| format!("buffers->problems[{index}].{name}");
    let ell = Format::Ell { width: problem.ell_width };
    let all = [
        (SPARROW_FORMAT_CSR, "SPARROW_FORMAT_CSR", Format::Csr),
        (SPARROW_FORMAT_COO, "SPARROW_FORMAT_COO", Format::Coo),
        (SPARROW_FORMAT_ELL, "SPARROW_FORMAT_ELL", ell),
        (SPARROW_FORMAT_SLICED_ELL, "SPARROW_FORMAT_SLICED_ELL", Format::SlicedEll),
    ];
    let format = choice(problem.format, &field("format"), &all)?;
    if format != ell {
        reserved(problem.ell_width, &field("ell_width"))?;
    }
    reserved(problem.reserved, &field("reserved"))?;
    Ok(Problem {
        rows: problem.rows,
        cols: problem.cols,
        entries: problem.entries,
        format,
        index: problem.index,
        columns: problem.columns,
        values: problem.values,
        x: problem.x,
        y: problem.y,
    })
}

/// Makes a batch over buffers of the application's: nothing is copied but the list of problems. What the buffers
/// hold is trusted: row offsets that never fall and span `entries`, row indices below `rows` in order, columns below
/// `cols` or padding. That problems stay within the arrays and apart from each other is checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_batch_from_buffers(
    context: *const sparrow_context,
    buffers: *const sparrow_batch_buffers,
    batch: *mut *mut sparrow_batch,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, home, buffers) = unsafe {
            let out = Out::new(batch, "batch")?;
            (out, handle(context, "context")?.home(), read(buffers, "buffers")?)
        };
        reserved(buffers.reserved, "buffers->reserved")?;
        let count = size(buffers.num_problems, "buffers->num_problems")?;
        // SAFETY: the caller's promise.
        let problems = unsafe { slice(buffers.problems, count, "buffers->problems")? };
        let problems: Result<Vec<_>> =
            problems.iter().enumerate().map(|(index, its)| problem(its, index)).collect();
        let values = value_type(buffers.value_type, "buffers->value_type")?;
        let offsets = offset_type(buffers.offset_type, "buffers->offset_type")?;
        let problems = problems?.into();
        let num_offsets = size(buffers.num_offsets, "buffers->num_offsets")?;
        let num_indices = size(buffers.num_indices, "buffers->num_indices")?;
        let num_columns = size(buffers.num_columns, "buffers->num_columns")?;
        let widths = [(16, "16 bits", ElementType::U16), (32, "32 bits", ElementType::U32)];
        let width = choice(buffers.column_bits, "buffers->column_bits", &widths)?;
        let num_values = size(buffers.num_values, "buffers->num_values")?;
        let context = &home.context;
        // SAFETY: the buffers are valid, as the caller promised, and so are the patterns.
        let inner = unsafe {
            let offsets =
                array(context, buffers.offsets, offsets, num_offsets, "buffers->offsets")?;
            let indices = ElementType::U32;
            let indices =
                array(context, buffers.indices, indices, num_indices, "buffers->indices")?;
            let columns = array(context, buffers.columns, width, num_columns, "buffers->columns")?;
            let values = array(context, buffers.values, values, num_values, "buffers->values")?;
            let (indices, columns) = (indices.into_typed()?, BatchColumns::of(columns)?);
            AnyBatch::from_arrays(context, problems, offsets, indices, columns, values)?
        };
        out.give(sparrow_batch { home: home.clone(), inner });
        Ok(())
    })
}

/// A second batch of the same patterns, with the values of another buffer; plans of either fit both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_batch_with_values(
    batch: *const sparrow_batch,
    values: sparrow_buffer,
    with_values: *mut *mut sparrow_batch,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(with_values, "with_values")? };
        // SAFETY: the caller's promise.
        let batch = unsafe { handle(batch, "batch")? };
        let (context, value_type) = (batch.inner.context(), batch.inner.value_type());
        let len = batch.inner.values().len();
        // SAFETY: the caller's promise.
        let values = unsafe { array(context, values, value_type, len, "values")? };
        let inner = batch.inner.with_values(values)?;
        out.give(sparrow_batch { home: batch.home.clone(), inner });
        Ok(())
    })
}

/// Ends a batch; NULL is allowed. Plans made for it stay usable with others of its patterns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_batch_release(batch: *mut sparrow_batch) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(batch, "batch") })
}
