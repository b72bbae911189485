//! C = A B, all three in compressed rows.
//!
//! The memory of C is made here and the application's to release, as clSPARSE does; all of it is waited for, with an
//! asynchronous control too.

use sparrow::{AnyArray, AnyMatrix, AnySpgemmPlan, SpgemmOptions, ValueType};

use crate::boundary::status_of;
use crate::control::Control;
use crate::operands::CsrArrays;
use crate::status::{Result, Status};
use crate::structures::Naming;
use crate::types::{clsparseControl, clsparseCsrMatrix};

/// An operand in compressed rows.
fn operand(control: &Control, matrix: &clsparseCsrMatrix) -> Result<AnyMatrix> {
    let arrays = CsrArrays::of(control, ValueType::F32, matrix)?;
    let CsrArrays { offsets, columns, values } = arrays;
    let cols = matrix.num_cols as usize;
    // SAFETY: that the pattern is one is the application's promise.
    Ok(unsafe { AnyMatrix::from_arrays(control.context(), cols, offsets, columns, values)? })
}

/// Arrays in memory as the program names it.
fn arrays_for(control: &Control, arrays: [&AnyArray; 3]) -> Result<[AnyArray; 3]> {
    if control.naming() == Naming::Buffers {
        return Ok(arrays.map(AnyArray::alias));
    }
    let [values, columns, offsets] = arrays.map(|array| -> Result<AnyArray> {
        let mut shared = AnyArray::allocate_svm(control.context(), array.element(), array.len())?;
        shared.copy_from(&control.queue, array)?;
        Ok(shared)
    });
    Ok([values?, columns?, offsets?])
}

/// C = A B in single precision; columns ascend in each row of C, and entries whose products cancel stay. Columns of A
/// and B may stand in any order and repeat.
///
/// Makes three buffers, which are the application's to release (of shared virtual memory, allocations to free), and sets the sizes, buffers and offsets of
/// `sparseMatC`; what it held before is not released, and its meta stays. Nothing is changed where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsrSpGemm(
    sparseMatA: *const clsparseCsrMatrix,
    sparseMatB: *const clsparseCsrMatrix,
    sparseMatC: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise. C may be A or B: they are copied before it is written.
        let (a, b) = unsafe { (control.read(sparseMatA)?, control.read(sparseMatB)?) };
        // SAFETY: as before.
        let mut target = unsafe { control.write(sparseMatC)? };
        if a.num_cols != b.num_rows {
            return Err(Status::InvalidSize);
        }
        let queue = &control.queue;
        let (a, b) = (operand(&control, &a)?, operand(&control, &b)?);
        let options = SpgemmOptions { separate_buffers: true, ..SpgemmOptions::default() };
        let mut plan = AnySpgemmPlan::new_blocking(queue, &a, &b, &options)?;
        let c = plan.multiply_blocking(queue, &a, &b)?;
        let [values, columns, offsets] =
            arrays_for(&control, [c.values(), c.columns(), c.offsets()])?;
        queue.finish_blocking()?;
        let sizes = [c.rows(), c.cols(), c.nnz()].map(u32::try_from);
        let [Ok(num_rows), Ok(num_cols), Ok(num_nonzeros)] = sizes else {
            return Err(Status::InvalidSize);
        };
        control.state().end_blocking(queue)?;
        *target = clsparseCsrMatrix {
            num_rows,
            num_cols,
            num_nonzeros,
            values: values.give()?,
            col_indices: columns.give()?,
            row_pointer: offsets.give()?,
            off_values: 0,
            off_col_indices: 0,
            off_row_pointer: 0,
            meta: target.meta,
        };
        Ok(())
    })
}
