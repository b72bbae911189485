//! Dense vectors: element by element, and sums of them.

use std::sync::Mutex;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{AnyVectors, Combination, ElementType, Event, Queue, Reduction, VectorOptions};

use crate::buffer::{Scalar, array};
use crate::context::{Home, sparrow_context};
use crate::events::{EventOut, queue as queue_of, wait_list};
use crate::failure::{Failure, Result, guard};
use crate::pointer::{Growing, Out, exclusive, flag, handle, read, release, size, starts};
use crate::types::{accumulate, choice, value_type};
use crate::{
    sparrow_accumulate, sparrow_buffer, sparrow_scalar, sparrow_status, sparrow_value_type,
};

/// Kernels for dense vectors of one type, with what they work in. Calls of several threads take turns, and launches
/// run one after the other.
pub struct sparrow_vectors {
    home: Home,
    inner: Mutex<AnyVectors>,
}

/// What kernels for dense vectors are asked for; `size` and `value_type` must be set.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_vectors_options {
    /// sizeof(sparrow_vectors_options).
    pub size: usize,
    /// What vectors hold: SPARROW_VALUE_TYPE_F32 or SPARROW_VALUE_TYPE_F64.
    pub value_type: sparrow_value_type,
    /// How sums are made: those of reductions, and of alpha x + beta y.
    pub accumulate: sparrow_accumulate,
    /// 1: alpha and beta of each launch lie on the device. 0: they come by value.
    pub scalars_on_device: u32,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers.
unsafe impl Growing for sparrow_vectors_options {
    const NAME: &'static str = "sparrow_vectors_options";
    const STARTS: &'static [usize] =
        starts!(sparrow_vectors_options { size, value_type; accumulate, scalars_on_device });
}

/// What becomes of each element of r.
pub type sparrow_elementary = u32;
/// r = alpha x.
pub const SPARROW_ELEMENTARY_SCALE: sparrow_elementary = 1;
/// r = alpha x + y, rounded once.
pub const SPARROW_ELEMENTARY_AXPY: sparrow_elementary = 2;
/// r = alpha x + beta y; with beta = 0, y is never read.
pub const SPARROW_ELEMENTARY_AXPBY: sparrow_elementary = 3;
/// r = x + y.
pub const SPARROW_ELEMENTARY_ADD: sparrow_elementary = 4;
/// r = x - y.
pub const SPARROW_ELEMENTARY_SUBTRACT: sparrow_elementary = 5;
/// r = x y.
pub const SPARROW_ELEMENTARY_MULTIPLY: sparrow_elementary = 6;
/// r = x / y, as the device divides.
pub const SPARROW_ELEMENTARY_DIVIDE: sparrow_elementary = 7;
/// r = alpha x + beta y + gamma r; with beta = 0, y is never read, and with gamma = 0, r.
pub const SPARROW_ELEMENTARY_UPDATE: sparrow_elementary = 8;
/// r = alpha x y + beta r; with beta = 0, r is never read.
pub const SPARROW_ELEMENTARY_MULTIPLY_ADD: sparrow_elementary = 9;

/// The operands of an operation element by element. r may be x or y, but overlap them in no other way.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_elementwise {
    /// sizeof(sparrow_elementwise).
    pub size: usize,
    /// Elements of each vector.
    pub elements: u64,
    /// Scales x, where the operation has it; 0 is not special.
    pub alpha: sparrow_scalar,
    /// The vector x.
    pub x: sparrow_buffer,
    /// Scales y, where the operation has it; of SPARROW_ELEMENTARY_MULTIPLY_ADD, r.
    pub beta: sparrow_scalar,
    /// The vector y, where the operation has it.
    pub y: sparrow_buffer,
    /// The vector r.
    pub r: sparrow_buffer,
    /// What is done.
    pub operation: sparrow_elementary,
    /// Scales r, of SPARROW_ELEMENTARY_UPDATE.
    pub gamma: sparrow_scalar,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_elementwise {
    const NAME: &'static str = "sparrow_elementwise";
    const STARTS: &'static [usize] =
        starts!(sparrow_elementwise { size, elements, alpha, x, beta, y, r, operation, gamma });
}

