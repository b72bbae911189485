//! Plans: an algorithm chosen, parametrised and bound to a pattern, ready to launch.

mod bind;
mod evc_hyb;
mod options;

use cl_kernels::{Algorithm, Choice, DeviceType, KernelKey, Scalar, select, select_where};
use cl_runtime::raw::Memory;
use cl_runtime::spmv::{Operands, Spmv, Stages, Workspace};
use cl_runtime::{Context, DeviceArray, Event, Matrix, Queue, TransposedMatrix};
use csr_core::evc_hyb::EvcHybStatistics;
use csr_core::{Offset, PatternView, Value, ValueType};

use crate::{Error, Result};

use bind::{Bound, bind};
pub(crate) use bind::{segmented_sum, tables};
pub use options::{Op, PlanOptions, Planning};

/// alpha or beta.
#[derive(Clone, Copy, Debug)]
pub enum Coefficient<'a, T> {
    /// By value.
    Value(T),
    /// The first element of an array on the device.
    Device(&'a DeviceArray<T>),
}

impl<T> From<T> for Coefficient<'_, T> {
    fn from(value: T) -> Self {
        Coefficient::Value(value)
    }
}

impl<'a, T> From<&'a DeviceArray<T>> for Coefficient<'a, T> {
    fn from(array: &'a DeviceArray<T>) -> Self {
        Coefficient::Device(array)
    }
}

/// The operands of y = alpha A x + beta y.
#[derive(Debug)]
pub struct Product<'a, V: Value, O> {
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: Coefficient<'a, V::Accum>,
    /// The matrix: the plan's, or one that shares its pattern.
    pub a: &'a Matrix<V, O>,
    /// The vector x: cols.
    pub x: &'a DeviceArray<V::Accum>,
    /// Scales y; with 0, y is never read.
    pub beta: Coefficient<'a, V::Accum>,
    /// The vector y: rows.
    pub y: &'a mut DeviceArray<V::Accum>,
}

/// An algorithm bound to the pattern of a matrix. Immutable, `Send + Sync`, good for any values.
#[derive(Debug)]
pub struct Plan<V, O = u32> {
    spmv: Box<dyn Spmv>,
    choice: Choice,
    parameters: String,
    context: Context,
    /// `None` where any will do.
    pattern_id: Option<u64>,
    transposed: Option<TransposedMatrix<V, O>>,
}

