//! Who hears of a launch: whoever asks for an event, or nobody.

use cl_kernels::KernelArguments;

use crate::launch::{Size, launch, launch_unobserved};
use crate::raw::Memory;
use crate::spmv::workspace::{OwnerId, Workspace};
use crate::{Event, Queue, Result};

mod sealed {
    pub trait Sealed {}
    impl Sealed for &[super::Event] {}
    impl<const N: usize> Sealed for &[super::Event; N] {}
    impl Sealed for Option<&[super::Event]> {}
    impl Sealed for super::Unobserved {}
}

/// What a launch comes after, and whether an event is made for it: a list of events for one of its own, or
/// [`Unobserved`]. `None` is `Unobserved` where that is known at run time alone.
pub trait Observation: sealed::Sealed {
    /// An event, or nothing.
    type Event;

    /// Enqueues a launch.
    ///
    /// # Safety
    /// The memory in its arguments is as long as the kernel will read and write.
    ///
    /// # Errors
    /// An event in the list that has ended in error already, or the driver's own failure.
    #[doc(hidden)]
    #[expect(unsafe_code, reason = "as `launch`")]
    unsafe fn enqueue<'m, A: KernelArguments<&'m Memory>>(
        self,
        prepared: Prepared<'_, A>,
    ) -> Result<Self::Event>;
}

/// After what is in the queue already, and without an event: what comes next in an in-order queue comes after it. An
/// event takes a GPU time of its own between two kernels (2 us on an H200). In a queue out of order only a barrier of
/// the caller's comes after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unobserved;

/// A launch of one of a workspace's kernels, but for who hears of it.
#[derive(Debug)]
pub struct Prepared<'a, A> {
    pub(crate) owner: OwnerId,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) queue: &'a Queue,
    /// Of the kernel.
    pub(crate) number: usize,
    pub(crate) arguments: A,
    pub(crate) size: Size,
}

#[expect(unsafe_code, reason = "as `launch`")]
impl Observation for &[Event] {
    type Event = Event;

    unsafe fn enqueue<'m, A: KernelArguments<&'m Memory>>(
        self,
        prepared: Prepared<'_, A>,
    ) -> Result<Event> {
        let Prepared { owner, workspace, queue, number, arguments, size } = prepared;
        workspace.run(owner, queue, self, |parts| {
            // SAFETY: the caller's promise.
            unsafe { launch(queue, &mut parts.kernels[number], &arguments, size, &parts.wait) }
        })
    }
}

#[expect(unsafe_code, reason = "as `launch`")]
impl<const N: usize> Observation for &[Event; N] {
    type Event = Event;

    unsafe fn enqueue<'m, A: KernelArguments<&'m Memory>>(
        self,
        prepared: Prepared<'_, A>,
    ) -> Result<Event> {
        // SAFETY: the caller's promise.
        unsafe { self.as_slice().enqueue(prepared) }
    }
}

#[expect(unsafe_code, reason = "as `launch`")]
impl Observation for Unobserved {
    type Event = ();

    unsafe fn enqueue<'m, A: KernelArguments<&'m Memory>>(
        self,
        prepared: Prepared<'_, A>,
    ) -> Result<()> {
        let Some(in_order) = prepared.queue.in_order() else {
            // SAFETY: the caller's promise.
            return unsafe { <&[Event]>::default().enqueue(prepared).map(drop) };
        };
        let Prepared { owner, workspace, queue, number, arguments, size } = prepared;
        workspace.run_unobserved(owner, in_order, |kernels, _| {
            // SAFETY: the caller's promise.
            unsafe { launch_unobserved(queue, &mut kernels[number], &arguments, size) }
        })
    }
}

#[expect(unsafe_code, reason = "as `launch`")]
impl Observation for Option<&[Event]> {
    type Event = Option<Event>;

    unsafe fn enqueue<'m, A: KernelArguments<&'m Memory>>(
        self,
        prepared: Prepared<'_, A>,
    ) -> Result<Option<Event>> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Some(wait) => wait.enqueue(prepared).map(Some),
                None => Unobserved.enqueue(prepared).map(|()| None),
            }
        }
    }
}