/// What a vector, or two, are reduced to.
pub type sparrow_reduction_kind = u32;
/// The sum of x.
pub const SPARROW_REDUCTION_SUM: sparrow_reduction_kind = 1;
/// The sum of x_i y_i.
pub const SPARROW_REDUCTION_DOT: sparrow_reduction_kind = 2;
/// The sum of |x_i|.
pub const SPARROW_REDUCTION_NORM1: sparrow_reduction_kind = 3;
/// The square root of the sum of x_i^2, without overflow or underflow on the way.
pub const SPARROW_REDUCTION_NORM2: sparrow_reduction_kind = 4;
/// The sum of x, which holds int32_t whatever the type of the kernels, modulo 2^32; so does the result.
pub const SPARROW_REDUCTION_SUM_INTEGERS: sparrow_reduction_kind = 5;

/// The operands of a reduction. Of no elements, the result is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_reduction {
    /// sizeof(sparrow_reduction).
    pub size: usize,
    /// Elements of each vector.
    pub elements: u64,
    /// The vector x.
    pub x: sparrow_buffer,
    /// The vector y of SPARROW_REDUCTION_DOT, which may be x; others do not look at it.
    pub y: sparrow_buffer,
    /// Where the result goes: one number, no part of x or y.
    pub result: sparrow_buffer,
    /// What is summed.
    pub kind: sparrow_reduction_kind,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_reduction {
    const NAME: &'static str = "sparrow_reduction";
    const STARTS: &'static [usize] =
        starts!(sparrow_reduction { size, elements, x, y, result, kind });
}

/// Makes kernels for dense vectors of a type, and what they work in. None is built yet: an operation's is when it is
/// launched first, so that nothing is compiled that is not needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_vectors_create_blocking(
    context: *const sparrow_context,
    queue: cl_command_queue,
    options: *const sparrow_vectors_options,
    vectors: *mut *mut sparrow_vectors,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(vectors, "vectors")? };
        // SAFETY: the caller's promise.
        let home = unsafe { handle(context, "context")? }.home().clone();
        // SAFETY: the caller's promise.
        let (queue, options) =
            unsafe { (queue_of(&home.context, queue)?, read(options, "options")?) };
        let own = VectorOptions {
            accumulate: accumulate(options.accumulate, "options->accumulate")?,
            scalars_on_device: flag(options.scalars_on_device, "options->scalars_on_device")?,
            ..VectorOptions::default()
        };
        let value_type = value_type(options.value_type, "options->value_type")?;
        if value_type != value_type.accumulator() {
            let text = format!(
                "options->value_type is {value_type}, which matrices store and vectors do not hold"
            );
            return Err(Failure::argument(text));
        }
        let inner = AnyVectors::new_blocking(&queue, value_type, &own)?;
        out.give(sparrow_vectors { home, inner: Mutex::new(inner) });
        Ok(())
    })
}

/// Enqueues an operation element by element after the events of the wait list; allocates no device memory and waits
/// for nothing, but the first launch of an operation for its kernel to be built. `event`, if not NULL, gets its event;
/// without one, and with an empty list, none is made, which saves a GPU time of its own. Where an event of the list ends in
/// error later, so does it, and r is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_vectors_elementwise(
    vectors: *const sparrow_vectors,
    queue: cl_command_queue,
    elementwise: *const sparrow_elementwise,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { EventOut::new(event) };
        // SAFETY: the caller's promise.
        let (vectors, operands) =
            unsafe { (handle(vectors, "vectors")?, read(elementwise, "elementwise")?) };
        // SAFETY: the caller's promise.
        let (queue, wait) = unsafe {
            let wait = wait_list((num_events_in_wait_list, event_wait_list))?;
            (queue_of(&vectors.home.context, queue)?, wait)
        };
        let mut inner = exclusive(&vectors.inner, "vectors")?;
        let wait = (!event.is_null() || !wait.is_empty()).then_some(wait.as_slice());
        // SAFETY: the caller's promise.
        match unsafe { elementwise_launch(&mut inner, &queue, &operands, wait)? } {
            Some(event) => out.give(&event),
            None => Ok(()),
        }
    })
}

