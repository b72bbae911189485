//! Batched products on the device: y = alpha A x + beta y for every problem of a batch, a launch for each kernel that
//! its problems need.

mod batch;
mod columns;
mod cut;
mod survey;
mod tasks;
mod words;

use std::sync::Arc;

use cl_kernels::batched::{
    Arguments, Batched as Parameters, BatchedAlgorithm, BatchedKernel, FEATURE_ATOMIC,
    FEATURE_COLUMNS_U16, FEATURE_ONE_RANGE, FEATURE_REVERSE, FEATURE_WIDE_X,
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
    /// The spelling in records; empty for the default one.
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

/// The tasks of a batch, with the programs that compute them.
#[derive(Debug)]
pub struct Batched {
    owner: OwnerId,
    /// One for each kernel that problems need: at least one.
    launches: Vec<KernelLaunch>,
    variant: BatchedVariant,
}

/// One kernel, and its tasks.
#[derive(Debug)]
struct KernelLaunch {
    kernel: BatchedKernel,
    program: Arc<Program>,
    /// The program of every other launch, where there is one: it takes the steps of a chunk in reverse.
    reverse: Option<Arc<Program>>,
    parameters: Parameters,
    tasks: DeviceTasks,
    /// Copies of the columns, for programs that read them instead.
    columns: Option<DeviceArray<u32>>,
}

impl Batched {
    /// Makes the tasks of a batch, which was surveyed, and builds the programs.
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
        let in_step =
            variant == BatchedVariant::Ordered && parameters.runs_in_step(device, value_type);
        let needed = survey.algorithms().map(|(algorithm, _)| algorithm.kernel(in_step));
        let mut kernels: Vec<BatchedKernel> = needed.collect();
        if kernels.is_empty() {
            kernels.push(BatchedKernel::Rows); // A batch without problems launches no group of it.
        }
        kernels.sort_unstable();
        kernels.dedup();
        let launches = kernels.into_iter().map(|kernel| {
            KernelLaunch::new_blocking(
                queue,
                batch,
                survey,
                kernel,
                parameters,
                variant,
                specialisation,
            )
        });
        let launches = launches.collect::<Result<_>>()?;
        Ok(Batched { owner: OwnerId::new(), launches, variant })
    }

    /// The key of the kernel that is launched first: hyper-parameters included.
    pub fn key(&self) -> &KernelKey {
        self.launches[0].program.key()
    }

    /// Its hyper-parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.launches[0].parameters
    }

    /// Bytes of the plan on the device, beyond the batch's arrays.
    pub fn plan_bytes(&self) -> usize {
        let columns = |its: &KernelLaunch| its.columns.as_ref().map_or(0, |its| its.size_bytes());
        self.launches.iter().map(|its| its.tasks.words.size_bytes() + columns(its)).sum()
    }

    /// Tasks, and how many of them have a group each.
    pub fn tasks(&self) -> (usize, usize) {
        let tasks = || self.launches.iter().map(|its| &its.tasks);
        (tasks().map(|its| its.count).sum(), tasks().map(|its| its.whole).sum())
    }

    /// Whether the same launch always gives the same bits.
    pub fn is_repeatable(&self) -> bool {
        self.variant == BatchedVariant::Ordered
    }

    /// A new workspace: the kernel objects of one launch in flight.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let programs =
            self.launches.iter().flat_map(|its| [Some(&its.program), its.reverse.as_ref()]);
        let kernels = programs.flatten().map(|program| program.kernel("batched"));
        Workspace::new_blocking(queue, self.owner, kernels.collect::<Result<_>>()?, 0)
    }

    /// Enqueues the products. Allocates nothing. `None` where no event was asked for.
    ///
    /// # Safety
    /// The batch shares the patterns of the one the tasks were made of, and the operands are as long as it says.
    ///
    /// # Errors
    /// A workspace of another plan, or the driver's own failure; where several kernels are launched, what was enqueued
    /// of them has ended then.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        batch: &AnyBatch,
        operands: &BatchOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let direction = workspace.next_direction();
        workspace.run(self.owner, queue, after, |mut parts| {
            let (mut number, mut last) = (0, None);
            let mut are_enqueued = false;
            parts.earlier.clear();
            for launch in &self.launches {
                let programs = 1 + usize::from(launch.reverse.is_some());
                let kernel = number + direction.first_of(programs) as usize;
                number += programs;
                let arguments = launch.arguments(batch, operands);
                // Kernels write to problems of their own; the last one's event stands for all.
                let wait = [parts.wait.as_slice(), parts.earlier].concat();
                // SAFETY: the caller's promise about the operands; the tasks are the batch's.
                let event = unsafe {
                    match parts.has_event {
                        true => {
                            parts.launch_after(kernel, &arguments, launch.size(), &wait).map(Some)
                        }
                        false => parts.launch(kernel, &arguments, launch.size()),
                    }
                };
                if event.is_err() && are_enqueued {
                    // What was enqueued still writes to y; the error that is told is the launch's own.
                    let _ = queue.finish_blocking();
                }
                last = event?;
                are_enqueued = true;
                parts.earlier.extend(last.clone());
            }
            Ok(last)
        })
    }
}

