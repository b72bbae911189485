//! An application of `sparrow.h`, with a context, a queue and buffers of its own.

#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::unwrap_used, reason = "support code of tests")]
#![expect(clippy::not_unsafe_ptr_arg_deref, reason = "tests hand over what this made")]

mod shared;
mod structs;

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use bytemuck::Pod;
use opencl3::command_queue as cl_queue;
use opencl3::context::context as cl_context;
use opencl3::event as cl_event;
use opencl3::memory as cl_memory;
use opencl3::types;
use sparrow::{Offset, Real, RealValue, Value};
use sparrow_c::*;

pub use shared::{has_shared_memory, in_shared_memory};
pub use structs::*;

/// Elements before an array that is written in place: Oclgrind takes what the host writes at an offset for
/// uninitialised.
pub fn before_what_is_written(elements: usize) -> usize {
    if crate::is_interpreter(&crate::device()) { 0 } else { elements }
}

/// What the application has, and Sparrow's context over it.
pub struct Application {
    /// The device under test.
    pub device: types::cl_device_id,
    /// Its own context.
    pub context: types::cl_context,
    /// Its own queue, in order.
    pub queue: types::cl_command_queue,
    /// Sparrow's context over both.
    pub sparrow: *mut sparrow_context,
    buffers: Vec<types::cl_mem>,
    shared: Vec<*mut std::ffi::c_void>,
}

impl Application {
    /// With the default options.
    ///
    /// # Panics
    /// The device fails.
    pub fn new() -> Self {
        Self::with_options(null())
    }

    /// With these options; NULL for the default ones.
    ///
    /// # Panics
    /// The device fails, or Sparrow refuses the options.
    pub fn with_options(options: *const sparrow_context_options) -> Self {
        let device = crate::device().id().as_raw();
        let context = cl_context::create_context(&[device], null(), None, null_mut()).unwrap();
        // SAFETY: the device belongs to the context; the options are NULL or valid.
        unsafe {
            let queue = cl_queue::create_command_queue(context, device, 0).unwrap();
            let sparrow = made(|out| sparrow_context_from_queue(queue, options, out));
            Application { device, context, queue, sparrow, buffers: Vec::new(), shared: Vec::new() }
        }
    }

    /// A buffer that holds `padding` elements of no meaning and then `data`; within [`in_shared_memory`], shared virtual
    /// memory that does.
    pub fn buffer<T: Pod>(&mut self, padding: usize, data: &[T]) -> sparrow_buffer {
        if shared::is_shared() {
            return self.shared(padding, data);
        }
        let start = padding * size_of::<T>();
        // All of it from its beginning: what is written at an offset, Oclgrind takes for uninitialised.
        let content = [&vec![T::zeroed(); padding], data].concat();
        let bytes = size_of_val(&content[..]);
        let (flags, none) = (cl_memory::CL_MEM_READ_WRITE, null_mut());
        // SAFETY: the context is valid; the content lives through the write, which blocks, and then is waited for: in a
        // queue out of order, what is enqueued next may not find it otherwise.
        unsafe {
            let memory = cl_memory::create_buffer(self.context, flags, bytes.max(1), none).unwrap();
            self.buffers.push(memory);
            if !content.is_empty() {
                let content = content.as_ptr().cast();
                let (wait, none) = (0, null());
                let written = cl_queue::enqueue_write_buffer(
                    self.queue, memory, 1, 0, bytes, content, wait, none,
                );
                let written = written.unwrap();
                cl_event::wait_for_events(&[written]).unwrap();
                cl_event::release_event(written).unwrap();
            }
            sparrow_buffer { memory, byte_offset: start as u64, svm: std::ptr::null_mut() }
        }
    }

    /// The elements of a buffer from its offset on, after `event`, which is released.
    pub fn read<T: Pod>(
        &self,
        buffer: sparrow_buffer,
        len: usize,
        event: types::cl_event,
    ) -> Vec<T> {
        if !buffer.svm.is_null() {
            return self.read_shared(buffer, len, event);
        }
        let mut data = vec![T::zeroed(); len];
        // SAFETY: the data lives through the read, which blocks.
        unsafe {
            let (count, list) = if event.is_null() { (0, null()) } else { (1, &raw const event) };
            let (start, bytes) = (buffer.byte_offset as usize, len * size_of::<T>());
            let target = data.as_mut_ptr().cast();
            let read = cl_queue::enqueue_read_buffer(
                self.queue,
                buffer.memory,
                1,
                start,
                bytes,
                target,
                count,
                list,
            );
            cl_event::release_event(read.unwrap()).unwrap();
            if !event.is_null() {
                cl_event::release_event(event).unwrap();
            }
        }
        data
    }

    /// The matrix of [`OFFSETS`], [`COLUMNS`] and [`VALUES`] over buffers with odd element offsets.
    pub fn matrix<V: RealValue, O: Offset>(&mut self) -> *mut sparrow_matrix {
        let buffers = self.csr::<V, O>();
        self.over(&buffers)
    }

    /// Its buffers.
    pub fn csr<V: RealValue, O: Offset>(&mut self) -> sparrow_csr_buffers {
        self.csr_of::<V, O>(COLS, &OFFSETS, &COLUMNS, &VALUES)
    }

    /// Buffers of any matrix, with odd element offsets.
    pub fn csr_of<V: RealValue, O: Offset>(
        &mut self,
        cols: usize,
        offsets: &[usize],
        columns: &[u32],
        values: &[f64],
    ) -> sparrow_csr_buffers {
        let offsets: Vec<O> =
            offsets.iter().map(|&offset| O::try_from_usize(offset).unwrap()).collect();
        let values: Vec<V> = values.iter().map(|&value| V::from_f64(value)).collect();
        sparrow_csr_buffers {
            size: size_of::<sparrow_csr_buffers>(),
            rows: offsets.len() as u64 - 1,
            cols: cols as u64,
            nnz: values.len() as u64,
            value_type: value_number(V::TYPE),
            offset_type: offset_number(O::TYPE),
            offsets: self.buffer(1, &offsets),
            columns: self.buffer(3, columns),
            values: self.buffer(before_what_is_written(5), &values),
        }
    }

