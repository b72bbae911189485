//! Iterations on the host: the same methods and the same rules without OpenCL, in f64, in one thread but the products.

use std::ops::ControlFlow;
use std::time::Instant;

use cl_kernels::solver_state::{LAST_ITERATION_NEVER_ENDS, SolverState};
use cl_runtime::solver::{Kept, Limits, Norm, Norms, Snapshot};
use csr_core::{AnyCsrView, CsrView, Real, for_csr, product};

use super::drive::{Drive, Engine, Of};
use super::{
    Preconditioner, Solution, SolverMethod, SolverOptions, SolverProgress, StopRule, Verdict,
};
use crate::{Error, Result};

/// Iterations between two calls of an observer, where nothing else is asked for.
const CHECK_EVERY: u32 = 32;

/// Solves A x = b on the host, from the x that is there, as [`AnySolver`] does on a device; `observe` is called every
/// few iterations and may end it. Vectors and sums are f64 whatever A stores. Of the options, those of the plan and the
/// hyper-parameters, which are for devices, are not looked at.
///
/// # Errors
/// A matrix that is not square, vectors of another length, tolerances that are none, a check_every of 0, or with Jacobi
/// preconditioning a diagonal that has no inverse; x is as it was then.
///
/// [`AnySolver`]: crate::AnySolver
pub fn solve_on_host(
    matrix: AnyCsrView<'_>,
    b: &[f64],
    x: &mut [f64],
    options: &SolverOptions,
    stop: &StopRule,
    observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
) -> Result<Solution> {
    let began = Instant::now();
    let (rows, cols) = (matrix.pattern().rows(), matrix.pattern().cols());
    super::check_square(rows, cols)?;
    super::check_length("b", b.len(), "row", rows)?;
    super::check_length("x", x.len(), "column", rows)?;
    stop.check()?;
    let check_every = super::checked_check_every(options.check_every, CHECK_EVERY)?;
    for_csr!(matrix, matrix => {
        let values: Vec<f64> = matrix.values().iter().map(|value| value.to_f64()).collect();
        let a = CsrView::of_checked(matrix.pattern(), &values);
        let inverse = match options.preconditioner {
            Preconditioner::None => None,
            Preconditioner::Jacobi => Some(inverse_diagonal(a)?),
        };
        let multiply = |x: &[f64], y: &mut [f64]| Ok(product(1.0, a, x, 0.0, y)?);
        let mut engine = OnHost::new(&multiply, inverse, b, x, options);
        let norm = options.norm;
        let mut drive = Drive { norm, verdict: options.verdict, stop, check_every, rows, observe };
        let (solution, of) = drive.run(&mut engine)?;
        match of {
            Of::Zeros => x.fill(0.0),
            Of::Engine(Kept::Last) => x.copy_from_slice(&engine.x),
            Of::Engine(Kept::Best) => x.copy_from_slice(&engine.best),
        }
        let launched = solution.iterations;
        Ok(Solution { launched, elapsed: began.elapsed(), ..solution })
    })
}

fn inverse_diagonal<O: csr_core::Offset>(a: CsrView<'_, f64, O>) -> Result<Vec<f64>> {
    let of_row = |row: usize| {
        let (columns, values) = a.row(row);
        let entries = columns.iter().zip(values).filter(|(column, _)| **column as usize == row);
        let inverse = 1.0 / entries.map(|(_, value)| value).sum::<f64>();
        match inverse.is_finite() && inverse != 0.0 {
            true => Ok(inverse),
            // Rows are counted in 32 bits.
            false => Err(Error::Runtime(cl_runtime::Error::Diagonal { row: row as u32 })),
        }
    };
    (0..a.rows()).map(of_row).collect()
}

/// y = A x.
type Operands<'a> = dyn Fn(&[f64], &mut [f64]) -> Result<()> + 'a;

/// The vectors, and how the iterations stand.
struct OnHost<'a> {
    multiply: &'a Operands<'a>,
    inverse: Option<Vec<f64>>,
    norm: Norm,
    method: SolverMethod,
    any_sign: bool,
    b: &'a [f64],
    x: Vec<f64>,
    best: Vec<f64>,
    writes_best: bool,
    r: Vec<f64>,
    p: Vec<f64>,
    /// A p^, where p^ is p times the inverse diagonal with BiCGStab.
    v: Vec<f64>,
    /// The residual half-way, and A times it (BiCGStab).
    halves: [Vec<f64>; 2],
    shadow: Vec<f64>,
    rho: f64,
    curvature_sign: f64,
    state: SolverState,
    ended_in: u32,
    last_iteration: u32,
    least: f64,
    least_at: u32,
    residuals: Vec<f64>,
}

