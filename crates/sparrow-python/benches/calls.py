"""Times calls of `A.dot(x, out=y)` with pyopencl's arrays, as calls.c does of the C library's launch.

    cc -O2 calls.c -o calls -lsparrow -lOpenCL     (libsparrow by `cargo xtask install`)
    for n in 100 100000; do ./calls $n 3000; python calls.py $n 3000; done

n rows of 10 nonzeros in f64, on the first device of the first platform. `call` is until the product is enqueued, with an
event; `done` until the queue is idle again; `many` a product of as many calls as are asked for, back to back.
"""

import argparse
import statistics
import time

import numpy
import pyopencl
import pyopencl.array
import sparrow

ROW = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", type=int)
    parser.add_argument("calls", type=int)
    given = parser.parse_args()
    device = pyopencl.get_platforms()[0].get_devices()[0]
    queue = pyopencl.CommandQueue(pyopencl.Context([device]))
    nonzeros = given.rows * ROW
    columns = numpy.arange(nonzeros, dtype=numpy.uint64) * 2654435761 % given.rows
    offsets = numpy.arange(given.rows + 1, dtype=numpy.uint32) * ROW
    arrays = (numpy.ones(nonzeros), columns.astype(numpy.uint32), offsets.astype(numpy.uint32))
    matrix = sparrow.Matrix(arrays, shape=(given.rows, given.rows), queue=queue)
    x = pyopencl.array.to_device(queue, numpy.ones(given.rows))
    y = pyopencl.array.empty(queue, given.rows, numpy.float64)
    for _ in range(100):
        matrix.dot(x, out=y)
    queue.finish()
    call, done = [], []
    for _ in range(given.calls):
        began = time.perf_counter()
        matrix.dot(x, out=y)
        enqueued = time.perf_counter()
        queue.finish()
        call.append(1e6 * (enqueued - began))
        done.append(1e6 * (time.perf_counter() - began))
    began = time.perf_counter()
    for _ in range(given.calls):
        matrix.dot(x, out=y)
    queue.finish()
    many = 1e6 * (time.perf_counter() - began) / given.calls
    print(f"Python: call {statistics.median(call):.2f}, done {statistics.median(done):.2f}, many {many:.2f} us")


main()
