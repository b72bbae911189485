//! Plans whose rows and columns were put in another order: the same product, in every order of vectors, with new values, and
//! solves by them.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::host_solvers::{class, residual};
use conformance::{check_in_order, check_in_order_after, check_product, csr, options, queue};
use csr_core::{Csr, RealValue};
use sparrow::{
    Accumulate, Algorithm, AnyPlan, AnyReorderedMatrix, DeviceArray, LinearSystem, Matrix, NoEvent,
    Op, Operands, PatternView, Plan, PlanOptions, Preconditioner, Queue, Reordering, Reuse, Solver,
    SolverMethod, SolverOptions, StopRule, Variant, VectorOrder,
};

const BOTH: [Reordering; 2] = Reordering::CHANGING;
const ORDERS: [VectorOrder; 3] =
    [VectorOrder::Original, VectorOrder::Permuted, VectorOrder::Symmetric];

/// Rows of every kind; one is longer than a group's share.
fn matrix<V: RealValue>(cols: usize) -> Csr<V> {
    csr(
        cols,
        &[2, 2, 0, 33, 1, 270, 0, 3, 3, 100, 1, 2, 40, 0, 5, 8].map(|n: usize| n.min(cols)),
        4,
    )
}

#[test]
fn every_algorithm_computes_the_same_product_in_another_order() {
    let queue = queue();
    let square: Csr<f32> = matrix(16);
    for (number, algorithm) in Algorithm::ALL.into_iter().enumerate() {
        let own = options(algorithm, Variant::Full, Accumulate::Plain);
        let reordering = BOTH[number % 2];
        // All algorithms in the order in which all kernels run; other orders leave some of those out.
        check_in_order(&queue, &square, &PlanOptions { reordering, ..own });
    }
}

#[test]
fn vectors_come_in_every_order_and_in_every_type() {
    let queue = queue();
    let plain = options(Algorithm::CsrAdaptive, Variant::Full, Accumulate::Plain);
    for reordering in BOTH {
        for order in ORDERS {
            let options = PlanOptions { reordering, order, ..plain.clone() };
            check_in_order::<f32>(&queue, &matrix(16), &options);
        }
        let options = PlanOptions { reordering, ..plain.clone() };
        check_in_order::<f64>(&queue, &matrix(16), &options);
        check_in_order::<csr_core::bf16>(&queue, &matrix(16), &options);
    }
    // Rows and columns of their own orders.
    for order in [VectorOrder::Original, VectorOrder::Permuted] {
        let options = PlanOptions { reordering: Reordering::Clusters, order, ..plain.clone() };
        check_in_order::<f32>(&queue, &matrix(300), &options);
        let transposed = PlanOptions { op: Op::Transpose, ..options };
        check_in_order::<f32>(&queue, &matrix(300), &transposed);
    }
}

#[test]
fn launches_without_an_event_are_right() {
    let queue = queue();
    for order in ORDERS {
        let plain = options(Algorithm::CsrFlat, Variant::Full, Accumulate::Plain);
        let options = PlanOptions { reordering: Reordering::Rcm, order, ..plain };
        check_in_order_after::<f32, _>(&queue, &matrix(16), &options, NoEvent);
    }
}

#[test]
fn beta_zero_never_reads_y_and_what_the_plan_keeps_is_counted() {
    let queue = queue();
    let host: Csr<f32> = matrix(16);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let x: Vec<f32> = csr_core::random_vector(5, 16);
    let device_x = DeviceArray::upload_blocking(&queue, &x).unwrap();
    for products in [Reuse::Several, Reuse::Many] {
        let options = PlanOptions {
            reordering: Reordering::Clusters,
            reuse: products,
            ..PlanOptions::default()
        };
        let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        let mut y = DeviceArray::upload_blocking(&queue, &[f32::NAN; 16]).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();
        for _ in 0..2 {
            let product =
                Operands { alpha: 1.0.into(), a: &a, x: &device_x, beta: 0.0.into(), y: &mut y };
            plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        }
        let found = y.read_blocking(&queue).unwrap();
        check_product(&host, 1.0, &x, 0.0, &found, &found, Accumulate::Plain);
        assert!(plan.plan_bytes() >= a.size_bytes());
        assert!(workspace.size_bytes() >= 2 * 16 * 4);
    }
}

