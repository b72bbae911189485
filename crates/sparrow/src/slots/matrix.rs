//! Matrices in ELL, as entries, or in both, in device memory.

use cl_runtime::spmv::HybParts;
use cl_runtime::{AnyArray, Context, DeviceArray, Queue, RowOffsets};
use csr_core::batch::Ell;
use csr_core::{Coo, RealValue, ValueType};

use crate::{Result, RuntimeError};

/// A matrix in slots (ELL), as entries with a row each (COO), or in both (HYB), in device memory, as applications hold them:
/// its products ([`AnySlotsPlan`](crate::AnySlotsPlan)) read those arrays, and nothing is converted.
///
/// Entries lie in the order of their rows; those of a row may lie in any order and repeat, and add up.
///
/// ```
/// # fn main() -> Result<(), sparrow::Error> {
/// use sparrow::{
///     AnySlotsMatrix, AnySlotsPlan, Context, Coo, Device, DeviceArray, Number, Queue, SlotsOperands, SlotsOptions,
/// };
///
/// let queue = Queue::new(&Context::new(&Device::best()?)?)?;
/// // | . . 5 |
/// // | 1 . 2 |   the row, the column and the value of each entry; an `Ell` goes by `upload_ell_blocking`
/// let a = Coo::<f32>::new(2, 3, vec![0, 1, 1], vec![2, 0, 2], vec![5.0, 1.0, 2.0])?;
/// let a = AnySlotsMatrix::upload_coo_blocking(&queue, &a)?;
/// let plan = AnySlotsPlan::new_blocking(&queue, &a, &SlotsOptions::default())?;
/// let mut workspace = plan.workspace_blocking(&queue)?;
/// let x = DeviceArray::<f32>::upload_blocking(&queue, &[1.0, 2.0, 3.0])?;
/// let mut y = DeviceArray::<f32>::upload_blocking(&queue, &[0.0; 2])?;
/// let (alpha, beta) = (Number::F32(1.0).into(), Number::F32(0.0).into());
/// let operands = SlotsOperands { alpha, x: &x, beta, y: y.as_any_mut() };
/// plan.launch(&queue, &mut workspace, operands, &[])?.wait()?;
/// assert_eq!(y.read_blocking(&queue)?, [15.0, 7.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AnySlotsMatrix {
    context: Context,
    value_type: ValueType,
    parts: HybParts,
}

/// Slots of a matrix in ELL, on the device.
#[derive(Debug)]
pub struct Slots {
    /// Slots of each row.
    pub width: usize,
    /// Slots from one of a row to its next: the matrix's rows at least, and mostly these.
    pub pitch: usize,
    /// The column of each slot, or [`PADDING`](crate::PADDING): slot k of row i at `k * pitch + i`.
    pub columns: AnyArray,
    /// The value of each slot.
    pub values: AnyArray,
}

/// Entries of a matrix, on the device.
#[derive(Debug)]
pub struct Entries {
    /// The row of each, none before one that is less.
    pub rows: AnyArray,
    /// The column of each.
    pub columns: AnyArray,
    /// The value of each.
    pub values: AnyArray,
}

impl AnySlotsMatrix {
    /// Uploads a matrix in ELL.
    ///
    /// # Errors
    /// An array above the device's largest allocation, or a device without the value type's arithmetic.
    pub fn upload_ell_blocking<V: RealValue>(queue: &Queue, matrix: &Ell<V>) -> Result<Self> {
        let slots = Slots {
            width: matrix.width(),
            pitch: matrix.rows(),
            columns: DeviceArray::upload_blocking(queue, matrix.columns())?.into_any(),
            values: DeviceArray::upload_blocking(queue, matrix.values())?.into_any(),
        };
        let shape = (matrix.rows(), matrix.cols());
        Self::of_parts(queue.context(), shape, Some(slots), None, V::TYPE)
    }

    /// Uploads entries. Where they are not in the order of their rows, a copy is sorted so on the host; those of a row stay in
    /// their order.
    ///
    /// # Errors
    /// As [`AnySlotsMatrix::upload_ell_blocking`].
    pub fn upload_coo_blocking<V: RealValue>(queue: &Queue, matrix: &Coo<V>) -> Result<Self> {
        let rows = matrix.row_indices();
        let upload = |rows: &[u32], columns: &[u32], values: &[V]| -> Result<Entries> {
            Ok(Entries {
                rows: DeviceArray::upload_blocking(queue, rows)?.into_any(),
                columns: DeviceArray::upload_blocking(queue, columns)?.into_any(),
                values: DeviceArray::upload_blocking(queue, values)?.into_any(),
            })
        };
        let entries = if rows.is_sorted() {
            upload(rows, matrix.column_indices(), matrix.values())?
        } else {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by_key(|&entry| rows[entry]);
            let indices = |of: &[u32]| -> Vec<u32> { order.iter().map(|&at| of[at]).collect() };
            let values: Vec<V> = order.iter().map(|&at| matrix.values()[at]).collect();
            upload(&indices(rows), &indices(matrix.column_indices()), &values)?
        };
        let shape = (matrix.rows(), matrix.cols());
        Self::of_parts(queue.context(), shape, None, Some(entries), V::TYPE)
    }

