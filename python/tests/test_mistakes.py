"""A hundred calls as somebody new makes them. Those that are legal do what they say; each mistake is answered in full:
which argument, what was found, what is allowed, what to type."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wordline

SMALL = {"nand.geometry.blocks_per_plane": 64, "nand.geometry.channels": 1, "nand.geometry.chips_per_channel": 1}
EMPTY = {"fill_percent": 0, "overwrite": "none"}
ROWS = 1000
#: Writes that clean a drive, so that a policy is asked.
WRITES = {"pattern": "uniform", "count": 20_000, "read_percent": 0}


def drive(settings: dict[str, Any] | None = None, **more: Any) -> wordline.Drive:
    return wordline.Drive.preset("m64", {**SMALL, **(settings or {})}, **more)


def columns(**other: Any) -> dict[str, Any]:
    return {"lba": np.arange(ROWS) * 8, "sectors": np.full(ROWS, 8), "op": np.ones(ROWS, dtype=int), **other}


def run(load: Any, **more: Any) -> wordline.Result:
    return drive().run(load, depth=4, **EMPTY, **more)


def timed(**other: Any) -> wordline.Result:
    return drive().run(columns(**other), **EMPTY)


def counts(result: wordline.Result) -> tuple[int, int, int]:
    return result["requests_served"], result["writes"], result["reads"]


def with_policy(policy: Any, family: str = "gc_victim") -> wordline.Drive:
    return drive(policies={family: policy})


def cleaned(policy: Any) -> wordline.Result:
    return with_policy(policy).run(WRITES, depth=4)


def greedy(lane: wordline.Lane) -> Any:
    return np.where(lane.eligible, lane.live, 2**31).argmin()


def frame(library: str) -> Any:
    return pytest.importorskip(library).DataFrame(columns())


def series() -> dict[str, Any]:
    pandas = pytest.importorskip("pandas")
    return {name: pandas.Series(values) for name, values in columns().items()}


ALL = (ROWS, ROWS, 0)
HALF = (ROWS, ROWS // 2, ROWS // 2)

#: What is legal, and what comes of it.
LEGAL: dict[str, tuple[Callable[[], Any], Any]] = {
    "a whole number of numpy as a setting": (lambda: drive({"nand.geometry.blocks_per_plane": np.int64(64)}).logical_bytes, drive().logical_bytes),
    "a float of numpy as a setting": (lambda: "= 7.5" in drive({"drive.over_provisioning_percent": np.float32(7.5)}).config, True),
    "a size with its unit": (lambda: "size_mib = 1024" in drive({"host.buffer.size_mib": "1GiB"}).config, True),
    "a count as Python writes it, 1e3": (lambda: counts(run({"pattern": "zipf", "count": 1e3}))[0], 1000),
    "letters for kinds": (lambda: counts(run(columns(op=np.full(ROWS, "W")))), ALL),
    "flags for kinds": (lambda: counts(run(columns(op=np.ones(ROWS, bool)))), ALL),
    "names in an array of objects": (lambda: counts(run(columns(op=np.array(["read", "write"] * 500, dtype=object)))), HALF),
    "one value of sectors": (lambda: counts(run(columns(sectors=8))), ALL),
    "one kind": (lambda: counts(run(columns(op="write"))), ALL),
    "lists": (lambda: counts(run({"lba": [0, 8], "sectors": [8, 8], "op": ["write", "read"]})), (2, 1, 1)),
    "a frame of pandas": (lambda: counts(run(frame("pandas"))), ALL),
    "series of pandas": (lambda: counts(run(series())), ALL),
    "a frame of polars": (lambda: counts(run(frame("polars"))), ALL),
    "an array with gaps": (lambda: counts(run(columns(lba=np.arange(2 * ROWS)[::2] * 4))), ALL),
    "an array of the other byte order": (lambda: counts(run(columns(lba=(np.arange(ROWS) * 8).astype(">i8")))), ALL),
    "an array of small numbers": (lambda: counts(run(columns(sectors=np.full(ROWS, 8, np.int16)))), ALL),
    "a depth of 0: as deep as the queues are": (lambda: counts(drive().run(columns(), depth=0, **EMPTY)), ALL),
    "a family with its section": (lambda: repr(with_policy(lambda lane: None, "ftl.gc_victim")).startswith("<wordline.Drive"), True),
    "a policy that answers with a number of numpy": (lambda: counts(cleaned(greedy))[0], 20_000),
    "time that passes in a closed loop": (lambda: drive().session(**EMPTY).advance_to(10), None),
}


def unordered() -> None:
    session = drive().session(arrivals=True, **EMPTY)
    session.feed(lba=[0], sectors=[8], op=["write"], arrival_ns=[5])
    session.feed(lba=[0], sectors=[8], op=["write"], arrival_ns=[1])


def during_a_session(call: Callable[[wordline.Drive], Any]) -> Any:
    one = drive()
    session = one.session(**EMPTY)
    call(one)
    return session


def after_the_end() -> None:
    session = drive().session(**EMPTY)
    session.feed(columns())
    session.finish()
    session.feed(columns())


def back_in_time() -> None:
    session = drive().session(arrivals=True, **EMPTY)
    session.advance_to(10)
    session.advance_to(5)


def unfinished() -> None:
    one = drive()
    with one.session(**EMPTY) as session:
        session.feed(columns())
    one.run(columns(), depth=2)


def twice(folder: Path) -> None:
    (folder / "sv").mkdir()
    (folder / "sv" / "result.json").write_text("mine")
    run(columns()).save(folder / "sv")


#: Kinds of what is raised.
CONFIG, LOAD, RUN = wordline.ConfigError, wordline.WorkloadError, wordline.RunError

#: Mistakes: what is raised, and what its text must say, in this order. `tmp` stands for a folder of the test's own.
MISTAKES: dict[str, tuple[Callable[[Path], Any], type[BaseException], list[str]]] = {
    "a preset's name, wrong": (lambda _: wordline.Drive.preset("m63"), CONFIG, ["m63", "allowed", "client_tlc", 'did you mean "m64"']),
    "a number for a preset": (lambda _: wordline.Drive.preset(64), TypeError, ["name", "64 (int)", "allowed", '"m64"', "presets()"]),
    "a key of settings, mistyped": (lambda _: drive({"ftl.gc_victim.polcy": "greedy"}), CONFIG, ["ftl.gc_victim.polcy", "found", "allowed: policy", "did you mean"]),
    "a policy, mistyped": (lambda _: drive({"ftl.gc_victim.policy": "greedey"}), CONFIG, ["ftl.gc_victim.policy", '"greedey"', "allowed", 'did you mean "greedy"']),
    "a key of another policy": (lambda _: drive({"ftl.gc_victim.policy": "greedy", "ftl.gc_victim.d": 4}), CONFIG, ["ftl.gc_victim.d", "greedy", "allowed", "policies that have d: d_choices"]),
    "a key of another family": (lambda _: drive({"ftl.gc_victim.policy": "d_choices", "ftl.gc_victim.window": 4}), CONFIG, ["ftl.gc_victim.window", "window = 4", "allowed", "did you mean ftl.stream.window"]),
    "a size below 0": (lambda _: drive({"host.buffer.size_mib": -1}), CONFIG, ["host.buffer.size_mib", "-1", "allowed: 0.25 to 65536 MiB"]),
    "half a block": (lambda _: drive({"nand.geometry.blocks_per_plane": 64.5}), CONFIG, ["blocks_per_plane", "64.5", "allowed: a whole number, 1 to"]),
    "a float for a whole number": (lambda _: drive({"nand.geometry.blocks_per_plane": 64.0}), CONFIG, ["blocks_per_plane", "64.0", "allowed: a whole number, 1 to"]),
    "a setting that is no number": (lambda _: drive({"drive.over_provisioning_percent": float("nan")}), CONFIG, ["over_provisioning_percent", "nan", "allowed: 0 to"]),
    "None for a setting": (lambda _: drive({"drive.over_provisioning_percent": None}), TypeError, ["over_provisioning_percent", "NoneType", "allowed", "leave the key out"]),
    "bytes for a time": (lambda _: drive({"nand.timing.t_read_us": "5 MiB"}), CONFIG, ["t_read_us", '"5 MiB"', "allowed", "us"]),
    "a share for percent": (lambda _: drive({"drive.over_provisioning_percent": 0.07}), CONFIG, ["over_provisioning_percent", "found", "allowed", "over_provisioning_percent at least 6.8"]),
    "a key of a workload, mistyped": (lambda _: run({"patern": "zipf"}), LOAD, ["workload", "found none", "did you mean `pattern`", "allowed"]),
    "170 percent": (lambda _: run({"pattern": "zipf", "count": 100, "read_percent": 170}), LOAD, ["read_percent", "170", "allowed: 0 to 100"]),
    "a count below 0": (lambda _: run({"pattern": "zipf", "count": -5}), LOAD, ["count", "-5", "allowed: a whole number from 1", "1e4"]),
    "a file that is not there": (lambda _: run("nothere.csv"), LOAD, ["nothere.csv", "cannot open", "No such file"]),
    "a path that is not there": (lambda _: run(Path("nothere.csv")), LOAD, ["nothere.csv", "cannot open", "No such file"]),
    "a folder for a trace": (lambda tmp: run(tmp), LOAD, ["it is a directory", "must be a file"]),
    "floats for addresses": (lambda _: run(columns(lba=np.arange(ROWS) * 8.0)), LOAD, ["lba", "dtype float64", "allowed: whole numbers of sectors", 'astype("uint64")']),
    "half an address": (lambda _: run(columns(lba=np.arange(ROWS) * 8.5)), LOAD, ["lba[1]", "8.5", "float64", "allowed: whole numbers"]),
    "addresses that are not there": (lambda _: run(columns(lba=np.full(ROWS, np.nan))), LOAD, ["lba[0]", "NaN", "float64", "allowed: whole numbers"]),
    "addresses below 0": (lambda _: run(columns(lba=np.arange(ROWS) * 8 - 80)), LOAD, ["lba[0]", "-80", "allowed: whole numbers"]),
    "addresses beyond the drive": (lambda _: run(columns(lba=np.arange(ROWS) * 8 + 2**40)), LOAD, ["lba[0]", str(2**40), "sectors of 512 bytes", "allowed", "end at sector", "bytes"]),
    "offsets in bytes": (lambda _: run({"lba": np.arange(ROWS) * 4096, "sectors": np.full(ROWS, 4096), "op": np.ones(ROWS, int)}), LOAD, ["lba[239]", "978944", "allowed", "bytes // 512"]),
    "columns of unequal length": (lambda _: run(columns(sectors=np.full(ROWS - 1, 8))), LOAD, ["requests", "1000 of lba, 999 of sectors, 1000 of op", "allowed: columns of equal length", "sectors=8"]),
    "an array of two dimensions": (lambda _: run(columns(lba=np.zeros((ROWS, 2), int))), LOAD, ["lba", "int64 in 2 dimensions", "allowed: one dimension"]),
    "a kind of number 7": (lambda _: run(columns(op=np.full(ROWS, 7))), LOAD, ["op[0]", "7", "allowed: 0 to 3, or read, write, trim, flush"]),
    "a kind, mistyped": (lambda _: run(columns(op=np.full(ROWS, "wirte"))), LOAD, ["op[0]", '"wirte"', "allowed: 0 to 3, or read, write, trim, flush"]),
    "kinds as bytes": (lambda _: run(columns(op=np.full(ROWS, b"write"))), LOAD, ["op", "S5", "allowed: 0 to 3, or read", "numpy.char.decode(op)"]),
    "no sectors": (lambda _: run(columns(sectors=np.zeros(ROWS, int))), LOAD, ["sectors[0]", "0", "allowed: 1 to 4294967295 sectors of 512 bytes"]),
    "no column of sectors": (lambda _: run({"lba": np.arange(ROWS), "op": np.ones(ROWS, int)}), LOAD, ["sectors", "no such column", "allowed"]),
    "a column too many": (lambda _: run(columns(colour=np.ones(ROWS, int))), LOAD, ["requests", 'column "colour"', "allowed: arrival_ns, op, lba, sectors, fua", "leave the others out"]),
    "columns without rows": (lambda _: run({name: np.array([], int) for name in ("lba", "sectors", "op")}), LOAD, ["requests", "without rows", "allowed: a row"]),
    "arrivals in seconds": (lambda _: timed(arrival_ns=np.linspace(0, 1, ROWS)), LOAD, ["arrival_ns[1]", "0.001", "float64", "allowed: whole numbers of ns", "(seconds * 1e9)"]),
    "arrivals that go back": (lambda _: timed(arrival_ns=np.arange(ROWS)[::-1] * 1000), LOAD, ["arrival_ns[1]", "998000", "allowed: 999000 ns or later", "sort the rows"]),
    "a depth beside arrivals": (lambda _: run(columns(arrival_ns=np.arange(ROWS) * 1000)), CONFIG, ["depth", "4, beside arrival_ns", "allowed: one of them", 'loop_mode="closed"']),
    "arrivals as dates": (lambda _: timed(arrival_ns=np.arange(ROWS).astype("datetime64[us]")), LOAD, ["arrival_ns", "datetime64[us]", "allowed: whole numbers of ns", 'astype("timedelta64[ns]")']),
    "arrivals as lengths of time": (lambda _: timed(arrival_ns=np.arange(ROWS).astype("timedelta64[us]")), LOAD, ["arrival_ns", "timedelta64[us]", "allowed: whole numbers of ns", 'astype("timedelta64[ns]")']),
    "addresses of 2^63": (lambda _: run(columns(lba=np.full(ROWS, 2**63, dtype=np.uint64))), LOAD, ["lba[0]", str(2**63), "allowed", "end at sector"]),
    "a keyword, mistyped": (lambda _: run(columns(), deph=4), CONFIG, ["run.deph", "deph = 4", "allowed", "did you mean depth?"]),
    "a depth in words": (lambda _: drive().run(columns(), depth="four", **EMPTY), CONFIG, ["depth", '"four"', "allowed: a whole number, 0 to"]),
    "a depth below 0": (lambda _: drive().run(columns(), depth=-1, **EMPTY), CONFIG, ["depth", "-1", "allowed: a whole number, 0 to"]),
    "no workload": (lambda _: drive().run(), LOAD, ["nothing to run", "found no workload", "allowed: a path", '{"pattern": "uniform"']),
    "a number for a workload": (lambda _: drive().run(5), LOAD, ["workload", "5 (int)", "allowed: a path", '{"pattern": "uniform"']),
    "a percentile that a result does not have": (lambda _: run(columns())["latency_ns.read.p98"], KeyError, ["p98", "in latency_ns.read", "did you mean", "allowed", "p99"]),
    "a key that a result does not have": (lambda _: run(columns())["writeamp"], KeyError, ["writeamp", "allowed", "write_amplification"]),
    "a key of a value": (lambda _: run(columns())["reads.p99"], KeyError, ["reads.p99", "allowed: reads", "no table"]),
    "a column that a table does not have": (lambda _: run(columns()).timeseries["p99"], KeyError, ["p99", "allowed", "read_p99_ns"]),
    "requests that were not kept": (lambda _: run(columns()).requests, AttributeError, ["requests", "found none", "allowed", "keep_requests=True"]),
    "a frame of requests that were not kept": (lambda _: run(columns()).requests.to_pandas(), AttributeError, ["requests", "found none", "allowed", "keep_requests=True"]),
    "a column to plot, mistyped": (lambda _: run(columns()).plot("read_p98_ns"), KeyError, ["read_p98_ns", "did you mean", "read_p99_ns", "allowed"]),
    "a family, mistyped": (lambda _: with_policy(greedy, "gc_victm"), CONFIG, ["policies", '"gc_victm"', "allowed: gc_victim", 'did you mean "gc_victim"']),
    "a policy that returns nothing": (lambda _: cleaned(lambda lane: None), RUN, ["ftl.gc_victim", "call 1", "no block", "allowed: one of"]),
    "a policy that returns a float": (lambda _: cleaned(lambda lane: float(lane.live.argmin())), RUN, ["ftl.gc_victim", "call 1", "not a whole number", "int()", "allowed: one of"]),
    "a policy that raises": (lambda _: cleaned(lambda lane: 1 / 0), RUN, ["ftl.gc_victim", "call 1", "test_mistakes.py", "ZeroDivisionError", "allowed"]),
    "a policy without an argument": (lambda _: cleaned(lambda: 0), CONFIG, ["policies: gc_victim", "<lambda>()", "too many positional arguments", "allowed: one argument, the lane"]),
    "a policy that writes into what it sees": (lambda _: cleaned(lambda lane: lane.live.__setitem__(0, 1)), RUN, ["ftl.gc_victim", "call 1", "read-only", "allowed"]),
    "a list for policies": (lambda _: drive(policies=[greedy]), TypeError, ["policies", "list", "allowed: a dict", "gc_victim"]),
    "a library that is not there": (lambda _: with_policy("no.so"), CONFIG, ["policy.gc_victim", "no.so", "found", "No such file", "allowed: a shared library", "wordline new policy"]),
    "a source file for a library": (lambda _: with_policy("mine.c"), CONFIG, ["policies: gc_victim", "mine.c", "a source file", "allowed", "cc -O2 -shared -fPIC -o mine.so mine.c"]),
    "garbage for a snapshot": (lambda _: wordline.Drive.restore(b"garbage"), wordline.SnapshotError, ["not a snapshot", "it begins otherwise", "allowed", "drive.snapshot()"]),
    "a number for a snapshot": (lambda _: wordline.Drive.restore(5), TypeError, ["snapshot", "5 (int)", "allowed", "drive.snapshot()"]),
    "a snapshot that is not there": (lambda _: wordline.Drive.restore("no.snap"), wordline.SnapshotError, ["no.snap", "cannot read the snapshot", "No such file"]),
    "a snapshot with a policy in Python": (lambda _: with_policy(greedy).snapshot(), wordline.SnapshotError, ["cannot be saved", "ftl.gc_victim", "not from a configuration"]),
    "ageing without cells": (lambda _: drive().age("cycle to 3000"), CONFIG, ["age", "cycle to 3000", "cells do not age", "allowed", "nand.errors.model", "presets: aged_tlc"]),
    "a step of ageing that is none": (lambda _: wordline.Drive.preset("aged_tlc", SMALL).age("bake at 900"), CONFIG, ["age", "bake at 900", "allowed", "retain 12 months"]),
    "a number for a step of ageing": (lambda _: drive().age(3000), TypeError, ["steps[0]", "3000 (int)", "allowed", "cycle to 3000"]),
    "a configuration that is not there": (lambda _: wordline.Drive.from_toml("no.toml"), CONFIG, ["no.toml", "cannot read", "No such file"]),
    "a number for a configuration": (lambda _: wordline.Drive.from_toml(5), TypeError, ["config", "5 (int)", "allowed", "path"]),
    "a folder that holds something else": (twice, FileExistsError, ["sv", "found", "result.json", "allowed"]),
    "a report where no folder is": (lambda _: run(columns()).report("/nonexistent/x.html"), OSError, ["/nonexistent/x.html", "its folder does not exist"]),
    "a sweep without a file": (lambda _: wordline.sweep(["grid"], "o"), TypeError, ["file", "(list)", "allowed: the path of a sweep file", "[grid]", "a dict"]),
    "a sweep that varies nothing": (lambda _: wordline.sweep({"grid": {}}, "o"), CONFIG, ["file:1", "varies nothing", "allowed: keys in [grid]"]),
    "a sweep that is not there": (lambda tmp: wordline.sweep("no.toml", tmp / "o"), CONFIG, ["no.toml", "cannot read the sweep", "No such file"]),
    "a drive for the name of one": (lambda _: wordline.run({"pattern": "zipf", "count": 100}, drive()), TypeError, ["drive", "Drive", "allowed", '"m64"', "drive.run(workload)"]),
    "columns without a drive": (lambda _: wordline.run(columns()), LOAD, ["columns of requests", "no drive", "allowed", ".run(columns)"]),
    "a second argument without its name": (lambda _: drive().run(columns(), 4), TypeError, ["second positional argument", "4 (int)", "allowed", "depth=4"]),
    "arrivals that go back, in a session": (lambda _: unordered(), LOAD, ["arrival_ns[0]", "1", "allowed: 5 ns or later"]),
    "a run during a session": (lambda _: during_a_session(lambda one: one.run(columns(), depth=1)), wordline.WordlineError, ["the drive is busy", "session", "finish()"]),
    "a snapshot during a session": (lambda _: during_a_session(lambda one: one.snapshot()), wordline.WordlineError, ["the drive is busy", "session", "finish()"]),
    "requests after the end": (lambda _: after_the_end(), wordline.WordlineError, ["finished", "drive.session()"]),
    "time that goes back": (lambda _: back_in_time(), LOAD, ["ns", "5 ns", "allowed: 10 ns or later", "does not go back"]),
    "a session that is left unfinished": (lambda _: unfinished(), RuntimeWarning, ["without finish()", "is lost", "session.finish()"]),
    "a request without its arrival": (lambda _: drive().session(arrivals=True, **EMPTY).submit("read", 0, 8), LOAD, ["arrival_ns", "none", "allowed: 0 ns or later"]),
    "an address below 0, in a session": (lambda _: drive().session(**EMPTY).submit("read", -8, 8), LOAD, ["lba", "-8 (int)", "allowed: whole numbers of sectors"]),
    "a kind that is none, in a session": (lambda _: drive().session(**EMPTY).submit(None, 8, 8), LOAD, ["op", "NoneType", "allowed: 0 to 3, or read"]),
    "a number for requests, in a session": (lambda _: drive().session(**EMPTY).feed(5), LOAD, ["requests", "5 (int)", "allowed: a dict or a data frame"]),
}


@pytest.mark.parametrize("label", LEGAL)
def test_what_is_legal_does_what_it_says(label: str) -> None:
    call, expected = LEGAL[label]
    assert call() == expected


@pytest.mark.filterwarnings("error::RuntimeWarning")
# Sessions that end with a mistake have nobody to warn.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("label", MISTAKES)
def test_a_mistake_is_answered_in_full(label: str, tmp_path: Path) -> None:
    call, kind, says = MISTAKES[label]
    os.chdir(tmp_path)
    with pytest.raises(kind) as raised:
        call(tmp_path)
    text, at = str(raised.value), 0
    for part in says:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} is missing after {text[:at]!r} in {text!r}"
        at = found
    # One screen, and nothing of how Python or the program is made.
    assert len(text) < 4_000
    assert not any(inside in text for inside in ("PathLike", "pyo3", "instance of 'str'", "unsigned", "TOML"))


def test_there_are_a_hundred() -> None:
    assert len(LEGAL) + len(MISTAKES) >= 100 and len(MISTAKES) >= 85
