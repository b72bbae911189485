"""What the stubs say is what there is, and what a type checker needs."""

import subprocess
import sys

import pytest

pytest.importorskip("mypy")

PROGRAM = """
from typing import Any, assert_type

import numpy as np
import pyopencl.array as cl_array
import sparrow
from numpy.typing import NDArray


def use(a: sparrow.Matrix, x: NDArray[np.float64], d: cl_array.Array) -> None:
    assert_type(a @ x, NDArray[Any])
    assert_type(a @ d, cl_array.Array)
    assert_type(a @ a, sparrow.Matrix)
    assert_type(a.plan("many", compensated=True).dot(d, out=d, alpha=2.0), cl_array.Array)
    assert_type(sparrow.Batch([a]) @ x, NDArray[Any])
    assert_type(sparrow.solve(a, x, callback=lambda i, r: print(i, r)).converged, bool)
    a.plan("often")  # type: ignore[arg-type]
"""


def mypy(*words):
    return subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)


def test_stubs_and_module_have_the_same_names_and_arguments(monkeypatch, tmp_path):
    monkeypatch.setenv("MYPY_CACHE_DIR", str(tmp_path))
    ran = mypy("mypy.stubtest", "sparrow._sparrow")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_strict_checker_knows_the_type_of_every_product(tmp_path):
    (tmp_path / "use.py").write_text(PROGRAM)
    ran = mypy("mypy", "--strict", "--cache-dir", str(tmp_path), str(tmp_path / "use.py"))
    assert ran.returncode == 0, ran.stdout + ran.stderr
