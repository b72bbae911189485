//! The class `sparrow.Solver`, and `sparrow.solve`.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use sparrow::{
    Accumulate, AnyArray, AnyLinearSystem, AnyMatrix, AnySolver, Event, Op, PlanOptions,
    Preconditioner, Queue, Reuse, Solution as Solved, SolverMethod, SolverOptions, SolverProgress,
    StopRule,
};

use crate::call::Call;
use crate::cl_array::{self, ClArray};
use crate::cl_empty::Order;
use crate::cl_product::{Ordered, check_kind};
use crate::construct::{self, Wishes};
use crate::errors::{Failure, Result, check_len, detached};
use crate::fork::{self, OfProcess};
use crate::host_array::HostArray;
use crate::inner::Inner;
use crate::matrix::Matrix;
use crate::numpy;
use crate::options::{parsed, reordering_of};
use crate::solution::Solution;

/// A method bound to a square matrix, with the vectors it needs, for any number of right-hand sides.
///
/// Parameters
/// ----------
/// matrix : Matrix, or whatever one is made of
///     Square; for "cg" symmetric, and positive or negative definite.
/// method : {"cg", "bicgstab"}, default "cg"
///     Conjugate gradients, or stabilised bi-conjugate gradients for any matrix.
/// preconditioner : {"jacobi"}, optional
///     The inverse of the diagonal.
/// compensated : bool, default False
///     Whether the sums of products keep what each addition rounds off.
/// reordering : {"rcm", "clusters"}, optional
///     Puts rows and columns in another order first, in which all iterations run; b and x are moved into it and out of it.
/// device, queue : optional
///     As in :class:`Matrix`, where one is made here.
///
/// Raises
/// ------
/// ValueError
///     A matrix that is not square, or a word that stands for nothing.
///
/// Examples
/// --------
/// >>> import numpy, scipy.sparse, sparrow
/// >>> A = scipy.sparse.diags_array([[-1.0] * 9, [2.0] * 10, [-1.0] * 9], offsets=[-1, 0, 1])
/// >>> solver = sparrow.Solver(A, preconditioner="jacobi")
/// >>> solution = solver.solve(numpy.ones(10))
/// >>> solution.converged, bool(numpy.allclose(A @ solution.x, 1.0))
/// (True, True)
#[pyclass(module = "sparrow", name = "Solver", frozen, weakref)]
pub(crate) struct Solver {
    inner: Arc<Inner>,
    of: OfProcess<Mutex<State>>,
}

struct State {
    solver: AnySolver,
    /// The matrix under another handle, so that its own is free while a callback runs.
    matrix: AnyMatrix,
    values_id: u64,
}

thread_local! {
    /// The solvers whose callback runs in this thread.
    static OBSERVED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The matrix under another handle, and whose values it has.
fn alias(inner: &Inner) -> Result<(AnyMatrix, u64)> {
    inner.look(|matrix| Ok((matrix.with_values(matrix.values().alias())?, matrix.values_id())))
}

/// What a solve is asked for, beside the right-hand side.
struct Asked<'py> {
    x0: Option<Bound<'py, PyAny>>,
    stop: StopRule,
    callback: Option<Bound<'py, PyAny>>,
    call: Call<'py>,
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (matrix, *, method="cg", preconditioner=None, compensated=false, reordering=None, device=None,
        queue=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn new(
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        method: &str,
        preconditioner: Option<&str>,
        compensated: bool,
        reordering: Option<&str>,
        device: Option<&str>,
        queue: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let reordering = reordering_of(reordering)?;
        let inner = match matrix.cast::<Matrix>() {
            Ok(matrix) if matrix.get().op == Op::Transpose => {
                return Err(Failure::value(
                    "a solver takes no transposed matrix: transpose it in scipy",
                ));
            }
            Ok(matrix) => matrix.get().inner.clone(),
            Err(_) => {
                let wishes = Wishes { shape: None, value_type: None, check: true };
                construct::matrix(py, matrix, &wishes, device, queue)?
            }
        };
        let options = SolverOptions {
            method: parsed::<SolverMethod>(method, "method")?,
            preconditioner: preconditioner
                .map_or(Ok(Preconditioner::None), |text| parsed(text, "preconditioner"))?,
            plan: PlanOptions {
                accumulate: if compensated { Accumulate::Compensated } else { Accumulate::Plain },
                reuse: Reuse::Many,
                reordering,
                tables: Some(inner.home().tables()),
                ..PlanOptions::default()
            },
            ..SolverOptions::default()
        };
        let state = detached(py, || {
            let (matrix, values_id) = alias(&inner)?;
            let solver = AnySolver::new_blocking(inner.home().queue(), &matrix, &options)?;
            Ok(State { solver, matrix, values_id })
        })?;
        Ok(Solver { inner, of: OfProcess::new(Mutex::new(state)) })
    }

    /// Solves A x = b; returns when x is there.
    ///
    /// Parameters
    /// ----------
    /// b : array of numpy's or of pyopencl's
    ///     The right-hand side; x will be of the same kind.
    /// x0 : array, optional
    ///     Where the iterations begin; left out, at 0. It stays as it is.
    /// tol : float, default 1e-8
    ///     The residual, computed from x, that is small enough, as a multiple of the norm of b.
    /// atol : float, default 0
    ///     The same as it is; the larger of both counts.
    /// max_iterations : int, default 10000
    ///     Iterations at most.
    /// callback : callable, optional
    ///     Called as ``callback(iteration, residual)`` every few iterations. What it raises ends the solve and goes on to
    ///     the caller; StopIteration alone ends it without.
    /// queue, wait_for : optional
    ///     As in :meth:`Matrix.dot`.
    ///
    /// Returns
    /// -------
    /// Solution
    ///     That it did not converge is no error: ``converged`` and ``reason`` say how it ended, and ``x`` is that of the
    ///     least residual.
    #[pyo3(signature = (b, *, x0=None, tol=1e-8, atol=0.0, max_iterations=10_000, callback=None, queue=None,
        wait_for=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        b: &Bound<'py, PyAny>,
        x0: Option<Bound<'py, PyAny>>,
        tol: f64,
        atol: f64,
        max_iterations: u32,
        callback: Option<Bound<'py, PyAny>>,
        queue: Option<Bound<'py, PyAny>>,
        wait_for: Option<Bound<'py, PyAny>>,
    ) -> Result<Solution> {
        fork::check()?;
        let stop =
            StopRule { relative: tol, absolute: atol, max_iterations, ..StopRule::default() };
        let call = Call { queue, wait_for, ..Call::plain() };
        let asked = Asked { x0, stop, callback, call };
        match cl_array::is_array(b)? {
            true => self.on_device(py, b, asked),
            false => self.on_host(py, b, asked),
        }
    }

    fn __repr__(&self) -> String {
        let facts = self.inner.facts();
        format!("<sparrow.Solver of a {} x {} matrix>", facts.rows, facts.cols)
    }
}

