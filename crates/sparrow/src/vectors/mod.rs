//! Dense vectors on the device: element by element, and sums of them.

mod checks;
mod options;

use cl_kernels::Scalar;
use cl_kernels::elementwise::Elementary;
use cl_kernels::reduce;
use cl_kernels::tiling::Tiling;
use cl_runtime::{
    AnyArray, Context, DeviceArray, ElementType, ElementwiseOperands, Event, Queue, ReduceOperands,
    VectorForm, VectorKernels, VectorOperation, Wait, check_same_or_apart,
};
use csr_core::{Number, ValueType};

use crate::{AnyCoefficient, Result};
use checks::Scalars;

pub use options::{Combination, KernelBuild, Reduction, VectorOptions};

/// Operations on dense vectors of one type (f32 or f64) that is known at run time, each one launch.
///
/// A result may be an operand: pass an [`alias`](AnyArray::alias) of it as the operand. Vectors that
/// share elements in any other way are refused. NaN and infinity go the way of IEEE arithmetic.
///
/// Reductions add up in an order that depends on the number of elements alone: the same bits every time, on the same
/// device. Of no elements they are 0.
///
/// What comes last says what a launch comes after: events, for an event of its own, or
/// [`NoEvent`](crate::NoEvent), which a GPU takes less time for.
///
/// One launch is in flight at a time, which `&mut` enforces while it is set up; one from another queue waits on the
/// device for the one before.
#[derive(Debug)]
pub struct AnyVectors {
    kernels: VectorKernels,
    /// Whether the group size is the caller's, and not fitted to kernels.
    has_own_groups: bool,
    /// Where results lie that are read at once.
    number: AnyArray,
    integer: DeviceArray<i32>,
}

