//! Products of a plan that are recorded once and launched many times by one call.

use std::ffi::{CString, c_char};
use std::sync::Mutex;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{AnyRecording, Replay};

use crate::context::c_text;
use crate::events::{EventOut, queue as queue_of, wait_list};
use crate::failure::{Result, guard};
use crate::plan::with_product;
use crate::pointer::{Growing, Out, exclusive, fill, handle, read, release, shared, starts};
use crate::types::choice;
use crate::{sparrow_matrix, sparrow_plan, sparrow_product, sparrow_status};

/// How a recording is replayed. What comes out is the same, bit for bit.
pub type sparrow_replay = u32;
/// By a command buffer where the device has them and is no CPU, else launch by launch.
pub const SPARROW_REPLAY_AUTOMATIC: sparrow_replay = 0;
/// By a command buffer of the driver's (cl_khr_command_buffer).
pub const SPARROW_REPLAY_COMMAND_BUFFER: sparrow_replay = 1;
/// Launch by launch, with nothing between them.
pub const SPARROW_REPLAY_LAUNCHES: sparrow_replay = 2;

/// Products of one plan and one matrix in the order in which each replay makes them, with a workspace of their own. It
/// keeps alive all they work on, but for shared virtual memory: that is to stay. Calls of several threads take turns.
pub struct sparrow_recording {
    inner: Mutex<AnyRecording>,
    reason: CString,
}

/// Facts of a recording. Texts are valid until it is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_recording_info {
    /// sizeof(sparrow_recording_info); set by the caller.
    pub size: usize,
    /// Products of one replay.
    pub products: u64,
    /// Kernels of one replay.
    pub kernels: u64,
    /// 1 where a command buffer of the driver's replays it, else 0.
    pub command_buffer: u32,
    /// Why it is replayed so.
    pub reason: *const c_char,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_recording_info {
    const NAME: &'static str = "sparrow_recording_info";
    const STARTS: &'static [usize] =
        starts!(sparrow_recording_info { size, products, kernels, command_buffer, reason });
}

fn replay_of(value: sparrow_replay) -> Result<Replay> {
    let all = [
        (SPARROW_REPLAY_AUTOMATIC, "SPARROW_REPLAY_AUTOMATIC", Replay::Automatic),
        (SPARROW_REPLAY_COMMAND_BUFFER, "SPARROW_REPLAY_COMMAND_BUFFER", Replay::CommandBuffer),
        (SPARROW_REPLAY_LAUNCHES, "SPARROW_REPLAY_LAUNCHES", Replay::Launches),
    ];
    choice(value, "replay", &all)
}

/// Records products of a plan, to be launched in this queue by sparrow_plan_launch_many: `products` points to
/// `num_products` pointers, all with the same matrix. Nothing is enqueued. Each replay reads and writes what is in the
/// buffers then, those of alpha and beta too. A command buffer that was asked for and cannot be had is a failure; by default
/// launches one by one stand in for it, and sparrow_recording_get_info says why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_record_blocking(
    plan: *const sparrow_plan,
    queue: cl_command_queue,
    num_products: usize,
    products: *const *const sparrow_product,
    replay: sparrow_replay,
    recording: *mut *mut sparrow_recording,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(recording, "recording")? };
        // SAFETY: the caller's promise.
        let plan = unsafe { handle(plan, "plan")? };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&plan.home().context, queue)? };
        let replay = replay_of(replay)?;
        if num_products > 0 {
            // SAFETY: the caller's promise.
            unsafe { handle(products, "products")? };
        }
        let inner = shared(plan.inner(), "plan")?;
        let mut recorder = inner.recorder_blocking(&queue)?;
        for index in 0..num_products {
            let name = format!("products[{index}]");
            // SAFETY: there are as many pointers, as the caller says, and what they point to is valid.
            unsafe {
                let product = read(products.add(index).read(), &name)?;
                with_product(plan.op(), &queue, &product, &name, |product| {
                    Ok(recorder.product(product)?)
                })?;
            }
        }
        let recording = recorder.finish_blocking(replay)?;
        let reason = c_text(recording.reason());
        out.give(sparrow_recording { inner: Mutex::new(recording), reason });
        Ok(())
    })
}

/// What is known of a recording.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_recording_get_info(
    recording: *const sparrow_recording,
    info: *mut sparrow_recording_info,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let recording = unsafe { handle(recording, "recording")? };
        let make = || {
            let inner = exclusive(&recording.inner, "recording")?;
            Ok(sparrow_recording_info {
                size: size_of::<sparrow_recording_info>(),
                products: inner.products() as u64,
                kernels: inner.kernels() as u64,
                command_buffer: inner.is_command_buffer().into(),
                reason: recording.reason.as_ptr(),
            })
        };
        // SAFETY: the caller's promise.
        unsafe { fill(info, "info", make) }
    })
}

/// Enqueues all products of a recording, one after the other, and that `times` times, in the queue that they were recorded
/// for, after the events of the wait list; allocates no device memory and waits for nothing. `matrix` is the one that was
/// recorded; its values may have changed where they lie, if the plan keeps no copy of them. `event`, if not NULL, gets an
/// event of the end; without one, and with an empty list, in a queue in order, none is made, which is the fastest way. Where
/// an event of the list ends in error later, so does the event of the end, and nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_plan_launch_many(
    plan: *const sparrow_plan,
    recording: *mut sparrow_recording,
    matrix: *const sparrow_matrix,
    times: u32,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { EventOut::new(event) };
        // SAFETY: the caller's promise.
        let (plan, recording, matrix) = unsafe {
            (handle(plan, "plan")?, handle(recording, "recording")?, handle(matrix, "matrix")?)
        };
        // SAFETY: the caller's promise.
        let wait = unsafe { wait_list((num_events_in_wait_list, event_wait_list))? };
        // Locks are taken in the order of every launch: plan, matrix, workspace.
        let plan = shared(plan.inner(), "plan")?;
        let matrix = shared(matrix.inner(), "matrix")?;
        let mut recording = exclusive(&recording.inner, "recording")?;
        let event = plan.launch_many(&mut recording, &matrix, times, out.wait(&wait))?;
        out.give_if_any(event.as_ref())
    })
}

/// Ends a recording; NULL is allowed. Products in flight end as they would have; where a command buffer replays them, they
/// are waited for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_recording_release(
    recording: *mut sparrow_recording,
) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(recording, "recording") })
}
