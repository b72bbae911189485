//! Binds and launches the kernels on dense vectors: `elementwise`, `reduce` and `sum_integers`.

use std::sync::Arc;

use cl_kernels::elementwise::{self, Elementary, Elementwise};
use cl_kernels::reduce::{self, Reduce, Reduction};
use cl_kernels::sum_integers::{self, SumIntegers};
use cl_kernels::tiling::Tiling;
use cl_kernels::{Accumulate, Array, KernelKey, Scalar};
use csr_core::{OffsetType, ValueType};

use crate::arguments::Arguments;
use crate::launch::{After, Size};
use crate::raw::Memory;
use crate::scratch::zeroed_blocking;
use crate::workspace::{OwnerId, Workspace};
use crate::{Context, DeviceArray, Error, Event, Program, Queue, Result};

/// Something that is done to dense vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VectorOperation {
    /// Element by element.
    Elementwise(Elementary),
    /// A sum of some kind.
    Reduce(Reduction),
    /// The sum of 32-bit integers.
    SumIntegers,
}

impl VectorOperation {
    /// Every operation.
    pub fn all() -> impl Iterator<Item = VectorOperation> {
        let elementwise = Elementary::ALL.into_iter().map(VectorOperation::Elementwise);
        let reductions = Reduction::ALL.into_iter().map(VectorOperation::Reduce);
        elementwise.chain(reductions).chain([VectorOperation::SumIntegers])
    }

    /// The spelling in errors and records.
    pub fn name(self) -> &'static str {
        match self {
            VectorOperation::Elementwise(operation) => operation.name(),
            VectorOperation::Reduce(reduction) => reduction.name(),
            VectorOperation::SumIntegers => "sum_integers",
        }
    }
}

/// What vectors hold, and how they are worked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VectorForm {
    /// [`ValueType::F32`] or [`ValueType::F64`].
    pub value_type: ValueType,
    /// How sums are made.
    pub accumulate: Accumulate,
    /// Whether alpha and beta are read on the device.
    pub scalars_on_device: bool,
}

/// The operands of an operation element by element. What it does not have, it does not read.
#[derive(Clone, Copy, Debug)]
pub struct ElementwiseOperands<'a> {
    /// Elements of each vector.
    pub count: usize,
    /// Scales x.
    pub alpha: Scalar<&'a Memory>,
    /// The vector x.
    pub x: Array<&'a Memory>,
    /// Scales y, or r.
    pub beta: Scalar<&'a Memory>,
    /// The vector y.
    pub y: Array<&'a Memory>,
    /// Scales r.
    pub gamma: Scalar<&'a Memory>,
    /// The vector r; it may be x or y, but share part of one in no other way.
    pub r: Array<&'a Memory>,
}

/// The operands of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct ReduceOperands<'a> {
    /// Elements of each vector.
    pub count: usize,
    /// The vector x.
    pub x: Array<&'a Memory>,
    /// The vector y, of a dot product.
    pub y: Array<&'a Memory>,
    /// One number, no part of x or y.
    pub result: Array<&'a Memory>,
}

/// An operation whose kernel is built.
#[derive(Debug)]
struct Prepared {
    operation: VectorOperation,
    program: Arc<Program>,
    tiling: Tiling,
}

/// Kernels on dense vectors of one form, ready to launch, with what a launch works in. They serve one launch in
/// flight: one from another queue waits on the device for the one before.
#[derive(Debug)]
pub struct VectorKernels {
    owner: OwnerId,
    context: Context,
    form: VectorForm,
    /// What operations begin from; one whose kernel the device runs in smaller groups only has a tiling of its own.
    tiling: Tiling,
    /// In the order of the workspace's kernels.
    prepared: Vec<Prepared>,
    workspace: Workspace,
    /// Counters and carries, as `reduce` and then `sum_integers` have them.
    scratch: DeviceArray<u32>,
}

impl VectorKernels {
    /// Without a kernel yet ([`VectorKernels::prepare_blocking`]).
    ///
    /// # Errors
    /// A type that vectors are not made of, a device without it, a tiling that breaks a rule, or the driver's own
    /// failure.
    pub fn new_blocking(queue: &Queue, form: VectorForm, tiling: Tiling) -> Result<Self> {
        let context = queue.context().clone();
        if form.value_type != form.value_type.accumulator() {
            return Err(Error::element_type("a vector", form.value_type, "f32 or f64"));
        }
        context.check_value_type(form.value_type)?;
        tiling.check(context.device().traits())?;
        let owner = OwnerId::new();
        let words = Self::words_of_reduce(&form) + sum_integers::WORKSPACE_WORDS;
        let workspace = Workspace::new_blocking(queue, owner, Vec::new(), 0)?;
        let scratch = zeroed_blocking(queue, words)?;
        let prepared = Vec::new();
        Ok(VectorKernels { owner, context, form, tiling, prepared, workspace, scratch })
    }

