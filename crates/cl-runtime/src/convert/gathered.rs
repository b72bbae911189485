//! A matrix that is a copy of another with its nonzeros in another order, and new values for it.

use std::sync::Arc;

use cl_kernels::gather_values::{Arguments, GatherValues, SOURCE};
use csr_core::AnyPatternView;

use super::{ONE_EACH, check_target, fitted_program};
use crate::launch::{Size, launch_after};
use crate::matrix::NO_VALUES;
use crate::{AnyArray, AnyMatrix, Error, Program, Queue, Result};

/// A copy of a matrix, and where each of its values comes from (`format/gather_values.cl`).
#[derive(Debug)]
pub(super) struct GatheredMatrix {
    matrix: AnyMatrix,
    sources: AnyArray,
    gather: Arc<Program>,
    group_size: usize,
    /// The values the copy was made from.
    values_id: u64,
}

impl GatheredMatrix {
    /// The pattern of `copy`, whose values are gathered from those of `matrix` by `sources`: an index for each.
    pub(super) fn new_blocking(
        queue: &Queue,
        copy: AnyMatrix,
        sources: AnyArray,
        matrix: &AnyMatrix,
    ) -> Result<Self> {
        let of_source = (SOURCE, copy.value_type(), copy.offset_type());
        let (gather, group_size) =
            fitted_program(queue, of_source, |group_size| GatherValues { group_size })?;
        let group_size = group_size as usize;
        let mut gathered =
            GatheredMatrix { matrix: copy, sources, gather, group_size, values_id: NO_VALUES };
        gathered.update_values_blocking(queue, matrix)?;
        Ok(gathered)
    }

    /// Gathers the values of `matrix`, whose pattern is the one that was copied.
    pub(super) fn update_values_blocking(
        &mut self,
        queue: &Queue,
        matrix: &AnyMatrix,
    ) -> Result<()> {
        matrix.values().check_element("the array of values", self.matrix.value_type())?;
        let needed = (self.sources.len(), ONE_EACH);
        check_target(queue.context(), "the array of values", matrix.values(), needed)?;
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
        let gathered = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
        // Until the wait ends well, it is unknown which values the copy holds.
        self.values_id = NO_VALUES;
        gathered.wait()?;
        self.values_id = matrix.values_id();
        Ok(())
    }

    pub(super) fn matrix(&self) -> &AnyMatrix {
        &self.matrix
    }

    pub(super) fn into_matrix(self) -> AnyMatrix {
        self.matrix
    }

    pub(super) fn sources(&self) -> &AnyArray {
        &self.sources
    }

    pub(super) fn values_id(&self) -> u64 {
        self.values_id
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.matrix.size_bytes() + self.sources.size_bytes()
    }
}

/// Refuses a pattern whose offsets are of another type than the matrix's: what is copied by it would be too.
pub(super) fn check_offset_type(pattern: AnyPatternView<'_>, matrix: &AnyMatrix) -> Result<()> {
    let (found, needed) = (pattern.offsets().offset_type(), matrix.offset_type());
    if found == needed {
        return Ok(());
    }
    Err(Error::element_type("the pattern's array of row offsets", found, needed))
}
