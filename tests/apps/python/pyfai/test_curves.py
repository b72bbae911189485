"""Curves by Sparrow are those of pyFAI's own integrators, within the tolerance of pyFAI's tests (numpy.allclose)."""

import numpy
import pyFAI.opencl.azim_csr
import pytest
import sparrow_pyfai
from pyFAI.detectors import detector_factory
from pyFAI.integrator.azimuthal import AzimuthalIntegrator

FIELDS = ("intensity", "sigma", "std", "sem", "sum_signal", "sum_variance", "sum_normalization", "sum_normalization2")


@pytest.fixture(autouse=True)
def restored():
    """Leaves pyFAI as it was after each test."""
    class_ = pyFAI.opencl.azim_csr.OCL_CSR_Integrator
    original = class_.__init__
    yield
    class_.__init__ = original


def integrator():
    detector = detector_factory("Pilatus100k")
    return AzimuthalIntegrator(dist=0.1, poni1=0.02, poni2=0.03, detector=detector, wavelength=1e-10)


def image():
    """Rings on a slope, as a detector counts them."""
    angle = integrator().center_array(unit="2th_deg")
    mean = 1000 * numpy.exp(-angle / 10) + 500 * (numpy.sin(3 * angle) > 0.9)
    return numpy.random.default_rng(52).poisson(mean).astype(numpy.int32)


def integrate(data, dim, split, engine="opencl", **named):
    method = (split, "csr", engine)
    if dim == 1:
        return integrator().integrate1d(data, 300, unit="2th_deg", method=method, **named)
    return integrator().integrate2d(data, 100, 60, unit="2th_deg", method=method, **named)


def assert_same(one, other):
    for field in FIELDS:
        left, right = getattr(one, field), getattr(other, field)
        if left is None or right is None:
            assert left is None and right is None, field
            continue
        assert numpy.allclose(left, right, equal_nan=True), (field, abs(left - right).max())


def by_sparrow(*arguments, **named):
    sparrow_pyfai.install()
    before = sparrow_pyfai.launches
    result = integrate(*arguments, **named)
    assert sparrow_pyfai.launches == before + 1
    return result


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("split", ["no", "bbox"])
@pytest.mark.parametrize("model", [None, "poisson"])
def test_curves_are_those_of_pyfai_on_the_same_device(dim, split, model):
    theirs = integrate(image(), dim, split, error_model=model)
    assert_same(by_sparrow(image(), dim, split, error_model=model), theirs)


@pytest.mark.parametrize("dim", [1, 2])
def test_curves_are_those_of_pyfai_on_the_host(dim):
    theirs = integrate(image(), dim, "bbox", engine="cython", error_model="poisson")
    ours = by_sparrow(image(), dim, "bbox", error_model="poisson")
    assert numpy.allclose(ours.intensity, theirs.intensity, rtol=1e-5, atol=1e-3)
    assert numpy.allclose(ours.sigma, theirs.sigma, rtol=1e-4, atol=1e-3)


def test_a_variance_of_the_callers_is_summed():
    data = image().astype(numpy.float32)
    named = {"variance": 0.5 * data + 1, "polarization_factor": 0.9}
    assert_same(by_sparrow(data, 1, "bbox", **named), integrate(data, 1, "bbox", **named))


def test_pixels_that_are_not_finite_or_named_bad_count_nowhere():
    data = image().astype(numpy.float32)
    data[3, 5], data[10, 20:40], data[50, 60], data[70, 80:90] = numpy.nan, numpy.inf, -numpy.inf, -7
    named = {"dummy": -7.0, "delta_dummy": 0.5, "error_model": "poisson"}
    ours = by_sparrow(data, 1, "bbox", **named)
    assert numpy.isfinite(ours.intensity).all()
    assert_same(ours, integrate(data, 1, "bbox", **named))


def test_models_without_products_are_left_to_pyfai():
    theirs = integrate(image(), 1, "no", error_model="azimuthal")
    sparrow_pyfai.install()
    before = sparrow_pyfai.launches
    assert_same(integrate(image(), 1, "no", error_model="azimuthal"), theirs)
    assert sparrow_pyfai.launches == before