/// Enqueues a reduction after the events of the wait list, as sparrow_vectors_elementwise does. The same bits every
/// time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_vectors_reduce(
    vectors: *const sparrow_vectors,
    queue: cl_command_queue,
    reduction: *const sparrow_reduction,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { EventOut::new(event) };
        // SAFETY: the caller's promise.
        let (vectors, operands) =
            unsafe { (handle(vectors, "vectors")?, read(reduction, "reduction")?) };
        // SAFETY: the caller's promise.
        let (queue, wait) = unsafe {
            let wait = wait_list((num_events_in_wait_list, event_wait_list))?;
            (queue_of(&vectors.home.context, queue)?, wait)
        };
        let mut inner = exclusive(&vectors.inner, "vectors")?;
        let wait = (!event.is_null() || !wait.is_empty()).then_some(wait.as_slice());
        // SAFETY: the caller's promise.
        match unsafe { reduction_launch(&mut inner, &queue, &operands, wait)? } {
            Some(event) => out.give(&event),
            None => Ok(()),
        }
    })
}

/// What numbers of `sparrow_elementary` stand for.
#[derive(Clone, Copy)]
enum Operation {
    Scale,
    Axpy,
    Axpby,
    Update,
    MultiplyAdd,
    Combine(Combination),
}

const OPERATIONS: [(sparrow_elementary, &str, Operation); 9] = [
    (SPARROW_ELEMENTARY_SCALE, "SPARROW_ELEMENTARY_SCALE", Operation::Scale),
    (SPARROW_ELEMENTARY_AXPY, "SPARROW_ELEMENTARY_AXPY", Operation::Axpy),
    (SPARROW_ELEMENTARY_AXPBY, "SPARROW_ELEMENTARY_AXPBY", Operation::Axpby),
    (SPARROW_ELEMENTARY_UPDATE, "SPARROW_ELEMENTARY_UPDATE", Operation::Update),
    (SPARROW_ELEMENTARY_MULTIPLY_ADD, "SPARROW_ELEMENTARY_MULTIPLY_ADD", Operation::MultiplyAdd),
    (SPARROW_ELEMENTARY_ADD, "SPARROW_ELEMENTARY_ADD", Operation::Combine(Combination::Add)),
    (
        SPARROW_ELEMENTARY_SUBTRACT,
        "SPARROW_ELEMENTARY_SUBTRACT",
        Operation::Combine(Combination::Subtract),
    ),
    (
        SPARROW_ELEMENTARY_MULTIPLY,
        "SPARROW_ELEMENTARY_MULTIPLY",
        Operation::Combine(Combination::Multiply),
    ),
    (
        SPARROW_ELEMENTARY_DIVIDE,
        "SPARROW_ELEMENTARY_DIVIDE",
        Operation::Combine(Combination::Divide),
    ),
];

/// What numbers of `sparrow_reduction_kind` stand for.
#[derive(Clone, Copy)]
enum Kind {
    Reduce(Reduction),
    Dot,
    SumIntegers,
}

const KINDS: [(sparrow_reduction_kind, &str, Kind); 5] = [
    (SPARROW_REDUCTION_SUM, "SPARROW_REDUCTION_SUM", Kind::Reduce(Reduction::Sum)),
    (SPARROW_REDUCTION_DOT, "SPARROW_REDUCTION_DOT", Kind::Dot),
    (SPARROW_REDUCTION_NORM1, "SPARROW_REDUCTION_NORM1", Kind::Reduce(Reduction::Norm1)),
    (SPARROW_REDUCTION_NORM2, "SPARROW_REDUCTION_NORM2", Kind::Reduce(Reduction::Norm2)),
    (SPARROW_REDUCTION_SUM_INTEGERS, "SPARROW_REDUCTION_SUM_INTEGERS", Kind::SumIntegers),
];

