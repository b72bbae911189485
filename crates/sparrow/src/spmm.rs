//! SpMM: C = alpha A B + beta C, with B and C dense.

mod choose;

use cl_kernels::spmm::{SpmmAlgorithm, SpmmVariant};
use cl_kernels::{KernelKey, Tables};
use cl_runtime::spmm::{DenseOperands, Spmm, SpmmOperands};
use cl_runtime::spmv::Workspace;
use cl_runtime::{
    After, AnyArray, AnyMatrix, AnyTransposedMatrix, Context, Event, MatrixTypes, Queue, Wait,
    check_matrix_types,
};
use csr_core::DenseShape;

use crate::plan::{UPDATE, check_context, check_device, check_result, coefficient, fitting};
use crate::{AnyCoefficient, AnyOperands, AnyPlan, Op, Result, RuntimeError};
use choose::{Chosen, choose, is_vector, vector_plan};

/// The operands of C = alpha A B + beta C.
#[derive(Debug)]
pub struct AnySpmmOperands<'a> {
    /// Scales A B; 0 is not special, so NaN in A or B reaches C.
    pub alpha: AnyCoefficient<'a>,
    /// The matrix: the plan's, or one that shares its pattern and types.
    pub a: &'a AnyMatrix,
    /// B, at least as long as its shape spans: of the type that the plan was made for.
    pub b: &'a AnyArray,
    /// Scales C; with 0, C is never read.
    pub beta: AnyCoefficient<'a>,
    /// C, at least as long as its shape spans, of the type that sums are made in. What lies between its rows (columns)
    /// is left alone, but all of the span is C's: it may not overlap B, alpha, beta or the matrix's arrays.
    pub c: &'a mut AnyArray,
}

/// What a plan is asked for; the default is the automatic choice.
#[derive(Clone, Debug, Default)]
pub struct SpmmOptions {
    /// The algorithm; `None` chooses one for the matrix and the device.
    pub algorithm: Option<SpmmAlgorithm>,
    /// In which form: with what was found to gain since the paper, or as published.
    pub variant: SpmmVariant,
    /// Which matrix multiplies B: A, or a transposed copy that the plan keeps. B is transposed by its layout.
    pub op: Op,
    /// Whether alpha and beta will come as device arrays.
    pub scalars_on_device: bool,
    /// Hyper-parameters by name, over what the device table says.
    pub parameters: Vec<(String, u32)>,
    /// The device tables; `None` takes the environment's.
    pub tables: Option<Tables>,
}

/// What runs, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpmmChoice {
    /// What runs; `None` is a product with the one column as a vector ([`AnyPlan`]).
    pub algorithm: Option<SpmmAlgorithm>,
    /// The reason.
    pub reason: String,
}

/// A way of multiplying bound to the pattern of a matrix and to the shapes and types of B and C. Immutable, `Send + Sync`,
/// good for any values.
#[derive(Debug)]
pub struct AnySpmmPlan {
    form: Form,
    choice: SpmmChoice,
    dense: DenseOperands,
    context: Context,
    pattern_id: u64,
    transposed: Option<AnyTransposedMatrix>,
    types: MatrixTypes,
}

#[derive(Debug)]
enum Form {
    Spmm(Box<Spmm>),
    /// One column, side by side: a vector.
    Vector(Box<AnyPlan>),
}

