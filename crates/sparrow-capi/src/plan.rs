//! Plans for y = alpha A x + beta y.

use std::sync::RwLock;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{AnyOperands, AnyPlan, Event, Op, Queue, Stages, Workspace, counted};

use crate::buffer::{Scalar, array};
use crate::context::Home;
use crate::events::{EventOut, queue as queue_of, wait_blocking, wait_list};
use crate::failure::{Failure, Result, guard};
use crate::info::{Facts, Texts, coding_text};
use crate::options::plan_options;
use crate::pointer::{
    Growing, Out, changed, exclusive, fill, handle, read, release, shared, starts,
};
use crate::{
    sparrow_buffer, sparrow_matrix, sparrow_plan_info, sparrow_plan_options, sparrow_scalar,
    sparrow_status, sparrow_workspace,
};

/// An algorithm bound to the pattern of a matrix, good for any values. Any number of threads may use it at once,
/// each with a workspace of its own.
pub struct sparrow_plan {
    home: Home,
    inner: RwLock<AnyPlan>,
    op: Op,
    facts: Facts,
}

/// The operands of y = alpha A x + beta y. x and y hold double for SPARROW_VALUE_TYPE_F64, else float.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_product {
    /// sizeof(sparrow_product).
    pub size: usize,
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: sparrow_scalar,
    /// The matrix: the plan's, or one of the same pattern.
    pub a: *const sparrow_matrix,
    /// The vector x: as many elements as A (transposed: A's transpose) has columns.
    pub x: sparrow_buffer,
    /// Scales y; with 0, y is never read.
    pub beta: sparrow_scalar,
    /// The vector y: as many elements as there are rows. Must not overlap x, alpha, beta or the matrix's own buffers.
    pub y: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_product {
    const NAME: &'static str = "sparrow_product";
    const STARTS: &'static [usize] = starts!(sparrow_product { size, alpha, a, x, beta, y });
}

/// What a blocking product did; only the algorithm "segmented_sum" has a second stage.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_stages {
    /// sizeof(sparrow_stages); set by the caller.
    pub size: usize,
    /// Nanoseconds until the device had done its part.
    pub stage1_nanoseconds: u64,
    /// Nanoseconds until rows were together and stored where they belong.
    pub stage2_nanoseconds: u64,
    /// Bytes of arrays that the CPU reached where they lie.
    pub shared_bytes: u64,
    /// Bytes of arrays that were copied for the CPU.
    pub copied_bytes: u64,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers.
unsafe impl Growing for sparrow_stages {
    const NAME: &'static str = "sparrow_stages";
    const STARTS: &'static [usize] = starts!(sparrow_stages {
        size,
        stage1_nanoseconds;
        stage2_nanoseconds,
        shared_bytes,
        copied_bytes
    });
}

/// Chooses an algorithm, or takes the one asked for, and plans for the pattern of a matrix, after the events of the
/// wait list. `options` may be NULL. Builds kernels where they are not cached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_create_blocking(
    matrix: *const sparrow_matrix,
    queue: cl_command_queue,
    options: *const sparrow_plan_options,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    plan: *mut *mut sparrow_plan,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(plan, "plan")? };
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        let home = matrix.home();
        // SAFETY: the caller's promise.
        let (queue, options) =
            unsafe { (queue_of(&home.context, queue)?, plan_options(options, home)?) };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let matrix = shared(matrix.inner(), "matrix")?;
        let plan = AnyPlan::new_blocking(&queue, &matrix, &options)?;
        let (home, facts) = (home.clone(), facts(&plan));
        out.give(sparrow_plan { home, inner: RwLock::new(plan), op: options.op, facts });
        Ok(())
    })
}

/// What is told of a plan.
fn facts(plan: &AnyPlan) -> Facts {
    let texts = Texts {
        algorithm: plan.algorithm().name(),
        variant: plan.variant(),
        reason: &plan.choice().reason,
        parameters: plan.parameters(),
    };
    let bytes = (plan.plan_bytes(), plan.workspace_bytes());
    let facts = Facts::new(texts, bytes, plan.is_repeatable());
    facts.with_choice(&plan.choice().to_string(), plan.measured_products())
}

