//! What computes with the first device: host threads, or a second OpenCL device.

use cl_kernels::{Accumulate, Experiment, Scalar};
use cl_runtime::spmv::{Operands, SegmentedSum, Specialisation, Spmv, Workspace};
use cl_runtime::{After, DeviceArray, Event, Queue};
use csr_core::{Accumulator as _, CsrView, Offset, Value, part_of_row, product_of_rows};

use crate::plan::segmented_sum;
use crate::{Matrix, PlanOptions, Result};

/// A part of a product: the nonzeros from a tile's boundary to the end.
#[derive(Debug)]
pub(super) struct Chunk<'p, V: Value> {
    /// Its first nonzero.
    pub(super) nonzero: usize,
    /// The row in the middle of which it begins, if it does.
    pub(super) cut_row: Option<usize>,
    /// The first row that is all its own; they go on to the last.
    pub(super) first_row: usize,
    /// Scales A x.
    pub(super) alpha: V::Accum,
    /// Scales y.
    pub(super) beta: V::Accum,
    /// The vector x.
    pub(super) x: &'p [V::Accum],
    /// Rows of y from `first_row` on: what was there where beta is not 0, then the results.
    pub(super) y: &'p mut [V::Accum],
}

/// Computes parts of a product.
pub(super) enum Worker<V: Value, O> {
    Host,
    Device(Box<OnDevice<V, O>>),
}

impl<V: Value, O: Offset> Worker<V, O> {
    /// Computes the part of the matrix: rows into `chunk.y`, and what it has of the row it begins in the middle of.
    pub(super) fn compute_blocking(
        &mut self,
        a: CsrView<'_, V, O>,
        chunk: Chunk<'_, V>,
    ) -> Result<V::Accum> {
        match self {
            Worker::Host => on_host(a, chunk),
            Worker::Device(device) => device.compute_blocking(chunk),
        }
    }

    /// Waits for what is enqueued, whatever becomes of it.
    pub(super) fn settle_blocking(&self) {
        if let Worker::Device(device) = self {
            let _ = device.queue.finish_blocking();
        }
    }

    /// Bytes of arrays of its own.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Worker::Host => 0,
            Worker::Device(device) => device.bytes(),
        }
    }

    /// The name reports give it.
    pub(super) fn name(&self) -> String {
        match self {
            Worker::Host => "host".to_owned(),
            Worker::Device(device) => device.queue.context().device().traits().name.clone(),
        }
    }
}

fn on_host<V: Value, O: Offset>(a: CsrView<'_, V, O>, chunk: Chunk<'_, V>) -> Result<V::Accum> {
    let zero = V::Accum::from_f64(0.0);
    product_of_rows(chunk.alpha, a, chunk.x, chunk.beta, chunk.first_row, chunk.y)?;
    Ok(chunk.cut_row.map_or(zero, |row| {
        let skipped = chunk.nonzero - a.pattern().offsets()[row].to_usize();
        part_of_row(a, chunk.x, skipped, row)
    }))
}

/// A second device. The matrix and x are lent to it where it shares the host's memory, else it has copies.
pub(super) struct OnDevice<V: Value, O> {
    queue: Queue,
    matrix: Matrix<V, O>,
    spmv: SegmentedSum,
    workspace: Workspace,
    /// A copy; `None` where x is lent.
    x: Option<DeviceArray<V::Accum>>,
    y: DeviceArray<V::Accum>,
}

