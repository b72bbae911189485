"""y = alpha A x + beta y, with x and y in the host's memory or on the device."""

import numpy
import pyopencl.array
import pytest
from conftest import assert_within_bound, random

import sparrow


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numpy_in_is_numpy_out(rng, dtype):
    matrix = random(rng, dtype=dtype)
    x = rng.standard_normal(200).astype(dtype)
    y = sparrow.Matrix(matrix) @ x
    assert type(y) is numpy.ndarray and y.dtype == dtype and y.shape == (300,)
    assert_within_bound(y, matrix, x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pyopencl_in_stays_on_the_device_in_its_queue_with_an_event(rng, queue, dtype):
    matrix = random(rng, dtype=dtype)
    x = pyopencl.array.to_device(queue, rng.standard_normal(200).astype(dtype))
    y = sparrow.Matrix(matrix, queue=queue) @ x
    assert type(y) is pyopencl.array.Array and y.queue is queue and y.dtype == dtype
    assert len(y.events) == 1
    assert_within_bound(y.get(), matrix, x.get())
