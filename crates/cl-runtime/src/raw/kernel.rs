//! Kernel objects. Arguments and launch of one kernel must not interleave, so both take `&mut self`.

use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use std::{mem, ptr};

use opencl3::kernel as cl;
use opencl3::types::{cl_event, cl_kernel, cl_mem};

use super::{DeviceId, EventHandle, Memory, QueueHandle, check, fault, make};
use crate::Result;

/// What the binding answers for a function that the library lacks.
const NOT_AVAILABLE: i32 = opencl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE;

/// Kernel objects of a program that a pool keeps.
const KEPT: usize = 8;

/// A kernel object, never shared between threads while it is set up. Dropped, it is kept for the next that asks its program
/// for one.
#[derive(Debug)]
pub struct Kernel {
    name: CString,
    handle: cl_kernel,
    pool: Arc<KernelPool>,
    /// What arguments are set to, by their index: most are the same from launch to launch, and each call of the driver's
    /// costs part of one.
    known: Vec<Option<Known>>,
}

/// What an argument is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// A number of up to 8 bytes, and how many it has.
    Plain([u8; 8], usize),
    /// A value of more bytes.
    Long(Box<[u8]>),
    /// A buffer, by its owner's id: a handle may be another buffer's by now.
    Buffer(u64),
    /// No memory.
    Nothing,
}

