//! A copy of a matrix on the device with its rows and columns in another order, and new values for it.
//!
//! The order is found on the host, which reads the pattern for it, and the pattern in that order is made there; values are
//! gathered on the device.

use std::sync::Arc;

use csr_core::{AnyPatternView, Reordered, Reordering, for_pattern};

use super::check_target;
use super::gathered::{GatheredMatrix, check_offset_type};
use super::moves::{gather, moves, scatter};
use crate::launch::launch_after;
use crate::scratch::any_for_a_kernel_to_write;
use crate::{AnyArray, AnyMatrix, DeviceArray, Error, Event, Program, Queue, Result, check_apart};

/// A copy of a matrix with its rows and columns in another order.
#[derive(Debug)]
pub struct AnyReorderedMatrix {
    gathered: GatheredMatrix,
    row_order: DeviceArray<u32>,
    /// `None` where columns are in the order of rows.
    column_order: Option<DeviceArray<u32>>,
}

impl AnyReorderedMatrix {
    /// Finds the order and copies the matrix in it. `pattern` is the matrix's, if the host has it.
    ///
    /// # Errors
    /// [`Reordering::None`]; a matrix that has no such order ([`Reordering::order`]); a pattern that breaks its
    /// invariants, or has offsets of another type or another number of nonzeros than the matrix; no memory on the device for
    /// the copy; or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        pattern: Option<AnyPatternView<'_>>,
        reordering: Reordering,
    ) -> Result<Self> {
        let make = |pattern: AnyPatternView<'_>| {
            check_offset_type(pattern, matrix)?;
            for_pattern!(pattern, pattern => {
                let Some(order) = reordering.order(pattern)? else {
                    let what = format_args!("the reordering {reordering}");
                    let rule = "there is no order to put rows in";
                    return Err(Error::combination(what, "a reordered copy", rule));
                };
                let Reordered { pattern, sources } = Reordered::new(pattern, &order);
                let values = any_for_a_kernel_to_write(queue, matrix.value_type(), sources.len())?;
                let copy =
                    AnyMatrix::from_pattern_blocking(queue, pattern.view().into(), values)?;
                let sources = DeviceArray::upload_blocking(queue, &sources)?.into_any();
                let upload = |order: &[u32]| DeviceArray::upload_blocking(queue, order);
                Ok(AnyReorderedMatrix {
                    gathered: GatheredMatrix::new_blocking(queue, copy, sources, matrix)?,
                    row_order: upload(&order.rows)?,
                    column_order: order.columns.as_deref().map(upload).transpose()?,
                })
            })
        };
        match pattern {
            Some(pattern) => make(pattern),
            None => matrix.with_host_pattern_blocking(queue, make),
        }
    }

    /// Gathers the values of `matrix`, whose pattern is the one that was reordered.
    ///
    /// # Errors
    /// Values of another type or number, or the driver's own failure.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &AnyMatrix) -> Result<()> {
        self.gathered.update_values_blocking(queue, matrix)
    }

    /// The matrix in the order.
    pub fn matrix(&self) -> &AnyMatrix {
        self.gathered.matrix()
    }

    /// The row of the original at each index of the order: rows.
    pub fn row_order(&self) -> &DeviceArray<u32> {
        &self.row_order
    }

    /// The column of the original at each index of the order: cols. That of rows, where the matrix is square.
    pub fn column_order(&self) -> &DeviceArray<u32> {
        self.column_order.as_ref().unwrap_or(&self.row_order)
    }

    /// Enqueues `target[i] = source[row_order[i]]`: a vector with an element a row comes into the order.
    ///
    /// # Errors
    /// Arrays of another type than products are summed in, of other lengths than rows, of another context, or that overlap;
    /// or the driver's own failure.
    pub fn gather(&self, queue: &Queue, source: &AnyArray, target: &mut AnyArray) -> Result<Event> {
        let (program, group_size) = self.moves(queue, source, target)?;
        let (arguments, size) =
            gather(&self.row_order, source.argument(), target.argument(), group_size);
        let mut kernel = program.kernel("gather_vector")?;
        // SAFETY: both arrays have an element a row, as was checked, and the order has each row once.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        unsafe {
            launch_after(queue, &mut kernel, &arguments, size, &[])
        }
    }

    /// Enqueues `target[row_order[i]] = source[i]`: a vector with an element a row comes out of the order.
    ///
    /// # Errors
    /// As [`AnyReorderedMatrix::gather`].
    pub fn scatter(
        &self,
        queue: &Queue,
        source: &AnyArray,
        target: &mut AnyArray,
    ) -> Result<Event> {
        let (program, group_size) = self.moves(queue, source, target)?;
        let (arguments, size) =
            scatter(&self.row_order, source.argument(), target.argument(), group_size);
        let mut kernel = program.kernel("scatter_vector")?;
        // SAFETY: both arrays have an element a row, as was checked, and the order has each row once.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        unsafe {
            launch_after(queue, &mut kernel, &arguments, size, &[])
        }
    }

    /// What moves vectors, once they were looked at.
    fn moves(
        &self,
        queue: &Queue,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<(Arc<Program>, usize)> {
        let accumulator = self.matrix().value_type().accumulator();
        for (name, array) in [("source", source), ("target", target)] {
            array.check_element(name, accumulator)?;
            let needed = (self.row_order.len(), "one for each row of the order");
            check_target(queue.context(), name, array, needed)?;
        }
        check_apart(("target", target), [("source", source), ("row_order", &self.row_order)])?;
        moves(queue, accumulator)
    }

    /// Bytes of the copy on the device.
    pub fn size_bytes(&self) -> usize {
        let of_columns = self.column_order.as_ref().map_or(0, |columns| columns.size_bytes());
        self.gathered.size_bytes() + self.row_order.size_bytes() + of_columns
    }
}
