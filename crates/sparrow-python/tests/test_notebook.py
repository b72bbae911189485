"""The example notebook runs from its first cell to its last, and what it computes is right."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "page_rank_and_heat.ipynb"

# What pictures there are, and both answers by other means.
CHECKS = """
assert len(plt.get_fignums()) == 2
plt.figure(1).savefig("rank.png")
plt.figure(2).savefig("heat.png")

again = damping * (shares @ rank)
again += (1.0 - again.sum()) / size
assert abs(again - rank).sum() < 1e-11 and abs(rank.sum() - 1) < 1e-12
assert len(names) > 300 and len(edges) > 1000

from scipy.sparse.linalg import splu
factors = splu(scipy.sparse.csc_array(scipy.sparse.eye_array(n * n) + tau * laplace))
exact = start.ravel()
for step in range(60):
    exact = factors.solve(exact)
assert abs(exact - u).max() < 1e-6, abs(exact - u).max()
assert all(later < earlier for earlier, later in zip(heat, heat[1:]))
"""


def test_the_notebook_runs_and_its_answers_are_those_of_other_ways(tmp_path):
    pytest.importorskip("matplotlib")
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 6
    program = "\n".join(["import matplotlib", "matplotlib.use('agg')", *code, CHECKS])
    # matplotlib looks for fonts, and warns where it finds few; its canvas without a screen shows nothing.
    command = [sys.executable, "-W", "ignore", "-c", program]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for picture in ("rank.png", "heat.png"):
        assert (tmp_path / picture).stat().st_size > 10_000


def test_the_notebook_is_kept_without_what_a_run_leaves_in_it():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
