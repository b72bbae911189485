//! Solvers print what `clsparseSolverPrintMode` asks for, and nothing else.

use clSPARSE::{Status, clsparseScsrcg, clsparseSetSolverParams, clsparseSolverPrintMode};
use conformance::queue;
use sparrow::Csr;

use super::problem::Control;
use super::solvers::{DIAGONAL, NOPRECOND, SolverControl, System, matrix};

/// Names the mode that the process shall solve and print in.
const MODE: &str = "SPARROW_TEST_PRINT_MODE";

#[test]
fn it_prints_what_it_was_asked_for_and_else_nothing() {
    if let Ok(mode) = std::env::var(MODE) {
        return print(mode.parse().unwrap());
    }
    let name = "clsparse::solver_words::it_prints_what_it_was_asked_for_and_else_nothing";
    // What x leaves where the recurrence says less; why there was no solve; nothing where nothing was asked for.
    let printed = [0, 1, 2].map(|mode: i32| {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", name, "--test-threads=1", "--nocapture"]);
        let output = child.env(MODE, mode.to_string()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        // Beside what the test harness says.
        let lines = text.lines().flat_map(|line| line.split(" ... ")).map(str::to_owned);
        let of_solves = |line: &String| line.contains("residual") || line.contains("refused");
        lines.filter(of_solves).collect::<Vec<_>>()
    });
    let summary = "cg: converged; iterations 1, residual 0e0";
    assert_eq!(printed[0], [""; 0]);
    let refused = "cg: refused: there are 3 columns of A, and A has 2 rows";
    let no_diagonal = "cg: refused: the diagonal of row 0 (counted from 0) has no inverse: it is 0, absent or not finite, and the Jacobi preconditioner needs one";
    let empty = "cg: converged; iterations 0, residual 0e0";
    let expected = [summary, refused, no_diagonal, empty];
    assert_eq!(printed[1][..4], expected);
    assert_eq!(printed[1].len(), 5);
    let (text, left) = printed[1][4].split_once(", residual ").unwrap();
    assert!(text.starts_with("cg: converged; iterations "), "{text}");
    assert!(left.parse::<f64>().unwrap() > 1e-4, "{left}");
    let iterations = ["Iteration 0: residual 1e0", "Iteration 1: residual 0e0"];
    assert_eq!(printed[2][..2], iterations);
    assert_eq!(printed[2][2..6], expected);
}

/// Solves a system in which every step is exact.
fn print(mode: i32) {
    let queue = queue();
    let control = Control::new(&queue);
    let solver = SolverControl::new(NOPRECOND, 1000, 1e-5, 0.0);
    assert_eq!(clsparseSolverPrintMode(solver.0, mode), Status::Success);
    let twos: Csr<f32> = Csr::new(2, vec![0, 1, 2], vec![0, 1], vec![2.0, 2.0]).unwrap();
    let system = System::new(&queue, twos, vec![1.0, 1.0], 0.0);
    assert_eq!(system.solve(clsparseScsrcg, &solver, &control), Status::Success);
    assert_eq!(system.found(&queue).0, [0.5, 0.5]);
    let mut wide = system.csr();
    wide.num_cols = 3;
    let refused = system.solve_with(&wide, clsparseScsrcg, &solver, &control);
    assert_eq!(refused, Status::InvalidSystemSize);
    assert_eq!(clsparseSetSolverParams(solver.0, DIAGONAL, 1000, 1e-5, 0.0), Status::Success);
    let turn: Csr<f32> = Csr::new(2, vec![0, 1, 2], vec![1, 0], vec![1.0, 1.0]).unwrap();
    let turn = System::new(&queue, turn, vec![1.0, 1.0], 0.0);
    assert_eq!(turn.solve(clsparseScsrcg, &solver, &control), Status::SolverError);
    assert_eq!(clsparseSetSolverParams(solver.0, NOPRECOND, 1000, 1e-5, 0.0), Status::Success);
    let nothing: Csr<f32> = Csr::new(0, vec![0], vec![], vec![]).unwrap();
    let nothing = System::new(&queue, nothing, vec![], 0.0);
    assert_eq!(nothing.solve(clsparseScsrcg, &solver, &control), Status::Success);
    let far = System::<f32>::new(&queue, matrix(20, 0.0), vec![1.0; 20], 1e6);
    assert_eq!(far.solve(clsparseScsrcg, &solver, &control), Status::Success);
}