impl<V: Value, O: Offset> Plan<V, O> {
    /// Plans for a matrix on the device, by what is on the device ([`Planning::Automatic`]). A last kernel may be left in
    /// `queue`, if that is in order; launches come after it in whatever queue they are.
    ///
    /// # Errors
    /// Parameters that break a rule, a device that lacks the value type, a kernel that does not build.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        options: &PlanOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        match options.op {
            Op::Normal => Self::build(queue, matrix, None, None, options),
            Op::Transpose => Self::build_transposed(queue, matrix, None, options),
        }
    }

    /// Plans for a matrix on the device whose pattern the host has too.
    ///
    /// # Errors
    /// As [`Plan::new_blocking`]; or a pattern of another shape.
    pub fn with_pattern_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        pattern: PatternView<'_, O>,
        options: &PlanOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        let shapes = [
            (pattern.rows(), matrix.rows()),
            (pattern.cols(), matrix.cols()),
            (pattern.nnz(), matrix.nnz()),
        ];
        if shapes.iter().any(|(of_pattern, of_matrix)| of_pattern != of_matrix) {
            return Err(Error::Mismatch(format!(
                "a pattern of {} x {} with {} nonzeros is not that of a matrix of {} x {} with {}",
                pattern.rows(),
                pattern.cols(),
                pattern.nnz(),
                matrix.rows(),
                matrix.cols(),
                matrix.nnz()
            )));
        }
        match options.op {
            Op::Normal => Self::build(queue, matrix, Some(pattern), None, options),
            Op::Transpose => Self::build_transposed(queue, matrix, Some(pattern), options),
        }
    }

    fn build_transposed(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        pattern: Option<PatternView<'_, O>>,
        options: &PlanOptions,
    ) -> Result<Self> {
        let transposed = TransposedMatrix::new_blocking(queue, matrix, pattern)?;
        Self::build(queue, matrix, None, Some(transposed), options)
    }

    fn build(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        pattern: Option<PatternView<'_, O>>,
        transposed: Option<TransposedMatrix<V, O>>,
        options: &PlanOptions,
    ) -> Result<Self> {
        let (pattern_id, values_id) = (matrix.pattern_id(), matrix.values_id());
        let matrix = transposed.as_ref().map_or(matrix, TransposedMatrix::matrix);
        let device = queue.context().device().traits();
        let choice = match options.algorithm {
            Some(algorithm) => Choice::by_name(algorithm),
            None => {
                // `sell` is laid out on the host.
                let is_on_device = options.planning == Planning::OnDevice;
                let may = |algorithm| !(is_on_device && algorithm == Algorithm::Sell);
                let (tables, shape) = (tables(options), matrix.shape());
                select_where(&tables, device, V::TYPE, &shape, options.products, may)
            }
        };
        let Bound { spmv, parameters } = bind(queue, matrix, pattern, values_id, &choice, options)?;
        let (context, pattern_id) = (queue.context().clone(), Some(pattern_id));
        Ok(Plan { spmv, choice, parameters, context, pattern_id, transposed })
    }

    /// Plans for every matrix, for whoever cannot say which patterns will be the same: an algorithm that has no
    /// plan, [`Algorithm::CsrScalar`] or [`Algorithm::CsrVector`], as suits the rows of `like`, of which nothing but
    /// rows and nonzeros counts. Nothing is read from the device.
    ///
    /// # Errors
    /// Another algorithm or [`Op::Transpose`] in `options`; else as [`Plan::new_blocking`].
    pub fn for_any_pattern(
        queue: &Queue,
        like: &Matrix<V, O>,
        options: &PlanOptions,
    ) -> Result<Self> {
        check_context(queue, like.context(), "matrix")?;
        let device = queue.context().device().traits();
        let is_free = |one: Algorithm| matches!(one, Algorithm::CsrScalar | Algorithm::CsrVector);
        let choice = match options.algorithm {
            Some(algorithm) => Choice::by_name(algorithm),
            None => {
                let products = options.products;
                let found = select(&tables(options), device, V::TYPE, &like.shape(), products);
                let usual = match device.device_type {
                    DeviceType::Cpu => Algorithm::CsrScalar,
                    _ => Algorithm::CsrVector,
                };
                if is_free(found.algorithm) { found } else { Choice::by_name(usual) }
            }
        };
        if !is_free(choice.algorithm) || options.op != Op::Normal {
            return Err(Error::Mismatch(format!(
                "{}{} needs a plan of its own for each pattern: csr_scalar and csr_vector do not",
                choice.algorithm,
                if options.op == Op::Normal { "" } else { " of a transposed matrix" }
            )));
        }
        let Bound { spmv, parameters } =
            bind(queue, like, None, like.values_id(), &choice, options)?;
        let (context, pattern_id, transposed) = (queue.context().clone(), None, None);
        Ok(Plan { spmv, choice, parameters, context, pattern_id, transposed })
    }

    /// A new workspace: one serves one launch in flight.
    ///
    /// # Errors
    /// A queue of another context than the plan's, or the driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        check_context(queue, &self.context, "plan")?;
        Ok(self.spmv.workspace_blocking(queue)?)
    }

    /// Enqueues y = alpha A x + beta y after the events in `wait`. Allocates nothing, waits for nothing.
    ///
    /// # Errors
    /// Operands of another pattern, length or context than the plan's; a workspace of another plan; an
    /// event in `wait` that has ended in error already; or the driver's own failure. Nothing was enqueued
    /// then. Where an event in `wait` ends in error later, so does the launch's, and y is not written.
    pub fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: Product<'_, V, O>,
        wait: &[Event],
    ) -> Result<Event> {
        let operands = self.operands(queue, &product)?;
        // SAFETY: `operands` has checked that the matrix shares the plan's pattern, that x and y are as long
        // as it demands, and that all of it lives in the queue's context.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { self.spmv.launch(queue, workspace, &operands, wait)? };
        Ok(event)
    }

    /// As [`Plan::launch`], after what is in the queue already, and without an event: what comes next in an in-order queue
    /// comes after it. An event takes a GPU time of its own between two kernels (2 us on an H200), so this is the way for
    /// small matrices. In a queue out of order only a barrier of the caller's comes after it.
    ///
    /// # Errors
    /// As [`Plan::launch`].
    pub fn launch_unobserved(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: Product<'_, V, O>,
    ) -> Result<()> {
        let Some(in_order) = queue.in_order() else {
            return self.launch(queue, workspace, product, &[]).map(drop);
        };
        let operands = self.operands(queue, &product)?;
        // SAFETY: as for `launch`.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        unsafe {
            self.spmv.launch_unobserved(in_order, workspace, &operands)?;
        }
        Ok(())
    }

    /// Computes y = alpha A x + beta y after the events in `wait`, and returns when it is there, with the time
    /// each stage took. The one way for [`Variant::Cpu`](crate::Variant::Cpu), whose second stage is the CPU's.
    ///
    /// Operands in shared virtual memory, or mapped buffers of a device that shares the host's memory, are
    /// reached where they lie; elsewhere they are copied (`copied_bytes`). Nothing else that was enqueued may
    /// touch them meanwhile.
    ///
    /// # Errors
    /// As [`Plan::launch`]; or a launch that ended in error, and then y is not what it was.
    pub fn launch_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: Product<'_, V, O>,
        wait: &[Event],
    ) -> Result<Stages> {
        let operands = self.operands(queue, &product)?;
        // SAFETY: as for `launch`.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let stages = unsafe { self.spmv.launch_blocking(queue, workspace, &operands, wait)? };
        Ok(stages)
    }

    /// The operands as a launch takes them, once they were checked against the plan.
    fn operands<'a>(
        &'a self,
        queue: &Queue,
        product: &'a Product<'_, V, O>,
    ) -> Result<Operands<'a>> {
        let Product { alpha, a, x, beta, y } = product;
        self.check_pattern(a)?;
        check_context(queue, a.context(), "matrix")?;
        let copies =
            [self.transposed.as_ref().map(TransposedMatrix::values_id), self.spmv.values_id()];
        if copies.into_iter().flatten().any(|copy| copy != a.values_id()) {
            let text = "the matrix's values have changed since the plan's copy was made; \
                        update_values_blocking brings it up to date";
            return Err(Error::Mismatch(text.to_owned()));
        }
        let a = self.transposed.as_ref().map_or(*a, TransposedMatrix::matrix);
        let (columns, rows) = match self.transposed {
            None => ("columns", "rows"),
            Some(_) => ("rows", "columns"),
        };
        check_length("x", x.len(), columns, a.cols())?;
        check_length("y", y.len(), rows, a.rows())?;
        self.context.check_array("x", x)?;
        self.context.check_array("y", y)?;
        let on_device = self.key().scalars_on_device;
        Ok(Operands {
            rows: a.rows(),
            cols: a.cols(),
            offsets: a.offsets().argument(),
            columns: a.columns().argument(),
            values: a.values().argument(),
            x: x.argument(),
            y: y.argument(),
            alpha: coefficient::<V>(&self.context, on_device, "alpha", alpha)?,
            beta: coefficient::<V>(&self.context, on_device, "beta", beta)?,
        })
    }

    /// Brings the plan's copy of the values up to date, where it keeps one ([`Op::Transpose`],
    /// [`Algorithm::EvcHyb`], [`Algorithm::Sell`], [`Algorithm::SellSigma`]); else does nothing. Nothing is sorted again.
    ///
    /// # Errors
    /// A matrix of another pattern, a queue of another context, or the driver's own failure.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &Matrix<V, O>) -> Result<()> {
        self.check_pattern(matrix)?;
        check_context(queue, &self.context, "plan")?;
        if let Some(transposed) = &mut self.transposed {
            transposed.update_values_blocking(queue, matrix)?;
        }
        let source = self.transposed.as_ref().map_or(matrix, TransposedMatrix::matrix);
        let (offsets, values) = (source.offsets().argument(), source.values().argument());
        Ok(self.spmv.update_values_blocking(queue, offsets, values, matrix.values_id())?)
    }

    pub(crate) fn check_pattern(&self, matrix: &Matrix<V, O>) -> Result<()> {
        if self.pattern_id.is_some_and(|pattern_id| pattern_id != matrix.pattern_id()) {
            let text = "the matrix does not share the pattern the plan was made for";
            return Err(Error::Mismatch(text.to_owned()));
        }
        Ok(())
    }

    /// What runs, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.spmv.algorithm()
    }

    /// The variant's name; empty where the algorithm has one only.
    pub fn variant(&self) -> &'static str {
        self.spmv.variant()
    }

    /// The row at each place of the plan's own order, on the device: that of y, or of x and y, where
    /// [`PlanOptions::order`] asks for it. `None` where rows are as the matrix has them.
    pub fn row_order(&self) -> Option<&DeviceArray<u32>> {
        self.spmv.row_order()
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
        self.spmv.plan_bytes() + self.transposed.as_ref().map_or(0, TransposedMatrix::size_bytes)
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

/// alpha or beta as a plan takes it: by value, or from the device.
pub(crate) fn coefficient<'a, V: Value>(
    context: &Context,
    on_device: bool,
    name: &str,
    coefficient: &Coefficient<'a, V::Accum>,
) -> Result<Scalar<&'a Memory>> {
    match (coefficient, on_device) {
        (Coefficient::Value(value), false) => Ok(match V::TYPE.accumulator() {
            ValueType::F64 => Scalar::F64(value.to_f64()),
            _ => Scalar::F32(f32::from_f64(value.to_f64())),
        }),
        (Coefficient::Device(array), true) => {
            check_length(name, array.len().min(1), "numbers needed", 1)?;
            context.check_array(name, array)?;
            Ok(Scalar::Device(array.argument()))
        }
        (Coefficient::Value(_), true) => Err(Error::Mismatch(format!(
            "{name} came by value, but the plan takes alpha and beta from the device"
        ))),
        (Coefficient::Device(_), false) => Err(Error::Mismatch(format!(
            "{name} came as a device array, but the plan takes alpha and beta by value; set \
             scalars_on_device in its options"
        ))),
    }
}

pub(crate) fn check_context(queue: &Queue, context: &Context, of: &str) -> Result<()> {
    if !queue.context().is_same(context) {
        let text = format!("the queue belongs to another context than the {of}");
        return Err(Error::Mismatch(text));
    }
    Ok(())
}

pub(crate) fn check_length(what: &str, found: usize, of: &str, expected: usize) -> Result<()> {
    if found != expected {
        return Err(Error::Mismatch(format!(
            "{what} has {found} elements, and there are {expected} {of}"
        )));
    }
    Ok(())
}
