"""Plans, and what they say of themselves."""

import numpy
import pytest
import scipy.sparse
from conftest import assert_within_bound, random

import sparrow


@pytest.mark.parametrize("reuse", ["once", "several", "many"])
def test_plans_for_any_number_of_products_multiply(rng, reuse):
    matrix = random(rng)
    plan = sparrow.Matrix(matrix).plan(reuse)
    x = rng.standard_normal(200)
    assert_within_bound(plan @ x, matrix, x)
    assert_within_bound(plan.dot(x, out=numpy.ones(300), beta=2.0), matrix, x, 1, 2, numpy.ones(300))
    assert_within_bound(plan @ numpy.stack([x, -x], 1), matrix, numpy.stack([x, -x], 1))


@pytest.mark.parametrize("algorithm", ["csr_scalar", "csr_vector", "csr_pieces", "sell"])
def test_an_algorithm_by_name_is_what_runs(rng, algorithm):
    matrix = random(rng)
    plan = sparrow.Matrix(matrix).plan(algorithm=algorithm)
    assert plan.algorithm == algorithm and plan.choice.startswith(algorithm)
    x = rng.standard_normal(200)
    assert_within_bound(plan @ x, matrix, x)


@pytest.mark.parametrize("reordering", ["rcm", "clusters"])
def test_a_plan_in_another_order_is_the_same_product(rng, reordering):
    matrix = random(rng, (300, 300))
    plan = sparrow.Matrix(matrix).plan(reordering=reordering)
    x = rng.standard_normal(300)
    assert_within_bound(plan @ x, matrix, x)
    assert_within_bound(plan.dot(x, out=numpy.ones(300), beta=2.0), matrix, x, 1, 2, numpy.ones(300))
    with pytest.raises(ValueError, match="none, rcm, clusters"):
        sparrow.Matrix(matrix).plan(reordering="RCM")


def test_a_choice_is_given_back_with_every_hyper_parameter(rng):
    a = sparrow.Matrix(random(rng))
    first = a.plan("many")
    second = a.plan(choice=first.choice)
    assert second.choice == first.choice and second.parameters == first.parameters
    assert all(isinstance(value, int) for value in second.parameters.values())
    x = rng.standard_normal(200)
    if first.repeatable:
        assert (first @ x == second @ x).all()


def test_a_plan_explains_itself(rng):
    a = sparrow.Matrix(random(rng))
    plan = a.plan("many", measure=0)
    text = plan.explain()
    assert plan.choice in text and "because" in text and f"{plan.plan_bytes} bytes" in text
    assert "transposed" in a.T.plan().explain()
    assert plan.algorithm in repr(plan)


def test_a_plan_says_how_it_stores_values_and_what_new_values_make_of_it(rng):
    matrix = scipy.sparse.identity(5000, format="csr") * 2.5
    a = sparrow.Matrix(matrix)
    plan = a.plan(algorithm="sell")
    assert plan.value_coding == "one value"
    assert "values stored as one value, which saves " in plan.explain()
    coded = plan.plan_bytes
    assert a.plan(algorithm="csr_scalar").value_coding is None
    a.update_values(rng.standard_normal(5000))
    plan @ numpy.ones(5000)
    assert plan.value_coding == "as they are" and plan.plan_bytes > coded
    assert "values stored" not in plan.explain()


def test_a_plan_of_the_transpose_multiplies_by_it(rng):
    matrix = random(rng)
    plan = sparrow.Matrix(matrix).T.plan()
    assert plan.shape == (200, 300) and plan.matrix.shape == (200, 300)
    x = rng.standard_normal(300)
    assert_within_bound(plan @ x, matrix.T, x)


def test_the_same_product_has_the_same_bits(rng):
    a = sparrow.Matrix(random(rng, (2000, 2000)))
    x = rng.standard_normal(2000)
    first = a @ x
    assert all((a @ x == first).all() for _ in range(5))


def test_representations_say_what_there_is(rng):
    a = sparrow.Matrix(random(rng))
    assert f"300 x 200 with {a.nnz} stored entries of float64 on {a.device}" in repr(a)
    assert a.nbytes >= a.nnz * 12
    devices = sparrow.devices()
    assert devices and all(isinstance(device, sparrow.Device) for device in devices)
    assert any(device.name == a.device for device in devices)
    assert devices[0].position in repr(devices[0])
