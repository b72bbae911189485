//! Solvers: clSPARSE's stop rule, what is ill-posed, and a control that nobody changes.

use clSPARSE::{
    Status, clSParseSolverControl, cldenseVector, clsparseControl, clsparseCreateSolverControl,
    clsparseCsrMatrix, clsparseCsrMetaCreate, clsparseCsrMetaDelete, clsparseDcsrbicgStab,
    clsparseDcsrcg, clsparseEnableAsync, clsparseReleaseSolverControl, clsparseScsrbicgStab,
    clsparseScsrcg, clsparseSetSolverParams,
};
use conformance::{device, queue};
use sparrow::{Csr, DeviceArray, Queue, RealValue};

use super::problem::{Control, padded, raw};

pub(super) type Solve = unsafe extern "C" fn(
    *mut cldenseVector,
    *const clsparseCsrMatrix,
    *const cldenseVector,
    clSParseSolverControl,
    clsparseControl,
) -> Status;

pub(super) const NOPRECOND: i32 = 0;
pub(super) const DIAGONAL: i32 = 1;

pub(super) struct SolverControl(pub(super) clSParseSolverControl);

impl SolverControl {
    pub(super) fn new(precond: i32, max_iterations: i32, relative: f64, absolute: f64) -> Self {
        let made = clsparseCreateSolverControl(precond, max_iterations, relative, absolute);
        assert_eq!(made.status, Status::Success);
        SolverControl(made.control)
    }
}

impl Drop for SolverControl {
    fn drop(&mut self) {
        clsparseReleaseSolverControl(self.0);
    }
}

/// -u'' on `order` points, with a wind that makes it unsymmetric.
pub(super) fn matrix<T: RealValue>(order: usize, wind: f64) -> Csr<T> {
    let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for row in 0..order {
        for (column, value) in
            [(row.wrapping_sub(1), -1.0 - wind), (row, 2.5), (row + 1, -1.0 + wind)]
        {
            if column < order {
                columns.push(column as u32);
                values.push(T::from_f64(value));
            }
        }
        offsets.push(columns.len() as u32);
    }
    Csr::new(order, offsets, columns, values).unwrap()
}

/// A system in buffers that have canaries, at an offset of 3.
pub(super) struct System<T> {
    host: Csr<T>,
    b: Vec<T>,
    device_b: DeviceArray<T>,
    device_x: DeviceArray<T>,
    arrays: (DeviceArray<T>, DeviceArray<u32>, DeviceArray<u32>),
}

impl<T: RealValue<Accum = T>> System<T> {
    pub(super) fn new(queue: &Queue, host: Csr<T>, b: Vec<f64>, x: f64) -> Self {
        let b: Vec<T> = b.into_iter().map(T::from_f64).collect();
        let canary = T::from_f64(-77.0);
        let x = vec![T::from_f64(x); b.len()];
        let values = padded(queue, host.values(), canary).unwrap();
        let columns = padded(queue, host.pattern().columns(), 0).unwrap();
        let offsets = padded(queue, host.pattern().offsets(), 0).unwrap();
        System {
            device_b: padded(queue, &b, canary).unwrap(),
            device_x: padded(queue, &x, canary).unwrap(),
            arrays: (values, columns, offsets),
            host,
            b,
        }
    }

    pub(super) fn csr(&self) -> clsparseCsrMatrix {
        clsparseCsrMatrix {
            num_rows: self.host.rows() as u32,
            num_cols: self.host.cols() as u32,
            num_nonzeros: self.host.nnz() as u32,
            values: raw(&self.arrays.0),
            col_indices: raw(&self.arrays.1),
            row_pointer: raw(&self.arrays.2),
            off_values: 3,
            off_col_indices: 3,
            off_row_pointer: 3,
            meta: std::ptr::null_mut(),
        }
    }

    pub(super) fn vectors(&self) -> (cldenseVector, cldenseVector) {
        let vector = |array: &DeviceArray<T>| cldenseVector {
            num_values: self.b.len() as u32,
            values: raw(array),
            off_values: 3,
        };
        (vector(&self.device_x), vector(&self.device_b))
    }

    pub(super) fn solve(&self, solve: Solve, solver: &SolverControl, control: &Control) -> Status {
        self.solve_with(&self.csr(), solve, solver, control)
    }

