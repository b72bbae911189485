//! Plans: an algorithm chosen, parametrised and bound to a pattern, ready to launch.

mod bind;
mod build;
mod checks;
mod choose;
mod measure;
mod operands;
mod options;
mod recording;

use cl_kernels::{Algorithm, Choice, KernelKey, Variant};
use cl_runtime::spmv::{CopiedValues, Operands, Spmv, Stages, Workspace};
use cl_runtime::{
    After, AnyMatrix, AnyReorderedMatrix, AnyTransposedMatrix, Context, DeviceArray, Event,
    MatrixTypes, Queue, Wait, check_matrix_types, check_size,
};
use csr_core::evc_hyb::EvcHybStatistics;
use csr_core::{AnyPatternView, ValueCoding};

use crate::{Result, RuntimeError};

pub(crate) use bind::{segmented_sum, tables};
pub(crate) use checks::{UPDATE, check_context, check_device, check_length, fitting};
pub use cl_runtime::spmv::Planning;
pub use operands::{AnyCoefficient, AnyOperands};
pub(crate) use operands::{by_value, check_result, coefficient};
pub use options::{Measuring, Op, PlanOptions};
pub use recording::{AnyRecorder, AnyRecording};

/// An algorithm bound to the pattern of a matrix. Immutable, `Send + Sync`, good for any values.
#[derive(Debug)]
pub struct AnyPlan {
    spmv: Box<dyn Spmv>,
    choice: Choice,
    parameters: String,
    context: Context,
    /// `None` where any will do.
    pattern_id: Option<u64>,
    transposed: Option<AnyTransposedMatrix>,
    types: MatrixTypes,
    measured_products: u32,
    /// Another one each time that its copy of the values changes, which recordings have to know.
    stamp: u64,
}