impl AnySpmmPlan {
    /// Plans for a matrix on the device, and a B and C that are as `dense` says.
    ///
    /// # Errors
    /// Shapes that do not fit the matrix or each other, a B that is summed in another type than the matrix, parameters
    /// that break a rule, a device that lacks the value type, a kernel that does not build.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        dense: DenseOperands,
        options: &SpmmOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        fitting(queue, |queue| Self::build(queue, matrix, dense, options))
    }

    fn build(
        queue: &Queue,
        matrix: &AnyMatrix,
        dense: DenseOperands,
        options: &SpmmOptions,
    ) -> Result<Self> {
        let transposed = match options.op {
            Op::Normal => None,
            Op::Transpose => Some(AnyTransposedMatrix::new_blocking(queue, matrix, None)?),
        };
        let pattern_id = matrix.pattern_id();
        let matrix = transposed.as_ref().map_or(matrix, AnyTransposedMatrix::matrix);
        let types = matrix.types();
        let (form, choice) = if is_vector(&dense, types.value_type, options) {
            let plan = vector_plan(queue, matrix, options)?;
            let reason =
                format!("one column is a vector: {}, {}", plan.algorithm(), plan.choice().reason);
            (Form::Vector(Box::new(plan)), SpmmChoice { algorithm: None, reason })
        } else {
            let Chosen { parameters, facts, reason } =
                choose(queue, matrix, dense.c.cols(), options)?;
            let algorithm = Some(parameters.algorithm());
            let scalars_on_device = options.scalars_on_device;
            let spmm =
                Spmm::new_blocking(queue, matrix, dense, parameters, facts, scalars_on_device)?;
            let reason = match spmm.copy_of_b() {
                Some(copy) => format!("{reason}; {copy}"),
                None => reason,
            };
            (Form::Spmm(Box::new(spmm)), SpmmChoice { algorithm, reason })
        };
        let context = queue.context().clone();
        Ok(AnySpmmPlan { form, choice, dense, context, pattern_id, transposed, types })
    }

    /// A new workspace: one serves one launch in flight.
    ///
    /// # Errors
    /// A queue of another context than the plan's, or the driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        check_device(queue, &self.context, "plan")?;
        match &self.form {
            Form::Spmm(spmm) => Ok(spmm.workspace_blocking(queue)?),
            Form::Vector(plan) => plan.workspace_blocking(queue),
        }
    }

    /// Enqueues C = alpha A B + beta C after the events in `wait`, with an event of its own, or after what is in the queue,
    /// without one ([`NoEvent`](crate::NoEvent)). Allocates nothing, waits for nothing.
    ///
    /// # Errors
    /// Operands of another pattern, type, length or context than the plan's; C that overlaps what is read; a workspace of another
    /// plan; an event in `wait` that has ended in error already; or the driver's own failure. Nothing was enqueued
    /// then. Where an event in `wait` ends in error later, so does the launch's, and C is not written.
    pub fn launch<W: Wait>(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: AnySpmmOperands<'_>,
        wait: W,
    ) -> Result<W::Event> {
        Ok(W::given(queue, self.enqueue(queue, workspace, product, wait.after())?)?)
    }

    fn enqueue(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: AnySpmmOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let AnySpmmOperands { alpha, a, b, beta, c } = product;
        self.check_pattern(a)?;
        check_context(queue, a.context(), "matrix")?;
        check_device(queue, &self.context, "plan")?;
        let accumulator = self.types.value_type.accumulator();
        b.check_element("B", self.dense.b_type)?;
        c.check_element("C", accumulator)?;
        let own = a;
        let a = match &self.transposed {
            None => a,
            Some(transposed) if transposed.values_id() == a.values_id() => transposed.matrix(),
            Some(_) => {
                let copy = "the plan's transposed copy";
                return Err(RuntimeError::StaleValues { copy, remedy: UPDATE }.into());
            }
        };
        check_span("B", b.len(), &self.dense.b)?;
        check_span("C", c.len(), &self.dense.c)?;
        self.context.check_array("B", b)?;
        self.context.check_array("C", c)?;
        // What lies after the last element is neither read nor written.
        let (of_b, of_c) = (b.slice(0..self.dense.b.span())?, c.slice(0..self.dense.c.span())?);
        check_result(("C", &of_c), ("B", &of_b), own, (&alpha, &beta))?;
        let spmm = match &self.form {
            Form::Spmm(spmm) => spmm,
            Form::Vector(plan) => {
                // B is of the type that sums are made in.
                let x = b.slice(0..self.dense.b.rows())?;
                let mut y = c.slice(0..self.dense.c.rows())?;
                let product = AnyOperands { alpha, a, x: &x, beta, y: &mut y };
                return plan.enqueue(queue, workspace, &product, after);
            }
        };
        let scalars = (accumulator, spmm.key().scalars_on_device);
        let operands = SpmmOperands {
            offsets: a.offsets().argument(),
            columns: a.columns().argument(),
            values: a.values().argument(),
            b: b.argument(),
            c: c.argument(),
            alpha: coefficient(&self.context, scalars, "alpha", &alpha)?,
            beta: coefficient(&self.context, scalars, "beta", &beta)?,
        };
        // SAFETY: the matrix shares the plan's pattern and types, B and C are of the plan's types, as long as its shapes
        // span, C overlaps nothing that is read, and all of it lives in the queue's context.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { spmm.launch(queue, workspace, &operands, after)? };
        Ok(event)
    }

    /// Brings the plan's transposed copy up to date with the matrix's values, where it keeps one.
    ///
    /// # Errors
    /// A matrix of another pattern or other types, a queue of another context, or the driver's own failure.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &AnyMatrix) -> Result<()> {
        self.check_pattern(matrix)?;
        check_device(queue, &self.context, "plan")?;
        match &mut self.transposed {
            Some(transposed) => Ok(transposed.update_values_blocking(queue, matrix)?),
            None => Ok(()),
        }
    }

    fn check_pattern(&self, matrix: &AnyMatrix) -> Result<()> {
        check_matrix_types(("the matrix", matrix.types()), ("the plan", self.types))?;
        if matrix.pattern_id() != self.pattern_id {
            return Err(RuntimeError::Pattern { what: "the matrix" }.into());
        }
        Ok(())
    }

    /// What the arrays of its matrices hold.
    pub fn types(&self) -> MatrixTypes {
        self.types
    }

    /// The B and C it is for.
    pub fn dense(&self) -> &DenseOperands {
        &self.dense
    }

    /// What runs, and why.
    pub fn choice(&self) -> &SpmmChoice {
        &self.choice
    }

    /// The algorithm's name; for one column, of the product with a vector.
    pub fn algorithm_name(&self) -> &'static str {
        match &self.form {
            Form::Spmm(spmm) => spmm.algorithm().name(),
            Form::Vector(plan) => plan.algorithm().name(),
        }
    }

    /// The hyper-parameters as text: `group_size=128,...`.
    pub fn parameters(&self) -> String {
        match &self.form {
            Form::Spmm(spmm) => spmm.parameters().to_string(),
            Form::Vector(plan) => plan.parameters().to_owned(),
        }
    }

    /// The kernel's key.
    pub fn key(&self) -> &KernelKey {
        match &self.form {
            Form::Spmm(spmm) => spmm.key(),
            Form::Vector(plan) => plan.key(),
        }
    }

    /// Rows that are multiplied together, in the mean: more than 1 where neighbouring rows have the same columns.
    pub fn mean_inode(&self) -> f64 {
        match &self.form {
            Form::Spmm(spmm) => spmm.mean_inode(),
            Form::Vector(_) => 1.0,
        }
    }

    /// Bytes of the plan on the device, beyond the CSR arrays; a transposed copy included.
    pub fn plan_bytes(&self) -> usize {
        let own = match &self.form {
            Form::Spmm(spmm) => spmm.plan_bytes(),
            Form::Vector(plan) => plan.plan_bytes(),
        };
        own + self.transposed.as_ref().map_or(0, AnyTransposedMatrix::size_bytes)
    }

    /// Bytes a workspace takes on the device: with a copy of B where a launch makes one (of a column-major B always, of a
    /// row-major one where the choice says so).
    pub fn workspace_bytes(&self) -> usize {
        match &self.form {
            Form::Spmm(spmm) => spmm.workspace_bytes(),
            Form::Vector(plan) => plan.workspace_bytes(),
        }
    }

    /// Whether the same launch always gives the same bits.
    pub fn is_repeatable(&self) -> bool {
        match &self.form {
            Form::Spmm(_) => true,
            Form::Vector(plan) => plan.is_repeatable(),
        }
    }
}

fn check_span(what: &str, len: usize, shape: &DenseShape) -> Result<()> {
    if len < shape.span() {
        return Err(RuntimeError::span(what, len, shape).into());
    }
    Ok(())
}