#[test]
fn new_values_reach_every_copy_and_old_ones_are_refused() {
    let queue = queue();
    let mut host: Csr<f32> = matrix(16);
    let mut a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    // A copy of a copy: `sell` keeps the values of the reordered matrix in an order of its own.
    for algorithm in [Algorithm::CsrScalar, Algorithm::Sell] {
        let own = options(algorithm, Variant::Full, Accumulate::Plain);
        let options = PlanOptions { reordering: Reordering::Rcm, ..own };
        let mut plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        host.values_mut().iter_mut().for_each(|value| *value *= -3.0);
        a.write_values_blocking(&queue, host.values()).unwrap();
        let x: Vec<f32> = csr_core::random_vector(5, 16);
        let device_x = DeviceArray::upload_blocking(&queue, &x).unwrap();
        let mut y = DeviceArray::upload_blocking(&queue, &[f32::NAN; 16]).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();
        let product =
            Operands { alpha: 1.0.into(), a: &a, x: &device_x, beta: 0.0.into(), y: &mut y };
        let refused = plan.launch(&queue, &mut workspace, product, &[]).unwrap_err();
        assert!(refused.to_string().contains("update_values_blocking"), "{refused}");
        plan.update_values_blocking(&queue, &a).unwrap();
        let product =
            Operands { alpha: 1.0.into(), a: &a, x: &device_x, beta: 0.0.into(), y: &mut y };
        plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        let found = y.read_blocking(&queue).unwrap();
        check_product(&host, 1.0, &x, 0.0, &found, &found, Accumulate::Plain);
    }
}

#[test]
fn what_has_no_such_order_is_refused_by_name() {
    let queue = queue();
    let host: Csr<f32> = matrix(300);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let refused =
        |options: &PlanOptions| Plan::new_blocking(&queue, &a, options).unwrap_err().to_string();
    let rcm = PlanOptions { reordering: Reordering::Rcm, ..PlanOptions::default() };
    let text = refused(&rcm);
    assert!(text.contains("Cuthill-McKee") && text.contains("16 x 300"), "{text}");
    let symmetric = PlanOptions {
        reordering: Reordering::Clusters,
        order: VectorOrder::Symmetric,
        ..PlanOptions::default()
    };
    let text = refused(&symmetric);
    assert!(text.ends_with("needs a square matrix, and this one is 16 x 300"), "{text}");
    for order in [VectorOrder::Original, VectorOrder::Permuted] {
        let on_host = PlanOptions {
            reordering: Reordering::Clusters,
            order,
            ..options(Algorithm::SegmentedSum, Variant::Cpu, Accumulate::Plain)
        };
        let text = refused(&on_host);
        assert!(text.contains("stage 2 on the CPU"), "{text}");
    }
    // A pattern that is not the matrix's would have values gathered from beyond their array.
    let other: Csr<f32> = csr(300, &[1; 16], 4);
    let pattern = Some(other.view().pattern().into());
    let copied = AnyReorderedMatrix::new_blocking(&queue, &a, pattern, Reordering::Clusters);
    let text = copied.unwrap_err().to_string();
    assert!(text.contains("the array of values has") && text.contains("16 are needed"), "{text}");
    let offsets: Vec<u64> = host.pattern().offsets().iter().map(|at| u64::from(*at)).collect();
    let wide = PatternView::new(300, &offsets, host.pattern().columns()).unwrap();
    let clusters = PlanOptions { reordering: Reordering::Clusters, ..PlanOptions::default() };
    let planned = AnyPlan::with_pattern_blocking(&queue, &a, wide.into(), &clusters);
    let text = planned.unwrap_err().to_string();
    assert!(text.contains("row offsets is of type u64 where u32 is needed"), "{text}");
    let text = Plan::for_any_pattern(&queue, &a, &rcm).unwrap_err().to_string();
    assert!(text.contains("rcm"), "{text}");
}