    pub(super) fn solve_with(
        &self,
        csr: &clsparseCsrMatrix,
        solve: Solve,
        solver: &SolverControl,
        control: &Control,
    ) -> Status {
        let (mut x, b) = self.vectors();
        // SAFETY: all structures and buffers live.
        unsafe { solve(&raw mut x, csr, &raw const b, solver.0, control.0) }
    }

    /// x, whose canaries are looked at, and ||b - A x||_1 / ||b||_1.
    pub(super) fn found(&self, queue: &Queue) -> (Vec<f64>, f64) {
        let all = self.device_x.read_blocking(queue).unwrap();
        let (before, rest) = all.split_at(3);
        let (x, after) = rest.split_at(self.b.len());
        assert!(before.iter().chain(after).all(|element| element.to_f64() == -77.0));
        let x: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
        let (mut residual, mut of_b) = (0.0, 0.0);
        for (row, b) in self.b.iter().enumerate() {
            let (columns, values) = self.host.view().row(row);
            let terms = columns.iter().zip(values).map(|(&c, v)| v.to_f64() * x[c as usize]);
            residual += (b.to_f64() - terms.sum::<f64>()).abs();
            of_b += b.to_f64().abs();
        }
        (x, residual / of_b)
    }
}

fn check<T: RealValue<Accum = T>>(cg: Solve, bicgstab: Solve, tolerance: f64) {
    let queue = queue();
    let control = Control::new(&queue);
    for (solve, wind) in [(cg, 0.0), (bicgstab, 0.0), (bicgstab, 0.3)] {
        for precond in [NOPRECOND, DIAGONAL] {
            let b = csr_core::random_vector::<f64>(1, 60);
            let system = System::<T>::new(&queue, matrix(60, wind), b, 0.25);
            let solver = SolverControl::new(precond, 1000, tolerance, 0.0);
            assert_eq!(system.solve(solve, &solver, &control), Status::Success);
            let (_, residual) = system.found(&queue);
            assert!(residual <= 1.5 * tolerance, "{residual}");
        }
    }
}

#[test]
fn both_methods_solve_in_both_precisions() {
    check::<f32>(clsparseScsrcg, clsparseScsrbicgStab, 1e-4);
    if device().traits().has_f64 {
        check::<f64>(clsparseDcsrcg, clsparseDcsrbicgStab, 1e-10);
    }
}

#[test]
fn a_meta_serves_and_new_values_are_seen() {
    let queue = queue();
    let control = Control::new(&queue);
    let mut system = System::<f32>::new(&queue, matrix(40, 0.0), vec![1.0; 40], 0.0);
    let mut csr = system.csr();
    // SAFETY: the structure and its buffers live.
    assert_eq!(unsafe { clsparseCsrMetaCreate(&raw mut csr, control.0) }, Status::Success);
    let solver = SolverControl::new(DIAGONAL, 1000, 1e-5, 0.0);
    assert_eq!(system.solve_with(&csr, clsparseScsrcg, &solver, &control), Status::Success);
    let (x, _) = system.found(&queue);
    let doubled: Vec<f32> = system.host.values().iter().map(|value| 2.0 * value).collect();
    let new = padded(&queue, &doubled, -77.0).unwrap();
    csr.values = raw(&new);
    assert_eq!(system.solve_with(&csr, clsparseScsrcg, &solver, &control), Status::Success);
    system.host.values_mut().copy_from_slice(&doubled);
    let (halves, _) = system.found(&queue);
    for (half, x) in halves.iter().zip(x) {
        assert!((2.0 * half - x).abs() < 1e-3 * x.abs(), "{half} {x}");
    }
    // SAFETY: as before.
    assert_eq!(unsafe { clsparseCsrMetaDelete(&raw mut csr) }, Status::Success);
}