    /// A matrix over buffers of the application's.
    pub fn over(&self, buffers: &sparrow_csr_buffers) -> *mut sparrow_matrix {
        let (context, queue) = (self.sparrow, self.queue);
        // SAFETY: everything is valid.
        made(|out| unsafe {
            sparrow_matrix_from_buffers_blocking(context, queue, buffers, 0, null(), out)
        })
    }

    /// Numbers in the type that a matrix of `V` is summed in.
    pub fn vector<V: RealValue>(&mut self, padding: usize, numbers: &[f64]) -> sparrow_buffer {
        let data: Vec<V::Accum> = numbers.iter().map(|&n| V::Accum::from_f64(n)).collect();
        self.buffer(padding, &data)
    }

    /// A plan and a workspace for it.
    ///
    /// # Panics
    /// It is refused.
    pub fn plan(
        &self,
        matrix: *mut sparrow_matrix,
        options: &sparrow_plan_options,
    ) -> (*mut sparrow_plan, *mut sparrow_workspace) {
        // SAFETY: everything is valid.
        unsafe {
            let plan = made(|out| {
                sparrow_plan_create_blocking(matrix, self.queue, options, 0, null(), out)
            });
            (plan, made(|out| sparrow_plan_workspace_blocking(plan, self.queue, out)))
        }
    }

    /// y of one product, with the numbers that were in y before.
    pub fn multiply<V: RealValue>(
        &mut self,
        (plan, workspace): (*mut sparrow_plan, *mut sparrow_workspace),
        a: *mut sparrow_matrix,
        (x, y): (&[f64], &[f64]),
        (alpha, beta): (sparrow_scalar, sparrow_scalar),
    ) -> Vec<f64> {
        let (x_buffer, y_buffer) = (self.vector::<V>(1, x), self.vector::<V>(3, y));
        let product = product(alpha, a, x_buffer, beta, y_buffer);
        let mut event = null_mut();
        // SAFETY: everything is valid.
        expect_success(unsafe {
            let product = &raw const product;
            sparrow_plan_launch(plan, self.queue, workspace, product, 0, null(), &raw mut event)
        });
        let y: Vec<V::Accum> = self.read(y_buffer, y.len(), event);
        y.into_iter().map(Real::to_f64).collect()
    }
}

impl Default for Application {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // SAFETY: each is released once, and nothing uses it any more.
        unsafe {
            expect_success(sparrow_context_release(self.sparrow));
            cl_queue::finish(self.queue).unwrap();
            for &memory in &self.shared {
                cl_memory::svm_free(self.context, memory).unwrap();
            }
            for &buffer in &self.buffers {
                cl_memory::release_mem_object(buffer).unwrap();
            }
            cl_queue::release_command_queue(self.queue).unwrap();
            cl_context::release_context(self.context).unwrap();
        }
    }
}

/// | 5 . 1 |
/// | . . . |
/// | . 7 3 |
/// | 2 . . |
///
/// Its rows.
pub const ROWS: usize = 4;
/// Its columns.
pub const COLS: usize = 3;
/// Where its rows begin.
pub const OFFSETS: [usize; 5] = [0, 2, 2, 4, 5];
/// Columns of its entries.
pub const COLUMNS: [u32; 5] = [0, 2, 1, 2, 0];
/// Values of its entries.
pub const VALUES: [f64; 5] = [5.0, 1.0, 7.0, 3.0, 2.0];
/// Its x.
pub const X: [f64; 3] = [1.0, 2.0, 3.0];
/// A x.
pub const AX: [f64; 4] = [8.0, 0.0, 23.0, 2.0];
/// y before.
pub const Y: [f64; 4] = [2.0, 4.0, 6.0, 8.0];
/// 2 A x + 0.5 y.
pub const AXPY: [f64; 4] = [17.0, 2.0, 49.0, 8.0];

/// What a function makes.
pub fn made<T>(call: impl FnOnce(*mut *mut T) -> sparrow_status) -> *mut T {
    let mut object = null_mut();
    expect_success(call(&raw mut object));
    assert!(!object.is_null());
    object
}

/// Panics with the error's text where a call was not well.
///
/// # Panics
/// So it does.
pub fn expect_success(status: sparrow_status) {
    assert_eq!(status, sparrow_status::SPARROW_STATUS_SUCCESS, "{}", last_error());
}

/// The text of a call that must fail in this way.
pub fn refusal(status: sparrow_status, expected: sparrow_status) -> String {
    assert_eq!(status, expected, "{}", last_error());
    last_error()
}

/// The text of this thread's last error.
pub fn last_error() -> String {
    text(sparrow_last_error())
}

/// A text of the library.
///
/// # Panics
/// It is not UTF-8.
pub fn text(pointer: *const c_char) -> String {
    // SAFETY: texts of the library end with a zero.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap().to_owned()
}

/// What a plan says of itself: algorithm, variant, reason, parameters.
pub fn info(plan: *const sparrow_plan) -> (sparrow_plan_info, [String; 4]) {
    let mut info = empty_info();
    // SAFETY: the plan is valid, and the size is set.
    expect_success(unsafe { sparrow_plan_get_info(plan, &raw mut info) });
    (info, [info.algorithm, info.variant, info.reason, info.parameters].map(text))
}
