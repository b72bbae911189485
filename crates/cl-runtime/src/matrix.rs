//! A CSR matrix on the device: uploaded from a checked view, or borrowed from the application.

use std::sync::atomic::{AtomicU64, Ordering};

use cl_kernels::MatrixShape;
use csr_core::{
    AnyCsrView, AnyPatternView, ColumnType, OffsetType, RowLengths, ValueType, for_offsets,
};

use crate::row_lengths::row_lengths_blocking;
use crate::{AnyArray, Context, DeviceArray, ElementType, Error, Queue, Result, check_size};

/// A sparse matrix in compressed rows in device memory, whose types are known at run time.
///
/// Values can change; the pattern cannot. Plans belong to the pattern, which every matrix made from
/// another by [`AnyMatrix::with_values`] shares.
#[derive(Debug)]
pub struct AnyMatrix {
    context: Context,
    cols: usize,
    types: MatrixTypes,
    offsets: AnyArray,
    columns: AnyArray,
    values: AnyArray,
    pattern_id: u64,
    values_id: u64,
    row_lengths: RowLengths,
}

/// What the arrays of a matrix hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixTypes {
    /// Of the values.
    pub value_type: ValueType,
    /// Of the row offsets.
    pub offset_type: OffsetType,
    /// Of the column indices.
    pub column_type: ColumnType,
}

impl MatrixTypes {
    /// Those of three arrays.
    fn of(offsets: &AnyArray, columns: &AnyArray, values: &AnyArray) -> Result<Self> {
        let offset_type = offsets.offset_type()?;
        let column_type = match columns.element() {
            ElementType::U32 => ColumnType::U32,
            element => return Err(Error::element_type("the array of columns", element, "u32")),
        };
        let value_type = values.value_type("the array of values")?;
        Ok(MatrixTypes { value_type, offset_type, column_type })
    }
}

/// [`AnyMatrix::values_id`] of no matrix: of a copy whose values are not known.
pub(crate) const NO_VALUES: u64 = 0;

/// A pattern that was looked at, without its arrays: for callers that keep a plan, and no buffers of the application's.
#[derive(Clone, Copy, Debug)]
pub struct KnownPattern {
    id: u64,
    rows: usize,
    cols: usize,
    nnz: usize,
    row_lengths: RowLengths,
}

impl AnyMatrix {
    /// Uploads a matrix; returns when it is on the device.
    ///
    /// # Errors
    /// An array above the device's largest allocation, or a device without the value type's arithmetic.
    pub fn upload_blocking(queue: &Queue, matrix: AnyCsrView<'_>) -> Result<Self> {
        let values = matrix.values();
        let values = AnyArray::upload_blocking(queue, values.value_type(), values.bytes())?;
        Self::from_pattern_blocking(queue, matrix.pattern(), values)
    }

    /// Uploads a pattern and joins it with values that are on the device.
    ///
    /// # Errors
    /// An array above the device's largest allocation, not one value a nonzero, or values of another
    /// context.
    pub fn from_pattern_blocking(
        queue: &Queue,
        pattern: AnyPatternView<'_>,
        values: AnyArray,
    ) -> Result<Self> {
        check_nonzeros("the array of values", values.len(), pattern.nnz())?;
        queue.context().check_array("the array of values", &values)?;
        let columns = DeviceArray::upload_blocking(queue, pattern.columns())?.into_any();
        let (offsets, row_lengths) = for_offsets!(pattern.offsets(), offsets => {
            let uploaded = DeviceArray::upload_blocking(queue, offsets)?.into_any();
            (uploaded, RowLengths::of(offsets))
        });
        Ok(AnyMatrix {
            context: queue.context().clone(),
            cols: pattern.cols(),
            types: MatrixTypes::of(&offsets, &columns, &values)?,
            offsets,
            columns,
            values,
            pattern_id: next_id(),
            values_id: next_id(),
            row_lengths,
        })
    }

