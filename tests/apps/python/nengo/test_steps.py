"""What the adapter claims: the products, where operands lie, what is left to nengo-ocl."""

import time

import nengo
import nengo_ocl
import numpy
import pyopencl
import pytest
import scipy.sparse
import sparrow_nengo
from nengo_ocl.clraggedarray import CLRaggedArray

sparrow_nengo.install()


@pytest.fixture(scope="module")
def context():
    return pyopencl.create_some_context(interactive=False)


@pytest.fixture
def matrix():
    return scipy.sparse.csr_matrix(scipy.sparse.random_array((300, 200), density=0.05, rng=1))


def program(queue, matrix, inc):
    """A product between vectors that lie in one buffer, the second and the third of four."""
    rng = numpy.random.default_rng(3)
    lengths = (7, matrix.shape[1], matrix.shape[0], 5)
    arrays = [rng.standard_normal((length, 1)).astype("float32") for length in lengths]
    data = CLRaggedArray.from_arrays(queue, arrays)
    made = sparrow_nengo.SparrowProgram(queue, matrix, data[[1]], data[[2]], inc=inc)
    return arrays, data, made.plans


@pytest.mark.parametrize("inc", [False, True])
def test_a_product_takes_its_vectors_where_they_lie_and_writes_no_others(context, matrix, inc):
    queue = pyopencl.CommandQueue(context)
    arrays, data, (plan,) = program(queue, matrix, inc)
    plan()
    expected = matrix @ arrays[1] + (arrays[2] if inc else 0)
    assert abs(data[2] - expected).max() < 1e-5
    for other in (0, 1, 3):
        assert (data[other] == arrays[other]).all()


def test_a_profiled_product_has_times(context, matrix):
    properties = pyopencl.command_queue_properties.PROFILING_ENABLE
    queue = pyopencl.CommandQueue(context, properties=properties)
    _, _, (plan,) = program(queue, matrix, False)
    nengo_ocl.plan.Plans([plan], profiling=True).call_n_times(3)
    assert plan.n_calls == 3 and all(seconds > 0 for seconds in plan.ctimes)


def test_a_product_waits_for_the_events_it_is_given(context, matrix):
    queue = pyopencl.CommandQueue(context)
    _, _, (plan,) = program(queue, matrix, False)
    gate = pyopencl.UserEvent(context)
    event = plan.enqueue(wait_for=[gate])
    queue.flush()
    time.sleep(0.2)
    waiting = event.command_execution_status != pyopencl.command_execution_status.COMPLETE
    gate.set_status(pyopencl.command_execution_status.COMPLETE)
    event.wait()
    assert waiting


def test_matrices_of_columns_are_refused_by_name(context, matrix):
    queue = pyopencl.CommandQueue(context)
    data = CLRaggedArray.from_arrays(queue, [numpy.ones((200, 2), "float32"), numpy.ones((300, 1), "float32")])
    with pytest.raises(NotImplementedError, match="X must be one vector"):
        sparrow_nengo.SparrowProgram(queue, matrix, data[[0]], data[[1]])


def test_another_way_that_the_variable_names_is_left_alone(monkeypatch):
    monkeypatch.setenv("NENGO_OCL_SPMV_ALGORITHM", "CSR")
    sparrow_nengo.install()
    assert sparrow_nengo.os.environ["NENGO_OCL_SPMV_ALGORITHM"] == "CSR"


def test_spikes_are_those_of_nengo_itself(context):
    """A recurrent network, so that every step multiplies what the one before has made."""
    rows = 200
    weights = scipy.sparse.random_array((rows, rows), density=0.05, rng=2)
    with nengo.Network(seed=1) as network:
        neurons = nengo.Ensemble(rows, 1, neuron_type=nengo.RectifiedLinear()).neurons
        transform = nengo.transforms.Sparse((rows, rows), init=1e-3 * scipy.sparse.csr_matrix(weights))
        nengo.Connection(neurons, neurons, transform=transform, synapse=0.005)
        probe = nengo.Probe(neurons)
    before = sparrow_nengo.SparrowPlan.launches
    with nengo_ocl.Simulator(network, context=context, progress_bar=False) as ours:
        ours.run_steps(50, progress_bar=False)
    assert sparrow_nengo.SparrowPlan.launches == before + 50
    with nengo.Simulator(network, progress_bar=False) as reference:
        reference.run_steps(50, progress_bar=False)
    assert numpy.allclose(ours.data[probe], reference.data[probe], rtol=1e-4, atol=1e-3)
