//! Batches: thousands of small products in one launch.

use std::ops::Range;

use cl_kernels::batched::{Batched as Parameters, BatchedAlgorithm, BatchedSwitch};
use cl_kernels::{KernelKey, Scalar, Tables};
use cl_runtime::batched::{Batch, BatchOperands, Batched, BatchedVariant, Strided, Survey};
use cl_runtime::raw::Memory;
use cl_runtime::spmv::Workspace;
use cl_runtime::{Context, DeviceArray, Event, Queue};
use csr_core::batch::{Format, Problem};
use csr_core::{Offset, Value, ValueType};

use crate::plan::check_context;
use crate::tables::Resolver;
use crate::{Error, Result, usual_tables};

/// alpha or beta of a batch.
#[derive(Clone, Copy, Debug)]
pub enum BatchCoefficient<'a, T> {
    /// By value, for all problems.
    Value(T),
    /// The first element of an array on the device, for all problems.
    One(&'a DeviceArray<T>),
    /// An element for each problem, on the device.
    Each(&'a DeviceArray<T>),
}

impl<T> From<T> for BatchCoefficient<'_, T> {
    fn from(value: T) -> Self {
        BatchCoefficient::Value(value)
    }
}

/// The operands of y = alpha A x + beta y, for every problem of a batch.
#[derive(Debug)]
pub struct BatchProduct<'a, V: Value, O> {
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: BatchCoefficient<'a, V::Accum>,
    /// The batch: the plan's, or one that shares its patterns.
    pub a: &'a Batch<V, O>,
    /// The vectors x, each where its problem says.
    pub x: &'a DeviceArray<V::Accum>,
    /// Scales y; where it is 0, y is never read.
    pub beta: BatchCoefficient<'a, V::Accum>,
    /// The vectors y, each where its problem says; elements between them are left alone.
    pub y: &'a mut DeviceArray<V::Accum>,
}

/// What a plan is asked for; the default is the automatic choice.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// The algorithm, for the problems whose format it reads; the others, and with `None` all, get the one that
    /// suits them.
    pub algorithm: Option<BatchedAlgorithm>,
    /// How rows that are cut between the bunches of a group come together.
    pub variant: BatchedVariant,
    /// Whether alpha and beta will come as device arrays.
    pub scalars_on_device: bool,
    /// Hyper-parameters by name, over what the device table says.
    pub parameters: Vec<(String, u32)>,
    /// The device tables; `None` takes the environment's.
    pub tables: Option<Tables>,
}

/// A batch's tasks, and the program that computes them in one launch. Immutable, `Send + Sync`, good for any values.
#[derive(Debug)]
pub struct BatchPlan {
    batched: Batched,
    algorithms: Vec<(BatchedAlgorithm, usize)>,
    context: Context,
    pattern_id: u64,
    value_type: ValueType,
}

impl BatchPlan {
    /// Plans for a batch on the device. Where its problems are a few stretches of ones alike and equally far apart, that
    /// takes as long however many they are; else some tens of microseconds for each thousand, and where one is cut a launch.
    ///
    /// # Errors
    /// An algorithm that reads no problem of the batch, parameters that break a rule, a device that lacks the value
    /// type, a kernel that does not build.
    pub fn new_blocking<V: Value, O: Offset>(
        queue: &Queue,
        batch: &Batch<V, O>,
        options: &BatchOptions,
    ) -> Result<Self> {
        check_context(queue, batch.context(), "batch")?;
        let device = queue.context().device().traits();
        let tables = options.tables.clone().unwrap_or_else(usual_tables);
        let defaults = BatchedSwitch::default_for(device);
        let (switch, _) = tables.parameters(device, V::TYPE, defaults, |_| Ok(()));
        let select = |problem: &Problem| switch.select(options.algorithm, problem);
        let survey = Survey::new(batch, select);
        let algorithms: Vec<_> = survey.algorithms().collect();
        if let Some(asked) = options.algorithm
            && !algorithms.is_empty()
            && algorithms.iter().all(|(algorithm, _)| *algorithm != asked)
        {
            let formats = if asked.reads(Format::Csr) { "compressed rows" } else { "its format" };
            return Err(Error::Mismatch(format!(
                "{asked}: no problem of the batch is in {formats}"
            )));
        }
        let asked = options.parameters.as_slice();
        let resolver = Resolver { tables: &tables, device, value_type: V::TYPE, rule: &[], asked };
        let defaults = Parameters::default_for(device, V::TYPE);
        let parameters = resolver.resolve(defaults, |p| p.check(device, V::TYPE))?;
        let batched = Batched::new_blocking(
            queue,
            batch,
            &survey,
            parameters,
            options.variant,
            options.scalars_on_device,
        )?;
        Ok(BatchPlan {
            batched,
            algorithms,
            context: queue.context().clone(),
            pattern_id: batch.pattern_id(),
            value_type: V::TYPE,
        })
    }