    /// Borrows a matrix whose arrays the application already has on the device: `rows + 1` offsets,
    /// and as many columns as values. Looks at row lengths there and reads 16 bytes back; on a CPU the host looks at
    /// them where they lie, and no kernel is built.
    ///
    /// # Safety
    /// The arrays hold a valid pattern: offsets from 0 to nnz that never fall, columns below `cols`.
    /// [`AnyMatrix::check_blocking`] makes sure where that is in doubt.
    ///
    /// # Errors
    /// Lengths or contexts that do not belong together.
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn from_arrays_blocking(
        queue: &Queue,
        cols: usize,
        offsets: AnyArray,
        columns: AnyArray,
        values: AnyArray,
    ) -> Result<Self> {
        let mut matrix =
            Self::of_arrays(queue.context(), cols, offsets, columns, values, next_id())?;
        matrix.row_lengths = row_lengths_blocking(queue, &matrix.offsets)?;
        Ok(matrix)
    }

    /// As [`AnyMatrix::from_arrays_blocking`], and nothing is looked at: rows are taken to be of one length. For
    /// algorithms without a plan, which do not ask; an automatic choice would know no better.
    ///
    /// # Safety
    /// As [`AnyMatrix::from_arrays_blocking`].
    ///
    /// # Errors
    /// As [`AnyMatrix::from_arrays_blocking`].
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn from_arrays(
        context: &Context,
        cols: usize,
        offsets: AnyArray,
        columns: AnyArray,
        values: AnyArray,
    ) -> Result<Self> {
        Self::of_arrays(context, cols, offsets, columns, values, next_id())
    }

    /// As [`AnyMatrix::from_arrays`], with row lengths that the caller has looked at.
    ///
    /// # Safety
    /// As [`AnyMatrix::from_arrays_blocking`].
    ///
    /// # Errors
    /// As [`AnyMatrix::from_arrays_blocking`].
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub(crate) unsafe fn from_measured_arrays(
        context: &Context,
        cols: usize,
        offsets: AnyArray,
        columns: AnyArray,
        values: AnyArray,
        row_lengths: RowLengths,
    ) -> Result<Self> {
        let matrix = Self::of_arrays(context, cols, offsets, columns, values, next_id())?;
        Ok(AnyMatrix { row_lengths, ..matrix })
    }

    /// Borrows a matrix whose pattern is known: every plan of that pattern fits. Nothing is looked at.
    ///
    /// # Safety
    /// The arrays hold that pattern.
    ///
    /// # Errors
    /// Other lengths than the pattern's, or another context.
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn of_known_pattern(
        context: &Context,
        pattern: &KnownPattern,
        offsets: AnyArray,
        columns: AnyArray,
        values: AnyArray,
    ) -> Result<Self> {
        let of_offsets = (offsets.len(), "element");
        check_size("the array of row offsets", of_offsets, pattern.rows + 1, "one more than rows")?;
        check_nonzeros("the array of columns", columns.len(), pattern.nnz)?;
        let (cols, id, row_lengths) = (pattern.cols, pattern.id, pattern.row_lengths);
        let matrix = Self::of_arrays(context, cols, offsets, columns, values, id)?;
        Ok(AnyMatrix { row_lengths, ..matrix })
    }

    /// Arrays that belong together, with rows of one length.
    fn of_arrays(
        context: &Context,
        cols: usize,
        offsets: AnyArray,
        columns: AnyArray,
        values: AnyArray,
        pattern_id: u64,
    ) -> Result<Self> {
        if offsets.is_empty() {
            let rule = "one more than rows";
            return Err(Error::size("the array of row offsets", (0, "element"), 1, rule));
        }
        let of_columns = (columns.len(), "element");
        check_size("the array of columns", of_columns, values.len(), "one for each value")?;
        let types = MatrixTypes::of(&offsets, &columns, &values)?;
        context.check_array("the array of row offsets", &offsets)?;
        context.check_array("the array of columns", &columns)?;
        context.check_array("the array of values", &values)?;
        let nnz = columns.len() as u64;
        let rows = (offsets.len() - 1).max(1) as u64;
        let row_lengths = RowLengths { longest: nnz.div_ceil(rows), in_step: nnz, changes: 0 };
        let (context, values_id) = (context.clone(), next_id());
        Ok(AnyMatrix {
            context,
            cols,
            types,
            offsets,
            columns,
            values,
            pattern_id,
            values_id,
            row_lengths,
        })
    }