/// Solves by a plan in another order, with b and x as the matrix has its rows, or in the plan's order.
fn check_solve(queue: &Queue, method: SolverMethod, plan: PlanOptions) {
    let matrix = class(if method == SolverMethod::Cg { "poisson5" } else { "convection" }, 100);
    let a = Matrix::upload_blocking(queue, matrix.view()).unwrap();
    let in_plans_order = plan.order == VectorOrder::Symmetric;
    let options = SolverOptions {
        method,
        preconditioner: Preconditioner::Jacobi,
        plan,
        ..SolverOptions::default()
    };
    let mut solver = Solver::new_blocking(queue, &a, &options).unwrap();
    let rows = solver.plan().row_order().unwrap().read_blocking(queue).unwrap();
    let b = csr_core::random_vector::<f64>(1, matrix.rows());
    let taken: Vec<f64> = match in_plans_order {
        true => rows.iter().map(|row| b[*row as usize]).collect(),
        false => b.clone(),
    };
    let device_b = DeviceArray::upload_blocking(queue, &taken).unwrap();
    let mut x = DeviceArray::upload_blocking(queue, &vec![0.0; matrix.rows()]).unwrap();
    let stop = StopRule { relative: 1e-8, ..StopRule::default() };
    let system = LinearSystem { a: &a, b: &device_b, x: &mut x };
    let solution = solver.solve_blocking(queue, system, &stop, &[]).unwrap();
    assert!(solution.iterations > 3, "{solution:?}");
    let found = x.read_blocking(queue).unwrap();
    let mut in_order = found.clone();
    if in_plans_order {
        for (index, row) in rows.iter().enumerate() {
            in_order[*row as usize] = found[index];
        }
    }
    let norm = |r: &[f64]| r.iter().map(|r| r * r).sum::<f64>().sqrt();
    let left = norm(&residual(&matrix, &b, &in_order)) / norm(&b);
    assert!(left < 2e-8, "{method:?}: {left}");
}

#[test]
fn solves_run_in_the_plans_order_and_end_in_the_callers() {
    let queue = queue();
    let plan = PlanOptions { reordering: Reordering::Rcm, ..PlanOptions::default() };
    check_solve(&queue, SolverMethod::Cg, plan.clone());
    let clusters = PlanOptions { reordering: Reordering::Clusters, ..PlanOptions::default() };
    check_solve(&queue, SolverMethod::BiCgStab, clusters);
    check_solve(&queue, SolverMethod::Cg, PlanOptions { order: VectorOrder::Symmetric, ..plan });
}

#[test]
fn a_diagonal_without_an_inverse_is_named_by_its_row_of_the_matrix() {
    let queue = queue();
    // A chain of rows, 3 - 1 - 0 - 4 - 2, of which row 1 has no diagonal; in the plan's order it is another row.
    let columns = vec![0u32, 1, 4, 0, 3, 2, 4, 1, 3, 0, 2, 4];
    let values = vec![4.0, 1.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 4.0, 1.0, 1.0, 4.0];
    let host: Csr<f64> = Csr::new(5, vec![0, 3, 5, 7, 9, 12], columns, values).unwrap();
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let plan = PlanOptions { reordering: Reordering::Rcm, ..PlanOptions::default() };
    let options =
        SolverOptions { preconditioner: Preconditioner::Jacobi, plan, ..SolverOptions::default() };
    let mut solver = Solver::new_blocking(&queue, &a, &options).unwrap();
    let order = solver.plan().row_order().unwrap().read_blocking(&queue).unwrap();
    assert_ne!(order[1], 1, "the row has another index in the plan");
    let b = DeviceArray::upload_blocking(&queue, &[1.0; 5]).unwrap();
    let mut x = DeviceArray::upload_blocking(&queue, &[0.0; 5]).unwrap();
    let system = LinearSystem { a: &a, b: &b, x: &mut x };
    let refused = solver.solve_blocking(&queue, system, &StopRule::default(), &[]).unwrap_err();
    assert!(refused.to_string().contains("row 1"), "{refused}");
}