    /// What a launch scribbles on; one serves one launch in flight.
    ///
    /// # Errors
    /// A queue of another context than the plan's, or the driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        check_context(queue, &self.context, "plan")?;
        Ok(self.batched.workspace_blocking(queue)?)
    }

    /// Enqueues all products after the events in `wait`. Allocates nothing, waits for nothing.
    ///
    /// # Errors
    /// Operands of another pattern, length or context than the plan's; a workspace of another plan; an event in
    /// `wait` that has ended in error already; or the driver's own failure. Nothing was enqueued then.
    pub fn launch<V: Value, O: Offset>(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: BatchProduct<'_, V, O>,
        wait: &[Event],
    ) -> Result<Event> {
        let operands = self.operands(queue, &product)?;
        // SAFETY: `operands` has checked that the batch shares the plan's patterns, that x and y are as long as its
        // problems demand, that coefficients are as many as there are problems, and that all of it lives in the
        // queue's context.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { self.batched.launch(queue, workspace, product.a, &operands, wait)? };
        Ok(event)
    }

    /// As [`BatchPlan::launch`], after what is in the queue already, and without an event: what comes next in an in-order
    /// queue comes after it. An event takes a GPU time of its own between two kernels (2 us on an H200), so this is the
    /// way for batches that take tens of microseconds. In a queue out of order only a barrier of the caller's comes
    /// after it.
    ///
    /// # Errors
    /// As [`BatchPlan::launch`].
    pub fn launch_unobserved<V: Value, O: Offset>(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: BatchProduct<'_, V, O>,
    ) -> Result<()> {
        let Some(in_order) = queue.in_order() else {
            return self.launch(queue, workspace, product, &[]).map(drop);
        };
        let operands = self.operands(queue, &product)?;
        // SAFETY: as for `launch`.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        unsafe {
            self.batched.launch_unobserved(in_order, workspace, product.a, &operands)?;
        }
        Ok(())
    }

    /// The operands as a launch takes them, once they were checked against the plan.
    fn operands<'a, V: Value, O: Offset>(
        &self,
        queue: &Queue,
        product: &'a BatchProduct<'_, V, O>,
    ) -> Result<BatchOperands<'a>> {
        let BatchProduct { alpha, a, x, beta, y } = product;
        if a.pattern_id() != self.pattern_id || V::TYPE != self.value_type {
            let text = "the batch does not share the patterns the plan was made for";
            return Err(Error::Mismatch(text.to_owned()));
        }
        check_context(queue, a.context(), "batch")?;
        self.check_vector("x", *x, a.problems(), a.x_len(), Problem::x_range)?;
        self.check_vector("y", &**y, a.problems(), a.y_len(), Problem::y_range)?;
        let problems = a.problems().len();
        Ok(BatchOperands {
            x: x.argument(),
            y: y.argument(),
            alpha: self.coefficient("alpha", alpha, problems)?,
            beta: self.coefficient("beta", beta, problems)?,
        })
    }

    /// Refuses an array that has not all elements `needed`, by the first problem that lacks some.
    fn check_vector<T: Value>(
        &self,
        name: &'static str,
        array: &DeviceArray<T>,
        problems: &[Problem],
        needed: usize,
        range_of: impl Fn(&Problem) -> Range<u64>,
    ) -> Result<()> {
        let len = array.len();
        if len < needed {
            let mut ends = problems.iter().map(|problem| range_of(problem).end);
            let index = ends.position(|end| end > len as u64).unwrap_or_default();
            let text = format!("{name} has {len} elements, and the problems need {needed}");
            return Err(Error::Mismatch(format!("{text}: problem {index} ends beyond it")));
        }
        Ok(self.context.check_array(name, array)?)
    }

    fn coefficient<'a, T: Value>(
        &self,
        name: &str,
        coefficient: &BatchCoefficient<'a, T>,
        problems: usize,
    ) -> Result<Strided<'a>> {
        let on_device = self.key().scalars_on_device;
        let (array, stride, needed) = match coefficient {
            BatchCoefficient::Value(value) if !on_device => {
                let scalar = match self.value_type.accumulator() {
                    ValueType::F64 => Scalar::F64(value.to_f64()),
                    _ => Scalar::F32(f32::from_f64(value.to_f64())),
                };
                return Ok((scalar, 0));
            }
            BatchCoefficient::Value(_) => {
                return Err(Error::Mismatch(format!(
                    "{name} came by value, but the plan takes alpha and beta from the device"
                )));
            }
            BatchCoefficient::One(array) => (*array, 0, problems.min(1)),
            BatchCoefficient::Each(array) => (*array, 1, problems),
        };
        if !on_device {
            return Err(Error::Mismatch(format!(
                "{name} came as a device array, but the plan takes alpha and beta by value; set \
                 scalars_on_device in its options"
            )));
        }
        if array.len() < needed {
            let text = format!("{name} has {} elements, and {needed} are needed", array.len());
            return Err(Error::Mismatch(text));
        }
        self.context.check_array(name, array)?;
        let scalar: Scalar<&'a Memory> = Scalar::Device(array.argument());
        Ok((scalar, stride))
    }

    /// The algorithms that run, and on how many problems.
    pub fn algorithms(&self) -> &[(BatchedAlgorithm, usize)] {
        &self.algorithms
    }

    /// The hyper-parameters as text: `bunch_size=32,...`.
    pub fn parameters(&self) -> String {
        self.batched.parameters().to_string()
    }

    /// The kernel's key.
    pub fn key(&self) -> &KernelKey {
        self.batched.key()
    }

    /// Bytes of the plan on the device, beyond the batch's arrays.
    pub fn plan_bytes(&self) -> usize {
        self.batched.plan_bytes()
    }

    /// Tasks that the problems were made into, and how many of them have a work-group each; the others share groups.
    pub fn tasks(&self) -> (usize, usize) {
        self.batched.tasks()
    }

    /// Whether the same launch always gives the same bits.
    pub fn is_repeatable(&self) -> bool {
        self.batched.is_repeatable()
    }
}
