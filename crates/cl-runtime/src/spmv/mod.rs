//! y = alpha A x + beta y on the device: one file an algorithm, behind one trait.

mod bind;
mod coded_spmv;
mod copied_values;
mod csr_adaptive;
mod csr_adaptive_plan;
mod csr_flat;
mod csr_pieces;
mod csr_scalar;
mod csr_tiles;
mod csr_tiles_plan;
mod csr_vector;
mod evc_hyb;
mod evc_hyb_plan;
mod hyb;
mod hyb_parts;
mod partial_sums;
mod reordered;
mod segmented_sum;
mod sell;
mod sell_sigma;
mod value_coding;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use cl_kernels::{Accumulate, Algorithm, Array, Experiment, KernelKey, Parameters, Scalar};
use csr_core::evc_hyb::EvcHybStatistics;
use csr_core::{OffsetType, ValueType};

use crate::launch::After;
use crate::raw::Memory;
use crate::{AnyMatrix, AnyReorderedMatrix, DeviceArray, Event, Queue, Result};

pub use crate::workspace::Workspace;
pub use bind::{BindRequest, Bound, Planning, bind};
pub use copied_values::{CopiedValues, ValueOrder};
pub use csr_adaptive_plan::DeviceRowBlocks;
pub use csr_flat::{CsrFlat, DeviceTiles};
pub use evc_hyb_plan::{DeviceEvcHyb, VectorOrder};
pub use hyb_parts::{HybOperands, HybParts, HybProduct};
pub use reordered::ReorderedSpmv;
pub use segmented_sum::{Boundaries, SegmentedSum};
pub use value_coding::promised_coding_blocking;

/// What a kernel is specialised by, apart from its hyper-parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specialisation {
    /// What A stores.
    pub value_type: ValueType,
    /// What counts nonzeros.
    pub offset_type: OffsetType,
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Whether alpha and beta are read on the device.
    pub scalars_on_device: bool,
    /// What is left out of the product, to be measured: anything but [`Experiment::Off`] gives a wrong y.
    pub experiment: Experiment,
}

impl Specialisation {
    /// The key of a kernel specialised so, with these hyper-parameters.
    pub(crate) fn key<P: Parameters>(self, source: &'static str, parameters: &P) -> KernelKey {
        KernelKey::new(
            source,
            self.value_type,
            self.offset_type,
            self.accumulate,
            self.scalars_on_device,
            parameters,
        )
        .with_experiment(self.experiment)
    }

    /// 32-bit words of a sum.
    pub fn sum_words(&self) -> usize {
        sum_words(self.value_type, self.accumulate)
    }
}

/// The arrays and numbers of one product. Lengths were checked by the caller that made it.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// Rows of A.
    pub rows: usize,
    /// Columns of A.
    pub cols: usize,
    /// Row offsets: rows + 1.
    pub offsets: Array<&'a Memory>,
    /// Column indices: nnz.
    pub columns: Array<&'a Memory>,
    /// Values of A: nnz.
    pub values: Array<&'a Memory>,
    /// The vector x: cols.
    pub x: Array<&'a Memory>,
    /// The vector y: rows.
    pub y: Array<&'a Memory>,
    /// Scales A x.
    pub alpha: Scalar<&'a Memory>,
    /// Scales y; with 0, y is not read.
    pub beta: Scalar<&'a Memory>,
}

/// An algorithm bound to a pattern and a context: built programs and uploaded plan, ready to launch.
pub trait Spmv: Debug + Send + Sync {
    /// Which algorithm.
    fn algorithm(&self) -> Algorithm;