impl Solver {
    fn on_host(&self, py: Python<'_>, b: &Bound<'_, PyAny>, asked: Asked<'_>) -> Result<Solution> {
        let facts = self.inner.facts();
        let accumulator = facts.value_type.accumulator();
        let b = HostArray::converted(b, "b", accumulator)?;
        let x0 = asked.x0.map(|x0| HostArray::converted(&x0, "x0", accumulator)).transpose()?;
        for (array, name) in [(Some(&b), "b"), (x0.as_ref(), "x0")] {
            let Some(array) = array else { continue };
            if array.shape().len() != 1 {
                let shape = array.shape();
                return Err(Failure::value(format!(
                    "{name} has the shape {shape:?}, and is a vector"
                )));
            }
            check_len(name, array.len(), facts.rows, "row")?;
        }
        let out = numpy::empty(py, &[facts.rows], accumulator)?;
        let x = HostArray::result(&out, "x", accumulator)?;
        let home = self.inner.home();
        let queue = asked.call.named_queue(home)?;
        let queue = queue.as_ref().unwrap_or_else(|| home.queue());
        let (events, stop) = (asked.call.events()?, asked.stop);
        let callback = asked.callback.map(Bound::unbind);
        let solved = detached(py, || {
            // SAFETY: they are plain, pinned by their buffers, and nobody is to change what is being read.
            let on_b = AnyArray::upload_blocking(queue, accumulator, unsafe { b.bytes() })?;
            let mut on_x = AnyArray::allocate(queue.context(), accumulator, facts.rows)?;
            match &x0 {
                // SAFETY: as above.
                Some(x0) => on_x.write_bytes_blocking(queue, unsafe { x0.bytes() })?,
                None => on_x.write_bytes_blocking(queue, &vec![0; on_x.size_bytes()])?,
            }
            let solved = self.run(queue, &on_b, &mut on_x, &stop, &events, callback.as_ref())?;
            // SAFETY: the array is new.
            on_x.read_bytes_blocking(queue, unsafe { x.bytes_mut() })?;
            Ok(solved)
        })?;
        Ok(Solution::new(out.unbind(), &solved))
    }