#[test]
fn it_ends_at_either_tolerance_or_where_iterations_are_used_up_and_all_is_success() {
    let queue = queue();
    let control = Control::new(&queue);
    let residual = |solver: &SolverControl| {
        let system = System::<f32>::new(&queue, matrix(60, 0.0), vec![1.0; 60], 0.0);
        assert_eq!(system.solve(clsparseScsrcg, solver, &control), Status::Success);
        system.found(&queue)
    };
    let (_, relative) = residual(&SolverControl::new(NOPRECOND, 1000, 1e-2, 0.0));
    assert!(relative <= 1.1e-2 && relative > 1e-5, "{relative}");
    // x = 0 before: the first residual is b, and absTol a multiple of it.
    let (_, absolute) = residual(&SolverControl::new(NOPRECOND, 1000, 0.0, 1e-2));
    assert_eq!(relative, absolute);
    let (_, two) = residual(&SolverControl::new(NOPRECOND, 2, 0.0, 0.0));
    assert!(two > 1e-2 && two < 1.0, "{two}");
    let (x, none) = residual(&SolverControl::new(NOPRECOND, 0, 0.0, 0.0));
    assert_eq!((x, none), (vec![0.0; 60], 1.0));
    for (relative, absolute) in [(f64::INFINITY, 0.0), (0.0, f64::INFINITY)] {
        let (x, any) = residual(&SolverControl::new(NOPRECOND, 1000, relative, absolute));
        assert_eq!((x, any), (vec![0.0; 60], 1.0));
    }
}

#[test]
fn in_async_mode_too_the_result_is_there_when_the_call_ends() {
    let queue = queue();
    let control = Control::new(&queue);
    assert_eq!(clsparseEnableAsync(control.0, 1), Status::Success);
    let solver = SolverControl::new(NOPRECOND, 1000, 1e-5, 0.0);
    let system = System::<f32>::new(&queue, matrix(60, 0.0), vec![1.0; 60], 0.0);
    assert_eq!(system.solve(clsparseScsrcg, &solver, &control), Status::Success);
    assert!(system.found(&queue).1 <= 1.5e-5);
}

#[test]
fn cg_goes_on_whatever_signs_it_meets_as_the_original_does() {
    let queue = queue();
    let control = Control::new(&queue);
    for precond in [NOPRECOND, DIAGONAL] {
        let solver = SolverControl::new(precond, 100, 1e-5, 0.0);
        let positive = System::<f32>::new(&queue, matrix(20, 0.0), vec![1.0; 20], 0.0);
        assert_eq!(positive.solve(clsparseScsrcg, &solver, &control), Status::Success);
        let mut minus: Csr<f32> = matrix(20, 0.0);
        minus.values_mut().iter_mut().for_each(|value| *value = -*value);
        let negative = System::<f32>::new(&queue, minus, vec![-1.0; 20], 0.0);
        assert_eq!(negative.solve(clsparseScsrcg, &solver, &control), Status::Success);
        assert_eq!(positive.found(&queue).0, negative.found(&queue).0);
        // Of both signs, so that p'Ap and r'z change theirs.
        let both: Csr<f32> =
            Csr::new(3, vec![0, 1, 2, 3], vec![0, 1, 2], vec![1.0, -0.25, 3.0]).unwrap();
        let both = System::<f32>::new(&queue, both, vec![1.0, 2.0, 1.0], 0.0);
        assert_eq!(both.solve(clsparseScsrcg, &solver, &control), Status::Success);
        let (x, residual) = both.found(&queue);
        assert!(residual < 1e-4, "{precond}: {x:?} leaves {residual}");
    }
}

/// A symmetric band: `diagonal` of a row, and `beyond` of it and the row so many below it.
fn band(order: usize, diagonal: impl Fn(usize) -> f64, beyond: impl Fn(usize) -> f64) -> Csr<f64> {
    let reach = [1, 7];
    let rows = (0..order).map(|row| {
        let below =
            reach.iter().filter_map(|far| Some((row.checked_sub(*far)?, beyond(row - far))));
        let above = reach.iter().map(|far| (row + far, beyond(row)));
        let all = below.chain([(row, diagonal(row))]).chain(above);
        let mut all: Vec<_> = all.filter(|(column, _)| *column < order).collect();
        all.sort_by_key(|(column, _)| *column);
        all
    });
    let rows: Vec<_> = rows.collect();
    let ends = rows.iter().scan(0, |end, row| {
        *end += row.len() as u32;
        Some(*end)
    });
    let offsets = [0].into_iter().chain(ends).collect();
    let (columns, values) =
        rows.iter().flatten().map(|&(column, value)| (column as u32, value)).unzip();
    Csr::new(order, offsets, columns, values).unwrap()
}

