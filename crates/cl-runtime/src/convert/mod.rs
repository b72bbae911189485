//! From one format to another, on the device: each in a file of its own name, all of them on one scan and one sort.
//!
//! Where the caller allocates, a conversion has two phases: the first counts, and blocks for that; the second writes
//! into the caller's arrays. Everything is enqueued after what the queue holds, and all results are the same bits
//! every time.

mod coo_to_csr;
pub(crate) mod csr_to_coo;
mod csr_to_dense;
mod dense_to_csr;
mod gathered;
pub(crate) mod moves;
mod reordered;
mod transposed;

use std::sync::Arc;

use cl_kernels::{Accumulate, KernelKey, Parameters};
use csr_core::{DenseShape, Layout, OffsetType, ValueType};

use crate::{AnyArray, Context, DeviceArray, Error, Program, Queue, Result, check_size};

pub use coo_to_csr::{AnyCooToCsr, Duplicates};
pub use dense_to_csr::AnyDenseToCsr;
pub use reordered::AnyReorderedMatrix;
pub use transposed::AnyTransposedMatrix;

/// Items of the groups of kernels without barriers, and what decides on others.
fn group_size(context: &Context) -> u32 {
    1 << context.device().traits().max_group_size.clamp(1, 256).ilog2()
}

/// The program of a source with what `parameters` makes of the items of a group, and as many items as its kernels run in.
fn fitted_program<P: Parameters>(
    queue: &Queue,
    (source, value_type, offset_type): (&'static str, ValueType, OffsetType),
    parameters: impl Fn(u32) -> P,
) -> Result<(Arc<Program>, u32)> {
    queue.fitting(Error::kernel_group_limit, |queue| {
        let group_size = group_size(queue.context());
        let key = plain_key(source, value_type, offset_type, &parameters(group_size));
        Ok((queue.context().program(&key)?, group_size))
    })
}

/// The key of a kernel that sums nothing that could be compensated.
fn plain_key<P: Parameters>(
    source: &'static str,
    value_type: ValueType,
    offset_type: OffsetType,
    parameters: &P,
) -> KernelKey {
    KernelKey::new(source, value_type, offset_type, Accumulate::Plain, false, parameters)
}

/// As [`check_target`], of row or column indices.
fn check_indices(
    context: &Context,
    what: &str,
    indices: &DeviceArray<u32>,
    needed: (usize, &str),
) -> Result<()> {
    context.check_typed(what, indices)?;
    check_target(context, what, indices, needed)
}

/// Refuses an array of another length, which has a rule, or context, by name.
fn check_target(
    context: &Context,
    what: &str,
    array: &AnyArray,
    (needed, rule): (usize, &str),
) -> Result<()> {
    check_size(what, (array.len(), "element"), needed, rule)?;
    context.check_array(what, array)
}

/// How far apart neighbours of a dense matrix lie, in elements.
struct Apart {
    row_stride: u64,
    column_stride: u64,
}

impl Apart {
    fn of(shape: DenseShape) -> Self {
        let leading = shape.leading() as u64;
        match shape.layout() {
            Layout::RowMajor => Apart { row_stride: leading, column_stride: 1 },
            Layout::ColumnMajor => Apart { row_stride: 1, column_stride: leading },
        }
    }
}

/// What an array of one index or value for each nonzero demands.
const ONE_EACH: &str = "one for each nonzero";

/// Refuses a dense matrix that is shorter than its shape spans, or of another context.
fn check_span(context: &Context, shape: DenseShape, dense: &AnyArray) -> Result<()> {
    if dense.len() < shape.span() {
        return Err(Error::span("the dense matrix", dense.len(), &shape));
    }
    context.check_array("the dense matrix", dense)
}
