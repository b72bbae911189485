//! Compressed rows from a dense matrix (`cl/format/dense_to_csr.cl`).

use std::sync::Arc;

use cl_kernels::Scalar;
use cl_kernels::dense_to_csr::{CountArguments, DenseToCsrKernel, SOURCE, WriteArguments};
use csr_core::{DenseShape, Number, OffsetType, ValueType, spelled};

use super::{Apart, ONE_EACH, check_indices, check_span, check_target, fitted_program};
use crate::launch::LaunchSequence;
use crate::scratch::{any_for_a_kernel_to_write, for_a_kernel_to_write};
use crate::sort::count_of;
use crate::{
    AnyArray, AnyMatrix, DeviceArray, Error, Event, Program, Queue, Result, Scan, check_apart,
};

/// Elements of a row that an item looks at.
const CELL: usize = 8;

/// What of a dense matrix is stored in compressed rows: counted, and then written into arrays that are as long.
///
/// It keeps an offset for every 8 elements of a row on the device.
#[derive(Debug)]
pub struct AnyDenseToCsr {
    shape: DenseShape,
    value_type: ValueType,
    offset_type: OffsetType,
    tolerance: Number,
    /// Elements kept before each cell, and in all.
    kept_offsets: AnyArray,
    nnz: usize,
    program: Arc<Program>,
    group_size: usize,
}

