//! What solvers know on the device: the layout of `cl/solver/state.h`, in the host's words.

/// Words before the sums of groups (`LAUNCH_SUM_CARRIES` of `cl/group/launch_sum.h`).
pub const SUMS_COUNTER: usize = 32;
/// Sums of a group, each of the type sums are made in (`LAUNCH_SUMS` of `cl/solver/stream.h`).
pub const SUMS: usize = 2;

/// Words of progress, which come first.
pub const PROGRESS_WORDS: usize = 8;
/// Numbers of the type sums are made in, which come next; then the residuals.
pub const SCALARS: usize = 8;

/// Index of a word of progress: how the solve stands.
pub const OUTCOME: usize = 0;
/// Index of a word of progress: the iteration in which it ended.
pub const ENDED_IN: usize = 1;
/// Indices of words of progress: the last iteration that may run, as each kernel leaves it to the next.
pub const LAST_ITERATION: std::ops::RangeInclusive<usize> = 3..=6;
/// Index of the last of those.
pub const LAST_AFTER_RESIDUAL: usize = 6;
/// Index of a word of progress: the iteration of the least residual.
pub const LEAST_AT: usize = 7;
/// The last iteration of what has not ended.
pub const LAST_ITERATION_NEVER_ENDS: u32 = u32::MAX;

/// Index of a scalar: what `vector_norms` found.
pub const SUM_OF_SQUARES: usize = 4;
/// Index of a scalar: what `vector_norms` found.
pub const SUM_OF_MAGNITUDES: usize = 5;

/// Feature of the solvers' kernels: preconditioned by the inverse diagonal.
pub const FEATURE_JACOBI: &str = "JACOBI";
/// Feature of the solvers' kernels: residuals by the sum of magnitudes, not by the square root of squares.
pub const FEATURE_NORM_ONE: &str = "NORM_ONE";
/// Feature of CG's kernels: a change of signs, as of an indefinite matrix, does not end the iterations.
pub const FEATURE_ANY_SIGN: &str = "ANY_SIGN";

/// How a solve stands, as the device says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SolverState {
    /// It goes on.
    Running = 0,
    /// The residual is as small as was asked for.
    Converged = 1,
    /// p'Ap has changed its sign.
    Indefinite = 2,
    /// r'z is 0, or has changed its sign.
    PreconditionerIndefinite = 3,
    /// The residual has nothing of the first one left.
    RhoZero = 4,
    /// v has nothing of the first residual.
    ShadowZero = 5,
    /// t's or t't is 0.
    OmegaZero = 6,
    /// An overflow or a NaN.
    NotFinite = 7,
    /// p'Ap is 0.
    CurvatureZero = 8,
    /// The residual is beyond the limit.
    Diverged = 9,
    /// No residual was the least one for too many iterations.
    Stalled = 10,
}

impl SolverState {
    /// Every one, in the order of their numbers.
    pub const ALL: [SolverState; 11] = [
        SolverState::Running,
        SolverState::Converged,
        SolverState::Indefinite,
        SolverState::PreconditionerIndefinite,
        SolverState::RhoZero,
        SolverState::ShadowZero,
        SolverState::OmegaZero,
        SolverState::NotFinite,
        SolverState::CurvatureZero,
        SolverState::Diverged,
        SolverState::Stalled,
    ];

    /// The one of a word; what no kernel writes is [`SolverState::NotFinite`].
    pub fn of_word(word: u32) -> Self {
        Self::ALL.get(word as usize).copied().unwrap_or(SolverState::NotFinite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_that_of_the_kernels() {
        use crate::source::text_of as text;
        assert!(
            text("group/launch_sum.h")
                .contains(&format!("#define LAUNCH_SUM_CARRIES {SUMS_COUNTER}\n"))
        );
        assert!(text("solver/stream.h").contains(&format!("#define LAUNCH_SUMS {SUMS}\n")));
        let header = text("solver/state.h");
        let defines = |name: &str, value: usize| {
            let line = format!("#define {name} {value}");
            assert!(
                header.lines().any(|found| found == line || found.starts_with(&format!("{line} "))),
                "{line}"
            );
        };
        for (name, value) in [
            ("PROGRESS_WORDS", PROGRESS_WORDS),
            ("SCALARS", SCALARS),
            ("OUTCOME", OUTCOME),
            ("ENDED_IN", ENDED_IN),
            ("LAST_AFTER_ALPHA", *LAST_ITERATION.start()),
            ("LAST_AFTER_RESIDUAL", LAST_AFTER_RESIDUAL),
            ("LEAST_AT", LEAST_AT),
            ("SUM_OF_SQUARES", SUM_OF_SQUARES),
            ("SUM_OF_MAGNITUDES", SUM_OF_MAGNITUDES),
        ] {
            defines(name, value);
        }
        let states = [
            "RUNNING",
            "CONVERGED",
            "INDEFINITE",
            "PRECONDITIONER_INDEFINITE",
            "RHO_ZERO",
            "SHADOW_ZERO",
            "OMEGA_ZERO",
            "NOT_FINITE",
            "CURVATURE_ZERO",
            "DIVERGED",
            "STALLED",
        ];
        for (name, state) in states.into_iter().zip(SolverState::ALL) {
            defines(name, state as usize);
            assert_eq!(SolverState::of_word(state as u32), state);
        }
    }
}
