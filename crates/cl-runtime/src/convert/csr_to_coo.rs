//! The row of each nonzero (`cl/format/csr_to_coo.cl`).

use std::sync::Arc;

use cl_kernels::csr_to_coo::{CsrToCoo, ExpandArguments, SOURCE};
use csr_core::{Offset, Value, ValueType};

use super::{check_target, group_size, plain_key};
use crate::launch::Steps;
use crate::{DeviceArray, Event, Matrix, Program, Queue, Result};

/// Nonzeros that an item finds the rows of.
const NNZ_PER_ITEM: u32 = 8;

impl<V: Value, O: Offset> Matrix<V, O> {
    /// Writes the row of each nonzero (nnz): with the matrix's own columns and values, these are its entries one by
    /// one. Enqueued after what `queue` holds, not waited for.
    ///
    /// # Errors
    /// An array of another length or context, or the driver's own failure.
    pub fn write_row_indices(
        &self,
        queue: &Queue,
        row_indices: &mut DeviceArray<u32>,
    ) -> Result<Event> {
        queue.context().check_array("the matrix", self.offsets())?;
        check_target(queue.context(), "the array of row indices", row_indices, self.nnz())?;
        let (program, parameters) = program::<O>(queue)?;
        let mut steps = Steps::new(queue, &program, parameters.group_size as usize);
        let arguments = ExpandArguments {
            rows: self.rows() as u32,
            nnz: self.nnz() as u64,
            offsets: self.offsets().argument(),
            row_indices: row_indices.argument(),
        };
        // SAFETY: there are rows + 1 offsets, a pattern's, and a row index for each nonzero.
        #[expect(unsafe_code, reason = "arrays that were checked")]
        unsafe {
            steps.run(&arguments, self.nnz().div_ceil(parameters.tile()))
        }
    }
}

/// The kernels, and what they were built with.
pub(crate) fn program<O: Offset>(queue: &Queue) -> Result<(Arc<Program>, CsrToCoo)> {
    let group_size = group_size(queue.context()).max(2);
    let parameters = CsrToCoo { group_size, nnz_per_item: NNZ_PER_ITEM };
    let key = plain_key(SOURCE, ValueType::F32, O::TYPE, &parameters);
    Ok((queue.context().program(&key)?, parameters))
}
