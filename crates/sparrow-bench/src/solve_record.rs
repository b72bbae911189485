//! One solve as a line of JSON.

use serde::Serialize;

use crate::units::significant;

/// The form's name; a change that breaks readers changes the number.
pub const SOLVE_SCHEMA: &str = "sparrow-solve/1";

/// What was solved, on what, and how it went. Residuals that are infinite or NaN are `null` in JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SolveRecord {
    /// [`SOLVE_SCHEMA`].
    pub schema: String,
    /// Version of Sparrow.
    pub version: String,
    /// Name of the matrix: a file's stem, a class, or a likeness.
    pub matrix: String,
    /// "file", "assembled" or "likeness".
    pub source: String,
    /// Rows of A, which is square.
    pub rows: u64,
    /// Columns of A.
    pub cols: u64,
    /// Stored entries of A.
    pub nnz: u64,
    /// "solve".
    pub op: String,
    /// "cg" or "bicgstab".
    pub method: String,
    /// "none" or "jacobi".
    pub preconditioner: String,
    /// The algorithm that multiplied.
    pub algorithm: String,
    /// Its hyper-parameters.
    pub params: String,
    /// Its kernel's key.
    pub kernel_key: String,
    /// Hyper-parameters of the kernels between products.
    pub solver_params: String,
    /// What A stores.
    pub value_type: String,
    /// What counts nonzeros.
    pub offset_type: String,
    /// The device's name.
    pub device: String,
    /// The platform's name.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// The seed of a generated matrix.
    pub seed: u64,
    /// The residual asked for, as a multiple of the norm of b.
    pub tolerance: f64,
    /// Iterations allowed.
    pub max_iterations: u32,
    /// Iterations between two looks at the residual.
    pub check_every: u32,
    /// Whether A equals its transpose, in pattern and values.
    pub symmetric: bool,
    /// "converged", "max-iterations", "stagnated", "diverged", "stopped" or "breakdown".
    pub outcome: String,
    /// Why it broke down.
    pub breakdown: Option<String>,
    /// In which iteration.
    pub breakdown_iteration: Option<u32>,
    /// Iterations until it ended.
    pub iterations: u32,
    /// The iteration that x is of: the last where it converged, else that of the least residual.
    pub x_iteration: u32,
    /// Iterations that were enqueued.
    pub launched: u32,
    /// The norm of b.
    pub b_norm: f64,
    /// The residual of x by the recurrence, as a multiple of the norm of b.
    pub relative_residual: f64,
    /// b - A x at the end, computed on the device, as a multiple of the norm of b.
    pub true_relative_residual: f64,
    /// The same, computed on the host in f64.
    pub host_relative_residual: f64,
    /// Whether it converged to a residual that is a finite number, and device and host agree on that residual within what rounding allows.
    pub verified: bool,
    /// Rate of a read-only stream, in 10^9 bytes a second; with `--measure`.
    pub stream_gbytes_per_s: Option<f64>,
    /// Rate of a copy, bytes read plus bytes written; with `--measure`.
    pub copy_gbytes_per_s: Option<f64>,
    /// Bytes that an iteration moves on a device if every kernel moves each array once.
    pub bytes_per_iteration: Option<u64>,
    /// Those over the rate of a copy.
    pub iteration_limit_us: Option<f64>,
    /// Microseconds of an iteration, between the first and the last look at the residual; `None` where the solve ended
    /// before there were such, or did not verify.
    pub iteration_us: Option<f64>,
    /// `iteration_us` as a multiple of `iteration_limit_us`.
    pub times_limit: Option<f64>,
    /// Microseconds of the whole solve.
    pub elapsed_us: f64,
    /// Microseconds from the matrix on the device to a solver: plan, kernels, vectors.
    pub setup_us: f64,
    /// Bytes of the solver on the device, those of the matrix not counted.
    pub solver_bytes: Option<u64>,
    /// The residual's norm by the recurrence: before the first iteration, and after each.
    pub history: Vec<f64>,
}

impl SolveRecord {
    /// A residual of this record in words: as a multiple of the norm of b, where b has one.
    pub fn of_b(&self, relative: f64) -> String {
        match (self.b_norm == 0.0, relative) {
            (true, relative) if relative.is_nan() || relative == 0.0 => "0, as b is".to_owned(),
            (true, _) => "more than 0, where b is 0".to_owned(),
            (false, relative) if !relative.is_finite() => "not a finite number".to_owned(),
            (false, 0.0) => "0".to_owned(),
            (false, relative) if (0.01..100.0).contains(&relative) => {
                format!("{} of b", significant(relative))
            }
            (false, relative) => format!("{relative:.3e} of b"),
        }
    }

    /// The residual of x, which counts; what the host makes of it, where another device solved; and where the solve has
    /// not converged although the figure that the iterations updated says so, that figure.
    pub fn residual_in_words(&self) -> String {
        /// Where the one is less than this part of the other, they are not the same but for a few digits.
        const PARTED: f64 = 0.5;
        let (own, host) =
            (self.of_b(self.true_relative_residual), self.of_b(self.host_relative_residual));
        let mut text = format!("residual b - A x: {own}");
        if self.device != "host" {
            text.push_str(&match own == host {
                true => ", on the host too".to_owned(),
                false => format!("; on the host, in f64, {host}"),
            });
        }
        let has_parted = self.relative_residual < PARTED * self.true_relative_residual;
        // A solve that has converged raises no question of why it goes no further.
        if has_parted && self.outcome != "converged" {
            text.push_str(&format!(
                "; the figure that the iterations updated, {}, has parted from it by rounding and does not count",
                self.of_b(self.relative_residual)
            ));
        }
        text
    }
}
