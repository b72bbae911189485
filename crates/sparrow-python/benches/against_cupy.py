"""Times y = A x on an NVIDIA GPU by cupy and by Sparrow, arrays on the device, in turn, on matrices of files.

    for class in poisson5 elasticity rmat setcover rma10 qcd5_4 mac_econ_fwd500 mc2depi cop20k_A scircuit dc2 Stanford
    do sparrow gen $class --out $class.mtx; done
    python against_cupy.py *.mtx [--rounds 5] [--value-type float32]

Microseconds a product, medians of the rounds; a round is 100 products, of which the last is waited for. `out` is
`A.dot(x, out=y)`, `A @ x` makes y by pyopencl's memory pool; cupy's is `csr_matrix @ x`, whose y is made by cupy's pool.
The last line has geometric means of cupy's time by Sparrow's.
"""

import argparse
import math
import statistics
import time
from pathlib import Path

import cupy
import cupyx.scipy.sparse
import numpy
import pyopencl
import pyopencl.array
import pyopencl.tools
import scipy.sparse
import sparrow

PRODUCTS = 100


def timed(product, wait):
    """Microseconds of one of many products."""
    product()
    wait()
    began = time.perf_counter()
    for _ in range(PRODUCTS):
        product()
    wait()
    return 1e6 * (time.perf_counter() - began) / PRODUCTS


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("matrices", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--value-type", default="float32", choices=["float32", "float64"])
    given = parser.parse_args()
    platform = next(one for one in pyopencl.get_platforms() if "NVIDIA" in one.name)
    queue = pyopencl.CommandQueue(pyopencl.Context(platform.get_devices()[:1]))
    pool = pyopencl.tools.MemoryPool(pyopencl.tools.ImmediateAllocator(queue))
    ratios = []
    print(f"{'matrix':24} {'cupy':>9} {'out':>9} {'A @ x':>9}")
    for path in given.matrices:
        host = scipy.sparse.csr_array(sparrow.read(path, queue=queue).to_scipy()).astype(given.value_type)
        x = numpy.linspace(-1, 1, host.shape[1]).astype(given.value_type)
        theirs, their_x = cupyx.scipy.sparse.csr_matrix(host), cupy.asarray(x)
        ours = sparrow.Matrix(host, queue=queue)
        our_x = pyopencl.array.to_device(queue, x, allocator=pool)
        y = pyopencl.array.empty(queue, host.shape[0], given.value_type, allocator=pool)
        ways = [
            (lambda: theirs @ their_x, cupy.cuda.runtime.deviceSynchronize),
            (lambda: ours.dot(our_x, out=y), queue.finish),
            (lambda: ours @ our_x, queue.finish),
        ]
        numpy.testing.assert_allclose(ours.dot(our_x, out=y).get(), host @ x, rtol=1e-3, atol=1e-3)
        rounds = [[timed(*way) for way in ways] for _ in range(given.rounds)]
        times = [statistics.median(column) for column in zip(*rounds)]
        ratios.append([times[0] / own for own in times[1:]])
        print(f"{path.stem:24} " + " ".join(f"{one:9.1f}" for one in times), flush=True)
    means = [math.exp(statistics.fmean(map(math.log, column))) for column in zip(*ratios)]
    least = [min(column) for column in zip(*ratios)]
    print("cupy's time by Sparrow's: " + ", ".join(f"{mean:.2f} (least {low:.2f})" for mean, low in zip(means, least)))


main()