/// As of a reservoir whose cells differ (sherman1), of a Hamiltonian with a few negative eigenvalues (Si2), and of a
/// structure's graph, all ones (dwt_193).
#[test]
fn cg_solves_definite_and_indefinite_systems_that_the_original_solves() {
    if !device().traits().has_f64 {
        return;
    }
    let queue = queue();
    let control = Control::new(&queue);
    let scale = |row: usize| f64::from(1 << (row % 5));
    for host in [
        band(200, |row| -5.0 * scale(row), |row| scale(row) / 16.0),
        band(200, |row| (row % 37) as f64 / 4.0 - 0.6, |row| (row % 3) as f64 / 16.0),
        band(193, |_| 1.0, |_| 1.0),
    ] {
        let order = host.rows();
        let system = System::<f64>::new(&queue, host, vec![1.0; order], 0.0);
        let solver = SolverControl::new(NOPRECOND, 5000, 1e-8, 0.0);
        assert_eq!(system.solve(clsparseDcsrcg, &solver, &control), Status::Success);
        assert!(system.found(&queue).1 < 1e-6, "{}", system.found(&queue).1);
    }
}

#[test]
fn the_recurrence_ends_a_solve_as_in_the_original() {
    let queue = queue();
    let control = Control::new(&queue);
    let solver = SolverControl::new(NOPRECOND, 1000, 1e-5, 0.0);
    let far = System::<f32>::new(&queue, matrix(20, 0.0), vec![1.0; 20], 1e6);
    assert_eq!(far.solve(clsparseScsrcg, &solver, &control), Status::Success);
    assert!(far.found(&queue).1 > 1e-4);
}

#[test]
fn b_of_zeros_gives_zeros_and_the_control_stays_what_it_was() {
    let queue = queue();
    let control = Control::new(&queue);
    let solver = SolverControl::new(NOPRECOND, 1000, 1e-5, 0.0);
    for solve in [clsparseScsrcg as Solve, clsparseScsrbicgStab] {
        let zeros = System::<f32>::new(&queue, matrix(30, 0.0), vec![0.0; 30], 5.0);
        assert_eq!(zeros.solve(solve, &solver, &control), Status::Success);
        assert_eq!(zeros.device_x.read_blocking(&queue).unwrap()[3..33], [0.0; 30]);
        // The original's control asked for no residual at all from here on, or for any.
        let system = System::<f32>::new(&queue, matrix(30, 0.0), vec![1.0; 30], 0.0);
        assert_eq!(system.solve(solve, &solver, &control), Status::Success);
        assert!(system.found(&queue).1 <= 1.5e-5);
    }
}

#[test]
fn what_cannot_be_solved_is_a_status() {
    let queue = queue();
    let control = Control::new(&queue);
    let solver = SolverControl::new(NOPRECOND, 10, 1e-5, 0.0);
    let system = System::<f32>::new(&queue, matrix(30, 0.0), vec![1.0; 30], 5.0);
    let mut csr = system.csr();
    csr.num_cols = 31;
    let solve = clsparseScsrcg as Solve;
    assert_eq!(system.solve_with(&csr, solve, &solver, &control), Status::InvalidSystemSize);
    let (mut x, mut b) = system.vectors();
    b.num_values = 29;
    // SAFETY: all structures and buffers live.
    let status = unsafe { solve(&raw mut x, &raw const csr, &raw const b, solver.0, control.0) };
    assert_eq!(status, Status::InvalidSystemSize);
    let released = clsparseCreateSolverControl(0, 1, 0.0, 0.0).control;
    clsparseReleaseSolverControl(released);
    let csr = system.csr();
    b.num_values = 30;
    // SAFETY: as before.
    let status = unsafe { solve(&raw mut x, &raw const csr, &raw const b, released, control.0) };
    assert_eq!(status, Status::InvalidSolverControlObject);
    assert_eq!(system.found(&queue).0, vec![5.0; 30]);
    // p'Ap is 0, and so is the diagonal.
    let turn: Csr<f32> = Csr::new(2, vec![0, 1, 2], vec![1, 0], vec![1.0, -1.0]).unwrap();
    let turn = System::new(&queue, turn, vec![1.0, 0.0], 0.0);
    assert_eq!(turn.solve(solve, &solver, &control), Status::SolverError);
    assert_eq!(clsparseSetSolverParams(solver.0, DIAGONAL, 10, 1e-5, 0.0), Status::Success);
    assert_eq!(turn.solve(solve, &solver, &control), Status::SolverError);
    assert_eq!(turn.found(&queue).0, [0.0, 0.0]);
}
