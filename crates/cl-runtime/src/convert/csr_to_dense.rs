//! A dense matrix from compressed rows (`cl/format/csr_to_dense.cl`).

use cl_kernels::DeviceType;
use cl_kernels::csr_to_dense::{
    CsrToDense, DisorderArguments, RowArguments, SOURCE, ScatterArguments, WriteRowArguments,
    ZeroArguments,
};
use csr_core::{DenseShape, Layout};

use super::{Apart, check_span, fitted_program};
use crate::launch::LaunchSequence;
use crate::scratch::for_a_kernel_to_write;
use crate::{AnyArray, AnyMatrix, Event, Queue, Result, check_apart, check_size};

/// Elements that an item sets to zero.
const ELEMENTS_PER_ITEM: u32 = 8;

/// Rows of a group on a CPU device: few, so that small matrices are shared by its cores.
const ROWS_PER_GROUP: u32 = 16;

impl AnyMatrix {
    /// Writes all elements into `dense`, which lies as `shape` says; what lies between its rows (columns) is left
    /// alone. Nonzeros of one row and column add up, in the order in which they are stored: in the type sums are made
    /// in, but 16-bit values of rows that are not in order of their columns are rounded after each sum. Takes 4 bytes a
    /// nonzero meanwhile, but nothing on a CPU device where `dense` is row-major: there one kernel does it all, an item a row. Enqueued after what `queue` holds; on a CPU device, it waits for an upload of zeros.
    ///
    /// # Errors
    /// A shape of another size, an array that is shorter, of another type or context or in the matrix's own, a device without the value
    /// type's arithmetic, or the driver's own failure.
    pub fn write_dense(
        &self,
        queue: &Queue,
        shape: DenseShape,
        dense: &mut AnyArray,
    ) -> Result<Event> {
        let context = queue.context();
        let (what, rule) = ("the dense matrix", "as many as the matrix has");
        check_size(what, (shape.rows(), "row"), self.rows(), rule)?;
        check_size(what, (shape.cols(), "column"), self.cols(), rule)?;
        context.check_array("the matrix", self.offsets())?;
        dense.check_element("the dense matrix", self.value_type())?;
        check_span(context, shape, dense)?;
        let own = dense.slice(0..shape.span())?;
        check_apart(("the dense matrix", &own), self.named_arrays())?;
        context.check_value_type(self.value_type())?;
        let is_cpu = context.device().traits().device_type == DeviceType::Cpu;
        if is_cpu && shape.layout() == Layout::RowMajor {
            return self.write_rows(queue, shape, dense);
        }
        let mut row_indices = for_a_kernel_to_write(queue, self.nnz())?;
        self.write_row_indices(queue, &mut row_indices)?;
        let disorder = for_a_kernel_to_write::<u32>(queue, 1)?;

        let parameters =
            |group_size| CsrToDense { group_size, elements_per_item: ELEMENTS_PER_ITEM };
        let of_source = (SOURCE, self.value_type(), self.offset_type());
        let (program, group_size) = fitted_program(queue, of_source, parameters)?;
        let mut sequence = LaunchSequence::new(queue, &program, group_size as usize);
        let (of_nonzeros, of_rows) = (sequence.groups(self.nnz()), sequence.groups(self.rows()));
        let (row_indices, columns) = (row_indices.argument(), self.columns().argument());
        let (values, dense) = (self.values().argument(), dense.argument());
        let (nnz, disorder) = (self.nnz() as u64, disorder.argument());
        let Apart { row_stride, column_stride } = Apart::of(shape);
        let (lines, length) = lines(shape);
        let zero =
            ZeroArguments { lines, length, leading: shape.leading() as u64, dense, disorder };
        let of_elements = (lines * length).div_ceil(u64::from(group_size * ELEMENTS_PER_ITEM));
        let look = DisorderArguments { nnz, row_indices, columns, disorder };
        let scatter = ScatterArguments {
            nnz,
            row_stride,
            column_stride,
            disorder,
            row_indices,
            columns,
            values,
            dense,
        };
        let rows = self.rows() as u32;
        let offsets = self.offsets().argument();
        let add = RowArguments {
            rows,
            row_stride,
            column_stride,
            disorder,
            offsets,
            columns,
            values,
            dense,
        };
        // SAFETY: the pattern's rows and columns lie inside the shape, and `dense` is as long as it spans.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            sequence.run(&zero, of_elements as usize)?;
            sequence.run(&look, of_nonzeros)?;
            sequence.run(&scatter, of_nonzeros)?;
            sequence.run(&add, of_rows)
        }
    }
}

impl AnyMatrix {
    /// As [`AnyMatrix::write_dense`], by one kernel, an item a row; operands are checked.
    fn write_rows(&self, queue: &Queue, shape: DenseShape, dense: &mut AnyArray) -> Result<Event> {
        let parameters = |group_size: u32| CsrToDense {
            group_size: group_size.min(ROWS_PER_GROUP),
            elements_per_item: ELEMENTS_PER_ITEM,
        };
        let of_source = (SOURCE, self.value_type(), self.offset_type());
        let (program, group_size) = fitted_program(queue, of_source, parameters)?;
        let group_size = group_size.min(ROWS_PER_GROUP);
        let mut sequence = LaunchSequence::new(queue, &program, group_size as usize);
        let groups = sequence.groups(self.rows());
        let write = WriteRowArguments {
            rows: self.rows() as u32,
            cols: self.cols() as u32,
            leading: shape.leading() as u64,
            offsets: self.offsets().argument(),
            columns: self.columns().argument(),
            values: self.values().argument(),
            dense: dense.argument(),
        };
        // SAFETY: the pattern's columns lie inside the shape, and `dense` is as long as it spans.
        #[expect(unsafe_code, reason = "arrays that were checked")]
        unsafe {
            sequence.run(&write, groups)
        }
    }
}

/// Runs of elements without gaps, and their length.
fn lines(shape: DenseShape) -> (u64, u64) {
    let (rows, cols) = (shape.rows() as u64, shape.cols() as u64);
    let (lines, length) = match shape.layout() {
        Layout::RowMajor => (rows, cols),
        Layout::ColumnMajor => (cols, rows),
    };
    if length == shape.leading() as u64 { (1, lines * length) } else { (lines, length) }
}