// SAFETY: a kernel may move between threads; `&mut self` keeps two from setting it up at once.
unsafe impl Send for Kernel {}
// SAFETY: `&self` methods only query.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// # Safety
    /// `handle` is a valid kernel of that name of the pool's program, and the caller gives up one reference to it.
    pub(super) unsafe fn from_created(
        name: CString,
        handle: cl_kernel,
        pool: Arc<KernelPool>,
    ) -> Self {
        Kernel { name, handle, pool, known: Vec::new() }
    }

    /// Sets argument `index` to a plain value; where it is set so already, there is nothing to do.
    ///
    /// # Errors
    /// The kernel declares another type at that index.
    pub fn set_value<T: bytemuck::Pod>(&mut self, index: u32, value: &T) -> Result<()> {
        let bytes = bytemuck::bytes_of(value);
        let known = if bytes.len() <= 8 {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            Known::Plain(padded, bytes.len())
        } else {
            match self.known.get(index as usize) {
                Some(Some(Known::Long(known))) if **known == *bytes => return Ok(()),
                _ => Known::Long(bytes.into()),
            }
        };
        self.set(index, Some(known), |handle| {
            // SAFETY: the value lives through the call, which copies exactly its bytes.
            let set = unsafe {
                cl::set_kernel_arg(handle, index, size_of::<T>(), ptr::from_ref(value).cast())
            };
            check("clSetKernelArg", set)
        })
    }

    /// Has `set` set argument `index` to what will be `known` of it, unless it is so already.
    fn set(
        &mut self,
        index: u32,
        known: Option<Known>,
        set: impl FnOnce(cl_kernel) -> Result<()>,
    ) -> Result<()> {
        let at = index as usize;
        if known.is_some() && self.known.get(at) == Some(&known) {
            return Ok(());
        }
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        // Nothing is known until the driver has taken it.
        self.known[at] = None;
        set(self.handle)?;
        self.known[at] = known;
        Ok(())
    }

    /// Sets argument `index` to memory; where it is set to that buffer already, there is nothing to do.
    ///
    /// # Errors
    /// The kernel declares no pointer at that index.
    pub fn set_memory(&mut self, index: u32, memory: &Memory) -> Result<()> {
        match memory {
            Memory::Buffer(buffer) => self.set(index, Some(Known::Buffer(buffer.id())), |handle| {
                let mem = buffer.as_raw();
                // SAFETY: the buffer is valid and lives through the call, which retains nothing; launches keep a
                // clone of the owner.
                let set = unsafe {
                    cl::set_kernel_arg(
                        handle,
                        index,
                        size_of_val(&mem),
                        (&raw const mem).cast::<c_void>(),
                    )
                };
                check("clSetKernelArg", set)
            }),
            Memory::Svm(allocation) => self.set(index, None, |handle| {
                // SAFETY: the pointer is shared virtual memory of this context.
                let set =
                    unsafe { cl::set_kernel_arg_svm_pointer(handle, index, allocation.as_raw()) };
                check("clSetKernelArgSVMPointer", set)
            }),
        }
    }

    /// Sets argument `index`, which must not be read or written then, to no memory.
    ///
    /// # Errors
    /// The kernel declares no pointer at that index.
    pub fn set_no_memory(&mut self, index: u32) -> Result<()> {
        self.set(index, Some(Known::Nothing), |handle| {
            // SAFETY: a pointer of a kernel may be set to nothing (OpenCL 1.2, section 5.7.2).
            let set =
                unsafe { cl::set_kernel_arg(handle, index, size_of::<cl_mem>(), ptr::null()) };
            check("clSetKernelArg", set)
        })
    }

    /// Another kernel object of its program and name: one that was dropped, else a new one.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn another(&self) -> Result<Self> {
        if let Some(kernel) = self.pool.take(&self.name) {
            return Ok(kernel);
        }
        let program = cl::get_kernel_data(self.handle, cl::CL_KERNEL_PROGRAM);
        let program: usize =
            check("clGetKernelInfo", program)?.try_into().map(usize::from_ne_bytes).unwrap_or(0);
        let program = ptr::with_exposed_provenance_mut(program);
        let handle = make("clCreateKernel", || cl::create_kernel(program, &self.name))?;
        // SAFETY: the handle is new, its one reference becomes the owner's, and its program is the pool's.
        Ok(unsafe { Kernel::from_created(self.name.clone(), handle, self.pool.clone()) })
    }

    /// Whether it is a kernel of the same program and name, and all arguments of both are known to be the same.
    pub fn is_set_as(&self, other: &Kernel) -> bool {
        Arc::ptr_eq(&self.pool, &other.pool)
            && self.name == other.name
            && self.known == other.known
            && self.known.iter().all(Option::is_some)
    }

    pub(super) fn as_raw(&self) -> cl_kernel {
        self.handle
    }

    /// The device it was built for.
    pub fn device(&self) -> DeviceId {
        self.pool.device
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }

    /// Enqueues `groups` work-groups of `group_size` items after the events in `wait`.
    ///
    /// # Safety
    /// Every argument is set, and its memory is as long as the kernel will read and write.
    ///
    /// # Errors
    /// The driver's own failure.
    pub unsafe fn enqueue(
        &mut self,
        queue: &QueueHandle,
        groups: usize,
        group_size: usize,
        wait: &[cl_event],
    ) -> Result<EventHandle> {
        let global = groups * group_size;
        // SAFETY: sizes and wait list live through the call; the rest is the caller's promise.
        let event = make("clEnqueueNDRangeKernel", || unsafe {
            opencl3::command_queue::enqueue_nd_range_kernel(
                queue.as_raw(),
                self.handle,
                1,
                ptr::null(),
                &raw const global,
                &raw const group_size,
                wait.len() as u32,
                if wait.is_empty() { ptr::null() } else { wait.as_ptr() },
            )
        })?;
        // SAFETY: the event is new, and its one reference becomes the owner's.
        Ok(unsafe { EventHandle::from_created(event) })
    }

    /// As [`Kernel::enqueue`], without an event to wait for: whatever is enqueued after it in an in-order queue
    /// still comes after it. Drivers take time to make an event.
    ///
    /// # Safety
    /// As there.
    ///
    /// # Errors
    /// The driver's own failure.
    pub unsafe fn enqueue_without_event(
        &mut self,
        queue: &QueueHandle,
        groups: usize,
        group_size: usize,
    ) -> Result<()> {
        let global = groups * group_size;
        make("clEnqueueNDRangeKernel", || {
            // The binding's own function for it always asks for an event.
            let library = cl3::load_library().as_ref().map_err(|_| NOT_AVAILABLE)?;
            // Sizes live through the call; the rest is the caller's promise.
            let status = library.clEnqueueNDRangeKernel(
                queue.as_raw(),
                self.handle,
                1,
                ptr::null(),
                &raw const global,
                &raw const group_size,
                0,
                ptr::null(),
                ptr::null_mut(),
            );
            match status {
                Some(0) => Ok(()),
                status => Err(status.unwrap_or(NOT_AVAILABLE)),
            }
        })?;
        // The seam counts an event for every launch, and here is none.
        fault::released(fault::Object::Event, Ok(()));
        Ok(())
    }

    /// The most items of a work-group this kernel can have on `device`.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn work_group_limit(&self, device: DeviceId) -> Result<usize> {
        self.work_group_number(device, cl::CL_KERNEL_WORK_GROUP_SIZE)
    }

    /// The items of a work-group that its source demands, in one dimension; 0 where it leaves them open.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn required_group_size(&self, device: DeviceId) -> Result<usize> {
        self.work_group_number(device, cl::CL_KERNEL_COMPILE_WORK_GROUP_SIZE)
    }

    /// Local memory of one work-group, in bytes.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn local_bytes(&self, device: DeviceId) -> Result<usize> {
        self.work_group_number(device, cl::CL_KERNEL_LOCAL_MEM_SIZE)
    }

    /// The answer, or the first of its numbers.
    fn work_group_number(&self, device: DeviceId, parameter: u32) -> Result<usize> {
        let data = cl::get_kernel_work_group_data(self.handle, device.as_raw(), parameter);
        let bytes = check("clGetKernelWorkGroupInfo", data)?;
        let first = bytes.first_chunk().copied();
        Ok(first.map_or(0, usize::from_ne_bytes))
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let known = mem::take(&mut self.known);
        self.pool.keep(Spare { name: mem::take(&mut self.name), handle: self.handle, known });
    }
}

