//! The solvers' tests catch kernels that are broken on purpose: as `broken_kernels.rs`, for solvers.

use cl_runtime::break_kernels;
use conformance::host_solvers::*;
use conformance::{
    bits, compiles_slowly, device, is_full, is_interpreter, is_shared, runs_unchecked, say,
};
use sparrow::{Context, Preconditioner, Queue, SolverMethod, SolverOptions, StopRule};

struct Breakage {
    what: &'static str,
    source: &'static str,
    from: &'static str,
    to: &'static str,
}

const BREAKAGES: &[Breakage] = &[
    Breakage {
        what: "the last tile is left out",
        source: "solver/cg.cl",
        from: "tile < (tiles);",
        to: "tile + 1 < (tiles);",
    },
    Breakage {
        what: "groups take tiles of other groups",
        source: "solver/cg.cl",
        from: "tile += (uint)get_num_groups(0), at",
        to: "tile += 1, at",
    },
    Breakage {
        what: "an item's second piece is its first",
        source: "solver/cg.cl",
        from: "((at) + (k) * GROUP_SIZE)",
        to: "(at)",
    },
    Breakage {
        what: "the last element is not copied",
        source: "solver/solver_vectors.cl",
        from: "at < count;",
        to: "at + 1 < count;",
    },
    Breakage {
        what: "the norm of b is the square of one",
        source: "solver/solver_vectors.cl",
        from: "[SUM_OF_SQUARES] = sums[0];",
        to: "[SUM_OF_SQUARES] = sums[0] * sums[0];",
    },
    Breakage {
        what: "the diagonal is all of a row from there on",
        source: "solver/jacobi.cl",
        from: "columns[at] == row",
        to: "columns[at] >= row",
    },
    Breakage {
        what: "cg: r'z is r'r",
        source: "solver/cg.cl",
        from: "fma(next, next * inverse_at[k], products)",
        to: "fma(next, next, products)",
    },
    Breakage {
        what: "cg: directions are not conjugate",
        source: "solver/cg.cl",
        from: "is_start ? 0 : rho / scalars[RHO];",
        to: "0;",
    },
    Breakage {
        what: "cg: the last step is not taken",
        source: "solver/cg.cl",
        from: "return solver_ends(state, CONVERGED, iteration, iteration);",
        to: "return solver_ends(state, CONVERGED, iteration, iteration_before(iteration));",
    },
    Breakage {
        what: "cg: x moves on after the end",
        source: "solver/cg.cl",
        from: "FOR_EACH_TILE (at, runs ? tiles : 0) {\n        wide_t r_at[BATCH], p_at[BATCH], x_at[BATCH];",
        to: "FOR_EACH_TILE (at, tiles) {\n        wide_t r_at[BATCH], p_at[BATCH], x_at[BATCH];",
    },
    Breakage {
        what: "bicgstab: omega is 1",
        source: "solver/bicgstab.cl",
        from: "products = fma(t_at[k], s_at[k], products);",
        to: "products = fma(t_at[k], t_at[k], products);",
    },
    Breakage {
        what: "bicgstab: rho is of the residual, not of the first one",
        source: "solver/bicgstab.cl",
        from: "products = fma(shadow_at[k], next, products);",
        to: "products = fma(next, next, products);",
    },
    Breakage {
        what: "bicgstab: the direction keeps what omega has dealt with",
        source: "solver/bicgstab.cl",
        from: "fma((wide_t)(-omega), v_at[k], p_at[k])",
        to: "p_at[k]",
    },
    Breakage {
        what: "bicgstab: x is not preconditioned",
        source: "solver/bicgstab.cl",
        from: "fma(update, inverse_at[k], x_at[k])",
        to: "x_at[k] + update",
    },
    Breakage {
        what: "bicgstab: after half an iteration x takes another half",
        source: "solver/bicgstab.cl",
        from: "[OMEGA] = is_half ? 0 : omega;",
        to: "[OMEGA] = is_half ? 1 : omega;",
    },
];

/// Solves as `solve.rs` does, until something is wrong.
fn find_fault(queue: &Queue) -> Result<(), String> {
    for (method, name) in [(SolverMethod::Cg, "poisson5"), (SolverMethod::BiCgStab, "convection")] {
        // More tiles than groups.
        let matrix = class(name, 144);
        let b = csr_core::random_vector::<f64>(1, matrix.rows());
        let x = csr_core::random_vector::<f64>(2, matrix.rows());
        // Where BiCGStab's first half of an iteration is enough, and where it is not.
        for relative in [1e-2, 1e-4, 1e-6] {
            let stop = StopRule { relative, max_iterations: 200, ..StopRule::default() };
            for preconditioner in Preconditioner::ALL {
                let right = host(method, preconditioner, &matrix, &b, &x, &stop);
                let one = in_groups(options(method, preconditioner), SMALL);
                let every = |check_every| {
                    let options = SolverOptions { check_every: Some(check_every), ..one.clone() };
                    try_solve(queue, &matrix, &options, &b, &x, &stop)
                };
                let found = every(4)?;
                like(&found, &right, 1e-8)?;
                if bits(&every(100)?.0) != bits(&found.0) {
                    return Err("x depends on how often the host looks".to_owned());
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_change_fits_its_kernels_source() {
    for breakage in BREAKAGES {
        let source = cl_kernels::kernel_source(breakage.source).unwrap();
        assert!(source.contains(breakage.from), "{}: {:?}", breakage.what, breakage.from);
    }
}

#[test]
fn every_broken_kernel_is_caught() {
    if runs_unchecked("broken_solvers::every_broken_kernel_is_caught") {
        return;
    }
    let device = device();
    if !device.traits().has_f64 {
        say("skipped: the device has no f64");
        return;
    }
    if compiles_slowly(&device) && is_shared() {
        say("broken: by Intel's runtime, which compiles in a third of the time");
        return;
    }
    let breakages = match is_interpreter(&device) && !is_full() {
        false => BREAKAGES,
        true => {
            say(
                "broken: those that are wrong late, which takes an interpreter minutes: here under --full",
            );
            &BREAKAGES[..4]
        }
    };
    let stage = || Queue::new(&Context::new(&device).unwrap()).unwrap();
    assert_eq!(find_fault(&stage()), Ok(()));
    for breakage in breakages {
        // A context of its own: programs are kept.
        let queue = stage();
        let broken = break_kernels(breakage.from, breakage.to);
        let found = find_fault(&queue);
        assert!(broken.programs() > 0, "{}: no source has {:?}", breakage.what, breakage.from);
        let Err(fault) = found else { panic!("{}: not caught", breakage.what) };
        say(&format!("broken: {}: caught: {fault}", breakage.what));
    }
}
