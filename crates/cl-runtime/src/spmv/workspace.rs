//! What a launch scribbles on, and the kernel objects it sets up.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::raw::{Kernel, Memory};
use crate::{DeviceArray, Error, Event, Queue, Result};

use cl_kernels::{Array, DeviceType};

/// Ties a workspace to the algorithm object it was made by: counters of one plan say nothing to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnerId(u64);

impl OwnerId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        OwnerId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Kernel objects and scratch memory of one launch in flight, which `&mut` enforces while a launch is
/// set up; a launch from another queue waits on the device for the one before.
#[derive(Debug)]
pub struct Workspace {
    owner: OwnerId,
    kernel: Kernel,
    scratch: DeviceArray<u32>,
    launches: u32,
    last: Option<(Queue, Event)>,
}

impl Workspace {
    /// A workspace of `words` 32-bit words, all zero.
    pub(crate) fn new_blocking(
        queue: &Queue,
        owner: OwnerId,
        kernel: Kernel,
        words: usize,
    ) -> Result<Self> {
        let scratch = zeroed_blocking(queue, words)?;
        Ok(Workspace { owner, kernel, scratch, launches: 0, last: None })
    }

    /// Bytes of scratch memory on the device.
    pub fn size_bytes(&self) -> usize {
        self.scratch.size_bytes()
    }

    /// Runs one launch of `owner`'s kernel; a launch that is refused before it runs does not count.
    pub(crate) fn run(
        &mut self,
        owner: OwnerId,
        queue: &Queue,
        wait: &[Event],
        launch: impl FnOnce(Parts<'_>) -> Result<Event>,
    ) -> Result<Event> {
        if self.owner != owner {
            let text = "the workspace was made by another plan than the one that launches";
            return Err(Error::Mismatch(text.to_owned()));
        }
        let mut wait = wait.to_vec();
        if let Some((last_queue, event)) = &self.last
            && !(last_queue.as_raw() == queue.as_raw() && queue.is_in_order())
        {
            // Nobody but the queue it is in may have been told of that launch, and a queue that was not
            // flushed need not begin: waiting for it from another could take for ever.
            last_queue.flush()?;
            wait.push(event.clone());
        }
        let number = self.launches.wrapping_add(1);
        let event = launch(Parts {
            kernel: &mut self.kernel,
            scratch: self.scratch.argument(),
            launch: number,
            wait,
        })?;
        self.launches = number;
        self.last = Some((queue.clone(), event.clone()));
        Ok(event)
    }
}

/// `words` zeros on the device. A fill there is far faster than a copy from here, but on a CPU there is no
/// way to go, and Oclgrind takes filled memory for uninitialised.
pub(crate) fn zeroed_blocking(queue: &Queue, words: usize) -> Result<DeviceArray<u32>> {
    if queue.context().device().traits().device_type == DeviceType::Cpu {
        return DeviceArray::upload_blocking(queue, &vec![0; words]);
    }
    let mut zeros = DeviceArray::allocate(queue.context(), words)?;
    if let Some(filled) = zeros.fill(queue, 0)? {
        filled.wait()?;
    }
    Ok(zeros)
}

/// What one launch may use.
pub(crate) struct Parts<'a> {
    pub(crate) kernel: &'a mut Kernel,
    pub(crate) scratch: Array<&'a Memory>,
    /// Launches of this workspace so far, this one included.
    pub(crate) launch: u32,
    pub(crate) wait: Vec<Event>,
}
