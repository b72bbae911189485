//! Newton's iteration with conjugate gradients: what is done in which order, and what it took.

use std::error::Error;
use std::time::{Duration, Instant};

use sparrow::{Algorithm, Plan, PlanOptions, VectorOrder, Workspace};

use crate::device::OnDevice;

/// Newton is done once the norm of F is this part of the first; PETSc's default.
const NEWTON_TOLERANCE: f64 = 1e-8;
const MOST_NEWTON_STEPS: usize = 30;
/// Of the norm of F a linear system begins with; PETSc's default.
const LINEAR_TOLERANCE: f64 = 1e-5;
/// Steps of conjugate gradients between two looks at how far they are.
const STEPS_A_LOOK: usize = 10;
const MOST_BATCHES: usize = 31;

pub(crate) struct NewtonStep {
    /// The norm of F before the step.
    pub(crate) norm: f64,
    pub(crate) linear_steps: usize,
}

pub(crate) struct Report {
    pub(crate) algorithm: Algorithm,
    pub(crate) steps: Vec<NewtonStep>,
    pub(crate) last_norm: f64,
    pub(crate) largest_u: f64,
    pub(crate) products: usize,
    /// Plan and workspace, programs included where they were not built before.
    pub(crate) plan_time: Duration,
    pub(crate) product_time: Duration,
    /// Bringing the plan's own copy of the values up to date, where it keeps one.
    pub(crate) update_time: Duration,
    /// Newton's iteration from u = 0 to the last norm, without the plan.
    pub(crate) total_time: Duration,
}

pub(crate) struct Solver<'a> {
    device: &'a mut OnDevice,
    plan: Plan<f64>,
    workspace: Workspace,
    plan_time: Duration,
    update_time: Duration,
    products: usize,
}

impl<'a> Solver<'a> {
    /// Plans for the pattern, once. In another order than the matrix's, vectors are in the plan's while a linear system is
    /// solved: what reorders them is not part of each product, but of each system.
    pub(crate) fn new(
        device: &'a mut OnDevice,
        algorithm: Option<Algorithm>,
        order: VectorOrder,
    ) -> Result<Self, Box<dyn Error>> {
        let start = Instant::now();
        let options = PlanOptions { algorithm, order, ..PlanOptions::default() };
        let plan = Plan::new_blocking(device.queue(), device.matrix(), &options)?;
        let workspace = plan.workspace_blocking(device.queue())?;
        let rows = match (order, plan.row_order()) {
            (VectorOrder::Symmetric, Some(rows)) => Some(rows.read_blocking(device.queue())?),
            _ => None,
        };
        device.take_order_blocking(rows.as_deref())?;
        let plan_time = start.elapsed();
        let update_time = Duration::ZERO;
        Ok(Solver { device, plan, workspace, plan_time, update_time, products: 0 })
    }

    /// Newton's iteration from u = 0. Since exp is convex, its steps go up to the solution from below and need no
    /// line search, as long as there is a solution.
    pub(crate) fn solve_blocking(mut self) -> Result<Report, Box<dyn Error>> {
        self.warm_up_blocking()?;
        self.device.reset_blocking()?;
        let mut steps = Vec::new();
        let start = Instant::now();
        let first_norm = self.device.residual_blocking()?;
        let mut norm = first_norm;
        while norm > NEWTON_TOLERANCE * first_norm || !norm.is_finite() {
            if steps.len() == MOST_NEWTON_STEPS || !norm.is_finite() {
                let text = format!("the norm of F is {norm:.1e} after {} steps", steps.len());
                return Err(format!("{text} of Newton, and was {first_norm:.1e} at first").into());
            }
            self.update_jacobian_blocking()?;
            let linear_steps = self.conjugate_gradients_blocking(norm)?;
            steps.push(NewtonStep { norm, linear_steps });
            norm = self.device.residual_blocking()?;
        }
        let total_time = start.elapsed();

        let largest_u = self.device.largest_u_blocking()?;
        if largest_u.is_nan() || largest_u <= 0.0 {
            return Err(format!("the largest u is {largest_u}, and should be positive").into());
        }
        Ok(Report {
            algorithm: self.plan.algorithm(),
            steps,
            last_norm: norm,
            largest_u,
            products: self.products,
            plan_time: self.plan_time,
            product_time: self.replay_blocking()?,
            update_time: self.update_time,
            total_time,
        })
    }

