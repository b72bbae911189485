//! A x = b on the device, by iterations: CG and BiCGStab, with Jacobi preconditioning.
//!
//! All scalars stay on the device. Every few iterations the host reads how the solve stands; what is enqueued beyond
//! the iteration that ended it changes nothing, so neither x nor any number depends on how often it looks.

mod options;
mod solution;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cl_kernels::DeviceType;
use cl_kernels::bicgstab::BiCgStab;
use cl_kernels::cg::Cg;
use cl_runtime::solver::{
    Iterations, Multiply, Norms, SolverParameters, inverse_diagonal_blocking, wait_blocking,
};
use cl_runtime::spmv::{VectorOrder, Workspace};
use cl_runtime::{Context, DeviceArray, Event, Matrix, Queue};
use csr_core::{Offset, Value, ValueType};

pub use options::{Norm, Preconditioner, SolverMethod, SolverOptions, StopRule};
pub use solution::{Breakdown, Outcome, Solution, SolverProgress};

use crate::plan::{check_context, check_length, tables};
use crate::tables::Resolver;
use crate::{Error, Op, Plan, Product, Result};

/// Iterations between two looks, at most: residuals are kept on the device until then.
const MOST_UNSEEN: u32 = 1 << 16;

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

/// A method bound to the pattern of a square matrix, with the vectors it needs. Good for any values, any b and any x,
/// one solve at a time.
#[derive(Debug)]
pub struct Solver<V: Value, O = u32> {
    options: SolverOptions,
    check_every: u32,
    context: Context,
    plan: Plan<V, O>,
    workspace: Workspace,
    iterations: Iterations<V::Accum>,
    parameters: String,
    /// The values that the inverse diagonal was made from.
    diagonal_of: Option<u64>,
    /// The values that the plan may have a copy of.
    plan_of: u64,
    rows: usize,
    bytes_per_iteration: u64,
}