impl<V: Value, O: Offset> OnDevice<V, O> {
    /// Lends or uploads the matrix.
    ///
    /// # Safety
    /// The matrix stays where it is until this is dropped, and nothing writes it.
    ///
    /// # Errors
    /// Hyper-parameters that the device cannot take, or the driver's own failure.
    #[expect(unsafe_code, reason = "the compiler does not see how long commands take")]
    pub(super) unsafe fn new_blocking(
        queue: &Queue,
        a: CsrView<'_, V, O>,
        options: &PlanOptions,
    ) -> Result<Self> {
        let context = queue.context();
        let is_lent = context.device().traits().host_access().is_shared();
        let matrix = if is_lent {
            let pattern = a.pattern();
            // SAFETY: the caller's promise, and the view's pattern was checked.
            unsafe {
                let offsets = DeviceArray::lend(context, pattern.offsets())?;
                let columns = DeviceArray::lend(context, pattern.columns())?;
                let values = DeviceArray::lend(context, a.values())?;
                Matrix::from_arrays_blocking(queue, a.cols(), offsets, columns, values)?
            }
        } else {
            Matrix::upload_blocking(queue, a)?
        };
        let specialisation = Specialisation {
            value_type: V::TYPE,
            offset_type: O::TYPE,
            accumulate: Accumulate::Plain,
            scalars_on_device: false,
            experiment: Experiment::Off,
        };
        let spmv = segmented_sum(queue, &matrix, specialisation, options)?;
        let zeros = |len| DeviceArray::upload_blocking(queue, &vec![V::Accum::from_f64(0.0); len]);
        Ok(OnDevice {
            queue: queue.clone(),
            workspace: spmv.workspace_blocking(queue)?,
            spmv,
            x: if is_lent { None } else { Some(zeros(a.cols())?) },
            y: zeros(a.rows())?,
            matrix,
        })
    }

    fn bytes(&self) -> usize {
        let matrix = if self.x.is_some() { self.matrix.size_bytes() } else { 0 };
        let x = self.x.as_ref().map_or(0, |x| x.size_bytes());
        matrix + x + self.y.size_bytes() + self.spmv.workspace_bytes()
    }

    /// Nonzeros of a tile.
    pub(super) fn tile(&self) -> usize {
        self.spmv.tile()
    }

    fn compute_blocking(&mut self, chunk: Chunk<'_, V>) -> Result<V::Accum> {
        let queue = &self.queue;
        let rows = chunk.first_row..self.matrix.rows();
        let lent;
        let x = match &mut self.x {
            Some(x) => {
                x.write_blocking(queue, chunk.x)?;
                &*x
            }
            None => {
                // SAFETY: x stays where it is, and unchanged, until the product has ended, which is waited for here.
                #[expect(unsafe_code, reason = "the compiler does not see how long commands take")]
                unsafe {
                    lent = DeviceArray::lend(queue.context(), chunk.x)?;
                }
                &lent
            }
        };
        if chunk.beta != V::Accum::from_f64(0.0) {
            self.y.slice(rows.clone())?.write_blocking(queue, chunk.y)?;
        }
        let operands = Operands {
            rows: self.matrix.rows(),
            cols: self.matrix.cols(),
            offsets: self.matrix.offsets().argument(),
            columns: self.matrix.columns().argument(),
            values: self.matrix.values().argument(),
            x: x.argument(),
            y: self.y.argument(),
            alpha: Scalar::from(chunk.alpha.number()),
            beta: Scalar::from(chunk.beta.number()),
        };
        // Before the end of the matrix, so it is one of the tiles.
        let tiles = (chunk.nonzero / self.spmv.tile()) as u32..self.spmv.tiles();
        // SAFETY: the operands were made for this matrix in this context, and the tiles are its tiles.
        #[expect(unsafe_code, reason = "all operands are its own")]
        unsafe {
            let workspace = &mut self.workspace;
            let after = After::Events(&[]);
            let event = self.spmv.launch_tiles(queue, workspace, &operands, tiles, after)?;
            event.iter().try_for_each(Event::wait)?;
        }
        self.y.slice(rows)?.read_into_blocking(queue, chunk.y)?;
        match chunk.cut_row {
            Some(_) => {
                // SAFETY: the launch has ended.
                #[expect(unsafe_code, reason = "commands in flight are not seen from there")]
                let found =
                    unsafe { self.spmv.boundaries_blocking::<V::Accum>(queue, &self.workspace)? };
                Ok(found.head)
            }
            None => Ok(V::Accum::from_f64(0.0)),
        }
    }
}

impl<V: Value, O> Drop for OnDevice<V, O> {
    fn drop(&mut self) {
        // What was lent is given back: after a failure something may still read it. That failure was reported.
        let _ = self.queue.finish_blocking();
    }
}

impl<V: Value, O> std::fmt::Debug for Worker<V, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Worker::Host => "host threads",
            Worker::Device(_) => "a second device",
        })
    }
}
