//! The inverse of a matrix's diagonal (`cl/solver/jacobi.cl`).

use cl_kernels::jacobi::{Arguments, Jacobi, SOURCE};
use cl_kernels::{Accumulate, KernelKey};

use crate::launch::{Size, launch_after};
use crate::{AnyArray, AnyMatrix, DeviceArray, Error, MatrixTypes, Queue, Result};

/// No row has no inverse.
const NONE: u32 = u32::MAX;

/// Writes the inverse of the diagonal of a matrix to the first elements of `inverse`; without parameters, with those
/// that suit the device.
///
/// # Errors
/// A row whose diagonal has no inverse, the first by its number; fewer elements than rows, or of another type than sums
/// are made in; parameters that break a rule; or the driver's own failure.
pub fn inverse_diagonal_blocking(
    queue: &Queue,
    matrix: &AnyMatrix,
    parameters: Option<Jacobi>,
    inverse: &mut AnyArray,
) -> Result<()> {
    let traits = queue.context().device().traits();
    let parameters = parameters.unwrap_or_else(|| Jacobi::default_for(traits));
    parameters.check(traits)?;
    let MatrixTypes { value_type, offset_type, .. } = matrix.types();
    inverse.check_element("the inverse diagonal", value_type.accumulator())?;
    let key =
        KernelKey::new(SOURCE, value_type, offset_type, Accumulate::Plain, false, &parameters);
    let program = queue.context().program(&key)?;
    let flawed = DeviceArray::upload_blocking(queue, &[NONE])?;
    let inverse = inverse.slice(0..matrix.rows())?;
    let arguments = Arguments {
        rows: matrix.rows() as u32,
        offsets: matrix.offsets().argument(),
        columns: matrix.columns().argument(),
        values: matrix.values().argument(),
        inverse: inverse.argument(),
        flawed: flawed.argument(),
    };
    let rows_per_group = (parameters.group_size / parameters.items_per_row) as usize;
    let size = Size {
        groups: matrix.rows().div_ceil(rows_per_group),
        group_size: parameters.group_size as usize,
    };
    let mut kernel = program.kernel("inverse_diagonal")?;
    // SAFETY: the matrix's arrays belong together, and the inverse has an element a row.
    #[expect(unsafe_code, reason = "arguments are this module's own and the matrix's")]
    let event = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
    queue.settle_blocking(&event)?;
    match flawed.read_blocking(queue)?.first() {
        Some(&NONE) | None => Ok(()),
        Some(&row) => Err(Error::Diagonal { row }),
    }
}
