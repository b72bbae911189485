//! One case: a product with everything it is specialised by, run once and judged.

use csr_core::verify::{Oracle, Summation};
use csr_core::{Accumulator, Csr, Offset, Real, RealValue, Value as _};
use sparrow::{
    Accumulate, Algorithm, Coefficient, DeviceArray, Matrix, Operands, Plan, PlanOptions, Queue,
    Variant,
};

use super::Guarded;

/// Where the arrays of a case lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In buffers of their own, between canaries.
    Buffers,
    /// In sub-buffers at the smallest legal origin, at this element offset.
    SubBuffers(usize),
}

/// A product and how it is made.
#[derive(Clone, Debug)]
pub struct Case {
    /// What runs.
    pub algorithm: Algorithm,
    /// The way in which it runs.
    pub variant: Variant,
    /// Hyper-parameters over the table's.
    pub parameters: Vec<(String, u32)>,
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Whether alpha and beta are read on the device.
    pub scalars_on_device: bool,
    /// Scales A x.
    pub alpha: f64,
    /// Scales y.
    pub beta: f64,
    /// Where the arrays lie.
    pub placement: Placement,
    /// Launches in a row, of the same y; the last is judged, and must have the bits of the first.
    pub launches: usize,
}

/// Why a case failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The library refused.
    #[error(transparent)]
    Refused(#[from] sparrow::Error),
    /// The matrix could not be made.
    #[error(transparent)]
    Host(#[from] csr_core::Error),
    /// A row is wrong.
    #[error("row {row} is {found} where {expected} is right: {error:.3} times what it may be off")]
    Wrong {
        /// The row.
        row: usize,
        /// What the device computed.
        found: f64,
        /// What is right.
        expected: f64,
        /// The error as a multiple of the tolerance.
        error: f64,
    },
    /// Two launches gave different bits, though the plan is repeatable.
    #[error("row {row} is {first} after one launch and {then} after another")]
    Unrepeated {
        /// The row.
        row: usize,
        /// After the first launch.
        first: f64,
        /// After a later one.
        then: f64,
    },
    /// Something was written that must not be.
    #[error("element {at} of {array} was overwritten")]
    Overwritten {
        /// Which array.
        array: &'static str,
        /// The element, relative to the array's start.
        at: i64,
    },
}

impl From<sparrow::RuntimeError> for CaseError {
    fn from(error: sparrow::RuntimeError) -> Self {
        CaseError::Refused(error.into())
    }
}

/// Runs `case` on `matrix`; `Ok` holds the largest error as a multiple of the tolerance, and y.
///
/// # Errors
/// The library refuses, a row is wrong, or an array was overwritten.
pub fn run<V: RealValue, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    x: &[V::Accum],
    case: &Case,
) -> Result<(f64, Vec<V::Accum>), CaseError> {
    let (alpha, beta) = (V::Accum::from_f64(case.alpha), V::Accum::from_f64(case.beta));
    let poison = V::Accum::from_f64(f64::NAN);
    let y_before: Vec<V::Accum> = if case.beta == 0.0 {
        vec![poison; matrix.rows()]
    } else {
        csr_core::random_vector(3, matrix.rows())
    };

    let pattern = matrix.pattern();
    let offsets = place(queue, pattern.offsets(), case.placement)?;
    let columns = place(queue, pattern.columns(), case.placement)?;
    let values = place(queue, matrix.values(), case.placement)?;
    let device_x = place(queue, x, case.placement)?;
    let mut device_y = place(queue, &y_before, case.placement)?;
    let device_alpha = DeviceArray::upload_blocking(queue, &[alpha])?;
    let device_beta = DeviceArray::upload_blocking(queue, &[beta])?;
    let share = |array: &DeviceArray<O>| array.slice(0..array.len());
    // SAFETY: the arrays were just copied from a checked matrix.
    #[expect(unsafe_code, reason = "the second door: arrays that are on the device already")]
    let a = unsafe {
        Matrix::from_arrays_blocking(
            queue,
            matrix.cols(),
            share(offsets.array())?,
            columns.array().slice(0..matrix.nnz())?,
            values.array().slice(0..matrix.nnz())?,
        )?
    };
    let options = PlanOptions {
        algorithm: Some(case.algorithm),
        variant: case.variant,
        accumulate: case.accumulate,
        scalars_on_device: case.scalars_on_device,
        parameters: case.parameters.clone(),
        ..PlanOptions::default()
    };
    let plan = Plan::new_blocking(queue, &a, &options)?;
    let mut workspace = plan.workspace_blocking(queue)?;
    let mut first = None;
    for launch in 0..case.launches {
        if launch > 0 {
            first.get_or_insert(device_y.read_blocking(queue)?);
            device_y.restore_blocking(queue)?;
        }
        let (alpha, beta) = if case.scalars_on_device {
            (Coefficient::Device(&device_alpha), Coefficient::Device(&device_beta))
        } else {
            (alpha.into(), beta.into())
        };
        let product = Operands { alpha, a: &a, x: device_x.array(), beta, y: device_y.array_mut() };
        if case.variant.blocks() {
            #[expect(unsafe_code, reason = "stage 2 reaches the operands where they lie")]
            // SAFETY: the operands are this case's own, and what was enqueued before lies in `queue`.
            unsafe {
                plan.launch_in_place_blocking(queue, &mut workspace, product, &[])?
            };
        } else {
            plan.launch(queue, &mut workspace, product, &[])?.wait()?;
        }
    }

    let y = device_y.read_blocking(queue)?;
    let oracle = Oracle::new(alpha, matrix.view(), x, beta, &y_before)?;
    let summation = match case.accumulate {
        Accumulate::Plain => Summation::Plain,
        Accumulate::Compensated => Summation::Compensated,
    };
    let error = judge(&oracle, &y, summation)?;
    if plan.is_repeatable()
        && let Some(first) = first
        && let Some(row) = first_difference(&first, &y)
    {
        let (first, then) = (first[row].to_f64(), y[row].to_f64());
        return Err(CaseError::Unrepeated { row, first, then });
    }
    let untouched = [
        ("row offsets", offsets.damaged_anywhere(queue)?),
        ("column indices", columns.damaged_anywhere(queue)?),
        ("values", values.damaged_anywhere(queue)?),
        ("x", device_x.damaged_anywhere(queue)?),
        ("y's surroundings", device_y.damaged_canary(queue)?),
    ];
    match untouched.into_iter().find_map(|(array, damage)| damage.map(|at| (array, at))) {
        Some((array, at)) => Err(CaseError::Overwritten { array, at }),
        None => Ok((error, y)),
    }
}