/// What is known of a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_get_info(
    plan: *const sparrow_plan,
    info: *mut sparrow_plan_info,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let plan = unsafe { handle(plan, "plan")? };
        let make = || {
            // New values change what a copy of them takes.
            let now = shared(&plan.inner, "plan")?;
            Ok(sparrow_plan_info {
                plan_bytes: now.plan_bytes() as u64,
                value_coding: coding_text(now.value_coding()).as_ptr(),
                saved_bytes: now.saved_bytes() as u64,
                ..plan.facts.info()
            })
        };
        // SAFETY: the caller's promise.
        unsafe { fill(info, "info", make) }
    })
}

/// The row of the matrix at each index of the plan's order of rows, where it has one (`vectors_in_order` of
/// sparrow_plan_options); of the transposed matrix, where that is multiplied by. `count` numbers, as many as it has rows.
/// Returns when they are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_row_order_blocking(
    plan: *const sparrow_plan,
    queue: cl_command_queue,
    count: u64,
    row_order: *mut u32,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let plan = unsafe { handle(plan, "plan")? };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&plan.home.context, queue)? };
        let inner = shared(&plan.inner, "plan")?;
        let Some(rows) = inner.row_order() else {
            let text = "plan has rows as the matrix has them: options->reordering gives it an order of its own";
            return Err(Failure::argument(text.to_owned()));
        };
        if count != rows.len() as u64 {
            let rows = counted(rows.len(), "row");
            return Err(Failure::argument(format!("count is {count}, and the order has {rows}")));
        }
        if row_order.is_null() && count > 0 {
            return Err(Failure::argument("row_order is NULL".to_owned()));
        }
        let found = rows.read_blocking(&queue).map_err(sparrow::Error::from)?;
        // SAFETY: the caller's promise: `count` numbers, which is how many were found; bytes need no alignment.
        unsafe {
            let bytes = size_of_val(&found[..]);
            row_order.cast::<u8>().copy_from_nonoverlapping(found.as_ptr().cast(), bytes);
        };
        Ok(())
    })
}

/// Brings the plan's copy of the values up to date with those of a matrix of its pattern, after the events of the
/// wait list; plans without a copy need no such call, and do nothing. Returns when the new values are in place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_update_values_blocking(
    plan: *const sparrow_plan,
    queue: cl_command_queue,
    matrix: *const sparrow_matrix,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (plan, matrix) = unsafe { (handle(plan, "plan")?, handle(matrix, "matrix")?) };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&plan.home.context, queue)? };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let mut plan = changed(&plan.inner, "plan")?;
        let matrix = shared(matrix.inner(), "matrix")?;
        Ok(plan.update_values_blocking(&queue, &matrix)?)
    })
}

/// Makes a workspace for launches of this plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_workspace_blocking(
    plan: *const sparrow_plan,
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
        let workspace = shared(&plan.inner, "plan")?.workspace_blocking(&queue)?;
        out.give(sparrow_workspace::new(workspace));
        Ok(())
    })
}

/// Enqueues y = alpha A x + beta y after the events of the wait list; allocates no device memory and waits for
/// nothing. `event`, if not NULL, gets an event of the product; without one, and with an empty list, none is made, which
/// saves a GPU time of its own (2 us on an H200). Where an event of the list ends in error later, so does the product's,
/// and y is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_launch(
    plan: *const sparrow_plan,
    queue: cl_command_queue,
    workspace: *mut sparrow_workspace,
    product: *const sparrow_product,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { EventOut::new(event) };
        let list = (num_events_in_wait_list, event_wait_list);
        // SAFETY: the caller's promise.
        let event = unsafe {
            launch(
                plan,
                queue,
                workspace,
                product,
                list,
                |plan, queue, workspace, product, wait| {
                    plan.launch(queue, workspace, product, out.wait(wait))
                },
            )?
        };
        out.give_if_any(event.as_ref())
    })
}

