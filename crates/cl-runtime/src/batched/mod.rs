//! Batched products on the device: one launch computes y = alpha A x + beta y for every problem of a batch.

mod batch;
mod cut;
mod packed;
mod step_notes;
mod survey;
mod tasks;
mod words;

use std::sync::Arc;

use cl_kernels::batched::{
    Arguments, Batched as Parameters, BatchedAlgorithm, FEATURE_ATOMIC, FEATURE_BACKWARD,
    FEATURE_COLUMNS_U16, FEATURE_FORWARD, FEATURE_LONG_ROWS, SOURCE,
};
use cl_kernels::{Accumulate, Array, Experiment, KernelKey, Scalar};
use csr_core::ValueType;
use csr_core::batch::Problem;

use crate::launch::{After, Size};
use crate::raw::Memory;
use crate::spmv::Specialisation;
use crate::workspace::{OwnerId, Workspace};
use crate::{DeviceArray, Error, Event, Program, Queue, Result};

pub use batch::{AnyBatch, BatchColumns, ColumnWidth};
pub use survey::Survey;
use tasks::DeviceTasks;

/// How rows that are cut between the sub-groups of a group come together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchedVariant {
    /// Added up in their order: the same bits every time.
    #[default]
    Ordered,
    /// By float atomics as they come, as published, in `batched_coo` and `batched_csr_i`; no other algorithm cuts
    /// rows. A plan that was asked for it claims no repeatability.
    Atomic,
}

impl BatchedVariant {
    /// The spelling in records; empty for the usual one.
    pub fn name(self) -> &'static str {
        match self {
            BatchedVariant::Ordered => "",
            BatchedVariant::Atomic => "atomic",
        }
    }
}

/// A coefficient as a launch takes it, and how far apart those of two problems lie: 0 or 1 elements.
pub type Strided<'a> = (Scalar<&'a Memory>, u32);

/// The vectors and numbers of one launch. Lengths were checked by the caller.
#[derive(Clone, Copy, Debug)]
pub struct BatchOperands<'a> {
    /// The vectors x.
    pub x: Array<&'a Memory>,
    /// The vectors y.
    pub y: Array<&'a Memory>,
    /// Scales A x.
    pub alpha: Strided<'a>,
    /// Scales y; with 0, y is not read.
    pub beta: Strided<'a>,
}

/// Pairs of problems that every compute unit has at least, or problems are computed one by one: with fewer, groups that
/// take two leave units without work.
const PAIRS_PER_UNIT: usize = 2;

/// The tasks of a batch, with the program that computes them.
#[derive(Debug)]
pub struct Batched {
    owner: OwnerId,
    program: Arc<Program>,
    /// The program of every other launch, where there is one: it walks problems from their ends.
    backward: Option<Arc<Program>>,
    parameters: Parameters,
    variant: BatchedVariant,
    tasks: DeviceTasks,
    /// What there is to know of each step, for programs that want to be told.
    step_notes: DeviceArray<u32>,
}

