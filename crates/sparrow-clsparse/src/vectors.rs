//! Dense vectors: element by element, and sums of them.
//!
//! Lengths that are set (not 0) have to be the same; offsets are honoured, and a result may take the place of an
//! operand. Sums follow the control's extended precision.

use sparrow::{AnyArray, AnyVectors, Combination, ElementType, Event, Queue, Reduction, ValueType};

use crate::boundary::status_of;
use crate::control::Control;
use crate::operands::{array, scalar};
use crate::status::{Result, Status};
use crate::types::{cldenseVector, clsparseControl, clsparseScalar};

/// The length that vectors share; one that was not set is not held against the others.
fn length(vectors: &[&cldenseVector]) -> Result<usize> {
    let mut set = vectors.iter().map(|vector| vector.num_values).filter(|&length| length != 0);
    let first = set.next().unwrap_or(0);
    if set.any(|length| length != first) {
        return Err(Status::InvalidSize);
    }
    Ok(first as usize)
}

/// The first `length` elements of a vector.
fn elements(
    control: &Control,
    element: impl Into<ElementType>,
    vector: &cldenseVector,
    length: usize,
) -> Result<AnyArray> {
    array(control, element, (vector.values, vector.off_values), length)
}

/// Runs `launch` with the kernels of a type, and ends the call as the control says.
fn run(
    control: &Control,
    value_type: ValueType,
    launch: impl FnOnce(&Queue, &mut AnyVectors) -> sparrow::Result<Event>,
) -> Result<()> {
    let mut state = control.state();
    let (queue, accumulate) = (&control.queue, state.accumulate());
    let event = launch(queue, state.vectors.get(queue, value_type, accumulate)?)?;
    state.end(event)
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn scale(
    value_type: ValueType,
    r: *mut cldenseVector,
    alpha: *const clsparseScalar,
    y: *const cldenseVector,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (r, alpha, y) = unsafe { (control.read(r)?, control.read(alpha)?, control.read(y)?) };
        let (r, alpha, y) = (&r, &alpha, &y);
        let length = length(&[r, y])?;
        let alpha = scalar(&control, value_type, alpha)?;
        let y = elements(&control, value_type, y, length)?;
        let mut r = elements(&control, value_type, r, length)?;
        run(&control, value_type, |queue, vectors| {
            vectors.scale(queue, ((&alpha).into(), &y), &mut r, &[])
        })
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn axpy(
    value_type: ValueType,
    r: *mut cldenseVector,
    (alpha, x): (*const clsparseScalar, *const cldenseVector),
    y: *const cldenseVector,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (r, alpha, x, y) =
            unsafe { (control.read(r)?, control.read(alpha)?, control.read(x)?, control.read(y)?) };
        let (r, alpha, x, y) = (&r, &alpha, &x, &y);
        let length = length(&[r, x, y])?;
        let alpha = scalar(&control, value_type, alpha)?;
        let x = elements(&control, value_type, x, length)?;
        let y = elements(&control, value_type, y, length)?;
        let mut r = elements(&control, value_type, r, length)?;
        run(&control, value_type, |queue, vectors| {
            vectors.axpy(queue, ((&alpha).into(), &x), &y, &mut r, &[])
        })
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn axpby(
    value_type: ValueType,
    r: *mut cldenseVector,
    (alpha, x): (*const clsparseScalar, *const cldenseVector),
    (beta, y): (*const clsparseScalar, *const cldenseVector),
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (r, alpha, x) = unsafe { (control.read(r)?, control.read(alpha)?, control.read(x)?) };
        let (r, alpha, x) = (&r, &alpha, &x);
        // SAFETY: as before.
        let (beta, y) = unsafe { (control.read(beta)?, control.read(y)?) };
        let (beta, y) = (&beta, &y);
        let length = length(&[r, x, y])?;
        let alpha = scalar(&control, value_type, alpha)?;
        let beta = scalar(&control, value_type, beta)?;
        let x = elements(&control, value_type, x, length)?;
        let y = elements(&control, value_type, y, length)?;
        let mut r = elements(&control, value_type, r, length)?;
        run(&control, value_type, |queue, vectors| {
            vectors.axpby(queue, ((&alpha).into(), &x), ((&beta).into(), &y), &mut r, &[])
        })
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn combine(
    value_type: ValueType,
    combination: Combination,
    r: *mut cldenseVector,
    (x, y): (*const cldenseVector, *const cldenseVector),
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (r, x, y) = unsafe { (control.read(r)?, control.read(x)?, control.read(y)?) };
        let (r, x, y) = (&r, &x, &y);
        let length = length(&[r, x, y])?;
        let x = elements(&control, value_type, x, length)?;
        let y = elements(&control, value_type, y, length)?;
        let mut r = elements(&control, value_type, r, length)?;
        run(&control, value_type, |queue, vectors| {
            vectors.combine(queue, combination, (&x, &y), &mut r, &[])
        })
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn reduce(
    value_type: ValueType,
    reduction: Reduction,
    s: *mut clsparseScalar,
    x: *const cldenseVector,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (s, x) = unsafe { (control.read(s)?, control.read(x)?) };
        let (s, x) = (&s, &x);
        let x = elements(&control, value_type, x, length(&[x])?)?;
        let mut s = scalar(&control, value_type, s)?;
        run(&control, value_type, |queue, vectors| {
            vectors.reduce(queue, reduction, &x, &mut s, &[])
        })
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn dot(
    value_type: ValueType,
    r: *mut clsparseScalar,
    (x, y): (*const cldenseVector, *const cldenseVector),
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (r, x, y) = unsafe { (control.read(r)?, control.read(x)?, control.read(y)?) };
        let (r, x, y) = (&r, &x, &y);
        let length = length(&[x, y])?;
        let x = elements(&control, value_type, x, length)?;
        let y = elements(&control, value_type, y, length)?;
        let mut r = scalar(&control, value_type, r)?;
        run(&control, value_type, |queue, vectors| vectors.dot(queue, &x, &y, &mut r, &[]))
    })
}

/// s = the sum of 32-bit integers, modulo 2^32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cldenseIreduce(
    s: *mut clsparseScalar,
    x: *const cldenseVector,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: as types.rs says of all functions.
        let (s, x) = unsafe { (control.read(s)?, control.read(x)?) };
        let (s, x) = (&s, &x);
        let x = elements(&control, ElementType::I32, x, length(&[x])?)?;
        let mut s = array(&control, ElementType::I32, (s.value, s.off_value), 1)?;
        run(&control, ValueType::F32, |queue, vectors| {
            vectors.sum_integers(queue, x.typed()?, s.typed_mut()?, &[])
        })
    })
}

/// The functions of both precisions, whose arguments a pattern takes to those of the function behind them.
macro_rules! both {
    ($($what:literal: $single:ident $double:ident($($argument:ident: $type:ty),+)
        => $function:ident($($value:expr),+);)+) => {$(
        #[doc = concat!($what, ", in single precision.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $single($($argument: $type,)+ control: clsparseControl) -> Status {
            // SAFETY: the caller's promise.
            unsafe { $function(ValueType::F32, $($value,)+ control) }
        }

        #[doc = concat!($what, ", in double precision.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $double($($argument: $type,)+ control: clsparseControl) -> Status {
            // SAFETY: the caller's promise.
            unsafe { $function(ValueType::F64, $($value,)+ control) }
        }
    )+};
}

