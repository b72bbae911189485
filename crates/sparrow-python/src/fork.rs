//! Processes that were forked after OpenCL was opened: its threads and locks are the parent's, so the child is told.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::errors::{Failure, Result};

/// The process that opened OpenCL first; 0 before.
static OPENED_IN: AtomicU32 = AtomicU32::new(0);

/// Says that OpenCL is about to be used.
///
/// # Errors
/// It was opened by the process that this one was forked from.
pub(crate) fn check() -> Result<()> {
    let here = std::process::id();
    let before = OPENED_IN.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed);
    match before {
        Err(there) if there != here => Err(Failure::state(format!(
            "this process ({here}) was forked from process {there} after that had opened OpenCL, whose threads are not \
             here: start processes by multiprocessing.get_context(\"spawn\"), or fork before the first product"
        ))),
        _ => Ok(()),
    }
}

/// Something with OpenCL objects in it, which a forked child leaves alone instead of releasing it.
#[derive(Debug)]
pub(crate) struct OfProcess<T> {
    inner: ManuallyDrop<T>,
    process: u32,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(inner: T) -> Self {
        OfProcess { inner: ManuallyDrop::new(inner), process: std::process::id() }
    }
}

impl<T> Deref for OfProcess<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // SAFETY: nothing uses it after this.
            unsafe { ManuallyDrop::drop(&mut self.inner) };
        }
    }
}
