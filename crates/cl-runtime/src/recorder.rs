//! Launches that are noted instead of enqueued.
//!
//! A [`Recorder`] stands where a launch's wait list would ([`After::Record`](crate::After::Record)): every launch that is
//! given it is noted with a kernel object of its own, whose arguments are set once, and nothing is enqueued. What it has
//! noted becomes a [`Recording`](crate::Recording).

use std::sync::{Mutex, PoisonError};

use crate::arguments::Arguments;
use crate::raw::{Kernel, Memory};
use crate::size::Size;
use crate::{Queue, Result};

/// Launches that were noted for a queue, and not enqueued.
#[derive(Debug)]
pub struct Recorder {
    queue: Queue,
    noted: Mutex<Noted>,
}

/// What was noted.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// Kernel objects with all arguments set; launches with the same arguments share one.
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) launches: Vec<Noting>,
    /// What the kernels read and write, once each: neither they nor a command buffer keep it alive.
    pub(crate) memory: Vec<Memory>,
}

/// A launch that was noted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noting {
    /// The index of its kernel.
    pub(crate) kernel: usize,
    pub(crate) size: Size,
    /// Whether a product ends with it: the next finds the workspace as it was before.
    pub(crate) is_last: bool,
}

impl Recorder {
    /// For launches in this queue.
    pub fn new(queue: &Queue) -> Self {
        Recorder { queue: queue.clone(), noted: Mutex::default() }
    }

    /// The queue.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Launches noted so far.
    pub fn len(&self) -> usize {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).launches.len()
    }

    /// Whether nothing was noted so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets launches after the first `count`, of a product that was noted in part.
    pub fn truncate(&self, count: usize) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).launches.truncate(count);
    }

    /// Says of launches after the first `count` that others of the same product follow.
    pub(crate) fn leave_open(&self, count: usize) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.launches.iter_mut().skip(count).for_each(|noting| noting.is_last = false);
    }

    /// Notes a launch of a kernel like this one.
    pub(crate) fn note<'m>(
        &self,
        kernel: &Kernel,
        arguments: &dyn Arguments<'m>,
        size: Size,
    ) -> Result<()> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = kernel.another()?;
        arguments.set(&mut own)?;
        for memory in arguments.memory()? {
            let is_known = noted.memory.iter().any(|known| known.is_same(memory));
            if !is_known {
                noted.memory.push(memory.clone());
            }
        }
        let known = noted.kernels.iter().position(|kernel| kernel.is_set_as(&own));
        let kernel = known.unwrap_or(noted.kernels.len());
        if known.is_none() {
            noted.kernels.push(own);
        }
        noted.launches.push(Noting { kernel, size, is_last: true });
        Ok(())
    }

    /// What was noted, and the queue that it was noted for.
    pub(crate) fn into_parts(self) -> (Queue, Noted) {
        (self.queue, self.noted.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}