both! {
    "r = alpha y": cldenseSscale cldenseDscale(r: *mut cldenseVector, alpha: *const clsparseScalar, y: *const cldenseVector)
        => scale(r, alpha, y);
    "r = alpha x + y": cldenseSaxpy cldenseDaxpy(r: *mut cldenseVector, alpha: *const clsparseScalar, x: *const cldenseVector, y: *const cldenseVector)
        => axpy(r, (alpha, x), y);
    "r = alpha x + beta y": cldenseSaxpby cldenseDaxpby(r: *mut cldenseVector, alpha: *const clsparseScalar, x: *const cldenseVector, beta: *const clsparseScalar, y: *const cldenseVector)
        => axpby(r, (alpha, x), (beta, y));
    "r = x + y": cldenseSadd cldenseDadd(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector)
        => combine(Combination::Add, r, (x, y));
    "r = x - y": cldenseSsub cldenseDsub(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector)
        => combine(Combination::Subtract, r, (x, y));
    "r = x y, element by element": cldenseSmul cldenseDmul(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector)
        => combine(Combination::Multiply, r, (x, y));
    "r = x / y, element by element": cldenseSdiv cldenseDdiv(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector)
        => combine(Combination::Divide, r, (x, y));
    "s = the sum of x": cldenseSreduce cldenseDreduce(s: *mut clsparseScalar, x: *const cldenseVector)
        => reduce(Reduction::Sum, s, x);
    "s = the sum of |x|": cldenseSnrm1 cldenseDnrm1(s: *mut clsparseScalar, x: *const cldenseVector)
        => reduce(Reduction::Norm1, s, x);
    "s = the square root of the sum of x^2": cldenseSnrm2 cldenseDnrm2(s: *mut clsparseScalar, x: *const cldenseVector)
        => reduce(Reduction::Norm2, s, x);
    "r = the sum of x y": cldenseSdot cldenseDdot(r: *mut clsparseScalar, x: *const cldenseVector, y: *const cldenseVector)
        => dot(r, (x, y));
}
