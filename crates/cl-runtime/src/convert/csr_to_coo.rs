//! The row of each nonzero (`cl/format/csr_to_coo.cl`).

use std::sync::Arc;

use cl_kernels::DeviceType;
use cl_kernels::csr_to_coo::{CsrToCoo, ExpandArguments, FEATURE_ROWS_IN_ORDER, SOURCE};
use csr_core::{OffsetType, ValueType};

use super::{ONE_EACH, check_indices, fitted_program, plain_key};
use crate::launch::LaunchSequence;
use crate::{AnyMatrix, DeviceArray, Event, Program, Queue, Result, check_apart};

/// Nonzeros that an item finds the rows of.
const NNZ_PER_ITEM: u32 = 8;

impl AnyMatrix {
    /// Writes the row of each nonzero (nnz): with the matrix's own columns and values, these are its entries one by
    /// one. Enqueued after what `queue` holds, not waited for.
    ///
    /// # Errors
    /// An array of another length or context, or in the matrix's own, or the driver's own failure.
    pub fn write_row_indices(
        &self,
        queue: &Queue,
        row_indices: &mut DeviceArray<u32>,
    ) -> Result<Event> {
        queue.context().check_array("the matrix", self.offsets())?;
        let needed = (self.nnz(), ONE_EACH);
        check_indices(queue.context(), "the array of row indices", row_indices, needed)?;
        check_apart(("the array of row indices", row_indices), self.named_arrays())?;
        let (program, parameters) = expanding_program(queue, self.offset_type())?;
        let mut sequence = LaunchSequence::new(queue, &program, parameters.group_size as usize);
        let arguments = ExpandArguments {
            rows: self.rows() as u32,
            nnz: self.nnz() as u64,
            offsets: self.offsets().argument(),
            row_indices: row_indices.argument(),
        };
        // SAFETY: there are rows + 1 offsets, a pattern's, and a row index for each nonzero.
        #[expect(unsafe_code, reason = "arrays that were checked")]
        unsafe {
            sequence.run(&arguments, self.nnz().div_ceil(parameters.tile()))
        }
    }
}

/// The kernel that finds the row of each nonzero, and what it was built with: a CPU's items take thousands.
fn expanding_program(queue: &Queue, offset_type: OffsetType) -> Result<(Arc<Program>, CsrToCoo)> {
    let context = queue.context();
    if context.device().traits().device_type != DeviceType::Cpu {
        return program(queue, offset_type);
    }
    let parameters = CsrToCoo::in_order(context.device().traits());
    let key = plain_key(SOURCE, ValueType::F32, offset_type, &parameters)
        .with_feature(FEATURE_ROWS_IN_ORDER);
    Ok((context.program(&key)?, parameters))
}

/// The kernels, and what they were built with.
pub(crate) fn program(queue: &Queue, offset_type: OffsetType) -> Result<(Arc<Program>, CsrToCoo)> {
    let parameters = |group_size| CsrToCoo { group_size, nnz_per_item: NNZ_PER_ITEM };
    let of_source = (SOURCE, ValueType::F32, offset_type);
    let (program, group_size) = fitted_program(queue, of_source, parameters)?;
    Ok((program, parameters(group_size)))
}
