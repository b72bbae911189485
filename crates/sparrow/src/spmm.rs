//! SpMM: C = alpha A B + beta C, with B and C dense.

use cl_kernels::spmm::{SpmmAlgorithm, SpmmSwitch};
use cl_kernels::spmm_merge::SpmmMerge;
use cl_kernels::spmm_row_split::SpmmRowSplit;
use cl_kernels::{KernelKey, Tables};
use cl_runtime::raw::Memory;
use cl_runtime::spmm::{DenseOperands, RowFacts, Spmm, SpmmOperands, SpmmParameters};
use cl_runtime::spmv::Workspace;
use cl_runtime::{Context, DeviceArray, Event, Matrix, Queue, TransposedMatrix};
use csr_core::{DenseShape, Layout, Offset, Value};

use crate::plan::{check_context, coefficient};
use crate::tables::Resolver;
use crate::{Coefficient, Error, Op, Plan, PlanOptions, Product};
use crate::{Result, usual_tables};

/// The operands of C = alpha A B + beta C. B stores `D`: the type sums are made in, or for sums in f32 16 bits.
#[derive(Debug)]
pub struct DenseProduct<'a, V: Value, O, D: Value> {
    /// Scales A B; 0 is not special, so NaN in A or B reaches C.
    pub alpha: Coefficient<'a, V::Accum>,
    /// The matrix: the plan's, or one that shares its pattern.
    pub a: &'a Matrix<V, O>,
    /// B, at least as long as its shape spans.
    pub b: &'a DeviceArray<D>,
    /// Scales C; with 0, C is never read.
    pub beta: Coefficient<'a, V::Accum>,
    /// C, at least as long as its shape spans. What lies between its rows (columns) is left alone.
    pub c: &'a mut DeviceArray<V::Accum>,
}

/// What a plan is asked for; the default is the automatic choice.
#[derive(Clone, Debug, Default)]
pub struct SpmmOptions {
    /// The algorithm; `None` chooses one for the matrix and the device.
    pub algorithm: Option<SpmmAlgorithm>,
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
    /// What runs; `None` is a product with the one column as a vector ([`Plan`]).
    pub algorithm: Option<SpmmAlgorithm>,
    /// The reason.
    pub reason: String,
}

/// A way of multiplying bound to the pattern of a matrix and to the shapes of B and C. Immutable, `Send + Sync`, good
/// for any values.
#[derive(Debug)]
pub struct SpmmPlan<V, O, D> {
    form: Form<V, O>,
    choice: SpmmChoice,
    dense: DenseOperands,
    context: Context,
    pattern_id: u64,
    transposed: Option<TransposedMatrix<V, O>>,
    storage: std::marker::PhantomData<fn() -> D>,
}

#[derive(Debug)]
enum Form<V, O> {
    Spmm(Box<Spmm>),
    /// One column, side by side: a vector.
    Vector(Box<Plan<V, O>>),
}

