//! A x = b on the device, by iterations: CG and BiCGStab, with Jacobi preconditioning.
//!
//! All scalars stay on the device. Every few iterations the host reads how the solve stands; what is enqueued beyond
//! the iteration that ended it changes nothing, so neither x nor any number depends on how often it looks.

mod device;
mod drive;
mod host;
mod in_order;
mod options;
mod solution;

use std::ops::ControlFlow;
use std::time::Instant;

use cl_kernels::DeviceType;
use cl_kernels::bicgstab::BiCgStab;
use cl_kernels::cg::Cg;
use cl_runtime::solver::{
    Form, Iterations, SolverParameters, inverse_diagonal_blocking, wait_blocking,
};
use cl_runtime::spmv::{VectorOrder, Workspace};
use cl_runtime::{AnyArray, AnyMatrix, Context, Event, MatrixTypes, Queue, check_apart};
use csr_core::{Reordering, ValueType};

pub use host::solve_on_host;
pub use options::{Norm, Preconditioner, SolverMethod, SolverOptions, StopRule, Verdict};
pub use solution::{Breakdown, Outcome, Solution, SolverProgress};

use crate::plan::{check_context, check_device, check_length, fitting, tables};
use crate::tables::Resolver;
use crate::{AnyPlan, Op, PlanOptions, Result, RuntimeError};

use device::OnDevice;
use drive::{Drive, Of};
use in_order::InOrder;

/// Iterations between two looks, at most: residuals are kept on the device until then.
const MOST_UNSEEN: u32 = 1 << 16;

/// The operands of A x = b.
#[derive(Debug)]
pub struct AnyLinearSystem<'a> {
    /// The matrix: the solver's, or one that shares its pattern and types.
    pub a: &'a AnyMatrix,
    /// The right-hand side: rows, of the type that sums are made in.
    pub b: &'a AnyArray,
    /// Where the iterations begin, and where the solution goes: rows, of the type that sums are made in.
    pub x: &'a mut AnyArray,
}

/// A method bound to the pattern of a square matrix, with the vectors it needs. Good for any values, any b and any x,
/// one solve at a time.
#[derive(Debug)]
pub struct AnySolver {
    options: SolverOptions,
    check_every: u32,
    context: Context,
    plan: AnyPlan,
    workspace: Workspace,
    iterations: Iterations,
    parameters: String,
    /// The values that the inverse diagonal was made from.
    diagonal_of: Option<u64>,
    /// The values that the plan may have a copy of.
    plan_of: u64,
    /// b and x in the order of the plan, where they come in another.
    in_order: Option<InOrder>,
    rows: usize,
    bytes_per_iteration: u64,
}

