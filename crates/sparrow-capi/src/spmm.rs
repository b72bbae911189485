//! Plans for C = alpha A B + beta C, with B and C dense.

use std::sync::RwLock;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{AnySpmmOperands, AnySpmmPlan, DenseOperands, ValueType};

use crate::buffer::{Scalar, array};
use crate::context::Home;
use crate::events::{EventOut, queue as queue_of, wait_blocking, wait_list};
use crate::failure::{Failure, Result, guard};
use crate::info::{Facts, Texts};
use crate::options::{DenseOptions, spmm_options};
use crate::pointer::{
    Growing, Out, changed, exclusive, fill, handle, read, release, shared, starts,
};
use crate::{
    sparrow_buffer, sparrow_matrix, sparrow_plan_info, sparrow_scalar, sparrow_spmm_options,
    sparrow_status, sparrow_workspace,
};

/// A way of multiplying bound to the pattern of a matrix and to the shapes of B and C, good for any values. Any
/// number of threads may use it at once, each with a workspace of its own.
pub struct sparrow_spmm_plan {
    home: Home,
    inner: RwLock<AnySpmmPlan>,
    facts: Facts,
}

/// The operands of C = alpha A B + beta C. C holds double for SPARROW_VALUE_TYPE_F64, else float.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_dense_product {
    /// sizeof(sparrow_dense_product).
    pub size: usize,
    /// Scales A B; 0 is not special, so NaN in A or B reaches C.
    pub alpha: sparrow_scalar,
    /// The matrix: the plan's, or one of the same pattern.
    pub a: *const sparrow_matrix,
    /// B, of the plan's shape and type.
    pub b: sparrow_buffer,
    /// Scales C; with 0, C is never read.
    pub beta: sparrow_scalar,
    /// C, of the plan's shape. What it spans must not overlap B, alpha, beta or the matrix's own buffers.
    pub c: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_dense_product {
    const NAME: &'static str = "sparrow_dense_product";
    const STARTS: &'static [usize] = starts!(sparrow_dense_product { size, alpha, a, b, beta, c });
}

/// Plans for the pattern of a matrix and the shapes of B and C in `options`, after the events of the wait list.
/// Builds kernels where they are not cached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_spmm_plan_create_blocking(
    matrix: *const sparrow_matrix,
    queue: cl_command_queue,
    options: *const sparrow_spmm_options,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    plan: *mut *mut sparrow_spmm_plan,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(plan, "plan")? };
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        let home = matrix.home();
        // SAFETY: the caller's promise.
        let (queue, options) =
            unsafe { (queue_of(&home.context, queue)?, spmm_options(options, home)?) };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let matrix = shared(matrix.inner(), "matrix")?;
        let DenseOptions { b, c, b_type, options } = options;
        check_sums(matrix.value_type(), b_type)?;
        let dense = DenseOperands { b, b_type, c };
        let plan = AnySpmmPlan::new_blocking(&queue, &matrix, dense, &options)?;
        let (home, facts) = (home.clone(), facts(&plan));
        out.give(sparrow_spmm_plan { home, inner: RwLock::new(plan), facts });
        Ok(())
    })
}

/// Refuses a B that is summed in another type than the matrix.
fn check_sums(values: ValueType, b: ValueType) -> Result<()> {
    if b.accumulator() != values.accumulator() {
        return Err(Failure::mismatch(format!(
            "B of {b} is summed in {}, and a matrix of {values} in {}",
            b.accumulator(),
            values.accumulator()
        )));
    }
    Ok(())
}

/// What is told of a plan.
fn facts(plan: &AnySpmmPlan) -> Facts {
    let texts = Texts {
        algorithm: plan.algorithm_name(),
        variant: "",
        reason: &plan.choice().reason,
        parameters: &plan.parameters(),
    };
    Facts::new(texts, (plan.plan_bytes(), plan.workspace_bytes()), plan.is_repeatable())
}

/// What is known of a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_spmm_plan_get_info(
    plan: *const sparrow_spmm_plan,
    info: *mut sparrow_plan_info,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let plan = unsafe { handle(plan, "plan")? };
        // SAFETY: the caller's promise.
        unsafe { fill(info, "info", || Ok(plan.facts.info())) }
    })
}

/// Brings the plan's transposed copy up to date with the values of a matrix of its pattern, after the events of the
/// wait list; other plans need no such call, and do nothing. Returns when the new values are in place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_spmm_plan_update_values_blocking(
    plan: *const sparrow_spmm_plan,
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
pub unsafe extern "C" fn sparrow_spmm_plan_workspace_blocking(
    plan: *const sparrow_spmm_plan,
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

/// Enqueues C = alpha A B + beta C after the events of the wait list; allocates no device memory and waits for
/// nothing. `event`, if not NULL, gets an event of the product. Where an event of the list ends in error later, so
/// does the product's, and C is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_spmm_plan_launch(
    plan: *const sparrow_spmm_plan,
    queue: cl_command_queue,
    workspace: *mut sparrow_workspace,
    product: *const sparrow_dense_product,
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
        let a = unsafe { handle(product.a, "product->a")? };
        // SAFETY: the caller's promise.
        let (queue, wait) = unsafe {
            let wait = wait_list((num_events_in_wait_list, event_wait_list))?;
            (queue_of(&plan.home.context, queue)?, wait)
        };
        // Locks are taken in this order everywhere: plan, matrix, workspace.
        let plan = shared(&plan.inner, "plan")?;
        let a = shared(a.inner(), "matrix")?;
        let mut workspace = exclusive(workspace.inner(), "workspace")?;
        let (context, value_type) = (queue.context(), plan.types().value_type);
        let DenseOperands { b, b_type, c } = plan.dense();
        // SAFETY: the caller's promise.
        let (b, mut c, alpha, beta) = unsafe {
            (
                array(context, product.b, *b_type, b.span(), "product->b")?,
                array(context, product.c, value_type.accumulator(), c.span(), "product->c")?,
                Scalar::new(context, product.alpha, value_type, "product->alpha")?,
                Scalar::new(context, product.beta, value_type, "product->beta")?,
            )
        };
        let (alpha, beta) = (alpha.coefficient(), beta.coefficient());
        let product = AnySpmmOperands { alpha, a: &a, b: &b, beta, c: &mut c };
        out.give(&plan.launch(&queue, &mut workspace, product, &wait)?)
    })
}

/// Ends a plan; NULL is allowed. Launches in flight end as they would have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_spmm_plan_release(plan: *mut sparrow_spmm_plan) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(plan, "plan") })
}
