"""The tuning pass, by the command that makes it."""

import os
import pathlib
from types import TracebackType
from typing import Any

from . import _sparrow


def tune(
    device: str | None = None,
    *,
    budget: str = "2m",
    into: str | os.PathLike[str] | None = None,
    progress: bool = False,
    command: str | os.PathLike[str] = "sparrow",
) -> pathlib.Path | None:
    """Find out by trying which algorithms and hyper-parameters suit a device, and write it to a device table.

    Candidates run in processes of their own, since one that hangs cannot be stopped otherwise. So it is the command
    ``sparrow tune`` that does it, which must be installed (``cargo xtask install --prefix PREFIX`` in a clone).

    Parameters
    ----------
    device : str, optional
        As in :class:`Matrix`; "all" for every one. Left out, the one that a matrix would be on.
    budget : str, default "2m"
        Time for a device: "90s", "2m", "1h".
    into : path-like, optional
        The device table; left out, the user's own, which products here and everywhere follow from then on.
    progress : bool, default False
        Whether a bar of tqdm's counts the trials; tqdm must be installed.
    command : path-like, default "sparrow"
        The command, by name or path.

    Returns
    -------
    pathlib.Path or None
        The device table that was written; None where ``SPARROW_TABLE`` is "off".

    Raises
    ------
    FileNotFoundError
        There is no such command.
    RuntimeError
        The command failed; with what it said.
    """
    import shutil
    import subprocess
    import tempfile

    program = shutil.which(command)
    if program is None:
        raise FileNotFoundError(
            f"{os.fspath(command)}: no such command; `cargo xtask install --prefix PREFIX` installs sparrow, which tunes"
        )
    words = [program, "tune", "--budget", budget, "--json", "-"]
    device = device if device is not None else _sparrow._default_device()
    words += ["--device", device] if device is not None else []
    words += ["--into", os.fspath(into)] if into is not None else []
    with tempfile.TemporaryFile("w+") as said, _bar(progress) as bar:
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=said, text=True) as tuning:
            assert tuning.stdout is not None
            for _trial in tuning.stdout:
                bar.update()
        if tuning.returncode != 0:
            said.seek(0)
            raise RuntimeError(f"sparrow tune ended with {tuning.returncode}: {said.read().strip()}")
    own = _sparrow._user_table()
    written = pathlib.Path(into) if into is not None else own
    if own is not None and written is not None and own.absolute() == written.absolute():
        _sparrow._follow_table(own)
    return written


class _NoBar:
    def __enter__(self) -> "_NoBar":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def update(self) -> None:
        return None


def _bar(progress: bool) -> Any:
    if not progress:
        return _NoBar()
    from tqdm.auto import tqdm

    return tqdm(desc="tuning", unit=" trials")
