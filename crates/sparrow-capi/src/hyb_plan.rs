//! Plans for y = alpha A x + beta y, with A in ELL, as entries, or in both.

use std::ffi::c_char;
use std::sync::Arc;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{AnySlotsMatrix, AnySlotsPlan, SlotsOperands, SlotsOptions};

use crate::buffer::{Scalar, array};
use crate::context::Home;
use crate::events::{EventOut, queue as queue_of, wait_blocking, wait_list};
use crate::failure::{Result, guard};
use crate::info::{Facts, Texts};
use crate::options::parameters;
use crate::pointer::{
    Growing, Out, exclusive, fill, flag, handle, read, read_optional, release, starts,
};
use crate::types::accumulate;
use crate::{
    sparrow_accumulate, sparrow_buffer, sparrow_hyb_matrix, sparrow_plan_info, sparrow_scalar,
    sparrow_status, sparrow_workspace,
};

/// Products of one matrix in ELL, as entries, or in both, with the same bits every time; good for any values of it. Any
/// number of threads may use it at once, each with a workspace of its own.
pub struct sparrow_hyb_plan {
    home: Home,
    plan: AnySlotsPlan,
    matrix: Arc<AnySlotsMatrix>,
    facts: Facts,
}

/// What a plan of such a matrix is asked for; all other fields 0 or NULL are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_hyb_options {
    /// sizeof(sparrow_hyb_options).
    pub size: usize,
    /// Hyper-parameters of "hyb" over the defaults: "group_size=256,nnz_per_item=8"; or NULL.
    pub parameters: *const c_char,
    /// How products are summed.
    pub accumulate: sparrow_accumulate,
    /// 1: alpha and beta of each launch lie on the device. 0: they come by value.
    pub scalars_on_device: u32,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_hyb_options {
    const NAME: &'static str = "sparrow_hyb_options";
    const STARTS: &'static [usize] =
        starts!(sparrow_hyb_options { size, parameters, accumulate, scalars_on_device });
}

/// The operands of y = alpha A x + beta y, without the plan's matrix. x and y hold double for SPARROW_VALUE_TYPE_F64,
/// else float.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_hyb_product {
    /// sizeof(sparrow_hyb_product).
    pub size: usize,
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: sparrow_scalar,
    /// The vector x: as many elements as A has columns.
    pub x: sparrow_buffer,
    /// Scales y; with 0, y is never read.
    pub beta: sparrow_scalar,
    /// The vector y: as many elements as there are rows. Must not overlap x, alpha, beta or the matrix's own buffers.
    pub y: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_hyb_product {
    const NAME: &'static str = "sparrow_hyb_product";
    const STARTS: &'static [usize] = starts!(sparrow_hyb_product { size, alpha, x, beta, y });
}

/// # Safety
/// NULL, or valid options.
unsafe fn hyb_options(options: *const sparrow_hyb_options) -> Result<SlotsOptions> {
    // SAFETY: the caller's promise.
    let Some(options) = (unsafe { read_optional(options, "options")? }) else {
        return Ok(SlotsOptions::default());
    };
    Ok(SlotsOptions {
        accumulate: accumulate(options.accumulate, "options->accumulate")?,
        scalars_on_device: flag(options.scalars_on_device, "options->scalars_on_device")?,
        // SAFETY: texts of valid options are valid.
        parameters: unsafe { parameters(options.parameters)? },
    })
}

/// What is told of a plan.
fn facts(plan: &AnySlotsPlan) -> Facts {
    let texts = Texts {
        algorithm: "hyb",
        variant: "",
        reason: "it multiplies ELL and entries where they lie",
        parameters: &plan.parameters(),
    };
    Facts::new(texts, (0, plan.workspace_bytes()), true)
}

/// Builds the kernels for a matrix, after the events of the wait list, where they are not cached; nothing is computed from
/// the matrix. `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_hyb_plan_create_blocking(
    matrix: *const sparrow_hyb_matrix,
    queue: cl_command_queue,
    options: *const sparrow_hyb_options,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    plan: *mut *mut sparrow_hyb_plan,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(plan, "plan")? };
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        let home = matrix.home().clone();
        // SAFETY: the caller's promise.
        let (queue, options) = unsafe { (queue_of(&home.context, queue)?, hyb_options(options)?) };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let matrix = Arc::clone(matrix.inner());
        let plan = AnySlotsPlan::new_blocking(&queue, &matrix, &options)?;
        let facts = facts(&plan);
        out.give(sparrow_hyb_plan { home, plan, matrix, facts });
        Ok(())
    })
}

/// What is known of a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_hyb_plan_get_info(
    plan: *const sparrow_hyb_plan,
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
pub unsafe extern "C" fn sparrow_hyb_plan_workspace_blocking(
    plan: *const sparrow_hyb_plan,
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

/// Enqueues y = alpha A x + beta y after the events of the wait list; allocates no device memory and waits for
/// nothing. `event`, if not NULL, gets an event of the product; without one, and with an empty list, none is made. Where an
/// event of the list ends in error later, so does the product's, and y is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_hyb_plan_launch(
    plan: *const sparrow_hyb_plan,
    queue: cl_command_queue,
    workspace: *mut sparrow_workspace,
    product: *const sparrow_hyb_product,
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
        let (queue, wait) = unsafe {
            let wait = wait_list((num_events_in_wait_list, event_wait_list))?;
            (queue_of(&plan.home.context, queue)?, wait)
        };
        let mut workspace = exclusive(workspace.inner(), "workspace")?;
        let (context, value_type) = (queue.context(), plan.matrix.value_type());
        let accumulator = value_type.accumulator();
        let (rows, cols) = (plan.matrix.rows(), plan.matrix.cols());
        // SAFETY: the caller's promise.
        let (x, mut y, alpha, beta) = unsafe {
            (
                array(context, product.x, accumulator, cols, "product->x")?,
                array(context, product.y, accumulator, rows, "product->y")?,
                Scalar::new(context, product.alpha, value_type, "product->alpha")?,
                Scalar::new(context, product.beta, value_type, "product->beta")?,
            )
        };
        let (alpha, beta) = (alpha.coefficient(), beta.coefficient());
        let operands = SlotsOperands { alpha, x: &x, beta, y: &mut y };
        let event = plan.plan.launch(&queue, &mut workspace, operands, out.wait(&wait))?;
        out.give_if_any(event.as_ref())
    })
}

/// Ends a plan; NULL is allowed. Launches in flight end as they would have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_hyb_plan_release(plan: *mut sparrow_hyb_plan) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(plan, "plan") })
}