    fn words_of_reduce(form: &VectorForm) -> usize {
        Reduce::workspace_words(form.value_type, form.accumulate)
    }

    /// Builds the kernel of an operation, unless it is there.
    ///
    /// # Errors
    /// A kernel that does not build, or the driver's own failure.
    pub fn prepare_blocking(&mut self, operation: VectorOperation) -> Result<()> {
        self.prepare(operation, self.tiling)
    }

    /// As [`VectorKernels::prepare_blocking`], in smaller groups where the device does not run the kernel in those that
    /// the tiling says. Other operations keep theirs, so that what was prepared before changes no result.
    ///
    /// # Errors
    /// As there.
    pub fn prepare_fitted_blocking(&mut self, operation: VectorOperation) -> Result<()> {
        let mut tiling = self.tiling;
        loop {
            match self.prepare(operation, tiling) {
                Err(Error::KernelGroup { limit, .. })
                    if (1..u64::from(tiling.group_size)).contains(&limit) =>
                {
                    tiling.group_size = 1 << limit.ilog2();
                }
                prepared => return prepared,
            }
        }
    }

    fn prepare(&mut self, operation: VectorOperation, tiling: Tiling) -> Result<()> {
        if self.prepared(operation).is_some() {
            return Ok(());
        }
        let program = self.context.program(&self.key(operation, tiling))?;
        let name = match operation {
            VectorOperation::Elementwise(_) => "elementwise",
            VectorOperation::Reduce(_) => "reduce",
            VectorOperation::SumIntegers => "sum_integers",
        };
        self.workspace.add_kernel(program.kernel(name)?);
        self.prepared.push(Prepared { operation, program, tiling });
        Ok(())
    }

    /// An operation whose kernel is built, and its number among the workspace's.
    fn prepared(&self, operation: VectorOperation) -> Option<(usize, &Prepared)> {
        self.prepared.iter().enumerate().find(|(_, known)| known.operation == operation)
    }

    /// The tiling of an operation whose kernel is built, and the number of that.
    fn launchable(&self, operation: VectorOperation) -> Result<(usize, Tiling)> {
        let known = self.prepared(operation).map(|(number, known)| (number, known.tiling));
        known.ok_or_else(|| {
            Error::Incompatible(format!(
                "{} was not prepared: prepare_blocking builds its kernel",
                operation.name()
            ))
        })
    }

    /// The key of an operation's kernel: forms that make no difference to it share one.
    fn key(&self, operation: VectorOperation, tiling: Tiling) -> KernelKey {
        let VectorForm { value_type, accumulate, scalars_on_device } = self.form;
        let plain_unless = |sums| if sums { accumulate } else { Accumulate::Plain };
        match operation {
            VectorOperation::Elementwise(operation) => {
                let parameters = Elementwise::new(tiling);
                KernelKey::new(
                    elementwise::SOURCE,
                    value_type,
                    OffsetType::U32,
                    plain_unless(operation.has_sums()),
                    scalars_on_device && operation.has_scalars(),
                    &parameters,
                )
                .with_feature(operation.feature())
            }
            VectorOperation::Reduce(reduction) => {
                let parameters = Reduce::new(tiling);
                let (offsets, on_device) = (OffsetType::U32, false);
                KernelKey::new(
                    reduce::SOURCE,
                    value_type,
                    offsets,
                    accumulate,
                    on_device,
                    &parameters,
                )
                .with_feature(reduction.feature())
            }
            VectorOperation::SumIntegers => {
                let tiling = self.integer_tiling(tiling);
                let (offsets, plain) = (OffsetType::U32, Accumulate::Plain);
                let parameters = SumIntegers::new(tiling);
                KernelKey::new(
                    sum_integers::SOURCE,
                    ValueType::F32,
                    offsets,
                    plain,
                    false,
                    &parameters,
                )
            }
        }
    }

    /// Loads of as many bytes.
    fn integer_tiling(&self, tiling: Tiling) -> Tiling {
        let words = self.form.value_type.size_bytes() / size_of::<i32>();
        let lanes = (tiling.lanes * words as u32).min(16);
        Tiling { lanes, ..tiling }
    }

