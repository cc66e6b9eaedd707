"""Sweeps: the engine of `wordline sweep`, whose workers are processes of this interpreter."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordline._core import ConfigError, ResultWarning, RunError, WordlineError, WordlineWarning, tally


#: What `wordline sweep` ends with where results are not as required.
UNMET = 3


class NotMet(RunError):
    """A sweep has come to its end, and some runs are not as was required. `sweep` has them all."""

    sweep: Sweep


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
        self.rows: list[dict[str, Any]] = [_row(rows[0], row) for row in rows[1:]]

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


def _row(columns: list[str], texts: list[str]) -> dict[str, Any]:
    # An id is 16 hexadecimal digits, and none of the numbers that some of them look like.
    told = zip(columns, texts, strict=True)
    return {column: text if column == "run" else _value(text) for column, text in told}


def _value(text: str) -> Any:
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _met(sweep: Sweep, unmet: str | None) -> Sweep:
    if unmet is None:
        return sweep
    error = NotMet(unmet)
    error.sweep = sweep
    raise error


def _wrong(name: str, found: object, allowed: str) -> str:
    kind = type(found).__name__
    return f"{name}\n    found:   {str(found)[:60]} ({kind})\n    allowed: {allowed}"


def _check(
    arguments: dict[str, Any], policies: Any, counts: dict[str, int | None], scheduler: Any
) -> None:
    """Refuses arguments of the wrong kind, by their names."""
    for name, (value, kinds, allowed) in arguments.items():
        if not isinstance(value, kinds):
            raise TypeError(_wrong(name, value, allowed))
    if policies is not None and not isinstance(policies, dict):
        allowed = 'a dict of names with functions, addresses or paths of libraries: {"mine": f}'
        raise TypeError(_wrong("policies", policies, allowed))
    for name, count in counts.items():
        if count is None:
            continue
        allowed = "a whole number from 1, or None for one per core"
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise TypeError(_wrong(name, count, allowed))
        if count < 1:
            raise ConfigError(_wrong(name, count, allowed))
    given = [name for name, count in counts.items() if count is not None]
    if scheduler is not None:
        given.append("scheduler")
    if len(given) > 1:
        ways = "jobs (threads), processes or scheduler (a cluster)"
        raise ConfigError(f"{given[-1]}\n    found:   beside {given[0]}\n    allowed: one of {ways}")


def sweep(
    file: str | os.PathLike[str] | dict[str, Any],
    out: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    processes: int | None = None,
    cache: bool = True,
    policies: dict[str, Any] | None = None,
    allow_libraries: bool = False,
    force: bool = False,
    scheduler: Any = None,
    require: str | Sequence[str] = (),
) -> Sweep:
    """Runs everything in a sweep file, `jobs` runs at a time (default: one per core), and reads the results.

    `file` may be a dict of what such a file says. Runs already in the folder `out` are not repeated; `force` puts the
    tables in place of those of another sweep there. Errors are those of the command line.

    `policies` are your own, each under a name that stands in the file where one of a shipped policy would: a function,
    a class of which each run has an object, a C address, the path of a library. A family in place of the name
    (`gc_victim`) gives it to every run. Parameters of functions and classes vary as `policies.NAME.PARAMETER`.

    Runs with policies of your own are carried out in threads of this process, which take turns in Python; with
    `processes` in so many copies of it. `scheduler` is the address of a Dask cluster (`"tcp://..."`), or its client:
    then runs are carried out there. Its workers need the same build of Wordline, and files of workloads under the same
    paths. `allow_libraries` lets the file name libraries with policies.

    `require` is what must hold of every run, as `--require` has it: "steady,not-overloaded". Otherwise `NotMet` is
    raised, once everything is written; its `.sweep` has the rows.
    """
    arguments = {
        "file": (file, (str, os.PathLike, dict), "the path of a sweep file, a configuration with a [grid]; or a dict"),
        "out": (out, (str, os.PathLike), "the path of a folder for the results"),
    }
    required = require.split(",") if isinstance(require, str) else list(require)
    _check(arguments, policies, {"jobs": jobs, "processes": processes}, scheduler)
    if scheduler is not None or policies or isinstance(file, dict):
        from wordline import _tasks

        if not policies and scheduler is None:
            # Nothing is asked of this process.
            processes = processes or jobs or _tasks.cores()
        read = file if isinstance(file, dict) else Path(file)
        settings = (cache, allow_libraries, force, required)
        where = (jobs, processes, scheduler)
        remarks, complaint, unmet = _tasks.sweep(read, Path(out), policies or {}, settings, where)
        return _concluded(Path(out), remarks, None if complaint is None else RunError(complaint), unmet)
    jobs = processes or jobs
    command = [sys.executable, "-m", "wordline", "sweep", os.fspath(file), "-o", os.fspath(out), "--quiet"]
    if jobs is not None:
        command += ["--jobs", str(jobs)]
    if not cache:
        command.append("--no-cache")
    if allow_libraries:
        command.append("--allow-libraries")
    if force:
        command.append("--force")
    if required:
        command.append(f"--require={','.join(required)}")
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
    if running.returncode not in (0, UNMET):
        if not error:
            remarks, error = [], said.strip()
        kind = ConfigError if running.returncode == 2 else RunError
        return _concluded(Path(out), remarks, kind(error), None)
    unmet = error.replace("--require", "require", 1) if running.returncode == UNMET else None
    return _concluded(Path(out), remarks, None, unmet)


def _parted(said: str) -> tuple[list[str], str]:
    """What a quiet command line says: what went wrong beside its work, a line each, and an error at the end."""
    lines = said.strip().splitlines()
    end = next((at for at, line in enumerate(lines) if line.startswith("error: ")), len(lines))
    return lines[:end], "\n".join(lines[end:]).removeprefix("error: ")


def _concluded(out: Path, remarks: list[str], error: Exception | None, unmet: str | None) -> Sweep:
    """Warns whoever called `sweep`, and gives the outcome."""
    for remark in remarks:
        warnings.warn(remark, WordlineWarning, stacklevel=3)
    if error is not None:
        raise error
    done = _met(Sweep(out), unmet)
    measured = [(row["problems"] or "").split() for row in done.rows if row["status"] == "ok"]
    if (text := tally(measured)) is not None:
        warnings.warn(f"{text}; sweep.problems says which runs, and why", ResultWarning, stacklevel=3)
    return done