/// Holds every row of y against the oracle; the largest error as a multiple of the tolerance.
pub(super) fn judge<T: Accumulator + Real>(
    oracle: &Oracle,
    y: &[T],
    summation: Summation,
) -> Result<f64, CaseError> {
    let found = oracle.verify(y, summation)?;
    if found.passed() {
        return Ok(found.error_in_tolerance);
    }
    let row = found.worst_row;
    Err(CaseError::Wrong {
        row,
        found: y[row].to_f64(),
        expected: oracle.value(row),
        error: found.error_in_tolerance,
    })
}

/// The first row whose bits differ; of a NaN, of which neither OpenCL nor IEEE 754 says which bits a sum has, only that
/// it is one.
pub(super) fn first_difference<T: RealValue>(a: &[T], b: &[T]) -> Option<usize> {
    let differs = |(a, b): (&T, &T)| {
        let both_nan = a.to_f64().is_nan() && b.to_f64().is_nan();
        !both_nan && bytemuck::bytes_of(a) != bytemuck::bytes_of(b)
    };
    a.iter().zip(b).position(differs)
}

fn place<T: bytemuck::Pod>(
    queue: &Queue,
    data: &[T],
    placement: Placement,
) -> Result<Guarded<T>, CaseError> {
    Ok(match placement {
        Placement::Buffers => Guarded::upload_blocking(queue, data, 0)?,
        Placement::SubBuffers(shift) => Guarded::upload_in_sub_buffer_blocking(queue, data, shift)?,
    })
}