impl AnyDenseToCsr {
    /// Counts the elements of `dense`, which lies as `shape` says, whose size is above `tolerance`, and NaN; row
    /// offsets will be of `offset_type`. The tolerance is rounded to the type that sums are made in. Reads 8 bytes
    /// back.
    ///
    /// # Errors
    /// A tolerance that is negative, NaN or beyond that type, an array that does not hold values, or is shorter than the shape spans or
    /// of another context, sizes above 2^32 - 1, more elements than the offset type counts, a device without the value
    /// type's arithmetic, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        (shape, dense): (DenseShape, &AnyArray),
        offset_type: OffsetType,
        tolerance: f64,
    ) -> Result<Self> {
        let context = queue.context();
        let value_type = dense.value_type("the dense matrix")?;
        let refuse =
            |rule| Err(Error::Value { name: "tolerance", value: spelled(tolerance), rule });
        if tolerance.is_nan() || tolerance < 0.0 {
            return refuse("0 or more: sizes are compared with it".to_owned());
        }
        let (number, sums) = (Number::of(value_type, tolerance), value_type.accumulator());
        if number.to_f64().is_infinite() {
            return refuse(format!("at most the largest {sums}, {}", spelled(sums.largest())));
        }
        let tolerance = number;
        check_span(context, shape, dense)?;
        context.check_value_type(value_type)?;
        count_of("the number of rows", shape.rows())?;
        count_of("the number of columns", shape.cols())?;
        let cells = shape.rows().saturating_mul(shape.cols().div_ceil(CELL));
        let counts = for_a_kernel_to_write::<u32>(queue, cells)?;
        let kept_offsets = any_for_a_kernel_to_write(queue, offset_type, cells.saturating_add(1))?;
        let parameters = |group_size| DenseToCsrKernel { group_size, cell: CELL as u32 };
        let of_source = (SOURCE, value_type, offset_type);
        let (program, group_size) = fitted_program(queue, of_source, parameters)?;
        let group_size = group_size as usize;
        let mut found = AnyDenseToCsr {
            shape,
            value_type,
            offset_type,
            tolerance,
            kept_offsets,
            nnz: 0,
            program,
            group_size,
        };
        let mut sequence = LaunchSequence::new(queue, &found.program, group_size);
        let Apart { row_stride, column_stride } = Apart::of(shape);
        let arguments = CountArguments {
            rows: shape.rows() as u32,
            cols: shape.cols() as u32,
            row_cells: found.row_cells(),
            row_stride,
            column_stride,
            tolerance: Scalar::from(tolerance),
            dense: dense.argument(),
            counts: counts.argument(),
        };
        let groups = sequence.groups(cells);
        // SAFETY: `dense` is as long as its shape spans, and there is a count for each cell.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            sequence.run(&arguments, groups)?
        };
        let mut scan = Scan::new_blocking(queue, offset_type)?;
        scan.enqueue(queue, &counts, &found.kept_offsets)?;
        found.nnz = scan.total_blocking(queue)? as usize;
        Ok(found)
    }

    /// Elements that are stored.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Bytes that it keeps on the device.
    pub fn size_bytes(&self) -> usize {
        self.kept_offsets.size_bytes()
    }

    /// Writes row offsets (rows + 1), columns and values (nnz each) from `dense`, which must be as it was counted: where
    /// it is not, the values are invalid, but the pattern is one. Enqueued, not waited for.
    ///
    /// # Errors
    /// Arrays of another type, length or context, or that overlap, or the driver's own failure.
    pub fn write(
        &self,
        queue: &Queue,
        dense: &AnyArray,
        offsets: &mut AnyArray,
        columns: &mut DeviceArray<u32>,
        values: &mut AnyArray,
    ) -> Result<Event> {
        let context = queue.context();
        context.check_array("what was counted", &self.kept_offsets)?;
        dense.check_element("the dense matrix", self.value_type)?;
        offsets.check_element("the array of row offsets", self.offset_type)?;
        values.check_element("the array of values", self.value_type)?;
        check_span(context, self.shape, dense)?;
        let of_offsets = (self.shape.rows() + 1, "one more than rows");
        check_target(context, "the array of row offsets", offsets, of_offsets)?;
        check_indices(context, "the array of columns", columns, (self.nnz, ONE_EACH))?;
        check_target(context, "the array of values", values, (self.nnz, ONE_EACH))?;
        let source = ("the dense matrix", dense.slice(0..self.shape.span())?);
        let [of_offsets, of_columns, of_values] = [
            ("the array of row offsets", &*offsets),
            ("the array of columns", &**columns),
            ("the array of values", &*values),
        ];
        check_apart(of_offsets, [(source.0, &source.1), of_columns, of_values])?;
        check_apart(of_columns, [(source.0, &source.1), of_values])?;
        check_apart(of_values, [(source.0, &source.1)])?;
        let mut sequence = LaunchSequence::new(queue, &self.program, self.group_size);
        let Apart { row_stride, column_stride } = Apart::of(self.shape);
        let arguments = WriteArguments {
            rows: self.shape.rows() as u32,
            cols: self.shape.cols() as u32,
            row_cells: self.row_cells(),
            row_stride,
            column_stride,
            tolerance: Scalar::from(self.tolerance),
            dense: dense.argument(),
            kept_offsets: self.kept_offsets.argument(),
            offsets: offsets.argument(),
            columns: columns.argument(),
            values: values.argument(),
        };
        let groups = sequence.groups(self.kept_offsets.len().max(self.shape.rows() + 1));
        // SAFETY: `dense` is as long as its shape spans, and offsets end at nnz.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            sequence.run(&arguments, groups)
        }
    }

    /// The matrix, in arrays of its own, as [`AnyDenseToCsr::write`] writes them. Reads 12 bytes back for the choice of
    /// an algorithm.
    ///
    /// # Errors
    /// As there; or an array above the device's largest allocation.
    pub fn matrix_blocking(&self, queue: &Queue, dense: &AnyArray) -> Result<AnyMatrix> {
        let (rows, cols) = (self.shape.rows(), self.shape.cols());
        let mut offsets = any_for_a_kernel_to_write(queue, self.offset_type, rows + 1)?;
        let mut columns = for_a_kernel_to_write(queue, self.nnz)?;
        let mut values = any_for_a_kernel_to_write(queue, self.value_type, self.nnz)?;
        self.write(queue, dense, &mut offsets, &mut columns, &mut values)?;
        // SAFETY: what is written is a pattern of these sizes.
        #[expect(unsafe_code, reason = "the arrays are this module's own")]
        unsafe {
            AnyMatrix::from_arrays_blocking(queue, cols, offsets, columns.into_any(), values)
        }
    }

    fn row_cells(&self) -> u32 {
        self.shape.cols().div_ceil(CELL) as u32
    }
}
