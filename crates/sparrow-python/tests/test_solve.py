"""A x = b."""

import numpy
import pyopencl.array
import pytest
import scipy.sparse
import scipy.sparse.linalg
from conftest import random

import sparrow


def laplace(n=30, dtype="float64"):
    one = scipy.sparse.diags_array([[-1.0] * (n - 1), [2.0] * n, [-1.0] * (n - 1)], offsets=[-1, 0, 1])
    eye = scipy.sparse.eye_array(n)
    return (scipy.sparse.kron(one, eye) + scipy.sparse.kron(eye, one)).tocsr().astype(dtype)


@pytest.mark.parametrize("method", ["cg", "bicgstab"])
@pytest.mark.parametrize("preconditioner", [None, "jacobi"])
def test_the_solution_is_where_the_residual_says(rng, method, preconditioner):
    matrix, b = laplace(), rng.standard_normal(900)
    solution = sparrow.solve(matrix, b, method=method, preconditioner=preconditioner, tol=1e-10)
    assert solution.converged and solution.outcome == "converged"
    residual = numpy.linalg.norm(b - matrix @ solution.x)
    assert residual <= 1.001e-10 * numpy.linalg.norm(b)
    assert abs(residual - solution.residual) < 1e-3 * residual + 1e-13
    assert len(solution.history) == solution.iterations + 1
    assert "converged" in repr(solution)


def test_a_solve_in_another_order_ends_in_the_callers(rng):
    matrix, b = laplace(), rng.standard_normal(900)
    solution = sparrow.Solver(matrix, preconditioner="jacobi", reordering="rcm").solve(b, tol=1e-10)
    assert solution.converged
    assert numpy.linalg.norm(b - matrix @ solution.x) <= 1.001e-10 * numpy.linalg.norm(b)


def test_arrays_on_the_device_stay_there(rng, queue):
    matrix = laplace()
    solver = sparrow.Solver(sparrow.Matrix(matrix, queue=queue), preconditioner="jacobi")
    b = pyopencl.array.to_device(queue, rng.standard_normal(900))
    solution = solver.solve(b)
    assert type(solution.x) is pyopencl.array.Array and solution.converged
    assert numpy.linalg.norm(b.get() - matrix @ solution.x.get()) < 1e-6
    assert sparrow.solve(matrix, b).x.queue == queue
    again = solver.solve(b, x0=solution.x)
    assert again.iterations == 0 and again.converged


def test_a_solve_that_begins_elsewhere_leaves_its_beginning_alone(rng):
    matrix, b = laplace(), rng.standard_normal(900)
    exact = scipy.sparse.linalg.spsolve(matrix.tocsc(), b)
    kept = exact.copy()
    solution = sparrow.solve(matrix, b, x0=exact)
    assert solution.iterations == 0 and (exact == kept).all() and solution.x is not exact


def test_what_does_not_converge_is_told_and_not_raised(rng):
    solution = sparrow.solve(laplace(), rng.standard_normal(900), max_iterations=3)
    assert not solution.converged and solution.outcome == "max-iterations"
    assert solution.iterations == 3 and "not converged" in solution.reason


def test_a_callback_sees_residuals_and_may_end_the_solve(rng):
    seen = []
    b = rng.standard_normal(900)
    solution = sparrow.solve(laplace(), b, callback=lambda *now: seen.append(now))
    assert solution.converged and seen
    assert [now[0] for now in seen] == sorted(now[0] for now in seen)
    assert all(isinstance(now[1], float) for now in seen)

    def stop(iteration, residual):
        raise StopIteration

    stopped = sparrow.solve(laplace(), b, callback=stop)
    assert stopped.outcome == "stopped" and stopped.iterations < solution.iterations

    class Own(Exception):
        pass

    def fail(iteration, residual):
        raise Own("at", iteration)

    solver = sparrow.Solver(laplace())
    with pytest.raises(Own):
        solver.solve(b, callback=fail)
    assert solver.solve(b).converged


def test_a_callback_may_use_the_matrix_but_not_the_solver(rng):
    a = sparrow.Matrix(laplace())
    b = rng.standard_normal(900)
    solver = sparrow.Solver(a)

    def use(iteration, residual):
        a @ b
        a.update_values(laplace().data)

    assert solver.solve(b, callback=use).converged
    with pytest.raises(RuntimeError, match="cannot use the solver that has called it"):
        solver.solve(b, callback=lambda *now: solver.solve(b))


def test_new_values_are_solved_with(rng):
    matrix, b = laplace(), rng.standard_normal(900)
    a = sparrow.Matrix(matrix)
    solver = sparrow.Solver(a, preconditioner="jacobi")
    first = solver.solve(b, tol=1e-12).x
    a.update_values(2 * matrix.data)
    numpy.testing.assert_allclose(solver.solve(b, tol=1e-12).x, first / 2, atol=1e-9)


def test_scipys_solvers_take_the_matrix_as_their_operator(rng):
    matrix, b = laplace(dtype="float64"), rng.standard_normal(900)
    operator = sparrow.Matrix(matrix).as_linear_operator()
    x, info = scipy.sparse.linalg.cg(operator, b, rtol=1e-10)
    assert info == 0 and numpy.linalg.norm(b - matrix @ x) < 1e-8
    rectangular = random(rng)
    operator = sparrow.Matrix(rectangular).as_linear_operator()
    x = scipy.sparse.linalg.lsqr(operator, rng.standard_normal(300))[0]
    assert x.shape == (200,)
    dense = rng.standard_normal((200, 3))
    numpy.testing.assert_allclose(operator @ dense, rectangular @ dense, rtol=1e-10, atol=1e-12)
    numpy.testing.assert_allclose(
        operator.H @ numpy.ones(300), rectangular.T @ numpy.ones(300), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"method": "gmres"}, 'method: method "gmres" is none of cg, bicgstab'),
        ({"preconditioner": "ilu"}, "preconditioner"),
        ({"tol": -1.0}, "relative is -1, and it must be finite and 0 or more"),
        ({"x0": numpy.ones(899)}, "x0 has 899 elements, and A 900 rows"),
    ],
)
def test_what_a_solver_cannot_have_is_named(keywords, text):
    with pytest.raises(ValueError, match=text):
        sparrow.solve(laplace(), numpy.ones(900), **keywords)


def test_matrices_that_have_no_solution_are_refused(rng):
    with pytest.raises(ValueError, match="300 x 200"):
        sparrow.Solver(random(rng))
    with pytest.raises(ValueError, match="no transposed matrix"):
        sparrow.Solver(sparrow.Matrix(laplace()).T)
    with pytest.raises(ValueError, match="the diagonal of row 0"):
        no_diagonal = scipy.sparse.csr_array(numpy.array([[0.0, 1.0], [1.0, 0.0]]))
        sparrow.solve(no_diagonal, numpy.ones(2), preconditioner="jacobi")