impl<V: Value, O: Offset> Solver<V, O> {
    /// Plans the products, builds the kernels and allocates the vectors.
    ///
    /// # Errors
    /// A matrix that is not square, options that a solver cannot have, parameters that break a rule, a device that
    /// lacks the value type, no memory for the vectors, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        options: &SolverOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        let (rows, cols) = (matrix.rows(), matrix.cols());
        if rows != cols {
            return Err(Error::Mismatch(format!(
                "a solver needs a square matrix, and this one is {rows} x {cols}"
            )));
        }
        check_plan_options(options)?;
        let is_cpu = queue.context().device().traits().device_type == DeviceType::Cpu;
        let check_every = options.check_every.unwrap_or(if is_cpu { 4 } else { 32 });
        if !(1..=MOST_UNSEEN).contains(&check_every) {
            return Err(Error::Mismatch(format!(
                "check_every is {check_every}, and it must be 1 to {MOST_UNSEEN}"
            )));
        }
        let (parameters, text) = resolve::<V>(queue, options)?;
        let plan = Plan::new_blocking(queue, matrix, &options.plan)?;
        let workspace = plan.workspace_blocking(queue)?;
        let has_preconditioner = options.preconditioner == Preconditioner::Jacobi;
        let iterations = Iterations::new_blocking(
            queue,
            parameters,
            options.norm,
            has_preconditioner,
            rows,
            check_every as usize,
        )?;
        let of_product = (matrix.nnz() * (size_of::<V>() + size_of::<u32>())
            + (rows + 1) * size_of::<O>()
            + 2 * rows * size_of::<V::Accum>()) as u64;
        let bytes_per_iteration =
            iterations.products_per_iteration() * of_product + iterations.bytes_per_iteration();
        Ok(Solver {
            options: options.clone(),
            check_every,
            context: queue.context().clone(),
            plan,
            workspace,
            iterations,
            parameters: text,
            diagonal_of: None,
            plan_of: matrix.values_id(),
            rows,
            bytes_per_iteration,
        })
    }

    /// Solves A x = b after the events in `wait`, from the x that is there, and returns when the solution is.
    ///
    /// b = 0 has the solution 0. Where the method breaks down x is that of the last iteration that ended well. b and x
    /// may be the same memory.
    ///
    /// # Errors
    /// Operands of another pattern, length or context; tolerances that are none; a diagonal that has no inverse, with
    /// Jacobi preconditioning; an event that has failed; or the driver's own failure. x is not written then, unless
    /// writing it is what failed.
    pub fn solve_blocking(
        &mut self,
        queue: &Queue,
        system: LinearSystem<'_, V, O>,
        stop: &StopRule,
        wait: &[Event],
    ) -> Result<Solution> {
        let go_on = &mut |_: &SolverProgress<'_>| ControlFlow::Continue(());
        self.solve_observed_blocking(queue, system, stop, wait, go_on)
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
        let began = Instant::now();
        let LinearSystem { a, b, x } = &system;
        check_context(queue, &self.context, "solver")?;
        check_context(queue, a.context(), "matrix")?;
        self.plan.check_pattern(a)?;
        check_length("b", b.len(), "rows", self.rows)?;
        check_length("x", x.len(), "columns", self.rows)?;
        self.context.check_array("b", b)?;
        self.context.check_array("x", x)?;
        stop.check()?;
        wait_blocking(wait)?;
        let result = self.run(queue, system, stop, observe);
        if result.is_err() {
            // What was enqueued may still read b; that it failed too would not be news.
            let _ = queue.finish_blocking();
        }
        let solution = result?;
        Ok(Solution { elapsed: began.elapsed(), ..solution })
    }

    fn run(
        &mut self,
        queue: &Queue,
        system: LinearSystem<'_, V, O>,
        stop: &StopRule,
        observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let LinearSystem { a, b, x } = system;
        self.take_values(queue, a)?;
        let Solver { plan, workspace, iterations, .. } = self;
        let mut multiply = |what: Multiply,
                            x: &DeviceArray<V::Accum>,
                            y: &mut DeviceArray<V::Accum>|
         -> Result<()> {
            let (alpha, beta) = match what {
                Multiply::Product => (1.0, 0.0),
                Multiply::Residual => (-1.0, 1.0),
            };
            let (alpha, beta) = (V::Accum::from_f64(alpha), V::Accum::from_f64(beta));
            let product = Product { alpha: alpha.into(), a, x, beta: beta.into(), y };
            if queue.in_order().is_some() {
                return plan.launch_unobserved(queue, workspace, product);
            }
            let event = plan.launch(queue, workspace, product, &[])?;
            Ok(queue.settle_blocking(&event)?)
        };
        let norm = self.options.norm;
        let (of_b, of_first) = iterations.start_blocking(queue, x, b, &mut multiply)?;
        let (b_norm, first) = (of_b.by(norm), of_first.by(norm));
        let threshold = stop.threshold(b_norm, first);
        let mut track =
            Track { history: vec![first], launched: 0, looks: vec![(0, Instant::now())] };
        let mut outcome = at_start::<V::Accum>(&of_b, norm, threshold, first);
        if outcome.is_none() {
            let snapshot = iterations.snapshot_blocking(queue)?;
            outcome = Outcome::of(snapshot.state, snapshot.ended_in);
        }
        while outcome.is_none() {
            let done = track.launched;
            let more = self.check_every.min(stop.max_iterations - done);
            if more == 0 {
                outcome = Some(Outcome::MaxIterations);
                break;
            }
            for place in 0..more {
                let iteration = done + place + 1;
                iterations.iterate(queue, iteration, place, threshold, &mut multiply)?;
            }
            let snapshot = iterations.snapshot_blocking(queue)?;
            outcome = Outcome::of(snapshot.state, snapshot.ended_in);
            let ended = snapshot.last_iteration.clamp(done, done + more) - done;
            track.look(more, &snapshot.residuals[..ended as usize], outcome.is_none());
            let progress = SolverProgress {
                iteration: done + ended,
                history: &track.history,
                threshold,
                b_norm,
            };
            if observe(&progress).is_break() && outcome.is_none() {
                outcome = Some(Outcome::Stopped);
            }
        }
        let true_residual = if of_b.magnitudes == 0.0 {
            track.history = vec![0.0];
            x.write_blocking(queue, &vec![V::Accum::from_f64(0.0); self.rows])?;
            0.0
        } else {
            iterations.finish_blocking(queue, b, x, &mut multiply)?.by(norm)
        };
        Ok(Solution {
            outcome: outcome.unwrap_or(Outcome::MaxIterations),
            iterations: track.history.len() as u32 - 1,
            true_residual,
            b_norm,
            threshold,
            launched: track.launched,
            elapsed: Duration::ZERO,
            per_iteration: track.per_iteration(),
            history: track.history,
        })
    }

    /// Brings what is made of the matrix's values up to date.
    fn take_values(&mut self, queue: &Queue, a: &Matrix<V, O>) -> Result<()> {
        let values = a.values_id();
        if self.plan_of != values {
            self.plan.update_values_blocking(queue, a)?;
            self.plan_of = values;
        }
        if let Some(inverse) = self.iterations.inverse_diagonal()
            && self.diagonal_of != Some(values)
        {
            self.diagonal_of = None;
            inverse_diagonal_blocking(queue, a, None, inverse)?;
            self.diagonal_of = Some(values);
        }
        Ok(())
    }

    /// What was asked for.
    pub fn options(&self) -> &SolverOptions {
        &self.options
    }

    /// Iterations between two looks at the residual.
    pub fn check_every(&self) -> u32 {
        self.check_every
    }

    /// How A is multiplied.
    pub fn plan(&self) -> &Plan<V, O> {
        &self.plan
    }

    /// The hyper-parameters of the kernels between products as text.
    pub fn parameters(&self) -> &str {
        &self.parameters
    }

    /// Bytes on the device beside the matrix: vectors, state, plan and workspace.
    pub fn size_bytes(&self) -> usize {
        self.iterations.size_bytes() + self.plan.plan_bytes() + self.plan.workspace_bytes()
    }

    /// Bytes that an iteration moves if every kernel moves each array that it takes once: for each product the matrix
    /// in CSR and two vectors, then vectors. CG: 10 vectors beside the product, 12 with Jacobi. BiCGStab: 18 beside
    /// its two products, 22 with Jacobi.
    pub fn bytes_per_iteration(&self) -> u64 {
        self.bytes_per_iteration
    }
}

