"""A plugin of pytest's under which nengo-ocl's and nengo's own tests of sparse products run by Sparrow.

nengo-ocl's tests name its programs by class (`plan_csr`, `plan_ellpack`), so both names are Sparrow's here before the
tests are imported. SPARROW_NENGO=original leaves everything as it was.
"""

import os

import nengo_ocl.clra_gemv
import pyopencl
import pytest
import sparrow_nengo

ORIGINAL = os.environ.get("SPARROW_NENGO") == "original"

if not ORIGINAL:
    sparrow_nengo.install()
    nengo_ocl.clra_gemv.plan_csr = sparrow_nengo.SparrowProgram
    nengo_ocl.clra_gemv.plan_ellpack = sparrow_nengo.SparrowProgram


@pytest.fixture(scope="session")
def ctx():
    """The context of the one device that the tests are pointed at."""
    return pyopencl.create_some_context(interactive=False)


def pytest_terminal_summary(terminalreporter):
    launches = sparrow_nengo.SparrowPlan.launches
    terminalreporter.write_line(f"{launches} products by Sparrow")
    if not ORIGINAL and launches == 0:
        raise RuntimeError("no product was Sparrow's")