impl AnySolver {
    /// Plans the products, builds the kernels and allocates the vectors.
    ///
    /// # Errors
    /// A matrix that is not square, options that a solver cannot have, parameters that break a rule, a device that
    /// lacks the value type, no memory for the vectors, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        options: &SolverOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        let (rows, cols) = (matrix.rows(), matrix.cols());
        check_square(rows, cols)?;
        check_plan_options(options)?;
        let is_cpu = queue.context().device().traits().device_type == DeviceType::Cpu;
        let check_every = checked_check_every(options.check_every, if is_cpu { 4 } else { 32 })?;
        fitting(queue, |queue| Self::build(queue, matrix, options, check_every))
    }

    fn build(
        queue: &Queue,
        matrix: &AnyMatrix,
        options: &SolverOptions,
        check_every: u32,
    ) -> Result<Self> {
        let rows = matrix.rows();
        let (parameters, text) = resolve(queue, matrix.value_type(), options)?;
        // Iterations run in the order of the plan, whatever order b and x are in.
        let order = match options.plan.reordering {
            Reordering::None => options.plan.order,
            _ => VectorOrder::Symmetric,
        };
        let plan =
            AnyPlan::new_blocking(queue, matrix, &PlanOptions { order, ..options.plan.clone() })?;
        let in_order = match plan.reordered() {
            Some(copy) if options.plan.order == VectorOrder::Original => {
                Some(InOrder::new_blocking(queue, copy.matrix())?)
            }
            _ => None,
        };
        let workspace = plan.workspace_blocking(queue)?;
        let is_computed = options.verdict == Verdict::Computed;
        let form = Form {
            norm: options.norm,
            has_preconditioner: options.preconditioner == Preconditioner::Jacobi,
            any_sign: !is_computed,
            keeps_best: is_computed,
        };
        let iterations = Iterations::new_blocking(
            queue,
            matrix.value_type(),
            parameters,
            form,
            rows,
            check_every as usize,
        )?;
        let MatrixTypes { value_type, offset_type, column_type } = matrix.types();
        let of_product = (matrix.nnz() * (value_type.size_bytes() + column_type.size_bytes())
            + (rows + 1) * offset_type.size_bytes()
            + 2 * rows * value_type.accumulator().size_bytes()) as u64;
        let bytes_per_iteration =
            iterations.products_per_iteration() * of_product + iterations.bytes_per_iteration();
        Ok(AnySolver {
            options: options.clone(),
            check_every,
            context: queue.context().clone(),
            plan,
            workspace,
            iterations,
            parameters: text,
            diagonal_of: None,
            plan_of: matrix.values_id(),
            in_order,
            rows,
            bytes_per_iteration,
        })
    }

    /// Solves A x = b after the events in `wait`, from the x that is there, and returns when the solution is.
    ///
    /// b = 0 has the solution 0. It has converged where the residual computed from x is small enough; where that of the
    /// recurrence is and the computed one is not, iterations begin again from there. Where it does not converge x is
    /// that of the least residual. b and x may be the same memory. [`Verdict::Recurrence`] has other rules.
    ///
    /// # Errors
    /// Operands of another pattern, type, length or context; x in the matrix's own arrays; tolerances that are none; a diagonal that has no inverse, with
    /// Jacobi preconditioning; an event that has failed; or the driver's own failure. x is not written then, unless
    /// writing it is what failed.
    pub fn solve_blocking(
        &mut self,
        queue: &Queue,
        system: AnyLinearSystem<'_>,
        stop: &StopRule,
        wait: &[Event],
    ) -> Result<Solution> {
        let go_on = &mut |_: &SolverProgress<'_>| ControlFlow::Continue(());
        self.solve_observed_blocking(queue, system, stop, wait, go_on)
    }

    /// As [`AnySolver::solve_blocking`], with somebody who is called at each look at the residual, and may end the solve: a
    /// panic ends it too, and the solver stays usable.
    ///
    /// # Errors
    /// As there.
    pub fn solve_observed_blocking(
        &mut self,
        queue: &Queue,
        system: AnyLinearSystem<'_>,
        stop: &StopRule,
        wait: &[Event],
        observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let began = Instant::now();
        let AnyLinearSystem { a, b, x } = &system;
        check_device(queue, &self.context, "solver")?;
        check_context(queue, a.context(), "matrix")?;
        self.plan.check_pattern(a)?;
        b.check_element("b", self.iterations.value_type())?;
        x.check_element("x", self.iterations.value_type())?;
        check_length("b", b.len(), "row", self.rows)?;
        check_length("x", x.len(), "column", self.rows)?;
        self.context.check_array("b", b)?;
        self.context.check_array("x", x)?;
        check_apart(("x", x), a.named_arrays())?;
        stop.check()?;
        wait_blocking(wait)?;
        let unfinished = Unfinished(queue);
        let solution = self.run(queue, system, stop, observe)?;
        // Its last step has waited.
        std::mem::forget(unfinished);
        Ok(Solution { elapsed: began.elapsed(), ..solution })
    }

    fn run(
        &mut self,
        queue: &Queue,
        system: AnyLinearSystem<'_>,
        stop: &StopRule,
        observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let AnyLinearSystem { a, b, x } = system;
        self.take_values(queue, a)?;
        let mut drive = Drive {
            norm: self.options.norm,
            verdict: self.options.verdict,
            stop,
            check_every: self.check_every,
            rows: self.rows,
            observe,
        };
        let AnySolver { plan, workspace, iterations, in_order, .. } = self;
        let moved = in_order.as_mut().zip(plan.reordered());
        let (b, from) = match moved {
            None => (b, &*x),
            Some((vectors, copy)) => vectors.take(queue, copy, b, x)?,
        };
        let mut engine = OnDevice { queue, plan, workspace, iterations, a, b, x: from };
        let (solution, of) = drive.run(&mut engine)?;
        match (of, in_order.as_mut().zip(plan.reordered())) {
            (Of::Zeros, _) => x.write_bytes_blocking(queue, &vec![0; x.size_bytes()])?,
            (Of::Engine(kept), None) => iterations.finish_blocking(queue, kept, x)?,
            (Of::Engine(kept), Some((vectors, copy))) => {
                iterations.finish_blocking(queue, kept, &vectors.x)?;
                vectors.give(queue, copy, x)?;
            }
        }
        Ok(solution)
    }

    /// Brings what is made of the matrix's values up to date.
    fn take_values(&mut self, queue: &Queue, a: &AnyMatrix) -> Result<()> {
        let values = a.values_id();
        if self.plan_of != values {
            self.plan.update_values_blocking(queue, a)?;
            self.plan_of = values;
        }
        if let Some(inverse) = self.iterations.inverse_diagonal()
            && self.diagonal_of != Some(values)
        {
            self.diagonal_of = None;
            match self.plan.reordered() {
                None => {
                    fitting(queue, |queue| {
                        Ok(inverse_diagonal_blocking(queue, a, None, inverse)?)
                    })?;
                }
                // An entry that has no inverse is named by its row of A.
                Some(copy) => {
                    let mut of_a = in_order::vector_blocking(queue, a)?;
                    fitting(queue, |queue| {
                        Ok(inverse_diagonal_blocking(queue, a, None, &mut of_a)?)
                    })?;
                    copy.gather(queue, &of_a, &mut inverse.slice(0..a.rows())?)?.wait()?;
                }
            }
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
    pub fn plan(&self) -> &AnyPlan {
        &self.plan
    }

    /// The hyper-parameters of the kernels between products as text.
    pub fn parameters(&self) -> &str {
        &self.parameters
    }

    /// Bytes on the device, those of the matrix not counted: vectors, state, plan and workspace.
    pub fn size_bytes(&self) -> usize {
        let in_order = self.in_order.as_ref().map_or(0, InOrder::size_bytes);
        self.iterations.size_bytes()
            + self.plan.plan_bytes()
            + self.plan.workspace_bytes()
            + in_order
    }

    /// Bytes that an iteration moves if every kernel moves each array that it takes once: for each product the matrix
    /// in CSR and two vectors, then vectors. CG: 10 vectors besides the product, 12 with Jacobi. BiCGStab: 18 besides
    /// its two products, 22 with Jacobi.
    pub fn bytes_per_iteration(&self) -> u64 {
        self.bytes_per_iteration
    }
}

/// Waits for a solve that ends with an error, or with a panic of the observer's: what was enqueued may still read b, and
/// write what the next solve begins with.
struct Unfinished<'q>(&'q Queue);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        // That it failed too would not be news.
        let _ = self.0.finish_blocking();
    }
}