impl AnyVectors {
    /// Kernels for vectors of `value_type`, and working memory, in the queue's context.
    ///
    /// # Errors
    /// A type that vectors are not made of, a device without the type, parameters that break a rule, a kernel that does
    /// not build, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        value_type: ValueType,
        options: &VectorOptions,
    ) -> Result<Self> {
        let form = VectorForm {
            value_type,
            accumulate: options.accumulate,
            scalars_on_device: options.scalars_on_device,
        };
        let device = queue.context().device().traits();
        let mut tiling = Tiling::default_for(device, value_type.size_bytes());
        for (name, value) in &options.parameters {
            tiling.set(name, *value)?;
        }
        let kernels = VectorKernels::new_blocking(queue, form, tiling)?;
        let zero = vec![0; value_type.size_bytes()];
        let number = AnyArray::upload_blocking(queue, value_type, &zero)?;
        let integer = DeviceArray::upload_blocking(queue, &[0])?;
        let has_own_groups = options.parameters.iter().any(|(name, _)| name == "group_size");
        let mut vectors = AnyVectors { kernels, has_own_groups, number, integer };
        if options.build == KernelBuild::AtOnce {
            for operation in VectorOperation::all() {
                vectors.prepare(operation)?;
            }
        }
        Ok(vectors)
    }

    /// The type of the vectors' elements.
    pub fn value_type(&self) -> ValueType {
        self.kernels.form().value_type
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
    /// Vectors of another type, of different lengths or of another context, or that overlap without being the same;
    /// alpha that does not come as the options say; an event in `wait` that has ended in error already; or the driver's own
    /// failure. Nothing was enqueued then.
    pub fn scale<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x): (AnyCoefficient<'_>, &AnyArray),
        r: &mut AnyArray,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("r", r)])?;
        let alpha = self.scalar("alpha", &alpha, r)?;
        check_same_or_apart(("r", r), ("x", x))?;
        self.elementwise(queue, Elementary::Scale, Scalars::of_x(alpha), (x, x, r), wait)
    }

    /// Enqueues r = alpha x + y, rounded once.
    ///
    /// # Errors
    /// As [`AnyVectors::scale`].
    pub fn axpy<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x): (AnyCoefficient<'_>, &AnyArray),
        y: &AnyArray,
        r: &mut AnyArray,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y), ("r", r)])?;
        let alpha = self.scalar("alpha", &alpha, r)?;
        check_same_or_apart(("r", r), ("x", x))?;
        check_same_or_apart(("r", r), ("y", y))?;
        self.elementwise(queue, Elementary::Axpy, Scalars::of_x(alpha), (x, y, r), wait)
    }

    /// Enqueues r = alpha x + beta y; with beta = 0, y is never read. Compensated, the sum of both products is rounded
    /// as a whole.
    ///
    /// # Errors
    /// As [`AnyVectors::scale`].
    pub fn axpby<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x): (AnyCoefficient<'_>, &AnyArray),
        (beta, y): (AnyCoefficient<'_>, &AnyArray),
        r: &mut AnyArray,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y), ("r", r)])?;
        let alpha = self.scalar("alpha", &alpha, r)?;
        let beta = self.scalar("beta", &beta, r)?;
        check_same_or_apart(("r", r), ("x", x))?;
        check_same_or_apart(("r", r), ("y", y))?;
        let scalars = Scalars { alpha, beta, gamma: alpha };
        self.elementwise(queue, Elementary::Axpby, scalars, (x, y, r), wait)
    }

    /// Enqueues r = alpha x + beta y + gamma r; with beta = 0, y is never read, and with gamma = 0, r. Compensated, the
    /// sum of all three products is rounded as a whole.
    ///
    /// # Errors
    /// As [`AnyVectors::scale`].
    pub fn update<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x): (AnyCoefficient<'_>, &AnyArray),
        (beta, y): (AnyCoefficient<'_>, &AnyArray),
        (gamma, r): (AnyCoefficient<'_>, &mut AnyArray),
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y), ("r", r)])?;
        let alpha = self.scalar("alpha", &alpha, r)?;
        let beta = self.scalar("beta", &beta, r)?;
        let gamma = self.scalar("gamma", &gamma, r)?;
        check_same_or_apart(("r", r), ("x", x))?;
        check_same_or_apart(("r", r), ("y", y))?;
        let scalars = Scalars { alpha, beta, gamma };
        self.elementwise(queue, Elementary::Update, scalars, (x, y, r), wait)
    }

    /// Enqueues r = alpha x y + beta r, element by element, with alpha x rounded first; with beta = 0, r is never read.
    ///
    /// # Errors
    /// As [`AnyVectors::scale`].
    pub fn multiply_add<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x, y): (AnyCoefficient<'_>, &AnyArray, &AnyArray),
        (beta, r): (AnyCoefficient<'_>, &mut AnyArray),
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y), ("r", r)])?;
        let alpha = self.scalar("alpha", &alpha, r)?;
        let beta = self.scalar("beta", &beta, r)?;
        check_same_or_apart(("r", r), ("x", x))?;
        check_same_or_apart(("r", r), ("y", y))?;
        let scalars = Scalars { alpha, beta, gamma: alpha };
        self.elementwise(queue, Elementary::MultiplyAdd, scalars, (x, y, r), wait)
    }

    /// Enqueues r = x + y, x - y, x y or x / y.
    ///
    /// # Errors
    /// As [`AnyVectors::scale`].
    pub fn combine<W: Wait>(
        &mut self,
        queue: &Queue,
        combination: Combination,
        (x, y): (&AnyArray, &AnyArray),
        r: &mut AnyArray,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y), ("r", r)])?;
        check_same_or_apart(("r", r), ("x", x))?;
        check_same_or_apart(("r", r), ("y", y))?;
        let operation = match combination {
            Combination::Add => Elementary::Add,
            Combination::Subtract => Elementary::Subtract,
            Combination::Multiply => Elementary::Multiply,
            Combination::Divide => Elementary::Divide,
        };
        // Not read; by value, as these kernels are built whatever the options say.
        let one = Scalar::from(Number::of(self.value_type(), 1.0));
        self.elementwise(queue, operation, Scalars::of_x(one), (x, y, r), wait)
    }

    /// Enqueues a reduction of x to the first element of `result`.
    ///
    /// # Errors
    /// A vector or result of another type; a result without an element, in another context or in x; an event in `wait`
    /// that has ended in error already; or the driver's own failure. Nothing was enqueued then.
    pub fn reduce<W: Wait>(
        &mut self,
        queue: &Queue,
        reduction: Reduction,
        x: &AnyArray,
        result: &mut AnyArray,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x)])?;
        self.check_result(result, &[("x", x)])?;
        let reduction = match reduction {
            Reduction::Sum => reduce::Reduction::Sum,
            Reduction::Norm1 => reduce::Reduction::Norm1,
            Reduction::Norm2 => reduce::Reduction::Norm2,
        };
        self.prepare(VectorOperation::Reduce(reduction))?;
        run_reduction(&mut self.kernels, queue, reduction, (x, x, result), wait)
    }

    /// Enqueues the sum of x_i y_i to the first element of `result`. x and y may be the same.
    ///
    /// # Errors
    /// As [`AnyVectors::reduce`]; or vectors of different lengths.
    pub fn dot<W: Wait>(
        &mut self,
        queue: &Queue,
        x: &AnyArray,
        y: &AnyArray,
        result: &mut AnyArray,
        wait: W,
    ) -> Result<W::Event> {
        self.check(queue, &[("x", x), ("y", y)])?;
        self.check_result(result, &[("x", x), ("y", y)])?;
        self.prepare(VectorOperation::Reduce(reduce::Reduction::Dot))?;
        run_reduction(&mut self.kernels, queue, reduce::Reduction::Dot, (x, y, result), wait)
    }

    /// Enqueues the sum of 32-bit integers, modulo 2^32, to the first element of `result`.
    ///
    /// # Errors
    /// As [`AnyVectors::reduce`].
    pub fn sum_integers<W: Wait>(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<i32>,
        result: &mut DeviceArray<i32>,
        wait: W,
    ) -> Result<W::Event> {
        self.check_elements(queue, ElementType::I32, &[("x", x)])?;
        self.check_result(result, &[("x", x)])?;
        self.prepare(VectorOperation::SumIntegers)?;
        let (count, x, result) = (x.len(), x.argument(), result.argument());
        // SAFETY: x has as many elements as it says and the result one, apart from them, in the queue's context.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { self.kernels.sum_integers(queue, count, x, result, wait.after())? };
        Ok(W::given(queue, event)?)
    }

    /// As [`AnyVectors::reduce`], and reads the result.
    ///
    /// # Errors
    /// As there; or a launch that ended in error.
    pub fn reduce_blocking(
        &mut self,
        queue: &Queue,
        reduction: Reduction,
        x: &AnyArray,
        wait: &[Event],
    ) -> Result<Number> {
        let mut number = self.number.alias();
        let event = self.reduce(queue, reduction, x, &mut number, wait)?;
        read_number(queue, &number, &event)
    }

    /// As [`AnyVectors::dot`], and reads the result.
    ///
    /// # Errors
    /// As there; or a launch that ended in error.
    pub fn dot_blocking(
        &mut self,
        queue: &Queue,
        x: &AnyArray,
        y: &AnyArray,
        wait: &[Event],
    ) -> Result<Number> {
        let mut number = self.number.alias();
        let event = self.dot(queue, x, y, &mut number, wait)?;
        read_number(queue, &number, &event)
    }

    /// As [`AnyVectors::sum_integers`], and reads the result.
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
        event.wait()?;
        Ok(integer.read_blocking(queue)?[0])
    }

    /// Builds the kernel of an operation, unless it is there.
    fn prepare(&mut self, operation: VectorOperation) -> Result<()> {
        match self.has_own_groups {
            true => self.kernels.prepare_blocking(operation)?,
            false => self.kernels.prepare_fitted_blocking(operation)?,
        }
        Ok(())
    }

    fn elementwise<W: Wait>(
        &mut self,
        queue: &Queue,
        operation: Elementary,
        Scalars { alpha, beta, gamma }: Scalars<'_>,
        (x, y, r): (&AnyArray, &AnyArray, &AnyArray),
        wait: W,
    ) -> Result<W::Event> {
        self.prepare(VectorOperation::Elementwise(operation))?;
        let (x, y, count) = (x.argument(), y.argument(), r.len());
        let r = r.argument();
        let operands = ElementwiseOperands { count, alpha, x, beta, y, gamma, r };
        // SAFETY: all have the length of r and its context, r is one of them or apart, and from the scalars too.
        #[expect(unsafe_code, reason = "the callers' checks are what the launch demands")]
        let event = unsafe { self.kernels.elementwise(queue, operation, &operands, wait.after())? };
        Ok(W::given(queue, event)?)
    }
}

/// Enqueues a reduction whose operands were checked.
fn run_reduction<W: Wait>(
    kernels: &mut VectorKernels,
    queue: &Queue,
    reduction: reduce::Reduction,
    (x, y, result): (&AnyArray, &AnyArray, &AnyArray),
    wait: W,
) -> Result<W::Event> {
    let (count, result) = (x.len(), result.argument());
    let operands = ReduceOperands { count, x: x.argument(), y: y.argument(), result };
    // SAFETY: x and y are of one length and the result has an element apart from them, all in the queue's context.
    #[expect(unsafe_code, reason = "the callers' checks are what the launch demands")]
    let event = unsafe { kernels.reduce(queue, reduction, &operands, wait.after())? };
    Ok(W::given(queue, event)?)
}

fn read_number(queue: &Queue, number: &AnyArray, event: &Event) -> Result<Number> {
    event.wait()?;
    Ok(match number.element() {
        ElementType::Value(ValueType::F64) => Number::F64(number.typed()?.read_blocking(queue)?[0]),
        _ => Number::F32(number.typed()?.read_blocking(queue)?[0]),
    })
}