    /// Groups of a sum at most.
    fn most_groups(&self) -> u64 {
        reduce::most_groups(self.context.device().traits())
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What vectors hold, and how they are worked with.
    pub fn form(&self) -> VectorForm {
        self.form
    }

    /// The key of an operation's kernel, once it was built.
    pub fn built_key(&self, operation: VectorOperation) -> Option<&KernelKey> {
        self.prepared(operation).map(|(_, known)| known.program.key())
    }

    /// Bytes on the device that launches work in.
    pub fn workspace_bytes(&self) -> usize {
        self.scratch.size_bytes()
    }

    /// Enqueues an operation element by element as `after` says.
    ///
    /// # Safety
    /// The vectors have `count` elements of the form's type, in the queue's context, and alpha, beta and gamma lie where
    /// the form says; r is x, or y, or apart from them, and from alpha, beta and gamma.
    ///
    /// # Errors
    /// An operation that was not prepared, or the driver's own failure.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub unsafe fn elementwise(
        &mut self,
        queue: &Queue,
        operation: Elementary,
        operands: &ElementwiseOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let &ElementwiseOperands { count, alpha, x, beta, y, gamma, r } = operands;
        let (number, tiling) = self.launchable(VectorOperation::Elementwise(operation))?;
        let groups = Elementwise::new(tiling).groups(count as u64);
        let count = count as u64;
        let arguments = |_| elementwise::Arguments { count, alpha, x, beta, y, gamma, r };
        // SAFETY: the caller's promise; groups stay below `count`.
        unsafe { self.run(queue, number, size_of_groups(groups, tiling), arguments, after) }
    }

    /// Enqueues a reduction as `after` says. Of no elements, the result is 0.
    ///
    /// # Safety
    /// The vectors have `count` elements of the form's type and the result one, in the queue's context; the result is
    /// apart from them.
    ///
    /// # Errors
    /// As [`VectorKernels::elementwise`].
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub unsafe fn reduce(
        &mut self,
        queue: &Queue,
        reduction: Reduction,
        operands: &ReduceOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let &ReduceOperands { count, x, y, result } = operands;
        let (number, tiling) = self.launchable(VectorOperation::Reduce(reduction))?;
        let groups = Reduce::new(tiling).groups(count as u64, self.most_groups());
        let arguments =
            |workspace| reduce::Arguments { count: count as u64, x, y, result, workspace, zero: 0 };
        // SAFETY: the caller's promise; the workspace has carries for the most groups there are.
        unsafe { self.run(queue, number, size_of_groups(groups, tiling), arguments, after) }
    }

    /// Enqueues the sum of `count` 32-bit integers, modulo 2^32, as `after` says.
    ///
    /// # Safety
    /// x has `count` integers and the result one, in the queue's context; the result is apart from x.
    ///
    /// # Errors
    /// As [`VectorKernels::elementwise`].
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub unsafe fn sum_integers(
        &mut self,
        queue: &Queue,
        count: usize,
        x: Array<&Memory>,
        result: Array<&Memory>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let (number, tiling) = self.launchable(VectorOperation::SumIntegers)?;
        let tiling = self.integer_tiling(tiling);
        let groups = SumIntegers::new(tiling).groups(count as u64, self.most_groups());
        let before = Self::words_of_reduce(&self.form) as u64;
        let arguments = |workspace: Array<_>| sum_integers::Arguments {
            count: count as u64,
            x,
            result,
            workspace: Array { start: workspace.start + before, ..workspace },
            zero: 0,
        };
        // SAFETY: the caller's promise; the workspace has words of its own for it.
        unsafe { self.run(queue, number, size_of_groups(groups, tiling), arguments, after) }
    }

    /// # Safety
    /// The arrays in the arguments are as long as the kernel reads and writes.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn run<'a, A: Arguments<'a>>(
        &'a mut self,
        queue: &Queue,
        number: usize,
        size: Size,
        arguments: impl FnOnce(Array<&'a Memory>) -> A,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let arguments = arguments(self.scratch.argument());
        let (owner, workspace) = (self.owner, &mut self.workspace);
        // SAFETY: the caller's promise.
        workspace
            .run(owner, queue, after, |mut parts| unsafe { parts.launch(number, &arguments, size) })
    }
}

fn size_of_groups(groups: u64, tiling: Tiling) -> Size {
    Size { groups: groups as usize, group_size: tiling.group_size as usize }
}