impl Batched {
    /// Makes the tasks of a batch and builds the program, which was surveyed.
    ///
    /// # Errors
    /// Parameters that break a rule, a device without the value type or the atomics, a kernel that does not
    /// build, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        batch: &AnyBatch,
        survey: &Survey<impl Fn(&Problem) -> BatchedAlgorithm>,
        parameters: Parameters,
        variant: BatchedVariant,
        scalars_on_device: bool,
    ) -> Result<Self> {
        let context = queue.context();
        let device = context.device().traits();
        let (value_type, offset_type) = (batch.value_type(), batch.offset_type());
        context.check_value_type(value_type)?;
        parameters.check(device, value_type)?;
        let is_f64 = value_type.accumulator() == ValueType::F64;
        if variant == BatchedVariant::Atomic && is_f64 && !device.has_int64_atomics {
            let what = "64-bit atomics, which the variant atomic needs for f64".to_owned();
            return Err(Error::Unsupported { device: device.name.clone(), what });
        }
        let specialisation = Specialisation {
            value_type,
            offset_type,
            accumulate: Accumulate::Plain,
            scalars_on_device,
            experiment: Experiment::Off,
        };
        let may_walk = variant == BatchedVariant::Ordered
            && parameters.runs_in_step(device)
            && survey.are_all_by(BatchedAlgorithm::CsrI)
            && survey.most_cols <= parameters.x_local;
        let mut tasks = DeviceTasks::new_blocking(queue, batch, survey, &parameters, may_walk)?;
        let may_pair = parameters.pairs == 1
            && variant == BatchedVariant::Ordered
            && tasks.count >= PAIRS_PER_UNIT * 2 * device.compute_units as usize
            && tasks.are_of_one_pattern(&parameters);
        let parameters = if may_pair { parameters.by_pairs() } else { parameters.one_by_one() };
        let mut key = specialisation.key(SOURCE, &parameters);
        if let Some(form) = tasks.program_form() {
            key = key.with_feature(form);
        }
        if tasks.has_long {
            key = key.with_feature(FEATURE_LONG_ROWS);
        }
        for feature in survey.algorithms().map(|(algorithm, _)| algorithm.feature()) {
            if !key.features.contains(&feature) {
                key = key.with_feature(feature);
            }
        }
        if matches!(batch.columns(), BatchColumns::U16(_)) {
            key = key.with_feature(FEATURE_COLUMNS_U16);
        }
        if variant == BatchedVariant::Atomic {
            key = key.with_feature(FEATURE_ATOMIC);
        }
        let takes_turns = may_walk && tasks.can_be_walked(&parameters, value_type);
        let backward = takes_turns.then(|| key.clone().with_feature(FEATURE_BACKWARD));
        let backward = backward.map(|key| context.program(&key)).transpose()?;
        if takes_turns {
            key = key.with_feature(FEATURE_FORWARD);
        }
        let program = context.program(&key)?;
        let step_notes = if takes_turns {
            step_notes::find_blocking(queue, batch, &tasks, &program, &parameters)?
        } else {
            DeviceArray::allocate(context, 0)?
        };
        cut::finish(&mut tasks.pending)?;
        let owner = OwnerId::new();
        Ok(Batched { owner, program, backward, parameters, variant, tasks, step_notes })
    }

    /// The kernel's key: hyper-parameters included.
    pub fn key(&self) -> &KernelKey {
        self.program.key()
    }

    /// The hyper-parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Bytes of the plan on the device, beyond the batch's arrays.
    pub fn plan_bytes(&self) -> usize {
        self.tasks.size_bytes() + self.step_notes.size_bytes()
    }

    /// Tasks, and how many of them have a group each.
    pub fn tasks(&self) -> (usize, usize) {
        (self.tasks.count, self.tasks.whole)
    }

    /// Whether the same launch always gives the same bits.
    pub fn is_repeatable(&self) -> bool {
        self.variant == BatchedVariant::Ordered
    }

    /// A new workspace: the kernel object of one launch in flight.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let mut kernels = vec![self.program.kernel("batched")?];
        if let Some(backward) = &self.backward {
            kernels.push(backward.kernel("batched")?);
        }
        Workspace::new_blocking(queue, self.owner, kernels, 0)
    }

    /// Enqueues the products. Allocates nothing. `None` where no event was asked for.
    ///
    /// # Safety
    /// The batch shares the patterns of the one the tasks were made of, and the operands are as long as it says.
    ///
    /// # Errors
    /// A workspace of another plan, or the driver's own failure.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        batch: &AnyBatch,
        operands: &BatchOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let arguments = self.arguments(batch, operands);
        let kernel = self.next_kernel(workspace);
        // SAFETY: the caller's promise about the operands; the tasks are the batch's.
        workspace.run(self.owner, queue, after, |mut parts| unsafe {
            parts.launch(kernel, &arguments, self.size())
        })
    }

    /// The number, in the workspace, of the kernel of the next launch.
    fn next_kernel(&self, workspace: &mut Workspace) -> usize {
        let count = 1 + usize::from(self.backward.is_some());
        workspace.next_direction().first_of(count) as usize
    }

    fn size(&self) -> Size {
        let DeviceTasks { count, whole, .. } = &self.tasks;
        let groups = if self.parameters.pairs == 1 {
            self.tasks.pairs()
        } else {
            whole + (count - whole).div_ceil(self.parameters.sub_groups_per_group as usize)
        };
        Size { groups, group_size: self.parameters.group_size() }
    }

    fn arguments<'a>(
        &'a self,
        batch: &'a AnyBatch,
        operands: &BatchOperands<'a>,
    ) -> Arguments<&'a Memory> {
        let DeviceTasks { count, whole, form, words, ranges, .. } = &self.tasks;
        Arguments {
            task_count: *count as u32,
            whole: *whole as u32,
            listed: form.listed,
            range_count: form.range_count,
            packed_words: form.packed_words,
            widths: form.widths,
            follows: form.follows,
            last: form.last,
            before_last: form.before_last,
            tasks: words.argument(),
            ranges: ranges.argument(),
            step_notes: self.step_notes.argument(),
            offsets: batch.offsets().argument(),
            indices: batch.indices().argument(),
            columns: batch.columns().argument(),
            values: batch.values().argument(),
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha.0,
            beta: operands.beta.0,
            alpha_stride: operands.alpha.1,
            beta_stride: operands.beta.1,
        }
    }
}
