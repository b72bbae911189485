//! Dense vectors on the device: element by element, and sums of them.

use std::marker::PhantomData;

use cl_kernels::elementwise::Elementary;
use cl_kernels::reduce;
use cl_kernels::tiling::Tiling;
use cl_kernels::{Accumulate, Scalar};
use cl_runtime::raw::Memory;
use cl_runtime::{
    Context, DeviceArray, ElementwiseOperands, Event, Observation, Pod, Queue, ReduceOperands,
    VectorForm, VectorKernels, VectorOperation,
};
use csr_core::Accumulator;

use crate::overlap::{Overlap, check_same_or_apart, overlap};
use crate::plan::{check_context, coefficient};
use crate::{Coefficient, Error, Result};

/// What two vectors become, element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combination {
    /// x + y
    Add,
    /// x - y
    Subtract,
    /// x y
    Multiply,
    /// x / y, as the device divides: in f32, OpenCL allows an error of 2.5 units in the last place.
    Divide,
}

/// What one vector becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum of its elements.
    Sum,
    /// The sum of their absolute values.
    Norm1,
    /// The square root of the sum of their squares. Squares that would overflow or underflow are scaled.
    Norm2,
}

/// When kernels are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelBuild {
    /// With the [`Vectors`], so that no launch waits for a compiler.
    #[default]
    AtOnce,
    /// An operation's when it is launched first, which then blocks.
    AtFirstUse,
}

/// What [`Vectors`] are asked for.
#[derive(Clone, Debug, Default)]
pub struct VectorOptions {
    /// How sums are made: those of reductions, and of alpha x + beta y.
    pub accumulate: Accumulate,
    /// Whether alpha and beta will come as device arrays.
    pub scalars_on_device: bool,
    /// When kernels are built.
    pub build: KernelBuild,
    /// Hyper-parameters by name, over the device's: `group_size`, `lanes`, `loads`.
    pub parameters: Vec<(String, u32)>,
}

/// Operations on dense vectors of `T` (f32 or f64), each one launch.
///
/// A result may take the place of an operand: pass a [`slice`](DeviceArray::slice) of all of it as the operand. Vectors
/// that share elements in any other way are refused. NaN and infinity go the way of IEEE arithmetic.
///
/// Reductions add up in an order that depends on the number of elements alone: the same bits every time, on the same
/// device. Of no elements they are 0.
///
/// What comes last says what a launch comes after: events, for an event of its own, or
/// [`Unobserved`](crate::Unobserved), which a GPU takes less time for.
///
/// One launch is in flight at a time, which `&mut` enforces while it is set up; one from another queue waits on the
/// device for the one before.
#[derive(Debug)]
pub struct Vectors<T: Accumulator> {
    kernels: VectorKernels,
    /// Where results lie that are read at once.
    number: DeviceArray<T>,
    integer: DeviceArray<i32>,
    element: PhantomData<fn() -> T>,
}

impl<T: Accumulator> Vectors<T> {
    /// Kernels and working memory in the queue's context.
    ///
    /// # Errors
    /// A device without the type, parameters that break a rule, a kernel that does not build, or the driver's own
    /// failure.
    pub fn new_blocking(queue: &Queue, options: &VectorOptions) -> Result<Self> {
        let form = VectorForm {
            value_type: T::TYPE,
            accumulate: options.accumulate,
            scalars_on_device: options.scalars_on_device,
        };
        let device = queue.context().device().traits();
        let mut tiling = Tiling::default_for(device, T::TYPE.size_bytes());
        for (name, value) in &options.parameters {
            tiling.set(name, *value)?;
        }
        let mut kernels = VectorKernels::new_blocking(queue, form, tiling)?;
        if options.build == KernelBuild::AtOnce {
            for operation in VectorOperation::all() {
                kernels.prepare_blocking(operation)?;
            }
        }
        let number = DeviceArray::upload_blocking(queue, &[T::zero()])?;
        let integer = DeviceArray::upload_blocking(queue, &[0])?;
        Ok(Vectors { kernels, number, integer, element: PhantomData })
    }

