//! What a solver is asked for.

use csr_core::spelled;

use crate::{PlanOptions, Result, RuntimeError};

pub use cl_runtime::solver::Norm;

/// A way of solving A x = b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SolverMethod {
    /// Conjugate gradients (Hestenes and Stiefel 1952), for A symmetric, and positive or negative definite.
    #[default]
    Cg,
    /// Stabilised bi-conjugate gradients (van der Vorst 1992), for any A.
    BiCgStab,
}

impl SolverMethod {
    /// Every one.
    pub const ALL: [SolverMethod; 2] = [SolverMethod::Cg, SolverMethod::BiCgStab];

    /// The spelling of `--method` and in records.
    pub fn name(self) -> &'static str {
        match self {
            SolverMethod::Cg => "cg",
            SolverMethod::BiCgStab => "bicgstab",
        }
    }
}

impl std::fmt::Display for SolverMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for SolverMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|method| method.name() == text);
        found.ok_or_else(|| format!("method \"{text}\" is none of cg, bicgstab"))
    }
}

/// What stands in for the inverse of A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preconditioner {
    /// Nothing.
    #[default]
    None,
    /// The inverse of the diagonal, which must have one in each row.
    Jacobi,
}

impl Preconditioner {
    /// Every one.
    pub const ALL: [Preconditioner; 2] = [Preconditioner::None, Preconditioner::Jacobi];

    /// The spelling of `--precondition` and in records.
    pub fn name(self) -> &'static str {
        match self {
            Preconditioner::None => "none",
            Preconditioner::Jacobi => "jacobi",
        }
    }
}

impl std::fmt::Display for Preconditioner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Preconditioner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| format!("preconditioner \"{text}\" is none of none, jacobi"))
    }
}

/// What the end of a solve rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// b - A x, computed from x. Where the recurrence's residual is small enough and that is not, iterations begin again
    /// from there until it is, or until that no longer halves it. A residual that grows beyond 10^8 times the first
    /// one, and one that is never the least for 10 iterations a row and 100 more, end a solve; so does, with CG, a change
    /// of sign that no definite matrix makes. Where it does not converge x is that of the least residual.
    #[default]
    Computed,
    /// The recurrence's residual alone, as textbooks have it: besides the [`StopRule`] only a zero to divide by or a
    /// number that is not finite ends a solve, and x is that of the last iteration. b - A x is computed at the end, and
    /// only told.
    Recurrence,
}

/// What a solver is made of; the default is CG without preconditioning, everything chosen.
#[derive(Clone, Debug, Default)]
pub struct SolverOptions {
    /// The method.
    pub method: SolverMethod,
    /// What residuals are multiplied by.
    pub preconditioner: Preconditioner,
    /// How residuals are measured.
    pub norm: Norm,
    /// What its end rests on.
    pub verdict: Verdict,
    /// Iterations between two looks at the residual, each of which waits for the device; `None` chooses 4 on a CPU,
    /// where that is cheap, and 32 elsewhere. What is returned does not depend on it: iterations after the one that
    /// reached the tolerance change nothing.
    pub check_every: Option<u32>,
    /// How A is multiplied; of the plan's options, scalars on the device, a transposed A and y in another order than x are
    /// refused. With [`PlanOptions::reordering`] all iterations run in the order of the plan: b and x are moved into it
    /// before them and x out of it after, unless [`PlanOptions::order`] says that both are in it already.
    pub plan: PlanOptions,
    /// Hyper-parameters of the kernels between products by name, over what the device table says.
    pub parameters: Vec<(String, u32)>,
}

/// When a solve ends: where the residual is at most the largest of three, or after so many iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    /// As a multiple of the norm of b.
    pub relative: f64,
    /// As a multiple of the norm of the first residual, b - A x before.
    pub relative_to_first: f64,
    /// As it is.
    pub absolute: f64,
    /// Iterations at most; with 0, x stays as it is, where b is 0 too, and its residual is measured.
    pub max_iterations: u32,
}

impl Default for StopRule {
    /// 1e-8 of b, and 10,000 iterations.
    fn default() -> Self {
        StopRule { relative: 1e-8, relative_to_first: 0.0, absolute: 0.0, max_iterations: 10_000 }
    }
}

impl StopRule {
    /// Refuses what is no tolerance.
    pub(super) fn check(&self) -> Result<()> {
        let tolerances = [
            ("relative", self.relative),
            ("relative_to_first", self.relative_to_first),
            ("absolute", self.absolute),
        ];
        match tolerances.into_iter().find(|(_, value)| !(value.is_finite() && *value >= 0.0)) {
            None => Ok(()),
            Some((name, value)) => {
                let (value, rule) = (spelled(value), "finite and 0 or more".to_owned());
                Err(RuntimeError::Value { name, value, rule }.into())
            }
        }
    }

    /// The residual that is small enough.
    pub(super) fn threshold(&self, of_b: f64, first: f64) -> f64 {
        (self.relative * of_b).max(self.relative_to_first * first).max(self.absolute)
    }
}