impl<'a> OnHost<'a> {
    fn new(
        multiply: &'a Operands<'a>,
        inverse: Option<Vec<f64>>,
        b: &'a [f64],
        x: &[f64],
        options: &SolverOptions,
    ) -> Self {
        let zeros = || vec![0.0; b.len()];
        OnHost {
            multiply,
            inverse,
            norm: options.norm,
            method: options.method,
            any_sign: options.verdict == Verdict::Recurrence,
            b,
            x: x.to_vec(),
            best: zeros(),
            writes_best: true,
            r: zeros(),
            p: zeros(),
            v: zeros(),
            halves: [zeros(), zeros()],
            shadow: zeros(),
            rho: 0.0,
            curvature_sign: 0.0,
            state: SolverState::Running,
            ended_in: 0,
            last_iteration: LAST_ITERATION_NEVER_ENDS,
            least: 0.0,
            least_at: 0,
            residuals: Vec::new(),
        }
    }

    /// Iteration 0, from x and r as they are.
    fn begin(&mut self) {
        self.state = SolverState::Running;
        self.last_iteration = LAST_ITERATION_NEVER_ENDS;
        self.curvature_sign = 0.0;
        self.least = norms(&self.r).by(self.norm);
        self.least_at = 0;
        self.residuals.clear();
        match self.method {
            SolverMethod::Cg => {
                self.p = self.preconditioned(&self.r);
                self.rho = dot(&self.r, &self.p);
                if self.rho == 0.0 && self.least > 0.0 {
                    self.end(SolverState::PreconditionerIndefinite, 0, 0);
                }
            }
            SolverMethod::BiCgStab => {
                self.shadow.copy_from_slice(&self.r);
                self.p.copy_from_slice(&self.r);
                self.rho = dot(&self.r, &self.r);
            }
        }
    }

    fn end(&mut self, state: SolverState, iteration: u32, last: u32) {
        (self.state, self.ended_in, self.last_iteration) = (state, iteration, last);
    }

    fn preconditioned(&self, vector: &[f64]) -> Vec<f64> {
        match &self.inverse {
            Some(inverse) => vector.iter().zip(inverse).map(|(r, inverse)| r * inverse).collect(),
            None => vector.to_vec(),
        }
    }

    /// As `residual_judged` of `cl/solver/state.h`; and keeps x where the iteration before was the best.
    fn judge(&mut self, iteration: u32, residual: f64, limits: &Limits) {
        // It is finite.
        if residual < self.least {
            (self.least, self.least_at) = (residual, iteration);
        } else if self.least_at == iteration - 1 && self.writes_best {
            self.best.copy_from_slice(&self.x);
        }
        self.residuals.push(residual);
        if residual <= limits.threshold {
            self.end(SolverState::Converged, iteration, iteration);
        } else if residual > limits.divergence {
            self.end(SolverState::Diverged, iteration, iteration);
        } else if iteration - self.least_at >= limits.patience {
            self.end(SolverState::Stalled, iteration, iteration);
        }
    }

    fn cg(&mut self, iteration: u32, limits: &Limits) -> Result<()> {
        (self.multiply)(&self.p, &mut self.v)?;
        let curvature = dot(&self.p, &self.v);
        let alpha = self.rho / curvature;
        let before = iteration - 1;
        if curvature == 0.0 {
            self.end(SolverState::CurvatureZero, iteration, before);
        } else if !curvature.is_finite() || !alpha.is_finite() {
            self.end(SolverState::NotFinite, iteration, before);
        } else if !self.any_sign && self.curvature_sign * curvature < 0.0 {
            self.end(SolverState::Indefinite, iteration, before);
        }
        if self.state != SolverState::Running {
            return Ok(());
        }
        self.curvature_sign = curvature.signum();
        add(&mut self.r, -alpha, &self.v);
        let z = self.preconditioned(&self.r);
        let (rho, residual) = (dot(&self.r, &z), norms(&self.r).by(self.norm));
        if !rho.is_finite() || !residual.is_finite() {
            self.end(SolverState::NotFinite, iteration, before);
            return Ok(());
        }
        self.judge(iteration, residual, limits);
        let has_other_sign = !self.any_sign && (rho > 0.0) != (self.rho > 0.0);
        if self.state == SolverState::Running && (rho == 0.0 || has_other_sign) {
            self.end(SolverState::PreconditionerIndefinite, iteration, iteration);
        }
        add(&mut self.x, alpha, &self.p);
        let beta = rho / self.rho;
        self.rho = rho;
        for (p, z) in self.p.iter_mut().zip(z) {
            *p = beta.mul_add(*p, z);
        }
        Ok(())
    }

