//! A solver whose types are known at run time only.

use std::ffi::CString;
use std::fmt::Debug;
use std::ops::ControlFlow;

use sparrow::{
    Event, LinearSystem, Offset, Queue, Solution, Solver, SolverProgress, StopRule, Value,
};

use crate::any_matrix::{AnyMatrix, typed};
use crate::buffer::array;
use crate::context::c_text;
use crate::failure::Result;
use crate::sparrow_buffer;

/// A solver of some type.
pub(crate) trait AnySolver: Debug + Send {
    /// What is told of it.
    fn facts(&self) -> SolverFacts;

    /// Solves, and says how it went.
    ///
    /// # Safety
    /// Buffers are NULL or valid.
    unsafe fn solve_blocking(&mut self, solve: Solve<'_>) -> Result<Solution>;
}

/// One system A x = b, as the application asks for it.
pub(crate) struct Solve<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) a: &'a dyn AnyMatrix,
    pub(crate) b: sparrow_buffer,
    pub(crate) x: sparrow_buffer,
    pub(crate) stop: StopRule,
    pub(crate) wait: &'a [Event],
    pub(crate) observe: &'a mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
}

/// Facts of a solver, kept beside it as texts for C.
#[derive(Debug)]
pub(crate) struct SolverFacts {
    pub(crate) algorithm: CString,
    pub(crate) reason: CString,
    pub(crate) plan_parameters: CString,
    pub(crate) parameters: CString,
    pub(crate) size_bytes: u64,
    pub(crate) bytes_per_iteration: u64,
    pub(crate) check_every: u32,
}

impl<V: Value, O: Offset> AnySolver for Solver<V, O> {
    fn facts(&self) -> SolverFacts {
        let plan = self.plan();
        SolverFacts {
            algorithm: c_text(plan.algorithm().name()),
            reason: c_text(&plan.choice().reason),
            plan_parameters: c_text(plan.parameters()),
            parameters: c_text(self.parameters()),
            size_bytes: self.size_bytes() as u64,
            bytes_per_iteration: self.bytes_per_iteration(),
            check_every: self.check_every(),
        }
    }

    unsafe fn solve_blocking(&mut self, solve: Solve<'_>) -> Result<Solution> {
        let Solve { queue, a, b, x, stop, wait, observe } = solve;
        let a = typed::<V, O>(a)?;
        let context = queue.context();
        // SAFETY: the caller's promise.
        let (b, mut x) = unsafe {
            (array(context, b, a.rows(), "system->b")?, array(context, x, a.cols(), "system->x")?)
        };
        let system = LinearSystem { a, b: &b, x: &mut x };
        Ok(self.solve_observed_blocking(queue, system, &stop, wait, observe)?)
    }
}