/// Enqueues an operation element by element; the event, where there is a list of events to wait for.
///
/// # Safety
/// Buffers are NULL or valid.
unsafe fn elementwise_launch(
    vectors: &mut AnyVectors,
    queue: &Queue,
    operands: &sparrow_elementwise,
    wait: Option<&[Event]>,
) -> Result<Option<Event>> {
    let operation = choice(operands.operation, "elementwise->operation", &OPERATIONS)?;
    let elements = size(operands.elements, "elementwise->elements")?;
    let (context, value_type) = (queue.context(), vectors.value_type());
    let part = |buffer, name: &str| {
        // SAFETY: the caller's promise.
        unsafe { array(context, buffer, value_type, elements, &format!("elementwise->{name}")) }
    };
    let number = |scalar, name: &str| {
        // SAFETY: the caller's promise.
        unsafe { Scalar::new(context, scalar, value_type, &format!("elementwise->{name}")) }
    };
    let (x, mut r) = (part(operands.x, "x")?, part(operands.r, "r")?);
    Ok(match operation {
        Operation::Scale => {
            let alpha = number(operands.alpha, "alpha")?;
            vectors.scale(queue, (alpha.coefficient(), &x), &mut r, wait)?
        }
        Operation::Axpy => {
            let (alpha, y) = (number(operands.alpha, "alpha")?, part(operands.y, "y")?);
            vectors.axpy(queue, (alpha.coefficient(), &x), &y, &mut r, wait)?
        }
        Operation::Axpby => {
            let (alpha, y) = (number(operands.alpha, "alpha")?, part(operands.y, "y")?);
            let beta = number(operands.beta, "beta")?;
            let (of_x, of_y) = ((alpha.coefficient(), &x), (beta.coefficient(), &y));
            vectors.axpby(queue, of_x, of_y, &mut r, wait)?
        }
        Operation::Update => {
            let (alpha, beta) = (number(operands.alpha, "alpha")?, number(operands.beta, "beta")?);
            let (y, gamma) = (part(operands.y, "y")?, number(operands.gamma, "gamma")?);
            let (of_x, of_y) = ((alpha.coefficient(), &x), (beta.coefficient(), &y));
            vectors.update(queue, of_x, of_y, (gamma.coefficient(), &mut r), wait)?
        }
        Operation::MultiplyAdd => {
            let (alpha, beta) = (number(operands.alpha, "alpha")?, number(operands.beta, "beta")?);
            let y = part(operands.y, "y")?;
            let product = (alpha.coefficient(), &x, &y);
            vectors.multiply_add(queue, product, (beta.coefficient(), &mut r), wait)?
        }
        Operation::Combine(combination) => {
            let y = part(operands.y, "y")?;
            vectors.combine(queue, combination, (&x, &y), &mut r, wait)?
        }
    })
}

/// Enqueues a reduction, likewise.
///
/// # Safety
/// As there.
unsafe fn reduction_launch(
    vectors: &mut AnyVectors,
    queue: &Queue,
    operands: &sparrow_reduction,
    wait: Option<&[Event]>,
) -> Result<Option<Event>> {
    let kind = choice(operands.kind, "reduction->kind", &KINDS)?;
    let elements = size(operands.elements, "reduction->elements")?;
    let element = match kind {
        Kind::SumIntegers => ElementType::I32,
        Kind::Reduce(_) | Kind::Dot => vectors.value_type().into(),
    };
    let part = |buffer, len: usize, name: &str| {
        // SAFETY: the caller's promise.
        unsafe { array(queue.context(), buffer, element, len, &format!("reduction->{name}")) }
    };
    let x = part(operands.x, elements, "x")?;
    let result = || part(operands.result, 1, "result");
    Ok(match kind {
        Kind::Reduce(reduction) => vectors.reduce(queue, reduction, &x, &mut result()?, wait)?,
        Kind::Dot => {
            let y = part(operands.y, elements, "y")?;
            vectors.dot(queue, &x, &y, &mut result()?, wait)?
        }
        Kind::SumIntegers => {
            vectors.sum_integers(queue, x.typed()?, result()?.typed_mut()?, wait)?
        }
    })
}

/// Ends kernels for vectors; NULL is allowed. Launches in flight end as they would have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_vectors_release(vectors: *mut sparrow_vectors) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(vectors, "vectors") })
}