impl AnyPlan {
    /// Plans for a matrix on the device, by what is on the device ([`Planning::Automatic`]). A last kernel may be left in
    /// `queue`, if that is in order; launches come after it in whatever queue they are.
    ///
    /// # Errors
    /// Parameters that break a rule, a device that lacks the value type, a kernel that does not build.
    pub fn new_blocking(queue: &Queue, matrix: &AnyMatrix, options: &PlanOptions) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        fitting(queue, |queue| match options.op {
            Op::Normal => Self::build(queue, matrix, None, None, options),
            Op::Transpose => Self::build_transposed(queue, matrix, None, options),
        })
    }

    /// Plans for a matrix on the device whose pattern the host has too.
    ///
    /// # Errors
    /// As [`AnyPlan::new_blocking`]; or a pattern of another shape.
    pub fn with_pattern_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        pattern: AnyPatternView<'_>,
        options: &PlanOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        for (found, needed) in [
            ((pattern.rows(), "row"), matrix.rows()),
            ((pattern.cols(), "column"), matrix.cols()),
            ((pattern.nnz(), "nonzero"), matrix.nnz()),
        ] {
            check_size("the pattern", found, needed, "as many as the matrix has")?;
        }
        fitting(queue, |queue| match options.op {
            Op::Normal => Self::build(queue, matrix, Some(pattern), None, options),
            Op::Transpose => Self::build_transposed(queue, matrix, Some(pattern), options),
        })
    }

    /// Plans for every matrix, where the caller cannot say which patterns will be the same: an algorithm that has no
    /// plan ([`Planned::Never`](crate::Planned::Never): [`Algorithm::CsrScalar`] or [`Algorithm::CsrVector`]), as suits
    /// the rows of `like`, of which nothing but
    /// rows and nonzeros counts. Nothing is read from the device.
    ///
    /// # Errors
    /// Another algorithm or [`Op::Transpose`] in `options`; else as [`AnyPlan::new_blocking`].
    pub fn for_any_pattern(queue: &Queue, like: &AnyMatrix, options: &PlanOptions) -> Result<Self> {
        check_context(queue, like.context(), "matrix")?;
        fitting(queue, |queue| Self::build_for_any_pattern(queue, like, options))
    }

    /// A new workspace: one serves one launch in flight.
    ///
    /// # Errors
    /// A queue of another context than the plan's, or the driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        check_device(queue, &self.context, "plan")?;
        Ok(self.spmv.workspace_blocking(queue)?)
    }

    /// Enqueues y = alpha A x + beta y after the events in `wait`, with an event of its own; or after what is in the queue,
    /// without one ([`NoEvent`](crate::NoEvent)), which is the way for small matrices. Allocates nothing, waits for nothing.
    ///
    /// # Errors
    /// Operands of another pattern, type, length or context than the plan's; y that overlaps what is read; a workspace of
    /// another plan; an event in `wait` that has ended in error already; or the driver's own failure. Nothing was enqueued
    /// then. Where an event in `wait` ends in error later, so does the launch's, and y is not written.
    pub fn launch<W: Wait>(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: AnyOperands<'_>,
        wait: W,
    ) -> Result<W::Event> {
        Ok(W::given(queue, self.enqueue(queue, workspace, &product, wait.after())?)?)
    }

    /// What launches operands that were checked.
    pub(crate) fn spmv(&self) -> &dyn Spmv {
        &*self.spmv
    }

    /// As [`AnyPlan::launch`], with what it comes after known at run time.
    pub(crate) fn enqueue(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: &AnyOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let operands = self.operands(queue, product)?;
        // SAFETY: `operands` has checked that the matrix shares the plan's pattern, that x and y are as long
        // as it demands, that y overlaps nothing that is read, and that all of it lives in the queue's context.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { self.spmv.launch(queue, workspace, &operands, after)? };
        Ok(event)
    }

    /// Computes y = alpha A x + beta y after the events in `wait`, and returns when it is there, with the time
    /// each stage took. All of it is the device's work: for [`Variant::Cpu`](crate::Variant::Cpu), see
    /// [`AnyPlan::launch_in_place_blocking`].
    ///
    /// # Errors
    /// As [`AnyPlan::launch`]; [`Variant::Cpu`](crate::Variant::Cpu); or a launch that ended in error, and then y is not
    /// what it was.
    pub fn launch_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: AnyOperands<'_>,
        wait: &[Event],
    ) -> Result<Stages> {
        if self.variant() == Variant::Cpu.name() {
            let (what, with) = ("launch_blocking", "stage 2 on the CPU");
            let rule = "it reaches operands where they lie, and launch_in_place_blocking makes such products";
            return Err(RuntimeError::combination(what, with, rule).into());
        }
        // SAFETY: only the device reaches the operands, in the order of its commands.
        #[expect(unsafe_code, reason = "the variant was looked at")]
        unsafe {
            self.launch_in_place_blocking(queue, workspace, product, wait)
        }
    }

    /// As [`AnyPlan::launch_blocking`], and the one way for [`Variant::Cpu`](crate::Variant::Cpu), whose second stage is
    /// the CPU's.
    ///
    /// Operands in shared virtual memory, or mapped buffers of a device that shares the host's memory, are
    /// reached where they lie; elsewhere, and where a buffer denies the host that, they are copied (`copied_bytes`).
    ///
    /// # Safety
    /// With [`Variant::Cpu`](crate::Variant::Cpu) no other command writes x, A, alpha or beta, or touches y, between the
    /// events in `wait` and the return of this function, in whatever queue.
    ///
    /// # Errors
    /// As [`AnyPlan::launch`]; or a launch that ended in error, and then y is not what it was.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn launch_in_place_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: AnyOperands<'_>,
        wait: &[Event],
    ) -> Result<Stages> {
        let operands = self.operands(queue, &product)?;
        // SAFETY: as for `launch`, and the caller's promise.
        let stages = unsafe { self.spmv.launch_blocking(queue, workspace, &operands, wait)? };
        Ok(stages)
    }

    /// The operands as a launch takes them, once they were checked against the plan.
    fn operands<'a>(&'a self, queue: &Queue, product: &'a AnyOperands<'_>) -> Result<Operands<'a>> {
        let AnyOperands { alpha, a, x, beta, y } = product;
        self.check_pattern(a)?;
        check_context(queue, a.context(), "matrix")?;
        check_device(queue, &self.context, "plan")?;
        self.check_values(a)?;
        let a = self.transposed.as_ref().map_or(*a, AnyTransposedMatrix::matrix);
        let (columns, rows) = match self.transposed {
            None => ("column", "row"),
            Some(_) => ("row", "column"),
        };
        let accumulator = self.types.value_type.accumulator();
        x.check_element("x", accumulator)?;
        y.check_element("y", accumulator)?;
        check_length("x", x.len(), columns, a.cols())?;
        check_length("y", y.len(), rows, a.rows())?;
        self.context.check_array("x", x)?;
        self.context.check_array("y", y)?;
        check_result(("y", y), ("x", x), product.a, (alpha, beta))?;
        let on_device = self.key().scalars_on_device;
        Ok(Operands {
            rows: a.rows(),
            cols: a.cols(),
            offsets: a.offsets().argument(),
            columns: a.columns().argument(),
            values: a.values().argument(),
            x: x.argument(),
            y: y.argument(),
            alpha: coefficient(&self.context, (accumulator, on_device), "alpha", alpha)?,
            beta: coefficient(&self.context, (accumulator, on_device), "beta", beta)?,
        })
    }

    /// Brings the plan's copy of the values up to date, where it keeps one ([`Op::Transpose`],
    /// [`Algorithm::copies_values`]); else does nothing. Nothing is sorted again.
    ///
    /// # Errors
    /// A matrix of another pattern, a queue of another context, or the driver's own failure.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &AnyMatrix) -> Result<()> {
        self.check_pattern(matrix)?;
        check_device(queue, &self.context, "plan")?;
        if self.copies().next().is_some() {
            self.stamp = recording::new_stamp();
        }
        if let Some(transposed) = &mut self.transposed {
            transposed.update_values_blocking(queue, matrix)?;
        }
        let source = self.transposed.as_ref().map_or(matrix, AnyTransposedMatrix::matrix);
        Ok(self.spmv.update_values_blocking(queue, source, matrix.values_id())?)
    }

    pub(crate) fn check_pattern(&self, matrix: &AnyMatrix) -> Result<()> {
        check_matrix_types(("the matrix", matrix.types()), ("the plan", self.types))?;
        if self.pattern_id.is_some_and(|pattern_id| pattern_id != matrix.pattern_id()) {
            return Err(RuntimeError::Pattern { what: "the matrix" }.into());
        }
        Ok(())
    }

    /// [`AnyMatrix::values_id`] of what its copies of values hold.
    fn copies(&self) -> impl Iterator<Item = u64> {
        let transposed = self.transposed.as_ref().map(AnyTransposedMatrix::values_id);
        [transposed, self.spmv.values_id()].into_iter().flatten()
    }

    /// Refuses values that the plan's copy does not have.
    fn check_values(&self, a: &AnyMatrix) -> Result<()> {
        if self.copies().all(|copy| copy == a.values_id()) {
            return Ok(());
        }
        Err(RuntimeError::StaleValues { copy: "the plan's copy", remedy: UPDATE }.into())
    }

    /// What the arrays of its matrices hold.
    pub fn types(&self) -> MatrixTypes {
        self.types
    }

    /// What runs, with all of its hyper-parameters, and why. Its text may be stored and given back
    /// ([`PlanOptions::choice`]): then nothing is chosen or timed.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Products by which it was chosen ([`PlanOptions::measuring`]); 0 where nothing was timed.
    pub fn measured_products(&self) -> u32 {
        self.measured_products
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.spmv.algorithm()
    }

    /// The variant's name; empty where the algorithm has one only.
    pub fn variant(&self) -> &'static str {
        self.spmv.variant()
    }

    /// The row at each index of the plan's own order, on the device: that of y, or of x and y, where
    /// [`PlanOptions::order`] asks for it. `None` where rows are as the matrix has them.
    pub fn row_order(&self) -> Option<&DeviceArray<u32>> {
        self.spmv.row_order()
    }

    /// The copy that it multiplies by, where [`PlanOptions::reordering`] asks for one: its matrix, and the row and the
    /// column of the original at each index.
    pub fn reordered(&self) -> Option<&AnyReorderedMatrix> {
        self.spmv.reordered_matrix()
    }

    /// How [`Algorithm::EvcHyb`] has split the matrix, and what padding it took: the paper's Table 3. `None` for
    /// others.
    pub fn evc_hyb_statistics(&self) -> Option<EvcHybStatistics> {
        self.spmv.evc_hyb_statistics()
    }

    /// The hyper-parameters as text: `group_size=256,...`.
    pub fn parameters(&self) -> &str {
        &self.parameters
    }

    /// The kernel's key.
    pub fn key(&self) -> &KernelKey {
        self.spmv.key()
    }

    /// Bytes of the plan on the device, beyond the CSR arrays; a transposed copy included.
    pub fn plan_bytes(&self) -> usize {
        self.spmv.plan_bytes() + self.transposed.as_ref().map_or(0, AnyTransposedMatrix::size_bytes)
    }

    /// How its copy of the values stores them, where it keeps one in an order of its own.
    pub fn value_coding(&self) -> Option<ValueCoding> {
        self.spmv.copied_values().map(CopiedValues::coding)
    }

    /// Bytes that this coding saves: the plan would have as many more with values as they are.
    pub fn saved_bytes(&self) -> usize {
        let saved = |copy: &CopiedValues| copy.plain_bytes().saturating_sub(copy.size_bytes());
        self.spmv.copied_values().map_or(0, saved)
    }

    /// Bytes a workspace takes on the device.
    pub fn workspace_bytes(&self) -> usize {
        self.spmv.workspace_bytes()
    }

    /// Whether the same launch always gives the same bits.
    pub fn is_repeatable(&self) -> bool {
        self.spmv.is_repeatable()
    }
}