impl KernelLaunch {
    fn new_blocking(
        queue: &Queue,
        batch: &AnyBatch,
        survey: &Survey<impl Fn(&Problem) -> BatchedAlgorithm>,
        kernel: BatchedKernel,
        parameters: Parameters,
        variant: BatchedVariant,
        specialisation: Specialisation,
    ) -> Result<Self> {
        let context = queue.context();
        let device = context.device().traits();
        let mut tasks = DeviceTasks::new_blocking(queue, batch, survey, kernel, &parameters)?;
        // A row can be too long for sub-groups in step, wherever problems are cut.
        let is_too_long =
            kernel == BatchedKernel::CsrIInStep && tasks.most_nnz > parameters.most_nnz_in_step();
        let kernel = if is_too_long { BatchedKernel::CsrI } else { kernel };
        let in_step = kernel == BatchedKernel::CsrIInStep;
        let has_wide_x = survey.most_cols > parameters.x_local;
        let may_pair =
            in_step && !has_wide_x && parameters.pairs == 1 && tasks.are_of_one_pattern();
        let parameters =
            if may_pair && tasks.count >= PAIRS_PER_UNIT * 2 * device.compute_units as usize {
                parameters.by_pairs()
            } else {
                let wide = parameters.wide(device, batch.value_type(), in_step);
                let wide = wide.filter(|_| tasks.are_few(device.compute_units, kernel));
                wide.unwrap_or(parameters.one_by_one())
            };
        let features = [
            (FEATURE_ONE_RANGE, tasks.range.is_some()),
            (FEATURE_COLUMNS_U16, matches!(batch.columns(), BatchColumns::U16(_))),
            (FEATURE_ATOMIC, variant == BatchedVariant::Atomic),
            (FEATURE_WIDE_X, in_step && has_wide_x),
        ];
        let mut key = specialisation.key(kernel.source(), &parameters);
        key.features.extend(features.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name));
        let key = kernel.key(key);
        let program = context.program(&key)?;
        let reverse = in_step.then(|| context.program(&key.with_feature(FEATURE_REVERSE)));
        let reverse = reverse.transpose()?;
        let copies = in_step && parameters.copies_columns(batch.value_type());
        let columns = copies
            .then(|| columns::copy_blocking(queue, batch, &tasks, &program, &parameters))
            .transpose()?;
        cut::finish(&mut tasks.pending)?;
        Ok(KernelLaunch { kernel, program, reverse, parameters, tasks, columns })
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
        let DeviceTasks { count, whole, range, words, .. } = &self.tasks;
        let index = match self.kernel {
            BatchedKernel::Coo | BatchedKernel::Ell => batch.indices().argument(),
            _ => batch.offsets().argument(),
        };
        let copied = self.columns.as_ref().map(|its| its.argument());
        Arguments {
            task_count: *count as u32,
            whole: *whole as u32,
            range: range.unwrap_or_default(),
            tasks: words.argument(),
            index,
            columns: copied.unwrap_or_else(|| batch.columns().argument()),
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
