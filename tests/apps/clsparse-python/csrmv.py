"""y = A x by clSPARSE's interface through ctypes, on pyopencl's context, queue and buffers."""

import ctypes as c
import sys

import numpy as np
import pyopencl as cl


class Scalar(c.Structure):
    _fields_ = [("value", c.c_void_p), ("offset", c.c_uint32)]


class Vector(c.Structure):
    _fields_ = [("count", c.c_uint32), ("values", c.c_void_p), ("offset", c.c_uint32)]


class CsrMatrix(c.Structure):
    _fields_ = [("rows", c.c_uint32), ("cols", c.c_uint32), ("nonzeros", c.c_uint32)]
    _fields_ += [(name, c.c_void_p) for name in ("values", "columns", "offsets")]
    _fields_ += [("value_offset", c.c_uint32), ("column_offset", c.c_uint32), ("row_offset", c.c_uint32)]
    _fields_ += [("meta", c.c_void_p)]


class CreateResult(c.Structure):
    _fields_ = [("status", c.c_int), ("control", c.c_void_p)]


def check(status):
    if status != 0:
        sys.exit(f"clSPARSE: status {status}")


def buffer(host):
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=host)


sparse = c.CDLL("libclSPARSE.so.1")
sparse.clsparseCreateControl.restype = CreateResult
context = cl.Context(cl.get_platforms()[0].get_devices())
queue = cl.CommandQueue(context)
check(sparse.clsparseSetup())
created = sparse.clsparseCreateControl(c.c_void_p(queue.int_ptr))
check(created.status)
control = c.c_void_p(created.control)
values = buffer(np.array([4, -1, 3, -1, 5, 2, 2, 7, 3], np.float32))
columns = buffer(np.array([0, 1, 4, 0, 1, 3, 2, 3, 0], np.uint32))
offsets = buffer(np.array([0, 3, 5, 6, 8, 9], np.uint32))
numbers = buffer(np.array([1, 0], np.float32))
x, y = buffer(np.arange(1, 6, dtype=np.float32)), buffer(np.full(5, np.nan, np.float32))
a = CsrMatrix(5, 5, 9, values.int_ptr, columns.int_ptr, offsets.int_ptr)
alpha, beta = Scalar(numbers.int_ptr, 0), Scalar(numbers.int_ptr, 1)
x_vector, y_vector = Vector(5, x.int_ptr, 0), Vector(5, y.int_ptr, 0)
operands = [c.byref(one) for one in (alpha, a, x_vector, beta, y_vector)]
check(sparse.clsparseScsrmv(*operands, control))
result = np.empty(5, np.float32)
cl.enqueue_copy(queue, result, y)
check(sparse.clsparseReleaseControl(control))
print("\n".join(f"{element:g}" for element in result))