/// Free list of one program's kernel objects: a driver may take as long to make one as to launch it (NVIDIA's, 2 us,
/// and 5 where it has a dozen arguments). What is in flight has its own copy of the arguments.
#[derive(Debug)]
pub(super) struct KernelPool {
    device: DeviceId,
    spares: Mutex<Vec<Spare>>,
}

impl KernelPool {
    /// An empty one, of a program that is built for `device`.
    pub(super) fn new(device: DeviceId) -> Self {
        KernelPool { device, spares: Mutex::default() }
    }

    /// A kernel of that name, if there is one.
    pub(super) fn take(self: &Arc<Self>, name: &CString) -> Option<Kernel> {
        if fault::is_awaited("clCreateKernel") {
            return None;
        }
        let mut spares = self.spares.lock().unwrap_or_else(PoisonError::into_inner);
        let at = spares.iter().position(|spare| spare.name == *name)?;
        let mut spare = spares.swap_remove(at);
        let (name, known) = (mem::take(&mut spare.name), mem::take(&mut spare.known));
        let handle = mem::replace(&mut spare.handle, ptr::null_mut());
        Some(Kernel { name, handle, pool: self.clone(), known })
    }

    /// Keeps a kernel, or releases it where there are enough.
    fn keep(&self, spare: Spare) {
        let mut spares = self.spares.lock().unwrap_or_else(PoisonError::into_inner);
        if spares.len() < KEPT && !fault::is_awaited("clCreateKernel") {
            spares.push(spare);
        }
    }
}

/// A kernel object of a pool; its handle is null where it was taken.
#[derive(Debug)]
struct Spare {
    name: CString,
    handle: cl_kernel,
    known: Vec<Option<Known>>,
}

// SAFETY: a kernel may move between threads, and a spare one is not used at all.
unsafe impl Send for Spare {}

impl Drop for Spare {
    fn drop(&mut self) {
        if self.handle.is_null() {
            return;
        }
        // SAFETY: this owner holds the kernel's one reference.
        let release = unsafe { cl::release_kernel(self.handle) };
        fault::released(fault::Object::Kernel, release);
    }
}
