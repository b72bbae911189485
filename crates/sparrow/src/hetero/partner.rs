//! What computes beside the first device: host threads, or a second OpenCL device.

use cl_kernels::{Accumulate, Experiment, Scalar};
use cl_runtime::spmv::{Operands, SegmentedSum, Specialisation, Spmv, Workspace};
use cl_runtime::{After, DeviceArray, Event, Queue};
use csr_core::{Accumulator as _, CsrView, Offset, Value, part_of_row, product_of_rows};

use crate::plan::segmented_sum;
use crate::{Matrix, PlanOptions, Result};

/// A piece of a product: the nonzeros from a tile's border to the end.
#[derive(Debug)]
pub(super) struct Piece<'p, V: Value> {
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

/// Computes pieces.
pub(super) enum Worker<'a, V: Value, O> {
    Host(CsrView<'a, V, O>),
    Device(Box<OnDevice<V, O>>),
}

impl<V: Value, O: Offset> Worker<'_, V, O> {
    /// Computes the piece: rows into `piece.y`, and what it has of the row it begins in the middle of.
    pub(super) fn compute_blocking(&mut self, piece: Piece<'_, V>) -> Result<V::Accum> {
        match self {
            Worker::Host(a) => on_host(*a, piece),
            Worker::Device(device) => device.compute_blocking(piece),
        }
    }

    /// Bytes that a piece copies to and from the partner's own memory, of x and of its rows of y.
    pub(super) fn copied_bytes(&self, x: usize, y: usize, reads_y: bool) -> usize {
        match self {
            Worker::Host(_) => 0,
            Worker::Device(_) => x + y + if reads_y { y } else { 0 },
        }
    }

    /// The name reports give it.
    pub(super) fn name(&self) -> String {
        match self {
            Worker::Host(_) => "host".to_owned(),
            Worker::Device(device) => device.queue.context().device().traits().name.clone(),
        }
    }
}

fn on_host<V: Value, O: Offset>(a: CsrView<'_, V, O>, piece: Piece<'_, V>) -> Result<V::Accum> {
    let zero = V::Accum::from_f64(0.0);
    product_of_rows(piece.alpha, a, piece.x, piece.beta, piece.first_row, piece.y)?;
    Ok(piece.cut_row.map_or(zero, |row| {
        let skipped = piece.nonzero - a.pattern().offsets()[row].to_usize();
        part_of_row(a, piece.x, skipped, row)
    }))
}

/// A second device with copies of its own.
pub(super) struct OnDevice<V: Value, O> {
    queue: Queue,
    matrix: Matrix<V, O>,
    spmv: SegmentedSum,
    workspace: Workspace,
    x: DeviceArray<V::Accum>,
    y: DeviceArray<V::Accum>,
}

impl<V: Value, O: Offset> OnDevice<V, O> {
    /// Uploads the matrix.
    pub(super) fn new_blocking(
        queue: &Queue,
        a: CsrView<'_, V, O>,
        options: &PlanOptions,
    ) -> Result<Self> {
        let matrix = Matrix::upload_blocking(queue, a)?;
        let specialisation = Specialisation {
            value_type: V::TYPE,
            offset_type: O::TYPE,
            accumulate: Accumulate::Plain,
            scalars_on_device: false,
            experiment: Experiment::Off,
        };
        let spmv = segmented_sum(queue, &matrix, specialisation, options)?;
        let zero = V::Accum::from_f64(0.0);
        Ok(OnDevice {
            queue: queue.clone(),
            workspace: spmv.workspace_blocking(queue)?,
            spmv,
            x: DeviceArray::upload_blocking(queue, &vec![zero; a.cols()])?,
            y: DeviceArray::upload_blocking(queue, &vec![zero; a.rows()])?,
            matrix,
        })
    }

    /// Nonzeros of a tile.
    pub(super) fn tile(&self) -> usize {
        self.spmv.tile()
    }

    fn compute_blocking(&mut self, piece: Piece<'_, V>) -> Result<V::Accum> {
        let queue = &self.queue;
        let rows = piece.first_row..self.matrix.rows();
        self.x.write_blocking(queue, piece.x)?;
        if piece.beta != V::Accum::from_f64(0.0) {
            self.y.slice(rows.clone())?.write_blocking(queue, piece.y)?;
        }
        let operands = Operands {
            rows: self.matrix.rows(),
            cols: self.matrix.cols(),
            offsets: self.matrix.offsets().argument(),
            columns: self.matrix.columns().argument(),
            values: self.matrix.values().argument(),
            x: self.x.argument(),
            y: self.y.argument(),
            alpha: Scalar::from(piece.alpha.number()),
            beta: Scalar::from(piece.beta.number()),
        };
        // Before the end of the matrix, so it is one of the tiles.
        let tiles = (piece.nonzero / self.spmv.tile()) as u32..self.spmv.tiles();
        // SAFETY: the operands were made for this matrix in this context, and the tiles are its tiles.
        #[expect(unsafe_code, reason = "all operands are its own")]
        unsafe {
            let workspace = &mut self.workspace;
            let after = After::Events(&[]);
            let event = self.spmv.launch_tiles(queue, workspace, &operands, tiles, after)?;
            event.iter().try_for_each(Event::wait)?;
        }
        self.y.slice(rows)?.read_into_blocking(queue, piece.y)?;
        match piece.cut_row {
            Some(_) => Ok(self.spmv.boundaries_blocking::<V::Accum>(queue, &self.workspace)?.head),
            None => Ok(V::Accum::from_f64(0.0)),
        }
    }
}

impl<V: Value, O> std::fmt::Debug for Worker<'_, V, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Worker::Host(_) => "host threads",
            Worker::Device(_) => "a second device",
        })
    }
}