fn check_square(rows: usize, cols: usize) -> Result<()> {
    if rows == cols {
        return Ok(());
    }
    Err(RuntimeError::NotSquare { what: "a solver", rows, cols }.into())
}

/// Iterations between two looks at the residual.
fn checked_check_every(asked: Option<u32>, default: u32) -> Result<u32> {
    let check_every = asked.unwrap_or(default);
    if !(1..=MOST_UNSEEN).contains(&check_every) {
        let (value, rule) = (check_every.to_string(), format!("1 to {MOST_UNSEEN}"));
        return Err(RuntimeError::Value { name: "check_every", value, rule }.into());
    }
    Ok(check_every)
}

fn check_plan_options(options: &SolverOptions) -> Result<()> {
    let plan = &options.plan;
    let refused = [
        (plan.scalars_on_device, "alpha and beta on the device", "the solver gives them by value"),
        (plan.op != Op::Normal, "a transposed matrix", "the solver multiplies by A as it is"),
        (
            plan.order == VectorOrder::Permuted,
            "the order permuted",
            "the solver needs x and y in one order",
        ),
        (
            plan.order != VectorOrder::Original && plan.reordering == Reordering::None,
            "the order symmetric without a reordering",
            "the solver puts b and x in the order of a reordering alone",
        ),
    ];
    match refused.into_iter().find(|(is_asked, ..)| *is_asked) {
        None => Ok(()),
        Some((_, what, rule)) => {
            Err(RuntimeError::combination(what, "the plan of a solver", rule).into())
        }
    }
}

/// The hyper-parameters of the kernels between products, and the same as text.
fn resolve(
    queue: &Queue,
    value_type: ValueType,
    options: &SolverOptions,
) -> Result<(SolverParameters, String)> {
    let device = queue.context().device().traits();
    let resolver = Resolver {
        tables: &tables(&options.plan),
        device,
        value_type: value_type.accumulator(),
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
