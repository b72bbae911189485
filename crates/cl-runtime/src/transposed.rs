//! A transposed copy of a matrix on the device, and new values for it.

use std::sync::Arc;

use cl_kernels::gather_values::{Arguments, GatherValues, SOURCE};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{Offset, PatternView, Transposed, Value};

use crate::launch::{Size, launch};
use crate::spmv::workspace::for_a_kernel_to_write;
use crate::{DeviceArray, Matrix, Program, Queue, Result};

/// The transposed copy of a matrix: its own pattern, and where each of its values comes from.
#[derive(Debug)]
pub struct TransposedMatrix<V, O> {
    matrix: Matrix<V, O>,
    sources: DeviceArray<O>,
    gather: Arc<Program>,
    group_size: usize,
    /// The values the copy was made from.
    values_id: u64,
}

/// [`Matrix::values_id`] of no matrix.
const NOBODYS: u64 = 0;

impl<V: Value, O: Offset> TransposedMatrix<V, O> {
    /// Transposes `pattern`, which is the matrix's, on the host, and fetches the values on the device.
    ///
    /// # Errors
    /// No memory on the device for the copy, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        pattern: PatternView<'_, O>,
    ) -> Result<Self> {
        let context = queue.context();
        let Transposed { pattern, sources } = pattern.transpose();
        let values = for_a_kernel_to_write(queue, sources.len())?;
        let group_size = 1usize << context.device().traits().max_group_size.clamp(1, 256).ilog2();
        let parameters = GatherValues { group_size: group_size as u32 };
        let key = KernelKey::new(SOURCE, V::TYPE, O::TYPE, Accumulate::Plain, false, &parameters);
        let mut transposed = TransposedMatrix {
            matrix: Matrix::from_pattern_blocking(queue, pattern.view(), values)?,
            sources: DeviceArray::upload_blocking(queue, &sources)?,
            gather: context.program(&key)?,
            group_size,
            values_id: NOBODYS,
        };
        transposed.update_values_blocking(queue, matrix)?;
        Ok(transposed)
    }

    /// Fetches the values of `matrix`, whose pattern is the one that was transposed.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &Matrix<V, O>) -> Result<()> {
        let offsets = self.matrix.offsets();
        let count = offsets.slice(offsets.len() - 1..offsets.len())?;
        let arguments = Arguments {
            count: count.argument(),
            sources: self.sources.argument(),
            values: matrix.values().argument(),
            target: self.matrix.values().argument(),
        };
        let groups = self.sources.len().div_ceil(self.group_size);
        let size = Size { groups, group_size: self.group_size };
        let mut kernel = self.gather.kernel("gather_values")?;
        // SAFETY: all arrays are nnz long, and sources are below nnz.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let gathered = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
        // Until the wait ends well, nobody knows whose values the copy holds.
        self.values_id = NOBODYS;
        gathered.wait()?;
        self.values_id = matrix.values_id();
        Ok(())
    }

    /// The transposed matrix.
    pub fn matrix(&self) -> &Matrix<V, O> {
        &self.matrix
    }

    /// [`Matrix::values_id`] of the values the copy holds.
    pub fn values_id(&self) -> u64 {
        self.values_id
    }

    /// Bytes of the copy on the device.
    pub fn size_bytes(&self) -> usize {
        self.matrix.size_bytes() + self.sources.size_bytes()
    }
}
