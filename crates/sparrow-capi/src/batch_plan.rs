//! Plans for batches: y = alpha A x + beta y for every problem at once.

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{
    AnyArray, AnyBatchCoefficient, AnyBatchOperands, BatchOptions, BatchPlan, Context, Number,
    ValueType,
};

use crate::buffer::{array, number};
use crate::context::Home;
use crate::events::{EventOut, queue as queue_of, wait_blocking, wait_list};
use crate::failure::{Result, guard};
use crate::info::{Facts, Texts};
use crate::options::batch_options;
use crate::pointer::{Growing, Out, exclusive, fill, flag, handle, read, release, starts};
use crate::{
    sparrow_batch, sparrow_batch_options, sparrow_buffer, sparrow_plan_info, sparrow_status,
    sparrow_workspace,
};

/// A batch's tasks and the program that computes them, good for any values. Any number of threads may use it at
/// once, each with a workspace of its own.
pub struct sparrow_batch_plan {
    home: Home,
    plan: BatchPlan,
    facts: Facts,
}

/// alpha or beta of a batch: a number for all problems, or, for plans with `scalars_on_device`, where it lies.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_batch_scalar {
    /// The number; not looked at where `device` has a buffer.
    pub value: f64,
    /// Floats (doubles for SPARROW_VALUE_TYPE_F64); without a buffer, `value` counts.
    pub device: sparrow_buffer,
    /// 1: the buffer has a number for each problem. 0: one for all.
    pub each: u32,
}

/// The operands of y = alpha A x + beta y for every problem of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_batch_product {
    /// sizeof(sparrow_batch_product).
    pub size: usize,
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: sparrow_batch_scalar,
    /// The batch: the plan's, or one of the same patterns.
    pub a: *const sparrow_batch,
    /// The vectors x, each where its problem says.
    pub x: sparrow_buffer,
    /// Scales y; where it is 0, y is never read.
    pub beta: sparrow_batch_scalar,
    /// The vectors y, each where its problem says; elements between them are left alone. None may overlap an x, alpha,
    /// beta or the batch's own buffers.
    pub y: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_batch_product {
    const NAME: &'static str = "sparrow_batch_product";
    const STARTS: &'static [usize] = starts!(sparrow_batch_product { size, alpha, a, x, beta, y });
}

/// alpha or beta before it is known whether the plan takes it so.
enum Scalar {
    Value(Number),
    One(AnyArray),
    Each(AnyArray),
}

impl Scalar {
    /// Of the type that sums of `value_type` are made in.
    ///
    /// # Safety
    /// The buffer is NULL or valid.
    unsafe fn new(
        context: &Context,
        scalar: sparrow_batch_scalar,
        problems: usize,
        value_type: ValueType,
        name: &str,
    ) -> Result<Self> {
        let is_each = flag(scalar.each, &format!("{name}.each"))?;
        if scalar.device.is_nowhere() && !is_each {
            return Ok(Scalar::Value(number(scalar.value, value_type, name)?));
        }
        let len = if is_each { problems } else { 1 };
        let (element, name) = (value_type.accumulator(), format!("{name}.device"));
        // SAFETY: the caller's promise.
        let array = unsafe { array(context, scalar.device, element, len, &name)? };
        Ok(if is_each { Scalar::Each(array) } else { Scalar::One(array) })
    }

    fn coefficient(&self) -> AnyBatchCoefficient<'_> {
        match self {
            Scalar::Value(number) => AnyBatchCoefficient::Value(*number),
            Scalar::One(array) => AnyBatchCoefficient::One(array),
            Scalar::Each(array) => AnyBatchCoefficient::Each(array),
        }
    }
}

/// Plans for a batch, after the events of the wait list. `options` may be NULL. Builds a kernel where it is not
/// cached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_batch_plan_create_blocking(
    batch: *const sparrow_batch,
    queue: cl_command_queue,
    options: *const sparrow_batch_options,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    plan: *mut *mut sparrow_batch_plan,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(plan, "plan")? };
        // SAFETY: the caller's promise.
        let batch = unsafe { handle(batch, "batch")? };
        let home = batch.home();
        // SAFETY: the caller's promise.
        let (queue, options) =
            unsafe { (queue_of(&home.context, queue)?, batch_options(options, home)?) };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let plan = BatchPlan::new_blocking(&queue, batch.inner(), &options)?;
        let workspace_bytes = plan.workspace_blocking(&queue)?.size_bytes();
        let facts = facts(&plan, &options, workspace_bytes);
        out.give(sparrow_batch_plan { home: home.clone(), plan, facts });
        Ok(())
    })
}

