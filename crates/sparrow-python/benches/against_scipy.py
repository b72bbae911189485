"""Times y = A x from numpy's arrays to numpy's arrays by scipy and by Sparrow, in turn, on matrices of files.

    for class in poisson5 elasticity rmat setcover rma10 qcd5_4 mac_econ_fwd500 mc2depi cop20k_A scircuit dc2 Stanford
    do sparrow gen $class --out $class.mtx; done
    python against_scipy.py *.mtx [--rounds 15] [--value-type float64]

Best of the rounds, in microseconds; a round is as many products as fill 20 ms. `A @ x` is the operator of a matrix, `plan`
that of `A.plan("many")`; scipy's is `csr_array @ x`. The last line has geometric means of scipy's time by Sparrow's.
"""

import argparse
import math
import time
from pathlib import Path

import numpy
import scipy.io
import scipy.sparse
import sparrow


def timed(product, seconds=0.02):
    """Seconds of one product, of as many as fill `seconds`."""
    began, count = time.perf_counter(), 0
    while True:
        product()
        count += 1
        took = time.perf_counter() - began
        if took > seconds:
            return took / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--value-type", default="float64")
    arguments = parser.parse_args()
    print(sparrow.Matrix(scipy.sparse.eye_array(1)).device)
    ratios = {"A @ x": [], "plan": []}
    for file in arguments.files:
        matrix = scipy.sparse.csr_array(scipy.io.mmread(file)).astype(arguments.value_type)
        x = numpy.random.default_rng(1).standard_normal(matrix.shape[1]).astype(matrix.dtype)
        a = sparrow.Matrix(matrix)
        plan = a.plan("many")
        products = {"scipy": lambda: matrix @ x, "A @ x": lambda: a @ x, "plan": lambda: plan @ x}
        scale = abs(matrix) @ abs(x)
        eps = numpy.finfo(matrix.dtype).eps
        for product in products.values():
            assert (abs(product() - matrix @ x) <= 1e3 * eps * scale + 1e-300).all(), file
        best = dict.fromkeys(products, math.inf)
        for _ in range(arguments.rounds):
            for name, product in products.items():
                best[name] = min(best[name], timed(product))
        times = "  ".join(f"{name} {1e6 * best[name]:8.1f}" for name in products)
        own = {name: best["scipy"] / best[name] for name in ratios}
        for name, ratio in own.items():
            ratios[name].append(ratio)
        shown = "  ".join(f"{ratio:5.2f}" for ratio in own.values())
        print(f"{file.stem:16} {matrix.nnz:8}  {times}  scipy/Sparrow {shown}  {plan.choice}", flush=True)
    for name, found in ratios.items():
        mean = math.exp(sum(map(math.log, found)) / len(found))
        print(f"{name}: geometric mean {mean:.2f}, least {min(found):.2f}")


if __name__ == "__main__":
    main()
