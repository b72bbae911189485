//! Dense vectors from one order into another (`vector/reorder.cl`).

use std::sync::Arc;

use cl_kernels::Array;
use cl_kernels::reorder::{GatherArguments, Reorder, SOURCE, ScatterArguments};
use csr_core::{OffsetType, ValueType};

use super::fitted_program;
use crate::launch::Size;
use crate::raw::Memory;
use crate::{DeviceArray, Program, Queue, Result};

/// The program for vectors of this type, and items of its groups.
pub(crate) fn moves(queue: &Queue, value_type: ValueType) -> Result<(Arc<Program>, usize)> {
    let of_source = (SOURCE, value_type, OffsetType::U32);
    let (program, group_size) =
        fitted_program(queue, of_source, |group_size| Reorder { group_size })?;
    Ok((program, group_size as usize))
}

/// A launch that makes `target[i] = source[order[i]]`.
pub(crate) fn gather<'a>(
    order: &'a DeviceArray<u32>,
    source: Array<&'a Memory>,
    target: Array<&'a Memory>,
    group_size: usize,
) -> (GatherArguments<&'a Memory>, Size) {
    let (count, order_argument) = (order.len() as u32, order.argument());
    let arguments = GatherArguments { count, order: order_argument, source, target };
    (arguments, size(order, group_size))
}

/// A launch that makes `target[order[i]] = source[i]`.
pub(crate) fn scatter<'a>(
    order: &'a DeviceArray<u32>,
    source: Array<&'a Memory>,
    target: Array<&'a Memory>,
    group_size: usize,
) -> (ScatterArguments<&'a Memory>, Size) {
    let (count, order_argument) = (order.len() as u32, order.argument());
    let arguments = ScatterArguments { count, order: order_argument, source, target };
    (arguments, size(order, group_size))
}

fn size(order: &DeviceArray<u32>, group_size: usize) -> Size {
    Size { groups: order.len().div_ceil(group_size), group_size }
}