impl<V: Value, O: Offset, D: Value<Accum = V::Accum>> SpmmPlan<V, O, D> {
    /// Plans for a matrix on the device, and a B and C that lie as `b` and `c` say.
    ///
    /// # Errors
    /// Shapes that do not fit the matrix or each other, parameters that break a rule, a device that lacks the value
    /// type, a kernel that does not build.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        b: DenseShape,
        c: DenseShape,
        options: &SpmmOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        let transposed = match options.op {
            Op::Normal => None,
            Op::Transpose => Some(TransposedMatrix::new_blocking(queue, matrix, None)?),
        };
        let pattern_id = matrix.pattern_id();
        let matrix = transposed.as_ref().map_or(matrix, TransposedMatrix::matrix);
        let dense = DenseOperands { b, b_type: D::TYPE, c };
        let (form, choice) = if is_vector::<V, D>(&dense, options) {
            let plan = vector_plan(queue, matrix, options)?;
            let reason =
                format!("one column is a vector: {}, {}", plan.algorithm(), plan.choice().reason);
            (Form::Vector(Box::new(plan)), SpmmChoice { algorithm: None, reason })
        } else {
            let Chosen { parameters, facts, reason } = choose(queue, matrix, options)?;
            let algorithm = Some(parameters.algorithm());
            let scalars_on_device = options.scalars_on_device;
            let spmm =
                Spmm::new_blocking(queue, matrix, dense, parameters, facts, scalars_on_device)?;
            (Form::Spmm(Box::new(spmm)), SpmmChoice { algorithm, reason })
        };
        let (context, storage) = (queue.context().clone(), std::marker::PhantomData);
        Ok(SpmmPlan { form, choice, dense, context, pattern_id, transposed, storage })
    }

    /// A new workspace: one serves one launch in flight.
    ///
    /// # Errors
    /// A queue of another context than the plan's, or the driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        check_context(queue, &self.context, "plan")?;
        match &self.form {
            Form::Spmm(spmm) => Ok(spmm.workspace_blocking(queue)?),
            Form::Vector(plan) => plan.workspace_blocking(queue),
        }
    }

    /// Enqueues C = alpha A B + beta C after the events in `wait`. Allocates nothing, waits for nothing.
    ///
    /// # Errors
    /// Operands of another pattern, length or context than the plan's; B and C that overlap; a workspace of another
    /// plan; an event in `wait` that has ended in error already; or the driver's own failure. Nothing was enqueued
    /// then. Where an event in `wait` ends in error later, so does the launch's, and C is not written.
    pub fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: DenseProduct<'_, V, O, D>,
        wait: &[Event],
    ) -> Result<Event> {
        let DenseProduct { alpha, a, b, beta, c } = product;
        if a.pattern_id() != self.pattern_id {
            let text = "the matrix does not share the pattern the plan was made for";
            return Err(Error::Mismatch(text.to_owned()));
        }
        check_context(queue, a.context(), "matrix")?;
        let a = match &self.transposed {
            None => a,
            Some(transposed) if transposed.values_id() == a.values_id() => transposed.matrix(),
            Some(_) => {
                let text = "the matrix's values have changed since the plan's transposed copy was made; \
                            update_values_blocking brings it up to date";
                return Err(Error::Mismatch(text.to_owned()));
            }
        };
        check_span("B", b.len(), &self.dense.b)?;
        check_span("C", c.len(), &self.dense.c)?;
        self.context.check_array("B", b)?;
        self.context.check_array("C", c)?;
        check_apart(b, &self.dense.b, c, &self.dense.c)?;
        let spmm = match &self.form {
            Form::Spmm(spmm) => spmm,
            Form::Vector(plan) => {
                let x = bytes_of_vector::<V, D>(b, self.dense.b.rows())?;
                let mut y = c.slice(0..self.dense.c.rows())?;
                let product = Product { alpha, a, x: &x, beta, y: &mut y };
                return plan.launch(queue, workspace, product, wait);
            }
        };
        let on_device = spmm.key().scalars_on_device;
        let operands = SpmmOperands {
            offsets: a.offsets().argument(),
            columns: a.columns().argument(),
            values: a.values().argument(),
            b: b.argument(),
            c: c.argument(),
            alpha: coefficient::<V>(&self.context, on_device, "alpha", &alpha)?,
            beta: coefficient::<V>(&self.context, on_device, "beta", &beta)?,
        };
        // SAFETY: the matrix shares the plan's pattern, B and C are as long as the plan's shapes span and do not
        // overlap, and all of it lives in the queue's context.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { spmm.launch(queue, workspace, &operands, wait)? };
        Ok(event)
    }

    /// Brings the plan's transposed copy up to date with the matrix's values, where it keeps one.
    ///
    /// # Errors
    /// A matrix of another pattern, a queue of another context, or the driver's own failure.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &Matrix<V, O>) -> Result<()> {
        if matrix.pattern_id() != self.pattern_id {
            let text = "the matrix does not share the pattern the plan was made for";
            return Err(Error::Mismatch(text.to_owned()));
        }
        check_context(queue, &self.context, "plan")?;
        match &mut self.transposed {
            Some(transposed) => Ok(transposed.update_values_blocking(queue, matrix)?),
            None => Ok(()),
        }
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
        own + self.transposed.as_ref().map_or(0, TransposedMatrix::size_bytes)
    }

    /// Bytes a workspace takes on the device: with a column-major B a copy of it.
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

