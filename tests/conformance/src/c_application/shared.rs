//! The application's arrays in shared virtual memory instead of buffers.

use std::cell::Cell;
use std::ptr::null;

use bytemuck::Pod;
use opencl3::command_queue as cl_queue;
use opencl3::event as cl_event;
use opencl3::memory as cl_memory;
use opencl3::types;
use sparrow_c::sparrow_buffer;

use super::Application;

thread_local! {
    static SHARED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the device has shared virtual memory; else that is said.
pub fn has_shared_memory() -> bool {
    let device = crate::device();
    let has = device.traits().svm.coarse_grain_buffer;
    if !has {
        let name = &device.traits().name;
        crate::say(&format!("shared virtual memory: not applicable, {name} has none"));
    }
    has
}

/// Runs a test whose applications have all their arrays in shared virtual memory, coarse-grained.
pub fn in_shared_memory(test: impl FnOnce()) {
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            SHARED.set(false);
        }
    }
    let _back = Back;
    SHARED.set(true);
    test();
}

pub(super) fn is_shared() -> bool {
    SHARED.get()
}

impl Application {
    pub(super) fn shared<T: Pod>(&mut self, padding: usize, data: &[T]) -> sparrow_buffer {
        let start = padding * size_of::<T>();
        let content = [&vec![T::zeroed(); padding], data].concat();
        let bytes = size_of_val(&content[..]);
        // SAFETY: the context is valid, and the content lives through the copy, which blocks.
        unsafe {
            let flags = cl_memory::CL_MEM_READ_WRITE;
            let svm = cl_memory::svm_alloc(self.context, flags, bytes.max(1), 0).unwrap();
            self.shared.push(svm);
            if !content.is_empty() {
                let from = content.as_ptr().cast();
                let copied =
                    cl_queue::enqueue_svm_mem_cpy(self.queue, 1, svm, from, bytes, 0, null());
                cl_event::release_event(copied.unwrap()).unwrap();
            }
            sparrow_buffer { memory: std::ptr::null_mut(), byte_offset: start as u64, svm }
        }
    }

    pub(super) fn read_shared<T: Pod>(
        &self,
        buffer: sparrow_buffer,
        len: usize,
        event: types::cl_event,
    ) -> Vec<T> {
        let mut data = vec![T::zeroed(); len];
        let (count, list) = if event.is_null() { (0, null()) } else { (1, &raw const event) };
        let from = buffer.svm.wrapping_byte_add(buffer.byte_offset as usize);
        let (to, bytes) = (data.as_mut_ptr().cast(), len * size_of::<T>());
        // SAFETY: the data lives through the copy, which blocks.
        unsafe {
            let read = cl_queue::enqueue_svm_mem_cpy(self.queue, 1, to, from, bytes, count, list);
            cl_event::release_event(read.unwrap()).unwrap();
            if !event.is_null() {
                cl_event::release_event(event).unwrap();
            }
        }
        data
    }
}