    /// The variant's name, as `--variant` spells it; empty where there is only one.
    fn variant(&self) -> &'static str {
        ""
    }

    /// The kernel's key: hyper-parameters included.
    fn key(&self) -> &KernelKey;

    /// Bytes of the plan on the device, beyond the CSR arrays.
    fn plan_bytes(&self) -> usize;

    /// Bytes a workspace takes on the device.
    fn workspace_bytes(&self) -> usize;

    /// Whether the same launch always gives the same bits.
    fn is_repeatable(&self) -> bool;

    /// Its copy of the values, if it has one.
    fn copied_values(&self) -> Option<&CopiedValues> {
        None
    }

    /// The same to be changed, and the order it is in.
    fn copied_values_mut(&mut self) -> Option<(&mut CopiedValues, &dyn ValueOrder)> {
        None
    }

    /// [`AnyMatrix::values_id`] of the values it has a copy of; `None` where it has none.
    fn values_id(&self) -> Option<u64> {
        self.copied_values().map(CopiedValues::values_id)
    }

    /// Brings its copy of the values up to date, if it has one, from those of `matrix`, which has the pattern.
    ///
    /// # Errors
    /// The driver's own failure; the copy is invalid then.
    fn update_values_blocking(
        &mut self,
        queue: &Queue,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<()> {
        match self.copied_values_mut() {
            Some((copy, order)) => copy.update_blocking(queue, order, matrix, values_id),
            None => Ok(()),
        }
    }

    /// The row at each index, where it has them in an order of its own.
    fn row_order(&self) -> Option<&DeviceArray<u32>> {
        None
    }

    /// The copy with its rows in another order that it multiplies by, where it does.
    fn reordered_matrix(&self) -> Option<&AnyReorderedMatrix> {
        None
    }

    /// How `evc_hyb` has split the matrix.
    fn evc_hyb_statistics(&self) -> Option<EvcHybStatistics> {
        None
    }

    /// A new workspace: kernel objects and scratch memory for one launch in flight.
    ///
    /// # Errors
    /// The driver's own failure.
    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace>;

    /// Enqueues the product. Allocates nothing. `None` where no event was asked for.
    ///
    /// # Safety
    /// The operands belong to the pattern the algorithm was bound to, and are as long as they say.
    ///
    /// # Errors
    /// A workspace of another algorithm, or the driver's own failure.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>>;

    /// Makes the product and returns when y is there, with the time each stage took.
    ///
    /// # Safety
    /// As [`Spmv::launch`]; and nothing that was enqueued elsewhere touches the operands meanwhile.
    ///
    /// # Errors
    /// As [`Spmv::launch`], or a launch that ended in error.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn launch_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Stages> {
        // SAFETY: the caller's promise.
        unsafe { launch_and_wait(self, queue, workspace, operands, wait) }
    }
}

/// Launches and waits: all stages are the device's, and count as the first.
///
/// # Safety
/// As [`Spmv::launch`].
#[expect(unsafe_code, reason = "operands are trusted")]
unsafe fn launch_and_wait(
    spmv: &(impl Spmv + ?Sized),
    queue: &Queue,
    workspace: &mut Workspace,
    operands: &Operands<'_>,
    wait: &[Event],
) -> Result<Stages> {
    let start = Instant::now();
    // SAFETY: the caller's promise.
    let event = unsafe { spmv.launch(queue, workspace, operands, After::Events(wait))? };
    event.iter().try_for_each(Event::wait)?;
    Ok(Stages { stage1: start.elapsed(), ..Stages::default() })
}

/// What a blocking product did; only `segmented_sum` has a second stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stages {
    /// Time until the device had done its part; where vectors are moved into another order and out of it, all of it.
    pub stage1: Duration,
    /// Time until partial sums were combined and stored.
    pub stage2: Duration,
    /// Tiles of nonzeros.
    pub tiles: usize,
    /// Of those, tiles with empty rows: the paper's dirty tiles, each counted once, however many rows it has. Their sums
    /// had to be moved; with `beta` other than 0, and in tiles of very many rows, computed again.
    pub dirty_tiles: usize,
    /// Bytes of arrays that the CPU reached where they lie.
    pub shared_bytes: usize,
    /// Bytes that were copied for stage 2, counted where they are copied.
    pub copied_bytes: usize,
}

/// 32-bit words of a kernel's accumulator.
fn accumulator_words(key: &KernelKey) -> usize {
    sum_words(key.value_type, key.accumulate)
}

/// 32-bit words of a sum.
fn sum_words(value_type: ValueType, accumulate: Accumulate) -> usize {
    let parts = if accumulate == Accumulate::Compensated { 2 } else { 1 };
    value_type.accumulator().size_bytes() / size_of::<u32>() * parts
}
