//! Setting a kernel's arguments by name and enqueueing it.

use cl_kernels::{ArgumentSink, Array, KernelArguments, Scalar};

use crate::raw::{Kernel, Memory, SvmAllocation};
use crate::{Event, Program, Queue, Result};

/// How many items a launch has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Work-groups; with none, nothing is launched.
    pub(crate) groups: usize,
    /// Items of each.
    pub(crate) group_size: usize,
}

/// Sets all arguments and enqueues the kernel after `wait`; without groups, an event that completes
/// when `wait` has.
///
/// # Safety
/// The memory in `arguments` is as long as the kernel will read and write.
#[expect(
    unsafe_code,
    reason = "what a kernel does with its memory is the launching algorithm's promise"
)]
pub(crate) unsafe fn launch<'a, A: KernelArguments<&'a Memory>>(
    queue: &Queue,
    kernel: &mut Kernel,
    arguments: &A,
    size: Size,
    wait: &[Event],
) -> Result<Event> {
    let wait: Vec<_> = wait.iter().map(Event::as_raw).collect();
    if size.groups == 0 {
        return queue.handle().marker(&wait);
    }
    let shared = set_arguments(kernel, arguments)?;
    // SAFETY: all arguments were just set; the rest is the caller's promise.
    let event = unsafe { kernel.enqueue(queue.handle(), size.groups, size.group_size, &wait)? };
    for allocation in shared {
        allocation.note_use(&event);
    }
    Ok(event)
}

/// Launches of one program's kernels, each after the one before.
pub(crate) struct Steps<'a> {
    queue: &'a Queue,
    program: &'a Program,
    group_size: usize,
    /// Made once each: a driver may take longer for that than for a launch.
    kernels: Vec<(&'static str, Kernel)>,
}

impl<'a> Steps<'a> {
    /// Of groups of `group_size` items.
    pub(crate) fn new(queue: &'a Queue, program: &'a Program, group_size: usize) -> Self {
        Steps { queue, program, group_size, kernels: Vec::new() }
    }

    /// Groups for `items` items.
    pub(crate) fn groups(&self, items: usize) -> usize {
        items.div_ceil(self.group_size)
    }

    /// Enqueues the kernel that takes these arguments.
    ///
    /// # Safety
    /// As [`launch`].
    #[expect(unsafe_code, reason = "as `launch`")]
    pub(crate) unsafe fn run<'m, A: KernelArguments<&'m Memory>>(
        &mut self,
        arguments: &A,
        groups: usize,
    ) -> Result<Event> {
        let known = self.kernels.iter().position(|(name, _)| *name == A::KERNEL);
        let at = match known {
            Some(at) => at,
            None => {
                self.kernels.push((A::KERNEL, self.program.kernel(A::KERNEL)?));
                self.kernels.len() - 1
            }
        };
        let size = Size { groups, group_size: self.group_size };
        // SAFETY: the caller's promise.
        let event = unsafe { launch(self.queue, &mut self.kernels[at].1, arguments, size, &[])? };
        self.queue.settle_blocking(&event)?;
        Ok(event)
    }
}

/// As [`launch`], after nothing, in an in-order queue: no event is made for it, which takes a GPU time of its own (2 us on
/// an H200). Only shared virtual memory has to be watched.
///
/// # Safety
/// As there.
#[expect(
    unsafe_code,
    reason = "what a kernel does with its memory is the launching algorithm's promise"
)]
pub(crate) unsafe fn launch_unobserved<'a, A: KernelArguments<&'a Memory>>(
    queue: &Queue,
    kernel: &mut Kernel,
    arguments: &A,
    size: Size,
) -> Result<()> {
    if size.groups == 0 {
        return Ok(());
    }
    let shared = set_arguments(kernel, arguments)?;
    if shared.is_empty() {
        // SAFETY: all arguments were just set; the rest is the caller's promise.
        return unsafe { kernel.enqueue_unobserved(queue.handle(), size.groups, size.group_size) };
    }
    // SAFETY: as above.
    let event = unsafe { kernel.enqueue(queue.handle(), size.groups, size.group_size, &[])? };
    for allocation in shared {
        allocation.note_use(&event);
    }
    Ok(())
}

/// As [`launch`], after what `queue` holds and before whatever comes next in it: no event is made where the queue sees
/// to that, and where it does not, the launch is waited for.
///
/// # Safety
/// As there.
#[expect(
    unsafe_code,
    reason = "what a kernel does with its memory is the launching algorithm's promise"
)]
pub(crate) unsafe fn launch_next<'a, A: KernelArguments<&'a Memory>>(
    queue: &Queue,
    kernel: &mut Kernel,
    arguments: &A,
    size: Size,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if queue.is_in_order() {
            return launch_unobserved(queue, kernel, arguments, size);
        }
        queue.settle_blocking(&launch(queue, kernel, arguments, size, &[])?)
    }
}

/// Sets all arguments; the shared virtual memory among them.
fn set_arguments<'a, A: KernelArguments<&'a Memory>>(
    kernel: &mut Kernel,
    arguments: &A,
) -> Result<Vec<&'a SvmAllocation>> {
    let mut setter = Setter { kernel, next: 0, shared: Vec::new() };
    arguments.visit(&mut setter)?;
    Ok(setter.shared)
}

/// Sets arguments one after another, in the order the kernel's struct declares them.
struct Setter<'k, 'a> {
    kernel: &'k mut Kernel,
    next: u32,
    shared: Vec<&'a SvmAllocation>,
}

impl Setter<'_, '_> {
    fn value<T: bytemuck::Pod>(&mut self, value: &T) -> Result<()> {
        self.kernel.set_value(self.next, value)?;
        self.next += 1;
        Ok(())
    }
}

impl<'a> ArgumentSink<&'a Memory> for Setter<'_, 'a> {
    type Error = crate::Error;

    fn uint(&mut self, value: u32) -> Result<()> {
        self.value(&value)
    }

    fn ulong(&mut self, value: u64) -> Result<()> {
        self.value(&value)
    }

    fn ulong16(&mut self, value: &[u64; 16]) -> Result<()> {
        self.value(value)
    }

    fn array(&mut self, array: &Array<&'a Memory>) -> Result<()> {
        self.kernel.set_memory(self.next, array.memory)?;
        self.next += 1;
        if let Memory::Svm(allocation) = array.memory {
            self.shared.push(allocation);
        }
        self.value(&array.start)
    }

    fn scalar(&mut self, scalar: &Scalar<&'a Memory>) -> Result<()> {
        match scalar {
            Scalar::F32(value) => self.value(value),
            Scalar::F64(value) => self.value(value),
            Scalar::Device(array) => self.array(array),
        }
    }
}
