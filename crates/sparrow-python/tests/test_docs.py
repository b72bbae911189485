"""The programs of docs/python.md run, from the first to the last."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_page_for_newcomers_runs_from_its_first_line_to_its_last(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) > 5
    ten_lines = [line for line in blocks[0].splitlines() if line]
    assert len(ten_lines) <= 10
    monkeypatch.setenv("MPLBACKEND", "agg")
    # matplotlib looks for fonts, and warns where it finds few.
    command = [sys.executable, "-W", "ignore", "-c", "\n".join(blocks)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (tmp_path / "potential.png").stat().st_size > 1000
