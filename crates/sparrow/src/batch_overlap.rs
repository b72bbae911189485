//! Whether the vectors y of a batch share memory with what is read for them.
//!
//! What problems leave alone of y's array may hold anything, so x and y may be one array where the problems' own elements
//! lie apart: they are looked at one by one where the arrays as a whole share memory.

use std::ops::Range;

use cl_runtime::batched::{AnyBatch, BatchColumns};
use cl_runtime::{AnyArray, Overlap, common_bytes, overlap};
use csr_core::batch::{Format, Problem};

use crate::batch_operands::{AnyBatchCoefficient, AnyBatchOperands};
use crate::{Result, RuntimeError};

/// The elements of an array that a problem reads, by its index.
type Elements = fn(usize, &Problem) -> Range<u64>;

/// Refuses a product whose y shares bytes with x, alpha, beta or the batch's own arrays.
///
/// # Errors
/// The first such operand, by the problems that overlap in it.
pub(crate) fn check_batch_apart(product: &AnyBatchOperands<'_>) -> Result<()> {
    let AnyBatchOperands { alpha, a, x, beta, y } = product;
    let columns: &AnyArray = match a.columns() {
        BatchColumns::U16(columns) => columns,
        BatchColumns::U32(columns) => columns,
    };
    let operands: [(&str, &AnyArray, Elements); 5] = [
        ("x", x, |_, problem| problem.x_range()),
        ("the batch's row offsets", a.offsets(), |_, problem| match problem.format {
            Format::Csr => index_range(problem),
            _ => 0..0,
        }),
        ("the batch's row indices", a.indices(), |_, problem| match problem.format {
            Format::Csr => 0..0,
            _ => index_range(problem),
        }),
        ("the batch's columns", columns, |_, problem| {
            problem.columns..problem.columns + u64::from(problem.entries)
        }),
        ("the batch's values", a.values(), |_, problem| {
            problem.values..problem.values + u64::from(problem.entries)
        }),
    ];
    for (name, array, elements) in operands {
        check_operand(a, (name, array, elements), y)?;
    }
    for (name, coefficient) in [("alpha", alpha), ("beta", beta)] {
        match coefficient {
            AnyBatchCoefficient::Value(_) => {}
            AnyBatchCoefficient::One(array) => check_operand(a, (name, array, |_, _| 0..1), y)?,
            AnyBatchCoefficient::Each(array) => {
                let each: Elements = |index, _| index as u64..index as u64 + 1;
                check_operand(a, (name, array, each), y)?;
            }
        }
    }
    Ok(())
}

fn index_range(problem: &Problem) -> Range<u64> {
    problem.index..problem.index + problem.index_len()
}

fn check_operand(
    a: &AnyBatch,
    (name, array, elements): (&str, &AnyArray, Elements),
    y: &AnyArray,
) -> Result<()> {
    if overlap(array, y) == Overlap::Nothing {
        return Ok(());
    }
    let Some((of_array, of_y)) = common_bytes(array, y) else { return Ok(()) };
    let bytes_of = |array: &AnyArray, start: usize, elements: Range<u64>| {
        let size = array.element().size_bytes() as u64;
        start as u64 + elements.start * size..start as u64 + elements.end * size
    };
    let problems = a.problems();
    let own_y = problems.iter().enumerate().map(|(index, problem)| {
        let range = bytes_of(y, of_y.start, problem.y_range());
        (range.start, range.end, index)
    });
    // No two problems share y, so that ends ascend as starts do.
    let mut own_y: Vec<_> = own_y.filter(|(start, end, _)| start < end).collect();
    own_y.sort_unstable();
    for (index, problem) in problems.iter().enumerate() {
        let read = bytes_of(array, of_array.start, elements(index, problem));
        let next = own_y.partition_point(|(_, end, _)| *end <= read.start);
        if let Some((start, end, other)) = own_y.get(next)
            && *start < read.end
            && !read.is_empty()
        {
            let error = RuntimeError::Overlap {
                what: format!("{name} of problem {index}"),
                result: format!("y of problem {other}"),
                bytes: read,
                result_bytes: *start..*end,
                may_be_same: false,
            };
            return Err(error.into());
        }
    }
    Ok(())
}
