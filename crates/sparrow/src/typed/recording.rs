//! Recordings of products whose types the compiler knows.

use std::marker::PhantomData;

use cl_runtime::{Queue, Replay};
use csr_core::{Offset, Value};

use super::{Plan, Product};
use crate::{AnyRecorder, AnyRecording, Result};

/// Takes products down, in the order in which each replay makes them, as [`AnyRecorder`].
#[derive(Debug)]
pub struct Recorder<'p, V, O = u32> {
    any: AnyRecorder<'p>,
    types: PhantomData<fn() -> (V, O)>,
}

impl<V: Value, O: Offset> Plan<V, O> {
    /// Begins a recording of products, as [`AnyPlan::recorder_blocking`](crate::AnyPlan::recorder_blocking).
    ///
    /// # Errors
    /// As there.
    pub fn recorder_blocking(&self, queue: &Queue) -> Result<Recorder<'_, V, O>> {
        let any = (**self).recorder_blocking(queue)?;
        Ok(Recorder { any, types: PhantomData })
    }
}

impl<V: Value, O: Offset> Recorder<'_, V, O> {
    /// Records y = alpha A x + beta y, as [`AnyRecorder::product`].
    ///
    /// # Errors
    /// As there.
    pub fn product(&mut self, product: Product<'_, V, O>) -> Result<()> {
        self.any.product(product.into())
    }

    /// What was recorded, as [`AnyRecorder::finish_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn finish_blocking(self, replay: Replay) -> Result<AnyRecording> {
        self.any.finish_blocking(replay)
    }
}
