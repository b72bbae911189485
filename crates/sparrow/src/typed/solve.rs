//! Solvers whose types the compiler knows.

use std::marker::PhantomData;
use std::ops::{ControlFlow, Deref};

use cl_runtime::{DeviceArray, Event, Queue};
use csr_core::{Offset, Value};

use super::Matrix;
use crate::{
    AnyLinearSystem, AnySolver, Result, Solution, SolverOptions, SolverProgress, StopRule,
};

/// The operands of A x = b.
#[derive(Debug)]
pub struct LinearSystem<'a, V: Value, O> {
    /// The matrix: the solver's, or one that shares its pattern.
    pub a: &'a Matrix<V, O>,
    /// The right-hand side: rows.
    pub b: &'a DeviceArray<V::Accum>,
    /// Where the iterations begin, and where the solution goes: rows.
    pub x: &'a mut DeviceArray<V::Accum>,
}

impl<'a, V: Value, O> From<LinearSystem<'a, V, O>> for AnyLinearSystem<'a> {
    fn from(system: LinearSystem<'a, V, O>) -> Self {
        let LinearSystem { a, b, x } = system;
        AnyLinearSystem { a, b, x: x.as_any_mut() }
    }
}

/// A method bound to the pattern of a square matrix, with the vectors it needs. Good for any values, any b and any x,
/// one solve at a time.
///
/// What it is and costs, [`AnySolver`] says.
#[derive(Debug)]
pub struct Solver<V, O = u32> {
    any: AnySolver,
    types: PhantomData<fn() -> (V, O)>,
}

impl<V, O> Deref for Solver<V, O> {
    type Target = AnySolver;

    fn deref(&self) -> &AnySolver {
        &self.any
    }
}

impl<V: Value, O: Offset> Solver<V, O> {
    /// Plans the products, builds the kernels and allocates the vectors, as [`AnySolver::new_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        options: &SolverOptions,
    ) -> Result<Self> {
        let any = AnySolver::new_blocking(queue, matrix, options)?;
        Ok(Solver { any, types: PhantomData })
    }

    /// Solves A x = b from the x that is there, and returns when the solution is: as [`AnySolver::solve_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn solve_blocking(
        &mut self,
        queue: &Queue,
        system: LinearSystem<'_, V, O>,
        stop: &StopRule,
        wait: &[Event],
    ) -> Result<Solution> {
        self.any.solve_blocking(queue, system.into(), stop, wait)
    }

    /// As [`Solver::solve_blocking`], with somebody who is called at each look at the residual, and may end the solve.
    ///
    /// # Errors
    /// As there.
    pub fn solve_observed_blocking(
        &mut self,
        queue: &Queue,
        system: LinearSystem<'_, V, O>,
        stop: &StopRule,
        wait: &[Event],
        observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Solution> {
        self.any.solve_observed_blocking(queue, system.into(), stop, wait, observe)
    }
}
