//! Recordings of products whose types the compiler knows.

use std::marker::PhantomData;

use cl_runtime::{Queue, Replay};
use csr_core::{Offset, Value};

use super::{Operands, Plan};
use crate::{AnyRecorder, AnyRecording, Result};

/// Takes products down, in the order in which each replay makes them, as [`AnyRecorder`].
///
/// ```
/// # fn main() -> Result<(), sparrow::Error> {
/// use sparrow::{Context, Csr, Device, DeviceArray, Matrix, NoEvent, Operands, Plan, PlanOptions, Queue, Replay};
///
/// let queue = Queue::new(&Context::new(&Device::best()?)?)?;
/// let a: Csr<f32> = Csr::new(2, vec![0, 1, 2], vec![1, 0], vec![2.0, 1.0])?;
/// let a = Matrix::upload_blocking(&queue, a.view())?;
/// let plan = Plan::new_blocking(&queue, &a, &PlanOptions::default())?;
/// let mut x = DeviceArray::upload_blocking(&queue, &[1.0, 3.0])?;
/// let mut y = DeviceArray::upload_blocking(&queue, &[0.0, 0.0])?;
///
/// // y = A x and x = A y, which are enqueued ten times by one call.
/// let mut recorder = plan.recorder_blocking(&queue)?;
/// let operands = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
/// recorder.product(operands)?;
/// let operands = Operands { alpha: 1.0.into(), a: &a, x: &y, beta: 0.0.into(), y: &mut x };
/// recorder.product(operands)?;
/// let mut to_and_fro = recorder.finish_blocking(Replay::Automatic)?;
/// plan.launch_many(&mut to_and_fro, &a, 10, NoEvent)?;
/// assert_eq!(x.read_blocking(&queue)?, [1024.0, 3072.0]);
/// # Ok(())
/// # }
/// ```
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
    pub fn product(&mut self, product: Operands<'_, V, O>) -> Result<()> {
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