    fn bicgstab(&mut self, iteration: u32, limits: &Limits) -> Result<()> {
        let before = iteration - 1;
        let p_hat = self.preconditioned(&self.p);
        (self.multiply)(&p_hat, &mut self.v)?;
        let of_shadow = dot(&self.shadow, &self.v);
        let alpha = self.rho / of_shadow;
        if of_shadow == 0.0 {
            self.end(SolverState::ShadowZero, iteration, before);
        } else if !of_shadow.is_finite() || !alpha.is_finite() {
            self.end(SolverState::NotFinite, iteration, before);
        }
        if self.state != SolverState::Running {
            return Ok(());
        }
        let [mut s, mut t] = std::mem::take(&mut self.halves);
        s.copy_from_slice(&self.r);
        add(&mut s, -alpha, &self.v);
        let half = norms(&s).by(self.norm);
        if !half.is_finite() {
            self.end(SolverState::NotFinite, iteration, before);
        } else if half <= limits.threshold {
            self.judge(iteration, half, limits);
            add(&mut self.x, alpha, &p_hat);
        } else {
            let s_hat = self.preconditioned(&s);
            (self.multiply)(&s_hat, &mut t)?;
            let (ts, tt) = (dot(&t, &s), dot(&t, &t));
            let omega = ts / tt;
            if ts == 0.0 || tt == 0.0 {
                self.end(SolverState::OmegaZero, iteration, before);
            } else if !ts.is_finite() || !tt.is_finite() || !omega.is_finite() {
                self.end(SolverState::NotFinite, iteration, before);
            } else {
                self.r.copy_from_slice(&s);
                add(&mut self.r, -omega, &t);
                let (rho, residual) = (dot(&self.shadow, &self.r), norms(&self.r).by(self.norm));
                if !rho.is_finite() || !residual.is_finite() {
                    self.end(SolverState::NotFinite, iteration, before);
                } else {
                    self.judge(iteration, residual, limits);
                    if self.state == SolverState::Running && rho == 0.0 {
                        self.end(SolverState::RhoZero, iteration, iteration);
                    }
                    add(&mut self.x, alpha, &p_hat);
                    add(&mut self.x, omega, &s_hat);
                    let beta = rho / self.rho * (alpha / omega);
                    self.rho = rho;
                    for ((p, v), r) in self.p.iter_mut().zip(&self.v).zip(&self.r) {
                        *p = beta.mul_add((-omega).mul_add(*v, *p), *r);
                    }
                }
            }
        }
        self.halves = [s, t];
        Ok(())
    }
}

impl Engine for OnHost<'_> {
    fn start(&mut self) -> Result<(Norms, Norms)> {
        let of_b = norms(self.b);
        let of_r = self.residual(Kept::Last)?;
        self.begin();
        Ok((of_b, of_r))
    }

    fn iterate(&mut self, done: u32, count: u32, limits: &Limits) -> Result<()> {
        self.residuals.clear();
        for iteration in done + 1..=done + count {
            if self.state != SolverState::Running {
                break;
            }
            match self.method {
                SolverMethod::Cg => self.cg(iteration, limits)?,
                SolverMethod::BiCgStab => self.bicgstab(iteration, limits)?,
            }
        }
        Ok(())
    }

    fn snapshot(&mut self) -> Result<Snapshot> {
        Ok(Snapshot {
            state: self.state,
            ended_in: self.ended_in,
            last_iteration: self.last_iteration,
            least_at: self.least_at,
            residuals: self.residuals.clone(),
        })
    }

    fn residual(&mut self, of: Kept) -> Result<Norms> {
        let x = if of == Kept::Best { &self.best } else { &self.x };
        (self.multiply)(x, &mut self.r)?;
        for (r, b) in self.r.iter_mut().zip(self.b) {
            *r = b - *r;
        }
        Ok(norms(&self.r))
    }

    fn restart(&mut self) -> Result<()> {
        self.best.copy_from_slice(&self.x);
        self.writes_best = false;
        self.begin();
        Ok(())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| a.mul_add(*b, sum))
}

/// a = a + factor b
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = factor.mul_add(*b, *a);
    }
}

fn norms(vector: &[f64]) -> Norms {
    let one: f64 = vector.iter().map(|element| element.abs()).sum();
    let squares = dot(vector, vector);
    let is_in_range = (f64::MIN_POSITIVE..=f64::MAX).contains(&squares);
    let largest = vector.iter().fold(0.0, |largest: f64, element| largest.max(element.abs()));
    let two = match is_in_range || one.is_nan() || largest == 0.0 {
        true => squares.sqrt(),
        // The squares vanish or overflow where the elements do not.
        false => largest * vector.iter().map(|r| (r / largest).powi(2)).sum::<f64>().sqrt(),
    };
    Norms { two, one, is_in_range }
}
