"""nengo-ocl with its sparse products by Sparrow.

nengo-ocl names its ways of multiplying in a table, from which the variable NENGO_OCL_SPMV_ALGORITHM chooses. `install`
adds Sparrow to that table and chooses it, unless the variable already names another. Everything else is nengo-ocl's.
"""

import os

import nengo_ocl.clra_gemv
import numpy
import sparrow
from nengo_ocl.plan import BasePlan
from pyopencl.array import Array

#: The name in nengo-ocl's table.
NAME = "SPARROW"


class SparrowPlan(BasePlan):
    """One product Y = A X, or Y += A X, enqueued in the simulator's queue at every step."""

    #: How often any product was enqueued, for tests.
    launches = 0

    def __init__(self, queue, matrix, x, y, inc, tag):
        super().__init__(name="sparrow", tag=tag)
        a = sparrow.Matrix(matrix, dtype=numpy.float32, queue=queue)
        # A step is repeated thousands of times.
        self._plan = a.plan("many", queue=queue)
        self._x, self._y = _vector(queue, x), _vector(queue, y)
        self._beta = 1.0 if inc else 0.0
        self._profiled = []
        self.description = f"{a.shape}, nonzeros: {a.nnz}; {self._plan.choice}"

    def __call__(self, profiling=False):
        self.enqueue(profiling=profiling).wait()

    def enqueue(self, wait_for=None, profiling=False):
        """Enqueues the product and returns its event; with `profiling`, `update_profiling` takes its times."""
        SparrowPlan.launches += 1
        self._plan.dot(self._x, out=self._y, beta=self._beta, wait_for=wait_for)
        event = self._y.events[-1]
        if profiling:
            self._profiled.append(event)
        return event

    def update_profiling(self):
        """Takes the times, in seconds, of what was enqueued; of a product of several kernels those of the last."""
        for event in self._profiled:
            times = event.profile
            self.atimes.append(1e-9 * (times.submit - times.queued))
            self.btimes.append(1e-9 * (times.start - times.submit))
            self.ctimes.append(1e-9 * (times.end - times.start))
            self.n_calls += 1
        self._profiled.clear()


class SparrowProgram(nengo_ocl.clra_gemv.plan_csr):
    """What nengo-ocl makes of a sparse operator: here the matrix goes to the device once, by Sparrow."""

    def to_device(self):
        """Leaves the upload to the plan."""
        self.dAstruct = self.hAstruct

    def validate_data(self):
        """Refuses what is no product of a matrix and a vector; Sparrow itself checks lengths and types."""
        for name, operand in (("X", self.X), ("Y", self.Y)):
            if len(operand) != 1 or operand.shape1s[0] != 1 or operand.stride0s[0] != 1:
                raise NotImplementedError(f"{name} must be one vector whose elements lie side by side")

    def choose_plans(self):
        return [SparrowPlan(self.queue, self.hA.csr, self.X, self.Y, self.inc, self.tag)]

    def assign_plan_characteristics(self, plans):
        """Says what a product computes, and the bytes that it must move."""
        (plan,) = plans
        matrix = self.hAstruct
        plan.flops_per_call = 2 * matrix.nnz
        arrays = (matrix.data, matrix.indices, matrix.indptr, self.X, self.Y)
        plan.bw_per_call = sum(array.nbytes for array in arrays)


def _vector(queue, ragged):
    """The one vector of a ragged array, where it lies in its buffer."""
    start = int(ragged.starts[0]) * ragged.dtype.itemsize
    buffer = ragged.cl_buf
    length = (int(ragged.shape0s[0]),)
    return Array(queue, length, ragged.dtype, data=buffer.base_data, offset=buffer.offset + start)


def install():
    """Has simulators that are made from now on multiply by Sparrow."""
    nengo_ocl.clra_gemv.algostr_to_planner[NAME] = SparrowProgram
    os.environ.setdefault("NENGO_OCL_SPMV_ALGORITHM", NAME)