/// Whether B and C are one column each that lies side by side, in the type sums are made in, and nothing was asked for
/// that only SpMM has.
fn is_vector<V: Value, D: Value>(dense: &DenseOperands, options: &SpmmOptions) -> bool {
    let is_packed = |shape: &DenseShape| {
        shape.cols() == 1 && (shape.layout() == Layout::ColumnMajor || shape.leading() == 1)
    };
    options.algorithm.is_none()
        && options.parameters.is_empty()
        && D::TYPE == V::TYPE.accumulator()
        && is_packed(&dense.b)
        && is_packed(&dense.c)
}

/// A plan for one column.
fn vector_plan<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    options: &SpmmOptions,
) -> Result<Plan<V, O>> {
    let options = PlanOptions {
        scalars_on_device: options.scalars_on_device,
        tables: options.tables.clone(),
        ..PlanOptions::default()
    };
    Plan::new_blocking(queue, matrix, &options)
}

/// What [`choose`] chose.
struct Chosen {
    parameters: SpmmParameters,
    /// What was seen of the matrix, where it was looked at.
    facts: Option<RowFacts>,
    reason: String,
}

/// The algorithm with its hyper-parameters, and why it was chosen.
fn choose<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    options: &SpmmOptions,
) -> Result<Chosen> {
    let device = queue.context().device().traits();
    let tables = options.tables.clone().unwrap_or_else(usual_tables);
    let asked = options.parameters.as_slice();
    let resolver = Resolver { tables: &tables, device, value_type: V::TYPE, rule: &[], asked };
    let row_split = || {
        let defaults = SpmmRowSplit::default_for(device, V::TYPE);
        resolver.resolve(defaults, |parameters| parameters.check(device))
    };
    let (algorithm, facts, reason) = match options.algorithm {
        Some(algorithm) => (algorithm, None, "asked for by name".to_owned()),
        None => {
            let defaults = SpmmSwitch::default_for(device);
            let (switch, _) = tables.parameters(device, V::TYPE, defaults, |_| Ok(()));
            let facts = RowFacts::find_blocking(queue, matrix, &row_split()?)?;
            let (algorithm, reason) = switch.select(&facts.shape);
            (algorithm, Some(facts), reason)
        }
    };
    let parameters = match algorithm {
        SpmmAlgorithm::RowSplit => SpmmParameters::RowSplit(row_split()?),
        SpmmAlgorithm::Merge => {
            let defaults = SpmmMerge::default_for(device, V::TYPE);
            let check = |parameters: &SpmmMerge| parameters.check(device, V::TYPE);
            SpmmParameters::Merge(resolver.resolve(defaults, check)?)
        }
        other => return Err(Error::Mismatch(format!("{other} has no launch"))),
    };
    Ok(Chosen { parameters, facts, reason })
}

fn check_span(what: &str, len: usize, shape: &DenseShape) -> Result<()> {
    if len < shape.span() {
        return Err(Error::Mismatch(format!(
            "{what} has {len} elements, and {} x {} with a leading dimension of {} spans {}",
            shape.rows(),
            shape.cols(),
            shape.leading(),
            shape.span()
        )));
    }
    Ok(())
}

/// Refuses a B and a C that share bytes of one memory.
fn check_apart<D: Value, T: Value>(
    b: &DeviceArray<D>,
    b_shape: &DenseShape,
    c: &DeviceArray<T>,
    c_shape: &DenseShape,
) -> Result<()> {
    let ((b_memory, b_start), (c_memory, c_start)) = (b.memory(), c.memory());
    let is_same = match (b_memory, c_memory) {
        (Memory::Buffer(b), Memory::Buffer(c)) => b.as_raw() == c.as_raw(),
        (Memory::Svm(b), Memory::Svm(c)) => b.as_raw() == c.as_raw(),
        _ => false,
    };
    let b_end = b_start + b_shape.span() * size_of::<D>();
    let c_end = c_start + c_shape.span() * size_of::<T>();
    if is_same && b_start < c_end && c_start < b_end && b_start < b_end && c_start < c_end {
        return Err(Error::Mismatch(format!(
            "B (bytes {b_start} to {b_end} of its memory) and C (bytes {c_start} to {c_end}) overlap"
        )));
    }
    Ok(())
}

/// The first `len` elements of B as a vector x, which are of the same type.
fn bytes_of_vector<V: Value, D: Value>(
    b: &DeviceArray<D>,
    len: usize,
) -> Result<DeviceArray<V::Accum>> {
    let (memory, start) = b.memory();
    Ok(DeviceArray::of_memory(memory.clone(), start, len)?)
}
