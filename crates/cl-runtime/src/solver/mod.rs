//! Iterations of solvers on the device: their vectors, their state, and the kernels between products.
//!
//! The caller multiplies: it is asked for A x whenever an iteration needs it. Everything else is launches here, and
//! nothing waits for the device but what ends in `_blocking`.

mod bicgstab;
mod cg;
mod jacobi;
mod stage;

use cl_kernels::solver_state::SolverState;
use csr_core::{Accumulator, ValueType};

use crate::{DeviceArray, Error, Event, Queue, Result};

pub use jacobi::inverse_diagonal_blocking;

use bicgstab::BiCgStab;
use cg::Cg;
use stage::{Stage, Which};

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
    Product,
    /// y = y - A x
    Residual,
}

/// The caller's multiplication of x, to y.
pub type Multiplication<'a, T, E> =
    dyn FnMut(Multiply, &DeviceArray<T>, &mut DeviceArray<T>) -> Result<(), E> + 'a;

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
    /// The sum of squares; it may overflow or vanish where the vector does not.
    pub squares: f64,
    /// The sum of magnitudes.
    pub magnitudes: f64,
}

impl Norms {
    /// One of them.
    pub fn by(&self, norm: Norm) -> f64 {
        match norm {
            Norm::Two => self.squares.sqrt(),
            Norm::One => self.magnitudes,
        }
    }
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
    /// The residual after each iteration since the one before, and some that never ran.
    pub residuals: Vec<f64>,
}

/// A solver's vectors and kernels.
#[derive(Debug)]
pub struct Iterations<T: Accumulator> {
    stage: Stage<T>,
    vectors: Vectors<T>,
}

#[derive(Debug)]
enum Vectors<T> {
    Cg(Cg<T>),
    BiCgStab(Box<BiCgStab<T>>),
}

impl<T: Accumulator> Iterations<T> {
    /// Allocates the vectors for a matrix of `rows` rows and builds the kernels. `places` residuals are kept until
    /// they are read.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        parameters: SolverParameters,
        norm: Norm,
        has_preconditioner: bool,
        rows: usize,
        places: usize,
    ) -> Result<Self> {
        let stage = Stage::new_blocking(queue, parameters, norm, has_preconditioner, rows, places)?;
        let vectors = match parameters {
            SolverParameters::Cg(_) => Vectors::Cg(Cg::new_blocking(queue, &stage)?),
            SolverParameters::BiCgStab(_) => {
                Vectors::BiCgStab(Box::new(BiCgStab::new_blocking(queue, &stage)?))
            }
        };
        Ok(Iterations { stage, vectors })
    }

    /// The vector that Jacobi preconditioning multiplies by, where there is one: rows, and padding.
    pub fn inverse_diagonal(&mut self) -> Option<&mut DeviceArray<T>> {
        self.stage.inverse_diagonal.as_mut()
    }

    /// Starts with x: r = b - A x. Returns the norms of b and of r.
    ///
    /// # Errors
    /// The caller's, or the driver's own failure.
    pub fn start_blocking<E: From<Error>>(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<T>,
        b: &DeviceArray<T>,
        multiply: &mut Multiplication<'_, T, E>,
    ) -> Result<(Norms, Norms), E> {
        let stage = &mut self.stage;
        stage.reset_blocking(queue)?;
        let (own_x, mut r) = (stage.unpadded(&stage.x)?, stage.unpadded(&stage.r)?);
        stage.launcher.copy(queue, b, &r)?;
        stage.launcher.copy(queue, x, &own_x)?;
        let of_b = stage.norms_blocking(queue, Which::R)?;
        multiply(Multiply::Residual, &own_x, &mut r)?;
        let of_r = stage.norms_blocking(queue, Which::R)?;
        match &mut self.vectors {
            Vectors::Cg(cg) => cg.update(stage, queue, 0, 0, 0.0)?,
            Vectors::BiCgStab(bicgstab) => bicgstab.update(stage, queue, 0, 0, 0.0)?,
        }
        Ok((of_b, of_r))
    }

    /// Enqueues an iteration, the first of which is 1. Its residual goes to `place`; at most `threshold`, it is small
    /// enough.
    ///
    /// # Errors
    /// The caller's, or the driver's own failure.
    pub fn iterate<E: From<Error>>(
        &mut self,
        queue: &Queue,
        iteration: u32,
        place: u32,
        threshold: f64,
        multiply: &mut Multiplication<'_, T, E>,
    ) -> Result<(), E> {
        let stage = &mut self.stage;
        match &mut self.vectors {
            Vectors::Cg(cg) => cg.iterate(stage, queue, iteration, place, threshold, multiply),
            Vectors::BiCgStab(bicgstab) => {
                bicgstab.iterate(stage, queue, iteration, place, threshold, multiply)
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

    /// Ends a solve: b - A x once more, whose norms it returns; and x goes to the caller's.
    ///
    /// # Errors
    /// The caller's, or the driver's own failure.
    pub fn finish_blocking<E: From<Error>>(
        &mut self,
        queue: &Queue,
        b: &DeviceArray<T>,
        x: &DeviceArray<T>,
        multiply: &mut Multiplication<'_, T, E>,
    ) -> Result<Norms, E> {
        let stage = &mut self.stage;
        let scratch = match &self.vectors {
            Vectors::Cg(cg) => cg.scratch(),
            Vectors::BiCgStab(bicgstab) => bicgstab.scratch(),
        };
        let (own_x, mut residual) = (stage.unpadded(&stage.x)?, stage.unpadded(scratch)?);
        stage.launcher.copy(queue, b, &residual)?;
        multiply(Multiply::Residual, &own_x, &mut residual)?;
        let norms = stage.norms_blocking(queue, Which::Other(scratch))?;
        stage.launcher.copy(queue, &own_x, x)?;
        queue.finish_blocking()?;
        Ok(norms)
    }

    /// Bytes of the vectors and the state on the device.
    pub fn size_bytes(&self) -> usize {
        let own = match &self.vectors {
            Vectors::Cg(_) => cg::VECTORS,
            Vectors::BiCgStab(bicgstab) => bicgstab.vectors(),
        };
        self.stage.size_bytes() + own * self.stage.vector_bytes()
    }

    /// Bytes that the kernels of an iteration move beside the products, each element of a vector once a kernel.
    pub fn bytes_per_iteration(&self) -> u64 {
        let jacobi = self.stage.inverse_diagonal.is_some();
        let passes = match &self.vectors {
            Vectors::Cg(_) => cg::passes(jacobi),
            Vectors::BiCgStab(_) => bicgstab::passes(jacobi),
        };
        (passes * self.stage.rows * size_of::<T>()) as u64
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
        T::TYPE
    }
}
