"""The tuning pass, by the command; a program stands for it that does what it does with tables."""

import stat
import sys

import numpy
import pytest
import scipy.sparse

import sparrow

COMMAND = """#!{python}
import pathlib, sys
words = sys.argv[1:]
pathlib.Path("{folder}/words").write_text("\\n".join(words))
if "no such device" in words:
    sys.exit("error: no such device")
for trial in range(3):
    print('{{"trial": %d}}' % trial)
pathlib.Path(words[words.index("--into") + 1]).write_text('''format = 1
[[device]]
name = "{device}"
platform = "{platform}"
origin = "a test"
[device.kernel.csr_scalar.f64]
group_size = {group_size}
''')
"""


@pytest.fixture
def command(tmp_path):
    device = next(one for one in sparrow.devices() if one.name == sparrow.Matrix(eye()).device)
    program = tmp_path / "sparrow"
    text = COMMAND.format(
        python=sys.executable,
        folder=tmp_path,
        device=device.name.split(":")[0].strip(),
        platform=device.platform,
        group_size=16,
    )
    program.write_text(text)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def eye():
    return scipy.sparse.eye_array(100)


def test_what_was_tuned_is_what_the_next_plans_run_with(command, tmp_path, monkeypatch):
    table = tmp_path / "devices.toml"
    monkeypatch.setenv("SPARROW_TABLE", str(table))
    a = sparrow.Matrix(eye())
    before = a.plan(algorithm="csr_scalar").parameters
    assert before["group_size"] != 16
    assert sparrow.tune(budget="5s", into=table, command=command) == table
    words = (tmp_path / "words").read_text().split("\n")
    assert words[:5] == ["tune", "--budget", "5s", "--json", "-"]
    plan = a.plan(algorithm="csr_scalar")
    assert plan.parameters["group_size"] == 16
    assert (plan @ numpy.ones(100) == 1).all()
    monkeypatch.undo()
    sparrow._sparrow._follow_table(None)
    assert a.plan(algorithm="csr_scalar").parameters == before


def test_the_device_is_the_one_that_a_matrix_would_be_on(command, tmp_path):
    position = sparrow.devices()[0].position
    sparrow.set_default_device(position)
    try:
        sparrow.tune(into=tmp_path / "t.toml", command=command)
    finally:
        sparrow.set_default_device(None)
    assert f"--device\n{position}" in (tmp_path / "words").read_text()
    sparrow.tune("all", into=tmp_path / "t.toml", command=command)
    assert "--device\nall" in (tmp_path / "words").read_text()


def test_a_bar_counts_the_trials_when_asked(command, tmp_path, capsys):
    pytest.importorskip("tqdm")
    sparrow.tune(into=tmp_path / "t.toml", progress=True, command=command)
    assert "3 trials" in capsys.readouterr().err


def test_a_command_that_fails_or_is_not_there_is_told(command, tmp_path):
    with pytest.raises(RuntimeError, match="sparrow tune ended with 1: error: no such device"):
        sparrow.tune("no such device", command=command)
    with pytest.raises(FileNotFoundError, match="cargo xtask install"):
        sparrow.tune(command=tmp_path / "none")
