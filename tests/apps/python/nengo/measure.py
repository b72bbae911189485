"""Times steps of nengo-ocl with its own sparse products and with Sparrow's, in turn in one process.

    python measure.py [--rounds 7] [--seconds 0.5]

Each network is one ensemble of spiking neurons that are connected to one another by a sparse transform. `step` is a whole
step of the simulator, `product` the sparse product alone, enqueued many times behind one another; both are the best of
the rounds, in microseconds.
"""

import argparse
import functools
import time
import warnings

import nengo
import nengo_ocl
import numpy
import pyopencl
import scipy.sparse
import sparrow_nengo

WAYS = ("ELLPACK", "CSR", sparrow_nengo.NAME)


def regular(rows, entries):
    """About `entries` random entries a row."""
    drawn = scipy.sparse.random_array((rows, rows), density=entries / rows, rng=1, format="csr")
    return scipy.sparse.csr_matrix(drawn)


def uneven(rows, entries):
    """Rows of very different lengths, `entries` in the mean: every hundredth takes half of all entries."""
    rng = numpy.random.default_rng(2)
    lengths = numpy.full(rows, entries // 2)
    lengths[::100] += 50 * entries
    columns = rng.integers(0, rows, lengths.sum())
    made = scipy.sparse.csr_matrix(
        (rng.random(columns.size), (numpy.repeat(numpy.arange(rows), lengths), columns)),
        shape=(rows, rows),
    )
    made.sum_duplicates()
    return made


CASES = {
    "1,000 neurons, 10 a row": lambda: regular(1_000, 10),
    "10,000 neurons, 50 a row": lambda: regular(10_000, 50),
    "100,000 neurons, 20 a row": lambda: regular(100_000, 20),
    "10,000 neurons, 1,000 a row": lambda: regular(10_000, 1_000),
    "20,000 neurons, uneven rows, 50 a row": lambda: uneven(20_000, 50),
}


def simulator(matrix, way, context):
    """A simulator of the network, whose sparse products are made in that way; and the seconds that making it took."""
    rows = matrix.shape[0]
    with nengo.Network(seed=1) as network:
        one = numpy.ones(rows)
        neurons = nengo.Ensemble(
            rows, 1, gain=one, bias=2 * one, encoders=one[:, None], neuron_type=nengo.LIF()
        ).neurons
        transform = nengo.transforms.Sparse(matrix.shape, init=1e-6 * matrix)
        nengo.Connection(neurons, neurons, transform=transform, synapse=0.005)
    planner = sparrow_nengo.nengo_ocl.clra_gemv.algostr_to_planner[way]
    original = nengo_ocl.simulator.plan_sparse_dot_inc
    nengo_ocl.simulator.plan_sparse_dot_inc = lambda queue, a, x, y: planner(queue, a, x, y)
    began = time.perf_counter()
    try:
        made = nengo_ocl.Simulator(network, context=context, progress_bar=False)
    finally:
        nengo_ocl.simulator.plan_sparse_dot_inc = original
    return made, time.perf_counter() - began


def per_call(call, seconds):
    """Microseconds of each of as many calls as fit into `seconds`; `call(n)` makes n."""
    began, calls = time.perf_counter(), 1
    while True:
        call(calls)
        took = time.perf_counter() - began
        if took > seconds / 4:
            calls = max(1, int(calls * seconds / took))
            break
        began, calls = time.perf_counter(), calls * 4
    began = time.perf_counter()
    call(calls)
    return 1e6 * (time.perf_counter() - began) / calls


def products(made):
    """The plans of sparse products alone."""
    return [p for p in made._plans if p.name == "sparrow" or "sparse" in p.name or "ellpack" in p.name]


def repeat(made, plans):
    """A function that enqueues these plans n times and waits once."""
    return lambda n: nengo_ocl.plan.Plans(plans, profiling=False).call_n_times(n)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    sparrow_nengo.install()
    context = pyopencl.create_some_context(interactive=False)
    print(context.devices[0].platform.name, context.devices[0].name, sep=": ")
    for title, make in CASES.items():
        matrix = make()
        made = {way: simulator(matrix, way, context) for way in WAYS}
        steps = {way: [] for way in WAYS}
        alone = {way: [] for way in WAYS}
        for _ in range(arguments.rounds):
            for way, (sim, _) in made.items():
                run = functools.partial(sim.run_steps, progress_bar=False)
                steps[way].append(per_call(run, arguments.seconds))
                alone[way].append(per_call(repeat(sim, products(sim)), arguments.seconds))
        print(f"{title}: {matrix.nnz} nonzeros")
        for way, (sim, seconds) in made.items():
            step, product = min(steps[way]), min(alone[way])
            print(f"  {way:8} step {step:9.1f}  product {product:9.1f}  built in {seconds:5.1f} s")
            if way == sparrow_nengo.NAME:
                print("          ", products(sim)[0].description)
        for sim, _ in made.values():
            sim.close()


if __name__ == "__main__":
    main()