/// Computes y = alpha A x + beta y after the events of the wait list, and returns when it is there. The one way for
/// the variant "cpu" of "segmented_sum", whose second stage is the CPU's: nothing else that was enqueued may touch
/// the operands meanwhile. `stages` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_launch_blocking(
    plan: *const sparrow_plan,
    queue: cl_command_queue,
    workspace: *mut sparrow_workspace,
    product: *const sparrow_product,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    stages: *mut sparrow_stages,
) -> sparrow_status {
    guard(|| {
        let list = (num_events_in_wait_list, event_wait_list);
        let run = || {
            // SAFETY: the caller's promise, of other commands too.
            let stages = unsafe {
                launch(
                    plan,
                    queue,
                    workspace,
                    product,
                    list,
                    |plan, queue, space, product, wait| {
                        plan.launch_in_place_blocking(queue, space, product, wait)
                    },
                )?
            };
            Ok(in_c(stages))
        };
        if stages.is_null() {
            return run().map(|_| ());
        }
        // SAFETY: the caller's promise.
        unsafe { fill(stages, "stages", run) }
    })
}

fn in_c(stages: Stages) -> sparrow_stages {
    let nanoseconds =
        |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    sparrow_stages {
        size: size_of::<sparrow_stages>(),
        stage1_nanoseconds: nanoseconds(stages.stage1),
        stage2_nanoseconds: nanoseconds(stages.stage2),
        shared_bytes: stages.shared_bytes as u64,
        copied_bytes: stages.copied_bytes as u64,
    }
}

/// Takes the arguments of a launch apart; `work` makes it.
///
/// # Safety
/// Each argument is NULL or valid.
unsafe fn launch<T>(
    plan: *const sparrow_plan,
    queue: cl_command_queue,
    workspace: *mut sparrow_workspace,
    product: *const sparrow_product,
    list: (cl_uint, *const cl_event),
    work: impl FnOnce(&AnyPlan, &Queue, &mut Workspace, AnyOperands<'_>, &[Event]) -> sparrow::Result<T>,
) -> Result<T> {
    // SAFETY: the caller's promise.
    let (plan, workspace, product) = unsafe {
        (handle(plan, "plan")?, handle(workspace, "workspace")?, read(product, "product")?)
    };
    // SAFETY: the caller's promise.
    let (queue, wait) = unsafe { (queue_of(&plan.home.context, queue)?, wait_list(list)?) };
    let op = plan.op;
    // Locks are taken in this order everywhere: plan, matrix, workspace.
    let plan = shared(&plan.inner, "plan")?;
    let run = |product: AnyOperands<'_>| {
        let mut workspace = exclusive(workspace.inner(), "workspace")?;
        Ok(work(&plan, &queue, &mut workspace, product, &wait)?)
    };
    // SAFETY: the caller's promise.
    unsafe { with_product(op, &queue, &product, "product", run) }
}

/// Has `work` use the operands of a product, which is called `name` in C.
///
/// # Safety
/// Its handles and buffers are NULL or valid.
pub(crate) unsafe fn with_product<T>(
    op: Op,
    queue: &Queue,
    product: &sparrow_product,
    name: &str,
    work: impl FnOnce(AnyOperands<'_>) -> Result<T>,
) -> Result<T> {
    let of = |field: &str| format!("{name}->{field}");
    // SAFETY: the caller's promise.
    let a = unsafe { handle(product.a, &of("a"))? };
    let a = shared(a.inner(), "matrix")?;
    let (context, value_type) = (queue.context(), a.value_type());
    let (of_x, of_y) = match op {
        Op::Normal => (a.cols(), a.rows()),
        Op::Transpose => (a.rows(), a.cols()),
    };
    let accumulator = value_type.accumulator();
    // SAFETY: the caller's promise.
    let (x, mut y, alpha, beta) = unsafe {
        (
            array(context, product.x, accumulator, of_x, &of("x"))?,
            array(context, product.y, accumulator, of_y, &of("y"))?,
            Scalar::new(context, product.alpha, value_type, &of("alpha"))?,
            Scalar::new(context, product.beta, value_type, &of("beta"))?,
        )
    };
    let (alpha, beta) = (alpha.coefficient(), beta.coefficient());
    work(AnyOperands { alpha, a: &a, x: &x, beta, y: &mut y })
}

impl sparrow_plan {
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn inner(&self) -> &RwLock<AnyPlan> {
        &self.inner
    }

    pub(crate) fn op(&self) -> Op {
        self.op
    }
}

/// Ends a plan; NULL is allowed. Launches in flight end as they would have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_release(plan: *mut sparrow_plan) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(plan, "plan") })
}