    /// Every kernel once: some drivers compile or allocate at the first launch, which is no part of the solve.
    fn warm_up_blocking(&mut self) -> Result<(), Box<dyn Error>> {
        self.device.reset_blocking()?;
        self.device.residual_blocking()?;
        self.update_jacobian_blocking()?;
        self.device.enter_order()?;
        self.device.product(&self.plan, &mut self.workspace)?;
        self.device.linear_step(0, 0.0)?;
        self.device.leave_order()?;
        self.device.progress_blocking()?;
        self.update_time = Duration::ZERO;
        Ok(())
    }

    /// The Jacobian's values at u, in the matrix and in the copy that some plans keep in an order of their own.
    fn update_jacobian_blocking(&mut self) -> Result<(), Box<dyn Error>> {
        self.device.write_jacobian_blocking()?;
        let start = Instant::now();
        self.plan.update_values_blocking(self.device.queue(), self.device.matrix())?;
        self.update_time += start.elapsed();
        Ok(())
    }

    /// Adds to u the solution d of J d = -F(u), from d = 0: u takes every step of d as it comes, since the matrix
    /// remembers the u it was made at.
    fn conjugate_gradients_blocking(&mut self, norm: f64) -> Result<usize, Box<dyn Error>> {
        self.device.enter_order()?;
        let target = (LINEAR_TOLERANCE * norm).powi(2);
        let problem = self.device.problem();
        // Ten times what the Laplacian needs.
        let most = 40 * problem.edge + 200;
        for step in 0..most {
            // The queue is in order: a step's launches follow each other, and the next step's, without a wait.
            self.device.product(&self.plan, &mut self.workspace)?;
            self.products += 1;
            self.device.linear_step(step, target)?;
            if !(step + 1).is_multiple_of(STEPS_A_LOOK) {
                continue;
            }
            let progress = self.device.progress_blocking()?;
            let curvature = progress.curvature;
            if curvature.is_nan() || curvature <= 0.0 {
                let text = format!(
                    "p A p is {curvature:.1e} after {} steps of conjugate gradients: the Jacobian is not \
                     positive definite, so lambda = {} is too large for a solution (the critical value is \
                     about 9.9)",
                    progress.steps, problem.lambda
                );
                return Err(text.into());
            }
            if progress.squared_norm <= target {
                self.device.leave_order()?;
                return Ok(progress.steps);
            }
        }
        Err(format!("no solution of a linear system in {most} steps of conjugate gradients").into())
    }

    /// The time of all products, from a replay: batches as between two looks, on the last Jacobian, the queue
    /// finished before and after each; all products at the median of them. Inside the solve the vector kernels push
    /// the matrix out of caches between two products; where it fits into them, products took longer there than is
    /// said here (up to twice as long, on a CPU device with EDGE = 32).
    fn replay_blocking(&mut self) -> Result<Duration, Box<dyn Error>> {
        let batches = (self.products / STEPS_A_LOOK).min(MOST_BATCHES);
        let mut times = Vec::with_capacity(batches);
        self.device.queue().finish_blocking()?;
        for _ in 0..batches {
            let start = Instant::now();
            for _ in 0..STEPS_A_LOOK {
                self.device.product(&self.plan, &mut self.workspace)?;
            }
            self.device.queue().finish_blocking()?;
            times.push(start.elapsed() / STEPS_A_LOOK as u32);
        }
        times.sort_unstable();
        let median = times.get(batches / 2).copied().unwrap_or_default();
        Ok(median * self.products as u32)
    }
}
