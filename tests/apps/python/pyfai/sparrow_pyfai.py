"""pyFAI's azimuthal integration on OpenCL devices (CSR) with its sums by Sparrow.

pyFAI corrects an image into four numbers a pixel (signal, variance, normalisation, count), and one of its kernels,
`csr_integrate4`, sums them over the pixels of every bin: signal, normalisation and count with the coefficients c of a
sparse matrix (bins x pixels), the variance with c^2, and (c normalisation)^2. That is a product of the matrix with three
columns and one of the squared matrix with two, and `install` puts it where the kernel was. Everything else is pyFAI's.

The error models `azimuthal` and `hybrid` have no sums of products for a variance: pyFAI's kernel is kept for them.
"""

import numpy
import pyopencl
import sparrow
from pyFAI.containers import ErrorModel
from pyFAI.opencl.azim_csr import OCL_CSR_Integrator
from pyopencl.array import Array

#: The columns of a pixel: those before `_SQUARED` are multiplied by c, the others by c^2.
_COLUMNS = ("signal", "normalization", "count", "normalization^2", "variance")
_SQUARED = 3

_SOURCE = """
// The five columns of each pixel from pyFAI's four numbers, all 0 where one is not finite.
kernel void columns(const global float4 *pixels, uint size, global float *to)
{
    uint i = get_global_id(0);
    if (i >= size)
        return;
    float4 p = pixels[i];  // signal, variance, normalisation, count
    int valid = isfinite(p.x) && isfinite(p.y) && isfinite(p.z) && p.w > 0.0f;
    size_t column = size;
    to[i] = valid ? p.x : 0.0f;
    to[column + i] = valid ? p.z : 0.0f;
    to[2 * column + i] = valid ? p.w : 0.0f;
    to[3 * column + i] = valid ? p.z * p.z : 0.0f;
    to[4 * column + i] = valid ? p.y : 0.0f;
}

// Mean, deviations and the eight sums that pyFAI keeps (with the low words of four of them), of each bin.
kernel void bins(const global float *sums, uint count, float empty, int has_variance, global float8 *merged,
                 global float *mean, global float *deviation, global float *error)
{
    uint i = get_global_id(0);
    if (i >= count)
        return;
    size_t column = count;
    float signal = sums[i], norm = sums[column + i], pixels = sums[2 * column + i], norm2 = sums[3 * column + i];
    float variance = has_variance ? sums[4 * column + i] : 0.0f;
    merged[i] = (float8)(signal, 0.0f, variance, 0.0f, norm, 0.0f, pixels, norm2);
    int any = pixels > 0.0f;
    mean[i] = any ? signal / norm : empty;
    deviation[i] = any ? sqrt(variance / norm2) : empty;
    error[i] = any ? sqrt(variance) / norm : empty;
}
"""

#: How often Sparrow summed an image, for tests.
launches = 0


class Sums:
    """Stands where an integrator's kernel `csr_integrate4` was, and is called as that is."""

    def __init__(self, integrator, kernel):
        self._kernel = kernel
        queue, context = integrator.queue, integrator.ctx
        self._size, self._bins = integrator.size, integrator.bins
        program = pyopencl.Program(context, _SOURCE).build()
        self._to_columns, self._to_bins = program.columns, program.bins
        self._x = Array(queue, (self._size, len(_COLUMNS)), numpy.float32, order="F")
        self._y = Array(queue, (self._bins, len(_COLUMNS)), numpy.float32, order="F")

        def plan(data):
            memory = integrator.cl_mem
            pattern = [
                Array(queue, (array.size,), numpy.int32, data=memory[name])
                for name, array in (("indices", integrator._indices), ("indptr", integrator._indptr))
            ]
            matrix = sparrow.Matrix(
                (pyopencl.array.to_device(queue, data), *pattern), shape=(self._bins, self._size)
            )
            return matrix.plan("many", compensated=True, queue=queue)

        data = numpy.ascontiguousarray(integrator._data, dtype=numpy.float32)
        squared = data * data
        everything, last = len(_COLUMNS), len(_COLUMNS) - 1
        of_data = plan(data)
        # Without splitting of pixels all coefficients are 1, and one matrix does for both.
        if (squared == data).all():
            parts = {True: [(of_data, 0, everything)], False: [(of_data, 0, last)]}
        else:
            first, of_squared = (of_data, 0, _SQUARED), plan(squared)
            parts = {
                True: [first, (of_squared, _SQUARED, everything)],
                False: [first, (of_squared, _SQUARED, last)],
            }
        #: For sums with a variance and without: plans, their operands and their results.
        self._products = {
            has_variance: [(plan, self._x[:, a:b], self._y[:, a:b]) for plan, a, b in those]
            for has_variance, those in parts.items()
        }

    def __call__(self, queue, work_items, group, *arguments):
        """Enqueues the sums and returns their event; arguments as pyFAI's kernel has them."""
        pixels, _data, _indices, _indptr, _bins, empty, model, merged, mean, deviation, error, _local = arguments
        if model not in (ErrorModel.NO.value, ErrorModel.VARIANCE.value, ErrorModel.POISSON.value):
            return self._kernel(queue, work_items, group, *arguments)
        global launches
        launches += 1
        has_variance = model != ErrorModel.NO.value
        size, bins = numpy.uint32(self._size), numpy.uint32(self._bins)
        self._to_columns(queue, (_whole(self._size),), None, pixels, size, self._x.base_data)
        for plan, x, y in self._products[has_variance]:
            plan.dot(x, out=y, queue=queue)
        results = (merged, mean, deviation, error)
        flag = numpy.int32(has_variance)
        return self._to_bins(queue, (_whole(self._bins),), None, self._y.base_data, bins, empty, flag, *results)


def _whole(items):
    """Work-items in whole groups, for the driver to choose their size well."""
    return -(-items // 64) * 64


def install():
    """Has integrators that are made from now on sum by Sparrow; returns how they began before."""
    original = OCL_CSR_Integrator.__init__

    def __init__(self, *arguments, **named):
        original(self, *arguments, **named)
        # Subclasses have kernels and arguments of their own.
        if type(self) is OCL_CSR_Integrator:
            for name in ("csr_integrate4", "csr_integrate4_single"):
                setattr(self.kernels, name, Sums(self, getattr(self.kernels, name)))

    OCL_CSR_Integrator.__init__ = __init__
    return original