/// What the looks at the residual have seen.
struct Track {
    history: Vec<f64>,
    launched: u32,
    /// Iterations that had run in full, and when.
    looks: Vec<(u32, Instant)>,
}

impl Track {
    fn look(&mut self, launched: u32, residuals: &[f64], is_running: bool) {
        self.history.extend(residuals);
        self.launched += launched;
        if is_running {
            self.looks.push((self.launched, Instant::now()));
        }
    }

    fn per_iteration(&self) -> Option<Duration> {
        let [start, rest @ ..] = self.looks.as_slice() else { return None };
        let (from, to) = match rest {
            [] => return None,
            [only] => (start, only),
            [first, .., last] => (first, last),
        };
        Some((to.1 - from.1) / (to.0 - from.0))
    }
}

/// How a solve ends that need not begin.
fn at_start<T: Value>(of_b: &Norms, norm: Norm, threshold: f64, first: f64) -> Option<Outcome> {
    let breakdown = |kind| Some(Outcome::Breakdown { kind, iteration: 0 });
    let smallest = match T::TYPE {
        ValueType::F64 => f64::MIN_POSITIVE,
        _ => f32::MIN_POSITIVE.into(),
    };
    if of_b.magnitudes == 0.0 {
        return Some(Outcome::Converged);
    }
    if !of_b.magnitudes.is_finite() {
        return breakdown(Breakdown::NotFinite);
    }
    if norm == Norm::Two && !(of_b.squares >= smallest && of_b.squares.is_finite()) {
        return breakdown(Breakdown::OutOfRange);
    }
    if !first.is_finite() {
        return breakdown(Breakdown::NotFinite);
    }
    (first <= threshold).then_some(Outcome::Converged)
}

fn check_plan_options(options: &SolverOptions) -> Result<()> {
    let plan = &options.plan;
    let refused = [
        (plan.scalars_on_device, "alpha and beta on the device"),
        (plan.op != Op::Normal, "a transposed matrix"),
        (plan.order != VectorOrder::Original, "vectors in another order"),
    ];
    match refused.into_iter().find(|(is_asked, _)| *is_asked) {
        None => Ok(()),
        Some((_, what)) => Err(Error::Mismatch(format!("the plan of a solver cannot have {what}"))),
    }
}

/// The hyper-parameters of the kernels between products, and the same as text.
fn resolve<V: Value>(queue: &Queue, options: &SolverOptions) -> Result<(SolverParameters, String)> {
    let device = queue.context().device().traits();
    let resolver = Resolver {
        tables: &tables(&options.plan),
        device,
        value_type: V::TYPE.accumulator(),
        rule: &[],
        asked: &options.parameters,
    };
    Ok(match options.method {
        SolverMethod::Cg => {
            let found = resolver.resolve(Cg::default_for(device), |p| p.check(device))?;
            (SolverParameters::Cg(found), found.to_string())
        }
        SolverMethod::BiCgStab => {
            let found = resolver.resolve(BiCgStab::default_for(device), |p| p.check(device))?;
            (SolverParameters::BiCgStab(found), found.to_string())
        }
    })
}