    /// The context of the kernels.
    pub fn context(&self) -> &Context {
        self.kernels.context()
    }

    /// The key of an operation's kernel, by the operation's name (`axpy`, `dot`, `nrm2`), once it was built.
    pub fn kernel_key(&self, operation: &str) -> Option<String> {
        let operation = VectorOperation::all().find(|one| one.name() == operation)?;
        self.kernels.built_key(operation).map(ToString::to_string)
    }

    /// Bytes on the device that launches work in.
    pub fn workspace_bytes(&self) -> usize {
        self.kernels.workspace_bytes() + self.number.size_bytes() + self.integer.size_bytes()
    }

    /// Enqueues r = alpha x. alpha = 0 is not special: NaN and infinity in x make NaN.
    ///
    /// # Errors
    /// Vectors of different lengths or of another context, or that overlap without being the same; alpha that does not
    /// come as the options say; an event in `wait` that has ended in error already; or the driver's own failure.
    /// Nothing was enqueued then.
    pub fn scale<W: Observation>(
        &mut self,
        queue: &Queue,
        (alpha, x): (Coefficient<'_, T>, &DeviceArray<T>),
        r: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("r", r)])?;
        let alpha = self.scalar("alpha", &alpha, r)?;
        check_same_or_apart("x", x, r)?;
        let unread = Scalars { alpha, beta: alpha };
        self.elementwise(queue, Elementary::Scale, unread, (x, x, r), wait)
    }

    /// Enqueues r = alpha x + y, rounded once.
    ///
    /// # Errors
    /// As [`Vectors::scale`].
    pub fn axpy<W: Observation>(
        &mut self,
        queue: &Queue,
        (alpha, x): (Coefficient<'_, T>, &DeviceArray<T>),
        y: &DeviceArray<T>,
        r: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y), ("r", r)])?;
        let alpha = self.scalar("alpha", &alpha, r)?;
        check_same_or_apart("x", x, r)?;
        check_same_or_apart("y", y, r)?;
        let unread = Scalars { alpha, beta: alpha };
        self.elementwise(queue, Elementary::Axpy, unread, (x, y, r), wait)
    }

    /// Enqueues r = alpha x + beta y; with beta = 0, y is never read. Compensated, the sum of both products is rounded
    /// as a whole.
    ///
    /// # Errors
    /// As [`Vectors::scale`].
    pub fn axpby<W: Observation>(
        &mut self,
        queue: &Queue,
        (alpha, x): (Coefficient<'_, T>, &DeviceArray<T>),
        (beta, y): (Coefficient<'_, T>, &DeviceArray<T>),
        r: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y), ("r", r)])?;
        let alpha = self.scalar("alpha", &alpha, r)?;
        let beta = self.scalar("beta", &beta, r)?;
        check_same_or_apart("x", x, r)?;
        check_same_or_apart("y", y, r)?;
        self.elementwise(queue, Elementary::Axpby, Scalars { alpha, beta }, (x, y, r), wait)
    }

    /// Enqueues r = x + y, x - y, x y or x / y.
    ///
    /// # Errors
    /// As [`Vectors::scale`].
    pub fn combine<W: Observation>(
        &mut self,
        queue: &Queue,
        combination: Combination,
        (x, y): (&DeviceArray<T>, &DeviceArray<T>),
        r: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y), ("r", r)])?;
        check_same_or_apart("x", x, r)?;
        check_same_or_apart("y", y, r)?;
        let operation = match combination {
            Combination::Add => Elementary::Add,
            Combination::Subtract => Elementary::Subtract,
            Combination::Multiply => Elementary::Multiply,
            Combination::Divide => Elementary::Divide,
        };
        // Not read; by value, as these kernels are built whatever the options say.
        let one = coefficient::<T>(self.kernels.context(), false, "alpha", &T::one().into())?;
        self.elementwise(queue, operation, Scalars { alpha: one, beta: one }, (x, y, r), wait)
    }

    /// Enqueues a reduction of x to the first element of `result`.
    ///
    /// # Errors
    /// A result without an element, in another context or in x; an event in `wait` that has ended in error already; or
    /// the driver's own failure. Nothing was enqueued then.
    pub fn reduce<W: Observation>(
        &mut self,
        queue: &Queue,
        reduction: Reduction,
        x: &DeviceArray<T>,
        result: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x)])?;
        self.check_result(result, &[("x", x)])?;
        let reduction = match reduction {
            Reduction::Sum => reduce::Reduction::Sum,
            Reduction::Norm1 => reduce::Reduction::Norm1,
            Reduction::Norm2 => reduce::Reduction::Norm2,
        };
        run_reduction(&mut self.kernels, queue, reduction, (x, x, result), wait)
    }

    /// Enqueues the sum of x_i y_i to the first element of `result`. x and y may be the same.
    ///
    /// # Errors
    /// As [`Vectors::reduce`]; or vectors of different lengths.
    pub fn dot<W: Observation>(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<T>,
        y: &DeviceArray<T>,
        result: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y)])?;
        self.check_result(result, &[("x", x), ("y", y)])?;
        run_reduction(&mut self.kernels, queue, reduce::Reduction::Dot, (x, y, result), wait)
    }

    /// Enqueues the sum of 32-bit integers, modulo 2^32, to the first element of `result`.
    ///
    /// # Errors
    /// As [`Vectors::reduce`].
    pub fn sum_integers<W: Observation>(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<i32>,
        result: &mut DeviceArray<i32>,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x)])?;
        self.check_result(result, &[("x", x)])?;
        self.kernels.prepare_blocking(VectorOperation::SumIntegers)?;
        let (count, x, result) = (x.len(), x.argument(), result.argument());
        // SAFETY: x has as many elements as it says and the result one, apart from them, in the queue's context.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { self.kernels.sum_integers(queue, count, x, result, wait)? };
        Ok(event)
    }

    /// As [`Vectors::reduce`], and reads the result.
    ///
    /// # Errors
    /// As there; or a launch that ended in error.
    pub fn reduce_blocking(
        &mut self,
        queue: &Queue,
        reduction: Reduction,
        x: &DeviceArray<T>,
        wait: &[Event],
    ) -> Result<T> {
        let mut number = self.number.slice(0..1)?;
        let event = self.reduce(queue, reduction, x, &mut number, wait)?;
        read_number(queue, &number, &event)
    }

    /// As [`Vectors::dot`], and reads the result.
    ///
    /// # Errors
    /// As there; or a launch that ended in error.
    pub fn dot_blocking(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<T>,
        y: &DeviceArray<T>,
        wait: &[Event],
    ) -> Result<T> {
        let mut number = self.number.slice(0..1)?;
        let event = self.dot(queue, x, y, &mut number, wait)?;
        read_number(queue, &number, &event)
    }

    /// As [`Vectors::sum_integers`], and reads the result.
    ///
    /// # Errors
    /// As there; or a launch that ended in error.
    pub fn sum_integers_blocking(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<i32>,
        wait: &[Event],
    ) -> Result<i32> {
        let mut integer = self.integer.slice(0..1)?;
        let event = self.sum_integers(queue, x, &mut integer, wait)?;
        read_number(queue, &integer, &event)
    }

    /// Refuses vectors of another context, and of another length than the first.
    fn check<E: Pod>(&self, queue: &Queue, vectors: &[(&str, &DeviceArray<E>)]) -> Result<()> {
        check_context(queue, self.kernels.context(), "vector kernels")?;
        for (name, vector) in vectors {
            self.kernels.context().check_array(name, vector)?;
            let (first, of_first) = (vectors[0].0, vectors[0].1.len());
            if vector.len() != of_first {
                let found = vector.len();
                return Err(Error::Mismatch(format!(
                    "{name} has {found} elements, and {first} has {of_first}"
                )));
            }
        }
        Ok(())
    }

    fn check_result<E: Pod>(
        &self,
        result: &DeviceArray<E>,
        vectors: &[(&str, &DeviceArray<E>)],
    ) -> Result<()> {
        self.kernels.context().check_array("the result", result)?;
        if result.is_empty() {
            return Err(Error::Mismatch("the result has no element, and needs one".to_owned()));
        }
        let first = result.slice(0..1)?;
        for (name, vector) in vectors {
            if let Overlap::Part(bytes) | Overlap::Whole(bytes) = overlap(vector, &first) {
                return Err(Error::Mismatch(format!("the result lies in {name} ({bytes})")));
            }
        }
        Ok(())
    }

    /// alpha or beta as kernels take it; no part of r, which other groups may have written when one reads it.
    fn scalar<'a>(
        &self,
        name: &str,
        scalar: &Coefficient<'a, T>,
        r: &DeviceArray<T>,
    ) -> Result<Scalar<&'a Memory>> {
        let on_device = self.kernels.form().scalars_on_device;
        let found = coefficient::<T>(self.kernels.context(), on_device, name, scalar)?;
        if let Coefficient::Device(array) = scalar
            && let Overlap::Part(bytes) | Overlap::Whole(bytes) = overlap(&array.slice(0..1)?, r)
        {
            return Err(Error::Mismatch(format!("{name} lies in r ({bytes})")));
        }
        Ok(found)
    }

    fn elementwise<W: Observation>(
        &mut self,
        queue: &Queue,
        operation: Elementary,
        Scalars { alpha, beta }: Scalars<'_>,
        (x, y, r): (&DeviceArray<T>, &DeviceArray<T>, &DeviceArray<T>),
        wait: W,
    ) -> Result<W::Event> {
        self.kernels.prepare_blocking(VectorOperation::Elementwise(operation))?;
        let (x, y, count) = (x.argument(), y.argument(), r.len());
        let operands = ElementwiseOperands { count, alpha, x, beta, y, r: r.argument() };
        // SAFETY: all have the length of r and its context, r is one of them or apart, and from alpha and beta too.
        #[expect(unsafe_code, reason = "the callers' checks are what the launch demands")]
        let event = unsafe { self.kernels.elementwise(queue, operation, &operands, wait)? };
        Ok(event)
    }
}

struct Scalars<'a> {
    alpha: Scalar<&'a Memory>,
    beta: Scalar<&'a Memory>,
}

/// Enqueues a reduction whose operands were checked.
fn run_reduction<T: Accumulator, W: Observation>(
    kernels: &mut VectorKernels,
    queue: &Queue,
    reduction: reduce::Reduction,
    (x, y, result): (&DeviceArray<T>, &DeviceArray<T>, &DeviceArray<T>),
    wait: W,
) -> Result<W::Event> {
    kernels.prepare_blocking(VectorOperation::Reduce(reduction))?;
    let (count, result) = (x.len(), result.argument());
    let operands = ReduceOperands { count, x: x.argument(), y: y.argument(), result };
    // SAFETY: x and y are of one length and the result has an element apart from them, all in the queue's context.
    #[expect(unsafe_code, reason = "the callers' checks are what the launch demands")]
    let event = unsafe { kernels.reduce(queue, reduction, &operands, wait)? };
    Ok(event)
}

fn read_number<E: Pod>(queue: &Queue, number: &DeviceArray<E>, event: &Event) -> Result<E> {
    event.wait()?;
    let mut found = [E::zeroed()];
    number.read_into_blocking(queue, &mut found)?;
    Ok(found[0])
}
