//! A matrix's pattern as the host sees it: in place where host and device share their memory, else copied.

use std::ops::Deref;

use bytemuck::Pod;
use csr_core::{Offset, PatternView, Value};

use crate::{DeviceArray, HostView, Matrix, Queue, Result};

/// Elements of an array that the host can read.
#[derive(Debug)]
pub enum OnHost<'a, T> {
    /// Where they lie.
    Seen(HostView<'a, T>),
    /// Read back.
    Copied(Vec<T>),
}

impl<T: Pod> Deref for OnHost<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            OnHost::Seen(view) => view,
            OnHost::Copied(elements) => elements,
        }
    }
}

/// Both arrays of a pattern.
#[derive(Debug)]
pub struct HostPattern<'a, O> {
    cols: usize,
    offsets: OnHost<'a, O>,
    columns: OnHost<'a, u32>,
}

impl<O: Offset> HostPattern<'_, O> {
    /// The pattern, with every invariant checked: the arrays may be the application's.
    ///
    /// # Errors
    /// The first invariant that is broken, with its place.
    pub fn check(&self) -> Result<PatternView<'_, O>> {
        Ok(PatternView::new(self.cols, &self.offsets, &self.columns)?)
    }
}

impl<V: Value, O: Offset> Matrix<V, O> {
    /// The row offsets, after everything before in `queue`.
    ///
    /// # Errors
    /// A queue of another context, or the driver's own failure.
    pub fn host_offsets_blocking(&self, queue: &Queue) -> Result<OnHost<'_, O>> {
        on_host_blocking(queue, self.offsets())
    }

    /// The pattern, after everything before in `queue`.
    ///
    /// # Errors
    /// A queue of another context, or the driver's own failure.
    pub fn host_pattern_blocking(&self, queue: &Queue) -> Result<HostPattern<'_, O>> {
        let offsets = on_host_blocking(queue, self.offsets())?;
        let columns = on_host_blocking(queue, self.columns())?;
        Ok(HostPattern { cols: self.cols(), offsets, columns })
    }
}

/// An array of a pattern.
fn on_host_blocking<'a, T: Pod>(queue: &Queue, array: &'a DeviceArray<T>) -> Result<OnHost<'a, T>> {
    if !queue.context().device().traits().has_host_memory {
        return Ok(OnHost::Copied(array.read_blocking(queue)?));
    }
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    // SAFETY: a matrix's pattern never changes, as whoever made it of arrays of their own has promised.
    let view = unsafe { array.view_blocking(queue)? };
    Ok(OnHost::Seen(view))
}
