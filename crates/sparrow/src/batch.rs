//! Batches: thousands of small products at once, a launch for each kernel that they need.

use std::ops::Range;

use cl_kernels::batched::{Batched as Parameters, BatchedAlgorithm, BatchedChoice, BatchedSwitch};
use cl_kernels::{KernelKey, Scalar, Tables};
use cl_runtime::batched::{AnyBatch, BatchOperands, Batched, BatchedVariant, Strided, Survey};
use cl_runtime::spmv::Workspace;
use cl_runtime::{After, AnyArray, Context, Event, Queue, Wait};
use csr_core::ValueType;
use csr_core::batch::{Format, Problem};

use crate::batch_operands::{AnyBatchCoefficient, AnyBatchOperands};
use crate::batch_overlap::check_batch_apart;
use crate::plan::{by_value, check_context, check_device, fitting};
use crate::tables::Resolver;
use crate::{Result, RuntimeError, default_tables};

/// What a plan is asked for; the default is the automatic choice.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// The algorithm, for the problems whose format it reads; the others, and with `None` all, get the one that
    /// suits them.
    pub algorithm: Option<BatchedAlgorithm>,
    /// How rows that are cut between the sub-groups of a group come together.
    pub variant: BatchedVariant,
    /// Whether alpha and beta will come as device arrays.
    pub scalars_on_device: bool,
    /// Hyper-parameters by name, over what the device table says.
    pub parameters: Vec<(String, u32)>,
    /// The device tables; `None` takes the environment's.
    pub tables: Option<Tables>,
}

/// A batch's tasks, and the programs that compute them. Immutable, `Send + Sync`, good for any values.
#[derive(Debug)]
pub struct BatchPlan {
    batched: Batched,
    algorithms: Vec<(BatchedAlgorithm, usize)>,
    context: Context,
    pattern_id: u64,
    value_type: ValueType,
}

impl BatchPlan {
    /// Plans for a batch on the device. Where its problems are a few strided ranges of ones alike and equally far apart, that
    /// takes as long however many they are; else some tens of microseconds for each thousand, and where one is cut a launch.
    ///
    /// # Errors
    /// An algorithm that reads no problem of the batch, parameters that break a rule, a device that lacks the value
    /// type, a kernel that does not build.
    pub fn new_blocking(queue: &Queue, batch: &AnyBatch, options: &BatchOptions) -> Result<Self> {
        check_context(queue, batch.context(), "batch")?;
        fitting(queue, |queue| Self::build(queue, batch, options))
    }

