//! A matrix with its zeros written out: what products of sparse ones are compared with.

use cl_kernels::dense_product::{
    Arguments, DenseProductKernel, SOURCE, TILE_COLUMNS, TILE_ROWS, WriteOutArguments,
};
use cl_kernels::{Accumulate, DeviceType, KernelKey};
use csr_core::{ValueType, counted};

use crate::launch::{Size, launch_after};
use crate::raw::Kernel;
use crate::{AnyArray, AnyMatrix, Queue, Result, check_apart, check_size};

/// A dense matrix on the device, row-major, in slabs of rows that each fit one allocation.
#[derive(Debug)]
pub struct AnyDenseMatrix {
    slabs: Vec<AnyArray>,
    /// Of the elements, and of B and C.
    value_type: ValueType,
    slab_rows: usize,
    rows: usize,
    cols: usize,
    product: Kernel,
    group_size: usize,
}

impl AnyDenseMatrix {
    /// Writes out the zeros of a sparse matrix; elements are of the type that its sums are made in.
    ///
    /// # Errors
    /// A matrix that does not fit the device's memory, a device without the value type or whose groups are too small,
    /// or the driver's own failure.
    pub fn write_out_blocking(queue: &Queue, matrix: &AnyMatrix) -> Result<Self> {
        let context = queue.context();
        let traits = context.device().traits();
        let (stored, offset_type) = (matrix.value_type(), matrix.offset_type());
        context.check_value_type(stored)?;
        let value_type = stored.accumulator();
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let row_bytes = cols.max(1) as u64 * value_type.size_bytes() as u64;
        let bytes = rows as u64 * row_bytes;
        if bytes > traits.global_bytes {
            let (what, limit) = ("the bytes of a dense matrix", traits.global_bytes);
            return Err(csr_core::Error::TooLarge { what, value: bytes, limit }.into());
        }
        let slab_rows = (traits.max_allocation_bytes / row_bytes) as usize;
        let slab_rows = (slab_rows - slab_rows % TILE_ROWS).max(1);
        let group_size = if traits.device_type == DeviceType::Cpu { 1 } else { 256 };
        let parameters = DenseProductKernel { group_size };
        let group_size = group_size as usize;
        let plain = Accumulate::Plain;
        let key = KernelKey::new(SOURCE, stored, offset_type, plain, false, &parameters);
        let program = context.program(&key)?;
        let mut write_out = program.kernel("write_out_zeros")?;
        let mut slabs = Vec::new();
        for first_row in (0..rows).step_by(slab_rows) {
            let here = slab_rows.min(rows - first_row);
            let dense = AnyArray::allocate(context, value_type, here * cols)?;
            let arguments = WriteOutArguments {
                first_row: first_row as u32,
                columns_of_a: cols as u32,
                offsets: matrix.offsets().argument(),
                columns: matrix.columns().argument(),
                values: matrix.values().argument(),
                dense: dense.argument(),
            };
            let size = Size { groups: here, group_size };
            // SAFETY: the slab holds its rows, and offsets, columns and values are a matrix's.
            #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
            let written = unsafe { launch_after(queue, &mut write_out, &arguments, size, &[])? };
            written.wait()?;
            slabs.push(dense);
        }
        let product = program.kernel("dense_product")?;
        Ok(AnyDenseMatrix { slabs, value_type, slab_rows, rows, cols, product, group_size })
    }

    /// Enqueues C = A B, with B and C row-major and packed, `width` columns each.
    ///
    /// # Errors
    /// A B or C of another type, length or context, or that overlap, or the driver's own failure.
    pub fn launch(
        &mut self,
        queue: &Queue,
        b: &AnyArray,
        c: &mut AnyArray,
        width: usize,
    ) -> Result<()> {
        b.check_element("B", self.value_type)?;
        c.check_element("C", self.value_type)?;
        queue.context().check_array("B", b)?;
        queue.context().check_array("C", c)?;
        check_apart(("C", c), [("B", b)])?;
        for (what, len, rows) in [("B", b.len(), self.cols), ("C", c.len(), self.rows)] {
            let rule = format_args!("{} of {width}", counted(rows, "row"));
            check_size(what, (len, "element"), rows * width, rule)?;
        }
        if width == 0 {
            return Ok(());
        }
        for (number, slab) in self.slabs.iter().enumerate() {
            let first_row = number * self.slab_rows;
            let here = self.slab_rows.min(self.rows - first_row);
            let part = c.slice(first_row * width..(first_row + here) * width)?;
            let arguments = Arguments {
                rows: here as u32,
                depth: self.cols as u32,
                width: width as u32,
                a: slab.argument(),
                b: b.argument(),
                c: part.argument(),
            };
            let groups = here.div_ceil(TILE_ROWS) * width.div_ceil(TILE_COLUMNS);
            let size = Size { groups, group_size: self.group_size };
            // SAFETY: the slab has its rows, and B and C are as long as was checked.
            #[expect(unsafe_code, reason = "lengths were checked")]
            unsafe {
                launch_after(queue, &mut self.product, &arguments, size, &[])?;
            }
        }
        Ok(())
    }

    /// Bytes on the device.
    pub fn size_bytes(&self) -> usize {
        self.slabs.iter().map(AnyArray::size_bytes).sum()
    }
}