fn facts(plan: &BatchPlan, options: &BatchOptions, workspace_bytes: usize) -> Facts {
    let algorithms: Vec<_> = plan.algorithms().iter().map(|(its, _)| its.name()).collect();
    let counts: Vec<_> =
        plan.algorithms().iter().map(|(its, problems)| format!("{its} for {problems}")).collect();
    let why = match options.algorithm {
        Some(_) => "asked for by name, where it reads a problem's format",
        None => "by each problem's format and size",
    };
    let texts = Texts {
        algorithm: &algorithms.join(","),
        variant: options.variant.name(),
        reason: &format!("{}: {why}", counts.join(", ")),
        parameters: &plan.parameters(),
    };
    Facts::new(texts, (plan.plan_bytes(), workspace_bytes), plan.is_repeatable())
}

/// What is known of a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_batch_plan_get_info(
    plan: *const sparrow_batch_plan,
    info: *mut sparrow_plan_info,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let plan = unsafe { handle(plan, "plan")? };
        // SAFETY: the caller's promise.
        unsafe { fill(info, "info", || Ok(plan.facts.info())) }
    })
}

/// Makes a workspace for launches of this plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_batch_plan_workspace_blocking(
    plan: *const sparrow_batch_plan,
    queue: cl_command_queue,
    workspace: *mut *mut sparrow_workspace,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(workspace, "workspace")? };
        // SAFETY: the caller's promise.
        let plan = unsafe { handle(plan, "plan")? };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&plan.home.context, queue)? };
        out.give(sparrow_workspace::new(plan.plan.workspace_blocking(&queue)?));
        Ok(())
    })
}

/// Enqueues all products of a batch after the events of the wait list; allocates no device memory and waits for
/// nothing. `event`, if not NULL, gets an event of the launch; without one, and with an empty list, none is made, which
/// saves a GPU time of its own (2 us on an H200).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_batch_plan_launch(
    plan: *const sparrow_batch_plan,
    queue: cl_command_queue,
    workspace: *mut sparrow_workspace,
    product: *const sparrow_batch_product,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { EventOut::new(event) };
        // SAFETY: the caller's promise.
        let (plan, workspace, product) = unsafe {
            (handle(plan, "plan")?, handle(workspace, "workspace")?, read(product, "product")?)
        };
        // SAFETY: the caller's promise.
        let batch = unsafe { handle(product.a, "product->a")? };
        // SAFETY: the caller's promise.
        let (queue, wait) = unsafe {
            let wait = wait_list((num_events_in_wait_list, event_wait_list))?;
            (queue_of(&plan.home.context, queue)?, wait)
        };
        let mut workspace = exclusive(workspace.inner(), "workspace")?;
        let a = batch.inner();
        let (context, problems, value_type) = (queue.context(), a.problems().len(), a.value_type());
        let accumulator = value_type.accumulator();
        // SAFETY: the caller's promise.
        let (x, mut y, alpha, beta) = unsafe {
            (
                array(context, product.x, accumulator, a.x_len(), "product->x")?,
                array(context, product.y, accumulator, a.y_len(), "product->y")?,
                Scalar::new(context, product.alpha, problems, value_type, "product->alpha")?,
                Scalar::new(context, product.beta, problems, value_type, "product->beta")?,
            )
        };
        let (alpha, beta) = (alpha.coefficient(), beta.coefficient());
        let product = AnyBatchOperands { alpha, a, x: &x, beta, y: &mut y };
        let event = plan.plan.launch(&queue, &mut workspace, product, out.wait(&wait))?;
        out.give_if_any(event.as_ref())
    })
}

/// Ends a plan; NULL is allowed. Launches in flight end as they would have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_batch_plan_release(
    plan: *mut sparrow_batch_plan,
) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(plan, "plan") })
}