    fn on_device(
        &self,
        py: Python<'_>,
        b: &Bound<'_, PyAny>,
        asked: Asked<'_>,
    ) -> Result<Solution> {
        let facts = self.inner.facts();
        let accumulator = facts.value_type.accumulator();
        let b = ClArray::of(b, "b")?;
        let x0 = asked.x0.as_ref().map(|x0| ClArray::of(x0, "x0")).transpose()?;
        let all: Vec<&ClArray<'_>> = [Some(&b), x0.as_ref()].into_iter().flatten().collect();
        for array in &all {
            check_kind(array, accumulator)?;
            check_len(array.what(), array.vector_len()?, facts.rows, "row")?;
        }
        let ordered = Ordered::of(self.inner.home(), &asked.call, &all)?;
        let x =
            ordered.new_array(self.inner.home(), &b, (&[facts.rows], Order::Rows), accumulator)?;
        let (of_b, mut of_x) = (
            b.borrowed(self.inner.home(), facts.rows)?,
            x.borrowed(self.inner.home(), facts.rows)?,
        );
        let of_x0 = x0.as_ref().map(|x0| x0.borrowed(self.inner.home(), facts.rows)).transpose()?;
        let (queue, events, stop) = (&ordered.queue, &ordered.events, asked.stop);
        let callback = asked.callback.map(Bound::unbind);
        let solved = detached(py, || {
            for event in events {
                event.wait()?;
            }
            let filled = match &of_x0 {
                Some(of_x0) => of_x.copy_from(queue, of_x0)?,
                None => of_x.fill_bytes(queue, &vec![0; accumulator.size_bytes()])?,
            };
            let begins: Vec<Event> = filled.into_iter().collect();
            self.run(queue, &of_b, &mut of_x, &stop, &begins, callback.as_ref())
        })?;
        Ok(Solution::new(x.object().clone().unbind(), &solved))
    }

    /// Solves, with the interpreter detached but for looks at signals and the callback.
    fn run(
        &self,
        queue: &Queue,
        b: &AnyArray,
        x: &mut AnyArray,
        stop: &StopRule,
        wait: &[Event],
        callback: Option<&Py<PyAny>>,
    ) -> Result<Solved> {
        let address = std::ptr::from_ref(self).addr();
        if OBSERVED.with_borrow(|observed| observed.contains(&address)) {
            return Err(Failure::state("a callback cannot use the solver that has called it"));
        }
        let mut state = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let values_id = self.inner.look(|matrix| Ok(matrix.values_id()))?;
        if state.values_id != values_id {
            (state.matrix, state.values_id) = alias(&self.inner)?;
        }
        let State { solver, matrix, .. } = &mut *state;
        let mut raised: Option<PyErr> = None;
        let mut observe = |progress: &SolverProgress<'_>| {
            OBSERVED.with_borrow_mut(|observed| observed.push(address));
            let said = Python::attach(|py| look(py, progress, callback));
            OBSERVED.with_borrow_mut(|observed| observed.pop());
            match said {
                Ok(flow) => flow,
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let system = AnyLinearSystem { a: matrix, b, x };
        let solved = solver.solve_observed_blocking(queue, system, stop, wait, &mut observe);
        match raised {
            Some(error) => Err(error.into()),
            None => Ok(solved?),
        }
    }
}

/// Looks whether the solve is to go on: at signals, so that Ctrl-C ends it, and by the callback.
fn look(
    py: Python<'_>,
    progress: &SolverProgress<'_>,
    callback: Option<&Py<PyAny>>,
) -> PyResult<ControlFlow<()>> {
    py.check_signals()?;
    let Some(callback) = callback else { return Ok(ControlFlow::Continue(())) };
    match callback.bind(py).call1((progress.iteration, progress.residual())) {
        Ok(_) => Ok(ControlFlow::Continue(())),
        Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(ControlFlow::Break(())),
        Err(error) => Err(error),
    }
}

/// Solves A x = b by iterations.
///
/// As :class:`Solver` and its ``solve``, for one right-hand side.
///
/// Parameters
/// ----------
/// matrix : Matrix, or whatever one is made of
/// b : array of numpy's or of pyopencl's
/// method, preconditioner, compensated : optional
///     As in :class:`Solver`.
/// x0, tol, atol, max_iterations, callback, queue, wait_for : optional
///     As in :meth:`Solver.solve`.
///
/// Returns
/// -------
/// Solution
#[pyfunction]
#[pyo3(signature = (matrix, b, *, x0=None, method="cg", tol=1e-8, atol=0.0, max_iterations=10_000,
    preconditioner=None, compensated=false, callback=None, queue=None, wait_for=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
pub(crate) fn solve<'py>(
    py: Python<'py>,
    matrix: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    x0: Option<Bound<'py, PyAny>>,
    method: &str,
    tol: f64,
    atol: f64,
    max_iterations: u32,
    preconditioner: Option<&str>,
    compensated: bool,
    callback: Option<Bound<'py, PyAny>>,
    queue: Option<Bound<'py, PyAny>>,
    wait_for: Option<Bound<'py, PyAny>>,
) -> Result<Solution> {
    // A matrix that is made here is made where b is.
    let place = match (&queue, cl_array::is_array(b)?) {
        (None, true) => ClArray::of(b, "b")?.queue()?,
        (queue, _) => queue.clone(),
    };
    let solver =
        Solver::new(py, matrix, method, preconditioner, compensated, None, None, place.as_ref())?;
    solver.solve(py, b, x0, tol, atol, max_iterations, callback, queue, wait_for)
}
