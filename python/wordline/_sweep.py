"""Sweeps: the engine of `wordline sweep`, whose workers are processes of this interpreter."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from wordline._core import ConfigError, ResultWarning, RunError, WordlineError, WordlineWarning, tally


class Sweep:
    """The outcome of a sweep: one row per run."""

    def __init__(self, folder: Path) -> None:
        #: The sweep's folder, as `wordline sweep -o` has it.
        self.folder = folder
        with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        #: Names of the columns: id, status, what was varied, what is wrong, and all numbers of `result.json`.
        self.columns: list[str] = rows[0]
        #: The rows, as dicts of texts and numbers; missing values are None.
        self.rows: list[dict[str, Any]] = [dict(zip(rows[0], map(_value, row), strict=True)) for row in rows[1:]]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> list[Any]:
        """A column: one value per run."""
        if column not in self.columns:
            from difflib import get_close_matches

            near = get_close_matches(str(column), self.columns, 1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise KeyError(f"found {column!r}, {meant}allowed: {', '.join(self.columns)}")
        return [row[column] for row in self.rows]

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Runs whose numbers cannot be taken as they stand: dicts with `run`, `name` (what was varied) and `problems`,
        a list of dicts with `name` and `text`. Empty if nothing is known against any run."""
        path = self.folder / "problems.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise WordlineError(
                f"{path}\n    found:   nothing, as in a sweep of an earlier version\n"
                "    allowed: a sweep of this version; run it again, which repeats none of its runs"
            ) from error

    def to_pandas(self) -> Any:
        """As a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def _repr_html_(self) -> str:
        """The tables, in a notebook."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre><p>{len(self)} runs in {escape(str(self.folder))}</p>"

    def __str__(self) -> str:
        """The tables: means, with 95 % confidence intervals if there are repeats; then how many runs have problems."""
        return (self.folder / "tables.txt").read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"<wordline.Sweep of {len(self)} runs in {str(self.folder)!r}>"


def _value(text: str) -> Any:
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def sweep(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    cache: bool = True,
    policies: dict[str, Any] | None = None,
    allow_libraries: bool = False,
    force: bool = False,
    scheduler: Any = None,
) -> Sweep:
    """Runs everything in a sweep file, `jobs` runs at a time (default: one per core), and reads the results.

    Runs already in the folder `out` are not repeated; `force` puts the tables in place of those of another sweep there.
    Errors are those of the command line.

    `policies` are functions, as of `Drive.preset`, asked by every run: in threads of this process. `scheduler` is the
    address of a Dask cluster (`"tcp://..."`), or its client: then runs are carried out there, with functions that its
    workers can import. They need the same build of Wordline, and files of workloads under the same paths.
    `allow_libraries` lets the file name libraries with policies.
    """
    for name, value, allowed in [
        ("file", file, "the path of a sweep file: a configuration with a [grid]"),
        ("out", out, "the path of a folder for the results"),
    ]:
        if not isinstance(value, str | os.PathLike):
            kind = type(value).__name__
            raise TypeError(f"{name}\n    found:   {str(value)[:60]} ({kind})\n    allowed: {allowed}")
    if scheduler is not None or policies:
        from wordline import _tasks

        settings = (jobs, cache, allow_libraries, force)
        remarks, complaint = _tasks.sweep(Path(file), Path(out), policies or {}, settings, scheduler)
        return _concluded(Path(out), remarks, None if complaint is None else RunError(complaint))
    command = [sys.executable, "-m", "wordline", "sweep", os.fspath(file), "-o", os.fspath(out), "--quiet"]
    if jobs is not None:
        command += ["--jobs", str(jobs)]
    if not cache:
        command.append("--no-cache")
    if allow_libraries:
        command.append("--allow-libraries")
    if force:
        command.append("--force")
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as running:
        try:
            _, said = running.communicate()
        except BaseException:
            # It stops its workers, and what is done stays done.
            running.send_signal(signal.SIGINT)
            running.wait()
            raise
    remarks, error = _parted(said)
    if running.returncode != 0 and not error:
        remarks, error = [], said.strip()
    kind = ConfigError if running.returncode == 2 else RunError
    return _concluded(Path(out), remarks, None if running.returncode == 0 else kind(error))


def _parted(said: str) -> tuple[list[str], str]:
    """What a quiet command line says: what went wrong beside its work, a line each, and an error at the end."""
    lines = said.strip().splitlines()
    end = next((at for at, line in enumerate(lines) if line.startswith("error: ")), len(lines))
    return lines[:end], "\n".join(lines[end:]).removeprefix("error: ")


def _concluded(out: Path, remarks: list[str], error: Exception | None) -> Sweep:
    """Warns whoever called `sweep`, and gives the outcome."""
    for remark in remarks:
        warnings.warn(remark, WordlineWarning, stacklevel=3)
    if error is not None:
        raise error
    done = Sweep(out)
    measured = [(row["problems"] or "").split() for row in done.rows if row["verdict.state"] is not None]
    if (text := tally(measured)) is not None:
        warnings.warn(f"{text}; sweep.problems says which runs, and why", ResultWarning, stacklevel=3)
    return done