    /// Checks every invariant of the pattern, on the host.
    ///
    /// # Errors
    /// The first invariant that is broken, with its index; a queue of another context, or the driver's own failure.
    pub fn check_blocking(&self, queue: &Queue) -> Result<()> {
        self.with_host_pattern_blocking(queue, |_| Ok(()))
    }

    /// The same pattern with other values; every plan of this matrix fits the new one.
    ///
    /// # Errors
    /// Not one value a nonzero, or values of another context.
    pub fn with_values(&self, values: AnyArray) -> Result<Self> {
        check_nonzeros("the array of values", values.len(), self.nnz())?;
        values.check_element("the array of values", self.types.value_type)?;
        self.context.check_array("the array of values", &values)?;
        Ok(AnyMatrix {
            context: self.context.clone(),
            offsets: self.offsets.alias(),
            columns: self.columns.alias(),
            values,
            values_id: next_id(),
            ..*self
        })
    }

    /// Overwrites the values, which are given as they lie in memory; returns when they are on the device.
    ///
    /// # Errors
    /// Not one value a nonzero, or the driver's own failure.
    pub fn write_values_blocking(&mut self, queue: &Queue, bytes: &[u8]) -> Result<()> {
        let found = bytes.len() / self.types.value_type.size_bytes();
        check_nonzeros("the array of values", found, self.nnz())?;
        self.values_changed();
        self.values.write_bytes_blocking(queue, bytes)
    }

    /// Says that the application has changed the values in its own buffer. Plans that keep a copy of the
    /// values in another order refuse to launch until it is brought up to date.
    pub fn values_changed(&mut self) {
        self.values_id = next_id();
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// What its arrays hold.
    pub fn types(&self) -> MatrixTypes {
        self.types
    }

    /// The type of its values.
    pub fn value_type(&self) -> ValueType {
        self.types.value_type
    }

    /// The type of its row offsets.
    pub fn offset_type(&self) -> OffsetType {
        self.types.offset_type
    }

    /// What the choice of an algorithm looks at.
    pub fn shape(&self) -> MatrixShape {
        MatrixShape {
            rows: self.rows() as u64,
            nnz: self.nnz() as u64,
            longest_row: self.row_lengths.longest,
            in_step: self.row_lengths.in_step,
            changes: self.row_lengths.changes,
        }
    }

    /// The context the matrix lives in.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The row offsets: rows + 1.
    pub fn offsets(&self) -> &AnyArray {
        &self.offsets
    }

    /// The column indices: nnz.
    pub fn columns(&self) -> &AnyArray {
        &self.columns
    }

    /// The values: nnz.
    pub fn values(&self) -> &AnyArray {
        &self.values
    }

    /// The three arrays by their names, for what must lie apart from them.
    pub fn named_arrays(&self) -> [(&'static str, &AnyArray); 3] {
        [
            ("the matrix's row offsets", &self.offsets),
            ("the matrix's columns", &self.columns),
            ("the matrix's values", &self.values),
        ]
    }

    /// Bytes of the three arrays.
    pub fn size_bytes(&self) -> usize {
        self.offsets.size_bytes() + self.columns.size_bytes() + self.values.size_bytes()
    }

    /// Changes whenever the values do.
    pub fn values_id(&self) -> u64 {
        self.values_id
    }

    /// Equal for matrices that share a pattern.
    pub fn pattern_id(&self) -> u64 {
        self.pattern_id
    }

    /// What can be kept of the pattern without its arrays.
    pub fn known_pattern(&self) -> KnownPattern {
        KnownPattern {
            id: self.pattern_id,
            rows: self.rows(),
            cols: self.cols,
            nnz: self.nnz(),
            row_lengths: self.row_lengths,
        }
    }
}

fn check_nonzeros(what: &str, found: usize, nnz: usize) -> Result<()> {
    check_size(what, (found, "element"), nnz, "one for each nonzero of the pattern")
}

pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
