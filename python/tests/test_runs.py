"""One run by five ways: the command line, a dict, arrays, sessions in batches, a sweep."""

import numpy
import pytest
from conftest import SMALL, flat, program, told, traces

import wordline

PRESETS = ["client_tlc", "tlc", "qlc", "m64", "straw"]


def requests(count: int = 3_000) -> dict:
    """Requests that some drive has served, as columns."""
    drive = wordline.Drive.preset("client_tlc", SMALL)
    workload = {"pattern": "zipf", "count": count, "read_percent": 40, "seed": 3}
    served = drive.run(workload, fill_percent=0, overwrite="none", depth=1, keep_requests=True).requests
    # With one in flight they complete in the order in which they came.
    return {name: served[name] for name in ("lba", "sectors", "op")}


@pytest.mark.parametrize("preset", PRESETS)
def test_every_way_gives_one_hash(preset: str, tmp_path) -> None:
    columns = requests()
    trace = tmp_path / "trace.csv"
    rows = zip(columns["op"], columns["lba"], columns["sectors"], strict=True)
    lines = [f"{at * 1000},{op[0].upper()},{lba},{n}\n" for at, (op, lba, n) in enumerate(rows)]
    trace.write_text("#wordline 1 time_ns,op,lba,sectors\n" + "".join(lines))
    run = {"depth": 8, "loop_mode": "closed", "fill_percent": 50, "overwrite": "none"}
    settings = {"nand.geometry.blocks_per_plane": 128, "nand.geometry.wordlines_per_block": 16}
    flags = flat({**settings, **{f"run.{key}": value for key, value in run.items()}})
    line = told(str(trace), "--drive", preset, *flags)
    new = lambda: wordline.Drive.preset(preset, settings)  # noqa: E731
    hashes = {"line": line["event_hash"]}
    hashes["path"] = new().run(str(trace), **run)["event_hash"]
    hashes["dict"] = new().run({"path": str(trace)}, **run)["event_hash"]
    hashes["arrays"] = new().run(columns, **run)["event_hash"]
    for batch in (1, 7, 4096):
        drive = new()
        session = drive.session(**run)
        for first in range(0, len(columns["lba"]), batch):
            session.feed({name: values[first : first + batch] for name, values in columns.items()})
        hashes[f"batches of {batch}"] = session.finish()["event_hash"]
    sweep = tmp_path / "grid.toml"
    keys = "".join(f"{key} = {value!r}\n".replace("'", '"') for key, value in {"preset": preset, **settings}.items())
    rows = "".join(f"{key} = {value!r}\n".replace("'", '"') for key, value in run.items())
    grid = "[grid]\nworkload.first = [2999, 3000]\n"
    sweep.write_text(f'{keys}[run]\n{rows}[workload]\npath = "{trace}"\n{grid}')
    swept = wordline.sweep(sweep, tmp_path / "out", cache=False)
    rows = {row["workload.first"]: row for row in swept.rows}
    assert rows[3000]["status"] == "ok"
    kept = (tmp_path / "out" / "runs" / f"{rows[3000]['run']}.json").read_text()
    assert f'"event_hash":"{line["event_hash"]}"' in kept
    assert set(hashes.values()) == {line["event_hash"]}, hashes


def test_a_recorded_trace_on_a_drive_made_for_it_is_what_the_command_line_does() -> None:
    trace = str(traces() / "rocksdb-ycsb-a-run1.csv.zst")
    line = told(trace, "--set", "run.requests=20000")
    result = wordline.run(trace, requests=20_000)
    assert result["event_hash"] == line["event_hash"]
    assert result["latency_ns"] == line["latency_ns"]
    assert set(result.keys()) == set(line)


def test_a_drive_goes_on_from_where_it_is(small: wordline.Drive) -> None:
    load = {"pattern": "uniform", "count": 2_000, "read_percent": 30}
    # The same past as a drive has that is made old without a workload.
    first = small.run(load, past="uniform")
    assert first["preconditioning.units_filled"] > 0
    second = small.run(load)
    assert second["preconditioning.units_filled"] == 0
    assert first["event_hash"] != second["event_hash"]
    other = wordline.Drive.preset("client_tlc", SMALL)
    # As for a run that keeps requests in flight.
    other.precondition(overwrite_pace="saturated")
    assert other.run(load)["event_hash"] == first["event_hash"]


def test_cells_age() -> None:
    drive = wordline.Drive.preset("client_tlc", {**SMALL, "nand.errors.model": "cells"})
    drive.precondition(overwrite="none")
    drive.age("cycle to 3000", "retain 6 months")
    result = drive.run({"pattern": "uniform", "count": 2_000, "read_percent": 100})
    assert sum(result["flash.retries.histogram"][1:]) > 0


def test_arrays_of_all_kinds_and_lists_are_requests(small: wordline.Drive) -> None:
    n = 64
    ways = [
        {"lba": numpy.arange(n, dtype=kind) * 8, "sectors": numpy.full(n, 8, dtype=kind), "op": numpy.ones(n, dtype="u1")}
        for kind in ("u8", "i8", "u4", "i4")
    ]
    ways.append({"lba": [8 * at for at in range(n)], "sectors": [8] * n, "op": ["write"] * n})
    ways.append({"lba": [8 * at for at in range(n)], "sectors": [8] * n, "op": ["W"] * n, "fua": numpy.zeros(n, bool)})
    snapshot = small.snapshot()
    hashes = {wordline.Drive.restore(snapshot).run(way, overwrite="none")["event_hash"] for way in ways}
    assert len(hashes) == 1


def test_requests_come_at_their_times(small: wordline.Drive) -> None:
    n = 50
    result = small.run(
        {"arrival_ns": numpy.arange(n) * 10_000_000, "lba": numpy.arange(n) * 8, "sectors": [8] * n, "op": ["read"] * n},
        keep_requests=True,
    )
    assert (result.requests["arrival_ns"] == numpy.arange(n) * 10_000_000).all()
    assert result["simulated_ns"] > (n - 1) * 10_000_000


def test_sweeps_tell_errors_as_the_command_line_does(tmp_path) -> None:
    wrong = tmp_path / "grid.toml"
    wrong.write_text("[workload]\npattern = \"uniform\"\n[gird]\n")
    with pytest.raises(wordline.ConfigError) as raised:
        wordline.sweep(wrong, tmp_path / "out")
    line = program("sweep", str(wrong), "-o", str(tmp_path / "out"), check=False)
    assert str(raised.value) == line.stderr.strip().removeprefix("error: ")
    assert 'did you mean "grid"?' in str(raised.value)
