//! Iterations of solvers on the device: their vectors, their state, and the kernels between products.
//!
//! The caller multiplies: it is asked for A x whenever an iteration needs it. Everything else is launches here, and
//! nothing waits for the device but what ends in `_blocking`.

mod bicgstab;
mod cg;
mod jacobi;
mod stage;

use cl_kernels::solver_state::SolverState;
use csr_core::ValueType;

use crate::{AnyArray, Error, Event, Queue, Result};

pub use jacobi::inverse_diagonal_blocking;

use bicgstab::BiCgStab;
use cg::Cg;
use stage::Stage;

/// How residuals are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Norm {
    /// The square root of the sum of squares.
    #[default]
    Two,
    /// The sum of magnitudes.
    One,
}

/// Which method, with its hyper-parameters.
#[derive(Clone, Copy, Debug)]
pub enum SolverParameters {
    /// Conjugate gradients.
    Cg(cl_kernels::cg::Cg),
    /// Stabilised bi-conjugate gradients.
    BiCgStab(cl_kernels::bicgstab::BiCgStab),
}

/// What a solver asks its caller for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiply {
    /// y = A x
    Operands,
    /// y = y - A x
    Residual,
}

/// The caller's multiplication of x, to y.
pub type Multiplication<'a, E> =
    dyn FnMut(Multiply, &AnyArray, &mut AnyArray) -> Result<(), E> + 'a;

/// Waits for events.
///
/// # Errors
/// One that has ended in error.
pub fn wait_blocking(wait: &[Event]) -> Result<()> {
    for (index, event) in wait.iter().enumerate() {
        // There are drivers on which a wait for what has failed already never ends (PoCL 3.1).
        if let Some(code) = event.failure() {
            return Err(Error::failed_event(index, code));
        }
        event.wait()?;
    }
    Ok(())
}

/// Both norms of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norms {
    /// The square root of the sum of squares, also where the squares vanish or overflow and it does not.
    pub two: f64,
    /// The sum of magnitudes.
    pub one: f64,
    /// Whether the sum of squares is a normal number of the vector's type.
    pub is_in_range: bool,
}

impl Norms {
    /// One of them.
    pub fn by(&self, norm: Norm) -> f64 {
        match norm {
            Norm::Two => self.two,
            Norm::One => self.one,
        }
    }
}

/// What a solver's kernels are built for, and which vectors there are.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// How residuals are measured.
    pub norm: Norm,
    /// Whether residuals are multiplied by the inverse of the diagonal.
    pub has_preconditioner: bool,
    /// Whether CG goes on where p'Ap or r'z changes its sign.
    pub any_sign: bool,
    /// Whether x of the least residual is kept.
    pub keeps_best: bool,
}

/// What residuals are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Small enough.
    pub threshold: f64,
    /// A larger one is divergence; infinite where there is none.
    pub divergence: f64,
    /// Iterations that may pass without a new least residual.
    pub patience: u32,
}

impl Limits {
    /// Of iterations that nothing but a breakdown ends.
    const NONE: Limits = Limits { threshold: 0.0, divergence: f64::INFINITY, patience: u32::MAX };
}

/// One of the solutions that a solver has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// That of the last iteration.
    Last,
    /// That of the least residual before the first restart; after one, that of before the last restart.
    Best,
}

/// How a solve stands, as it was read from the device.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Whether and why it has ended.
    pub state: SolverState,
    /// The iteration in which it ended.
    pub ended_in: u32,
    /// The last iteration that changed x, where it has ended.
    pub last_iteration: u32,
    /// The iteration of the least residual since the start or the last restart.
    pub least_at: u32,
    /// The residual after each iteration since the one before, and some that never ran.
    pub residuals: Vec<f64>,
}

/// A solver's vectors and kernels.
#[derive(Debug)]
pub struct Iterations {
    stage: Stage,
    vectors: Vectors,
}

#[derive(Debug)]
enum Vectors {
    Cg(Cg),
    BiCgStab(Box<BiCgStab>),
}

