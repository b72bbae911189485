//! Arrays that an application has in its own memory, and where kernels and the host find them.
#![expect(unsafe_code, reason = "stands for an application with memory of its own")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ffi::c_void;
use std::ptr;

use crate::say;
use bytemuck::Pod;
use cl_runtime::raw::{MemHandle, Memory};
use opencl3::{command_queue, event, kernel, memory, program};
use sparrow::{Csr, DeviceArray, HostAccess, Matrix, Offset, Queue, Value};

/// Where an application has its arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// In fine-grained shared virtual memory.
    InSharedMemory,
    /// In memory of the process that a buffer was made on (CL_MEM_USE_HOST_PTR).
    UnderABuffer,
}

/// The ways of [`Lies`] that the device has.
pub fn ways(queue: &Queue) -> Vec<Lies> {
    match queue.context().device().traits().host_access() {
        HostAccess::FineGrainedSystem | HostAccess::FineGrainedBuffer => {
            vec![Lies::InSharedMemory, Lies::UnderABuffer]
        }
        HostAccess::CoarseGrained | HostAccess::MappedBuffers => vec![Lies::UnderABuffer],
        access @ HostAccess::Copies => {
            say(&format!("arrays in place: not applicable, the CPU reaches them {access}"));
            Vec::new()
        }
    }
}

/// Memory of the application's, which lives until the queue it was made with has nothing to do.
pub struct InPlace<T> {
    queue: Queue,
    /// The array as the library is given it; `None` only while it is dropped.
    array: Option<DeviceArray<T>>,
    address: *mut T,
    /// What the address is in, unless it is shared virtual memory.
    _owner: Vec<u64>,
    is_svm: bool,
}

impl<T: Pod> InPlace<T> {
    /// `data`, at a page's beginning.
    pub fn new(queue: &Queue, lies: Lies, data: &[T]) -> Self {
        const PAGE: usize = 4096;
        let (context, bytes) = (queue.context().as_raw(), size_of_val(data).max(1));
        let (owner, address, array) = match lies {
            Lies::InSharedMemory => {
                let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_SVM_FINE_GRAIN_BUFFER;
                // SAFETY: the context is valid.
                let address = unsafe { memory::svm_alloc(context, flags, bytes, 0).unwrap() };
                let address = address.cast::<T>();
                // SAFETY: it was allocated in this context, as long, and is freed after the array.
                let array = unsafe { DeviceArray::from_svm(address, data.len(), true).unwrap() };
                (Vec::new(), address, array)
            }
            Lies::UnderABuffer => {
                let mut owner = vec![0u64; (bytes + 2 * PAGE) / 8];
                let before = owner.as_ptr().align_offset(PAGE);
                let address = owner[before..].as_mut_ptr().cast::<T>();
                let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_USE_HOST_PTR;
                // SAFETY: the memory is the application's, as long as the buffer, and outlives it.
                let buffer = unsafe {
                    let made = memory::create_buffer(context, flags, bytes, address.cast());
                    Memory::Buffer(MemHandle::from_owned(made.unwrap()))
                };
                (owner, address, DeviceArray::of_memory(buffer, 0, data.len()).unwrap())
            }
        };
        let is_svm = lies == Lies::InSharedMemory;
        let mut made =
            InPlace { queue: queue.clone(), array: Some(array), address, _owner: owner, is_svm };
        made.array_mut().write_blocking(queue, data).unwrap();
        made
    }

    /// The array.
    pub fn array(&self) -> &DeviceArray<T> {
        self.array.as_ref().unwrap()
    }

    /// The array.
    pub fn array_mut(&mut self) -> &mut DeviceArray<T> {
        self.array.as_mut().unwrap()
    }

    /// Where the application has it.
    pub fn address(&self) -> usize {
        self.address.addr()
    }
}

impl<T> Drop for InPlace<T> {
    fn drop(&mut self) {
        self.queue.finish_blocking().unwrap();
        self.array = None;
        if self.is_svm {
            // SAFETY: it was allocated there, and nothing uses it any more.
            unsafe { memory::svm_free(self.queue.context().as_raw(), self.address.cast()) }
                .unwrap();
        }
    }
}

/// A matrix in the application's memory.
pub struct MatrixInPlace<V, O> {
    /// As the library is given it. It goes before its arrays.
    pub matrix: Matrix<V, O>,
    /// Its row offsets, columns and values.
    pub arrays: (InPlace<O>, InPlace<u32>, InPlace<V>),
}

impl<V: Value, O: Offset> MatrixInPlace<V, O> {
    /// The arrays of `host`, in the application's memory.
    pub fn new(queue: &Queue, lies: Lies, host: &Csr<V, O>) -> Self {
        let offsets = InPlace::new(queue, lies, host.pattern().offsets());
        let columns = InPlace::new(queue, lies, host.pattern().columns());
        let values = InPlace::new(queue, lies, host.values());
        let part = |len| 0..len;
        // SAFETY: a checked matrix's arrays, which outlive this one.
        let matrix = unsafe {
            Matrix::from_arrays_blocking(
                queue,
                host.cols(),
                offsets.array().slice(part(host.rows() + 1)).unwrap(),
                columns.array().slice(part(host.nnz())).unwrap(),
                values.array().slice(part(host.nnz())).unwrap(),
            )
        };
        MatrixInPlace { matrix: matrix.unwrap(), arrays: (offsets, columns, values) }
    }
}

/// The address at which a kernel finds the first element.
pub fn address_in_a_kernel<T: Pod>(queue: &Queue, array: &DeviceArray<T>) -> usize {
    const SOURCE: &str = "__kernel void find(__global char *p, ulong start, __global ulong *found) \
                          { *found = (ulong)(p + start); }";
    let (context, device) = (queue.context().as_raw(), queue.context().device().id().as_raw());
    let found = DeviceArray::<u64>::upload_blocking(queue, &[0]).unwrap();
    let (data, start) = array.memory();
    let start = start as u64;
    // SAFETY: plain calls of OpenCL, with handles of this context; all is released that is made.
    unsafe {
        let built = program::create_program_with_source(context, &[SOURCE]).unwrap();
        program::build_program(built, &[device], c"", None, ptr::null_mut()).unwrap();
        let find = kernel::create_kernel(built, c"find").unwrap();
        match data {
            Memory::Svm(allocation) => {
                kernel::set_kernel_arg_svm_pointer(find, 0, allocation.as_raw()).unwrap();
            }
            Memory::Buffer(_) => set(find, 0, &data.as_raw().unwrap()),
        }
        set(find, 1, &start);
        set(find, 2, &found.memory().0.as_raw().unwrap());
        let one = 1usize;
        let (none, size) = (ptr::null(), &raw const one);
        let run = command_queue::enqueue_nd_range_kernel(
            queue.as_raw(),
            find,
            1,
            none,
            size,
            size,
            0,
            ptr::null(),
        );
        event::release_event(run.unwrap()).unwrap();
        let found = found.read_blocking(queue).unwrap()[0];
        kernel::release_kernel(find).unwrap();
        program::release_program(built).unwrap();
        found as usize
    }
}

/// # Safety
/// The kernel is valid, and its argument has this type.
unsafe fn set<T>(of: *mut c_void, index: u32, value: &T) {
    // SAFETY: the caller's promise.
    unsafe { kernel::set_kernel_arg(of, index, size_of::<T>(), ptr::from_ref(value).cast()) }
        .unwrap();
}