    fn build(queue: &Queue, batch: &AnyBatch, options: &BatchOptions) -> Result<Self> {
        let (device, value_type) = (queue.context().device().traits(), batch.value_type());
        let tables = options.tables.clone().unwrap_or_else(default_tables);
        let defaults = BatchedSwitch::default_for(device);
        let (switch, _) = tables.parameters(device, value_type, defaults, |_| Ok(()));
        let choice = match switch == BatchedSwitch::default_for(device) {
            true => {
                let units = device.compute_units;
                BatchedChoice::of_all(options.algorithm, switch, batch.kinds(), units)
            }
            // A table's numbers hold for each problem.
            false => BatchedChoice::of_each(options.algorithm, switch),
        };
        let select = |problem: &Problem| choice.select(problem);
        let survey = Survey::new(batch, select);
        let algorithms: Vec<_> = survey.algorithms().collect();
        if let Some(asked) = options.algorithm
            && !algorithms.is_empty()
            && algorithms.iter().all(|(algorithm, _)| *algorithm != asked)
        {
            let formats = match asked.reads(Format::Csr) {
                true => "compressed rows",
                false => "the algorithm's format",
            };
            let rule = format_args!("no problem of it is in {formats}");
            return Err(RuntimeError::combination(asked, "the batch", rule).into());
        }
        let asked = options.parameters.as_slice();
        let resolver = Resolver { tables: &tables, device, value_type, rule: &[], asked };
        let defaults = Parameters::default_for(device, value_type);
        let mut parameters = resolver.resolve(defaults, |p| p.check(device, value_type))?;
        let is_asked = |name: &str| asked.iter().any(|(asked, _)| asked == name);
        if is_asked("sub_groups_per_group") && !is_asked("wide_if_few") {
            // The caller gets as many as it names.
            parameters.wide_if_few = 0;
        }
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
            value_type,
        })
    }

    /// What a launch scribbles on; one serves one launch in flight.
    ///
    /// # Errors
    /// A queue of another context than the plan's, or the driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        check_device(queue, &self.context, "plan")?;
        Ok(self.batched.workspace_blocking(queue)?)
    }

    /// Enqueues all products after the events in `wait`, with an event of its own; or after what is in the queue, without
    /// one ([`NoEvent`](crate::NoEvent)), which is the way for batches that take tens of microseconds. Allocates nothing,
    /// waits for nothing.
    ///
    /// # Errors
    /// Operands of another pattern, type, length or context than the plan's; y that overlaps what is read; a workspace of
    /// another plan; an event in `wait` that has ended in error already; or the driver's own failure. Nothing was enqueued
    /// then; but where problems need several kernels and the driver refuses a later one, the earlier ones have ended.
    pub fn launch<'a, W: Wait>(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: impl Into<AnyBatchOperands<'a>>,
        wait: W,
    ) -> Result<W::Event> {
        let event = self.enqueue(queue, workspace, &product.into(), wait.after())?;
        Ok(W::given(queue, event)?)
    }

    fn enqueue(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: &AnyBatchOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let operands = self.operands(queue, product)?;
        // SAFETY: `operands` has checked that the batch shares the plan's patterns and types, that x and y are as long
        // as its problems demand, that coefficients are as many as there are problems, that no y overlaps what is read,
        // and that all of it lives in the queue's context.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { self.batched.launch(queue, workspace, product.a, &operands, after)? };
        Ok(event)
    }

    /// The operands as a launch takes them, once they were checked against the plan.
    fn operands<'a>(
        &self,
        queue: &Queue,
        product: &'a AnyBatchOperands<'_>,
    ) -> Result<BatchOperands<'a>> {
        let AnyBatchOperands { alpha, a, x, beta, y } = product;
        if a.value_type() != self.value_type {
            return Err(
                RuntimeError::element_type("the batch", a.value_type(), self.value_type).into()
            );
        }
        if a.pattern_id() != self.pattern_id {
            return Err(RuntimeError::Pattern { what: "the batch" }.into());
        }
        check_context(queue, a.context(), "batch")?;
        check_device(queue, &self.context, "plan")?;
        self.check_vector("x", x, a.problems(), a.x_len(), Problem::x_range)?;
        self.check_vector("y", y, a.problems(), a.y_len(), Problem::y_range)?;
        let problems = a.problems().len();
        let operands = BatchOperands {
            x: x.argument(),
            y: y.argument(),
            alpha: self.coefficient("alpha", alpha, problems)?,
            beta: self.coefficient("beta", beta, problems)?,
        };
        check_batch_apart(product)?;
        Ok(operands)
    }

    /// Refuses an array of another type than sums are made in, and one that has not all elements `needed`, by the first
    /// problem that lacks some.
    fn check_vector(
        &self,
        name: &'static str,
        array: &AnyArray,
        problems: &[Problem],
        needed: usize,
        range_of: impl Fn(&Problem) -> Range<u64>,
    ) -> Result<()> {
        array.check_element(name, self.value_type.accumulator())?;
        let len = array.len();
        if len < needed {
            let mut ends = problems.iter().map(|problem| range_of(problem).end);
            let index = ends.position(|end| end > len as u64).unwrap_or_default();
            let rule = format_args!("problem {index} ends beyond it");
            return Err(RuntimeError::size(name, (len, "element"), needed, rule).into());
        }
        Ok(self.context.check_array(name, array)?)
    }

    fn coefficient<'a>(
        &self,
        name: &str,
        coefficient: &AnyBatchCoefficient<'a>,
        problems: usize,
    ) -> Result<Strided<'a>> {
        let on_device = self.key().scalars_on_device;
        let accumulator = self.value_type.accumulator();
        let (array, stride, needed) = match coefficient {
            AnyBatchCoefficient::Value(number) if !on_device => {
                return Ok((by_value(name, *number, accumulator)?, 0));
            }
            AnyBatchCoefficient::Value(_) => {
                let name = name.to_owned();
                return Err(RuntimeError::Coefficient { name, on_device: false }.into());
            }
            AnyBatchCoefficient::One(array) => (*array, 0, problems.min(1)),
            AnyBatchCoefficient::Each(array) => (*array, 1, problems),
        };
        if !on_device {
            let name = name.to_owned();
            return Err(RuntimeError::Coefficient { name, on_device: true }.into());
        }
        array.check_element(name, accumulator)?;
        if array.len() < needed {
            let rule = if stride == 0 { "one for all problems" } else { "one for each problem" };
            return Err(RuntimeError::size(name, (array.len(), "element"), needed, rule).into());
        }
        self.context.check_array(name, array)?;
        Ok((Scalar::Device(array.argument()), stride))
    }

    /// The algorithms that run, and on how many problems.
    pub fn algorithms(&self) -> &[(BatchedAlgorithm, usize)] {
        &self.algorithms
    }

    /// The hyper-parameters as text: `sub_group_size=32,...`.
    pub fn parameters(&self) -> String {
        self.batched.parameters().to_string()
    }

    /// The key of the kernel that is launched first.
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