    /// Borrows a matrix whose arrays the application has on the device: slots, entries, or both, whose products are those
    /// of their sum. Of `shape`, rows come first.
    ///
    /// # Safety
    /// The arrays hold what they should: columns inside the matrix, or padding in slots; rows of entries inside and in order.
    ///
    /// # Errors
    /// Neither slots nor entries, or lengths, types or contexts that do not belong together.
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn from_arrays(
        context: &Context,
        shape: (usize, usize),
        slots: Option<Slots>,
        entries: Option<Entries>,
    ) -> Result<Self> {
        let values = slots.as_ref().map(|slots| &slots.values);
        let Some(values) = values.or(entries.as_ref().map(|entries| &entries.values)) else {
            let text = "a matrix has neither slots nor entries";
            return Err(RuntimeError::Incompatible(text.to_owned()).into());
        };
        let value_type = values.value_type("the array of values")?;
        Self::of_parts(context, shape, slots, entries, value_type)
    }

    fn of_parts(
        context: &Context,
        (rows, cols): (usize, usize),
        slots: Option<Slots>,
        entries: Option<Entries>,
        value_type: ValueType,
    ) -> Result<Self> {
        let nothing = || -> Result<(DeviceArray<u32>, AnyArray)> {
            let values = AnyArray::allocate(context, value_type, 0)?;
            Ok((DeviceArray::allocate(context, 0)?, values))
        };
        let (width, pitch, columns, values) = match slots {
            Some(Slots { width, pitch, columns, values }) => {
                (width, pitch, columns.into_typed()?, values)
            }
            None => {
                let (columns, values) = nothing()?;
                (0, rows, columns, values)
            }
        };
        let (entry_rows, entry_columns, entry_values) = match entries {
            Some(Entries { rows, columns, values }) => {
                (rows.into_typed()?, columns.into_typed()?, values)
            }
            None => {
                let (rows, values) = nothing()?;
                (rows.slice(0..0)?, rows, values)
            }
        };
        let parts = HybParts {
            rows,
            cols,
            width,
            pitch,
            columns,
            values,
            entry_rows,
            entry_columns,
            entry_values,
        };
        parts.check(context)?;
        if rows == 0 && !parts.entry_rows.is_empty() {
            let (what, found) = ("the array of the entries' rows", parts.entry_rows.len());
            let rule = "the matrix has no rows";
            return Err(RuntimeError::size(what, (found, "element"), 0, rule).into());
        }
        Ok(AnySlotsMatrix { context: context.clone(), value_type, parts })
    }

    /// Makes sure that entries lie in the order of their rows, and inside the matrix; reads 4 bytes back, and all rows of
    /// entries where one is wrong, to name it. Columns are not looked at. [`AnyCooToCsr`](crate::AnyCooToCsr) takes
    /// entries in any order.
    ///
    /// # Errors
    /// The first entry that does not, a queue of another context, or the driver's own failure.
    pub fn check_order_blocking(&self, queue: &Queue) -> Result<()> {
        let mut offsets = RowOffsets::new(queue.context())?;
        let entry_rows = &self.parts.entry_rows;
        if offsets.find_blocking(queue, self.rows(), entry_rows, &[])?.is_some() {
            return Ok(());
        }
        let entry_rows = entry_rows.read_blocking(queue)?;
        Ok(check_order(self.rows(), &entry_rows)?)
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.parts.rows
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.parts.cols
    }

    /// What it stores.
    pub fn value_type(&self) -> ValueType {
        self.value_type
    }

    /// Slots of each row; 0 of a matrix of entries alone.
    pub fn width(&self) -> usize {
        self.parts.width
    }

    /// Entries beyond the slots.
    pub fn entries(&self) -> usize {
        self.parts.entry_rows.len()
    }

    /// Bytes of its arrays.
    pub fn size_bytes(&self) -> usize {
        self.parts.size_bytes()
    }

    /// The context it lives in.
    pub fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn parts(&self) -> &HybParts {
        &self.parts
    }
}

/// Refuses the first entry whose row lies outside, or before that of the entry before it.
fn check_order(rows: usize, entry_rows: &[u32]) -> csr_core::Result<()> {
    let mut before = 0;
    for (entry, &row) in entry_rows.iter().enumerate() {
        if row as usize >= rows {
            return Err(csr_core::Error::Row { row, entry, rows });
        }
        if row < before {
            return Err(csr_core::Error::RowOrder { row, entry, before });
        }
        before = row;
    }
    Ok(())
}