impl Iterations {
    /// Allocates the vectors for a matrix of `rows` rows and values of `value_type`, and builds the kernels. `slots`
    /// residuals are kept until they are read.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        value_type: ValueType,
        parameters: SolverParameters,
        form: Form,
        rows: usize,
        slots: usize,
    ) -> Result<Self> {
        let real = value_type.accumulator();
        let stage = Stage::new_blocking(queue, real, parameters, form, rows, slots)?;
        let vectors = match parameters {
            SolverParameters::Cg(_) => Vectors::Cg(Cg::new_blocking(queue, &stage)?),
            SolverParameters::BiCgStab(_) => {
                Vectors::BiCgStab(Box::new(BiCgStab::new_blocking(queue, &stage)?))
            }
        };
        Ok(Iterations { stage, vectors })
    }

    /// The vector that Jacobi preconditioning multiplies by, where there is one: rows, and padding.
    pub fn inverse_diagonal(&mut self) -> Option<&mut AnyArray> {
        self.stage.inverse_diagonal.as_mut()
    }

    /// Starts with x: r = b - A x. Returns the norms of b and of r.
    ///
    /// # Errors
    /// Vectors of another type than the solver's, the caller's error, or the driver's own failure.
    pub fn start_blocking<E: From<Error>>(
        &mut self,
        queue: &Queue,
        x: &AnyArray,
        b: &AnyArray,
        multiply: &mut Multiplication<'_, E>,
    ) -> Result<(Norms, Norms), E> {
        let stage = &mut self.stage;
        x.check_element("x", stage.value_type)?;
        b.check_element("b", stage.value_type)?;
        let (own_x, mut r) = (stage.unpadded(&stage.x)?, stage.unpadded(&stage.r)?);
        stage.launcher.copy(queue, b, &r)?;
        stage.launcher.copy(queue, x, &own_x)?;
        let of_b = stage.norms_blocking(queue)?;
        multiply(Multiply::Residual, &own_x, &mut r)?;
        let of_r = stage.norms_blocking(queue)?;
        stage.best.is_written = true;
        self.begin_blocking(queue)?;
        Ok((of_b, of_r))
    }

    /// Iteration 0, from x and r as they are.
    fn begin_blocking(&mut self, queue: &Queue) -> Result<()> {
        let stage = &mut self.stage;
        stage.reset_blocking(queue)?;
        match &mut self.vectors {
            Vectors::Cg(cg) => cg.update(stage, queue, 0, 0, &Limits::NONE),
            Vectors::BiCgStab(bicgstab) => bicgstab.update(stage, queue, 0, 0, &Limits::NONE),
        }
    }

    /// r = b - A x, computed from the x of the last iteration or the one that was kept; its norms. Iterations cannot go
    /// on from there, but begin again: [`Iterations::restart_blocking`].
    ///
    /// # Errors
    /// A b of another type than the solver's, the caller's error, or the driver's own failure.
    pub fn residual_blocking<E: From<Error>>(
        &mut self,
        queue: &Queue,
        b: &AnyArray,
        of: Kept,
        multiply: &mut Multiplication<'_, E>,
    ) -> Result<Norms, E> {
        let stage = &mut self.stage;
        b.check_element("b", stage.value_type)?;
        let (x, mut r) = (stage.unpadded(stage.kept(of))?, stage.unpadded(&stage.r)?);
        stage.launcher.copy(queue, b, &r)?;
        multiply(Multiply::Residual, &x, &mut r)?;
        Ok(stage.norms_blocking(queue)?)
    }

    /// Begins again from x and r as they are, after [`Iterations::residual_blocking`] of [`Kept::Last`]: the next
    /// iteration is 1, and x is kept.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn restart_blocking(&mut self, queue: &Queue) -> Result<()> {
        self.stage.keep_x(queue)?;
        self.begin_blocking(queue)
    }

    /// Enqueues an iteration, the first of which is 1. Its residual goes to `slot`, and is held against
    /// `limits`.
    ///
    /// # Errors
    /// The caller's, or the driver's own failure.
    pub fn iterate<E: From<Error>>(
        &mut self,
        queue: &Queue,
        iteration: u32,
        slot: u32,
        limits: &Limits,
        multiply: &mut Multiplication<'_, E>,
    ) -> Result<(), E> {
        let stage = &mut self.stage;
        match &mut self.vectors {
            Vectors::Cg(cg) => cg.iterate(stage, queue, iteration, slot, limits, multiply),
            Vectors::BiCgStab(bicgstab) => {
                bicgstab.iterate(stage, queue, iteration, slot, limits, multiply)
            }
        }
    }

    /// Waits for what was enqueued, and says how the solve stands.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn snapshot_blocking(&self, queue: &Queue) -> Result<Snapshot> {
        self.stage.snapshot_blocking(queue)
    }

    /// Ends a solve: the x that is asked for goes to the caller's.
    ///
    /// # Errors
    /// A vector of another type than the solver's, or the driver's own failure.
    pub fn finish_blocking(&mut self, queue: &Queue, of: Kept, x: &AnyArray) -> Result<()> {
        let stage = &mut self.stage;
        x.check_element("x", stage.value_type)?;
        let own_x = stage.unpadded(stage.kept(of))?;
        stage.launcher.copy(queue, &own_x, x)?;
        queue.finish_blocking()
    }

    /// Bytes of the vectors and the state on the device.
    pub fn size_bytes(&self) -> usize {
        let own = match &self.vectors {
            Vectors::Cg(_) => cg::VECTORS,
            Vectors::BiCgStab(bicgstab) => bicgstab.vectors(),
        };
        self.stage.size_bytes() + own * self.stage.vector_bytes()
    }

    /// Bytes that the kernels of an iteration move besides the products, each element of a vector once a kernel.
    pub fn bytes_per_iteration(&self) -> u64 {
        let jacobi = self.stage.inverse_diagonal.is_some();
        let passes = match &self.vectors {
            Vectors::Cg(_) => cg::passes(jacobi),
            Vectors::BiCgStab(_) => bicgstab::passes(jacobi),
        };
        (passes * self.stage.rows * self.value_type().size_bytes()) as u64
    }

    /// Products an iteration takes.
    pub fn products_per_iteration(&self) -> u64 {
        match &self.vectors {
            Vectors::Cg(_) => 1,
            Vectors::BiCgStab(_) => 2,
        }
    }

    /// What vectors and sums are made in.
    pub fn value_type(&self) -> ValueType {
        self.stage.value_type
    }
}
