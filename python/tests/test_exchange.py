"""What comes out goes on: into pickles, data frames, pages and comparisons; and what others have goes in."""

import copy
import os
import pickle
import signal
import threading
from pathlib import Path

import numpy
import pytest
from conftest import SMALL, program

import wordline

EMPTY = {"fill_percent": 0, "overwrite": "none"}
LOAD = {"pattern": "uniform", "count": 1_000}


def small(**more: object) -> wordline.Drive:
    return wordline.Drive.preset("client_tlc", SMALL, **more)


@pytest.fixture(scope="module")
def result() -> wordline.Result:
    return small().run({"pattern": "uniform", "count": 3_000}, keep_requests=True, cache=False, name="mine")


def same(one: wordline.Table | None, other: wordline.Table | None) -> bool:
    if one is None or other is None:
        return one is other
    pairs = zip(one.items(), other.items(), strict=True)

    def are(left: numpy.ndarray, right: numpy.ndarray) -> bool:
        return left.tolist() == right.tolist() or numpy.array_equal(left, right, equal_nan=True)

    return all(a == b and left.dtype == right.dtype and are(left, right) for (a, left), (b, right) in pairs)


@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy"])
def test_results_and_tables_are_copied_whole(result: wordline.Result, way: str, tmp_path: Path) -> None:
    ways = {"pickle": lambda of: pickle.loads(pickle.dumps(of)), "copy": copy.copy, "deepcopy": copy.deepcopy}
    again = ways[way](result)
    assert again.to_json() == result.to_json() and again.config == result.config and repr(again) == repr(result)
    for name in ("timeseries", "dies", "channels", "blocks", "requests"):
        table = getattr(result, name)
        assert same(table, getattr(again, name)) and same(table, ways[way](table)), name
        assert list(ways[way](table).column(table.columns[0]).to_numpy()) == list(table[table.columns[0]])
    # Not only what is asked for: the page and the folder, too.
    assert again.report() == result.report()
    written = [sorted(path.name for path in map(Path, of.save(tmp_path / name))) for name, of in (("a", result), ("b", again))]
    assert written[0] == written[1]
    # A second generation is like the first; a result without tables of requests has none either.
    assert ways[way](again).to_json() == result.to_json()
    bare = ways[way](small().run(LOAD, samples=0, **EMPTY))
    assert bare.timeseries is None and not hasattr(bare, "requests")


def test_a_damaged_pickle_is_an_error(result: wordline.Result) -> None:
    table, (_, columns) = result.requests, result.requests.__reduce__()[1]
    for wrong in (
        [(*columns[0][:2], columns[0][2][:-1], [])],
        [columns[0], (*columns[1][:2], columns[1][2][:-8], [])],
        [("op", "names", b"\x05", ["read"])],
        [("op", "strange", b"", [])],
    ):
        with pytest.raises(wordline.WordlineError, match="damaged"):
            wordline.Table._unpickled(table.__repr__(), wrong)
    for json, tables in (("{}", "[null, null]"), (result.to_json(), "5"), (result.to_json()[:-9], "[null, null]")):
        with pytest.raises(wordline.WordlineError, match="cannot be used"):
            wordline.Result._unpickled(json, "", tables)


def test_tables_are_frames(result: wordline.Result) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    for table in (result.requests, result.blocks, result.timeseries):
        frame = pandas.DataFrame(table)
        assert list(frame.columns) == table.columns and len(frame) == len(table)
        assert frame.equals(table.to_pandas())
        assert polars.DataFrame(table).columns == table.columns and len(polars.DataFrame(table)) == len(table)
        assert pyarrow.table(table).column_names == table.columns
    assert isinstance(result.requests, wordline.Table) and type(result.requests) is wordline.Table


def test_frames_are_workloads(result: wordline.Result) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"lba": numpy.arange(600) * 8, "sectors": numpy.full(600, 8), "op": numpy.array(["read", "write", "trim"] * 200)}
    frame = pandas.DataFrame(columns)
    arrow = pyarrow.table({name: list(values) for name, values in columns.items()})
    structured = numpy.zeros(600, dtype=[("lba", ">u8"), ("sectors", "u2"), ("op", "U5")])
    for name, values in columns.items():
        structured[name] = values
    ways = [columns, frame, frame.convert_dtypes(), frame.astype({"op": "category"}), polars.DataFrame(columns), arrow, structured]
    hashes = {small().run(way, depth=4, **EMPTY)["event_hash"] for way in ways}
    hashes |= {small().run(dict(frame.items()), depth=4, **EMPTY)["event_hash"]}
    for way in ways:
        session = small().session(depth=4, **EMPTY)
        session.feed(way)
        hashes.add(session.finish()["event_hash"])
    assert len(hashes) == 1
    # What was measured is run again, without what requests do not have.
    again = small().run(pandas.DataFrame(result.requests)[["arrival_ns", "op", "lba", "sectors"]].sort_values("arrival_ns"), **EMPTY)
    assert again["requests_served"] == 3_000
    frame.loc[5, "lba"] = None
    with pytest.raises(wordline.WorkloadError, match=r"lba\[5\]\n    found:   NaN, in .*float64"):
        small().run(frame, **EMPTY)
    with pytest.raises(wordline.WorkloadError, match=r"lba\[5\]\n    found:   "):
        small().run(frame.convert_dtypes(), **EMPTY)


def test_single_values_stand_for_all_rows() -> None:
    lba = [0, 8, 16]
    whole = small().run({"lba": lba, "sectors": [8] * 3, "op": ["write"] * 3, "fua": [True] * 3}, **EMPTY)
    for sectors, op, fua in [(8, "write", True), (numpy.int64(8), 1, 1), (numpy.uint8(8), numpy.int32(1), numpy.True_)]:
        assert small().run({"lba": lba, "sectors": sectors, "op": op, "fua": fua}, **EMPTY)["event_hash"] == whole["event_hash"]
    session = small().session(**EMPTY)
    session.feed(lba=8, sectors=8, op="write")
    assert session.finish()["requests_served"] == 1


def test_requests_end_where_the_drive_does() -> None:
    drive = small()
    end = drive.logical_bytes // 512
    assert drive.run({"lba": [end - 8], "sectors": 8, "op": "write"}, **EMPTY)["requests_served"] == 1
    for lba, sectors in [(end - 7, 8), (end, 1), (2**63, 8), (2**64 - 1, 8)]:
        told = rf"lba\[1\]\n    found:   {lba}, for {sectors} sectors of 512 bytes\n    allowed: .*sector {end} .*{end * 512} bytes"
        with pytest.raises(wordline.WorkloadError, match=told):
            drive.run({"lba": [0, lba], "sectors": sectors, "op": "write"}, **EMPTY)
        with drive.session(**EMPTY) as session:
            with pytest.raises(wordline.WorkloadError, match=told):
                session.feed(lba=[0, lba], sectors=sectors, op="read")
            with pytest.raises(wordline.WorkloadError, match="lba\n"):
                session.submit("trim", lba, sectors)
    # A flush has no place.
    assert drive.run({"lba": [2**40], "sectors": [0], "op": "flush"}, **EMPTY)["requests_served"] == 1


def test_results_stand_side_by_side(result: wordline.Result, tmp_path: Path) -> None:
    other = small().run(LOAD, name="other", **EMPTY)
    other.save(tmp_path / "other")
    compared = wordline.compare(result, other)
    assert compared.names == ["mine", "other"] and len(compared) == 2 and "mine" in str(compared)
    for same_ones in ([result, other], {"mine": result, "other": tmp_path / "other"}):
        assert str(wordline.compare(same_ones)) == str(compared)
    result.save(tmp_path / "mine")
    printed = program("compare", str(tmp_path / "mine"), str(tmp_path / "other")).stdout
    assert printed.splitlines()[0] in str(wordline.compare(tmp_path / "mine", tmp_path / "other"))
    assert str(wordline.compare(result, other, baseline="other")).split()[:2] == ["other", "mine"]
    assert compared._repr_html_().startswith("<pre>") and compared.to_csv().startswith("run,")
    assert compared.to_markdown().startswith("|")
    assert "read_latency_p99" in wordline.compare(result, other, keys=["read_latency_p99"]).to_csv()
    for wrong, told in [
        (lambda: wordline.compare(), "results\n    found:   none"),
        (lambda: wordline.compare(5), r"results\n    found:   5 \(int\)"),
        (lambda: wordline.compare(result, None), "results"),
        (lambda: wordline.compare(result, tmp_path / "nowhere"), "nowhere"),
        (lambda: wordline.compare(result, other, baseline="othr"), 'found:   "othr"(.|\n)*did you mean "other"'),
        (lambda: wordline.compare(result, keys=["read_latncy_p99"]), "did you mean"),
    ]:
        with pytest.raises((wordline.WordlineError, TypeError), match=told):
            wrong()


def test_results_make_a_page(result: wordline.Result, tmp_path: Path) -> None:
    other = small().run(LOAD, name="other", **EMPTY)
    other.save(tmp_path / "other")
    page = wordline.report([result, tmp_path / "other"])
    assert page is not None and "mine" in page and "other" in page
    assert wordline.report([result, other], tmp_path / "page.html") is None
    with pytest.raises(FileExistsError):
        wordline.report([result, other], tmp_path / "page.html")
    wordline.report([result], tmp_path / "page.html", force=True)
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(FileExistsError):
        wordline.report([result], tmp_path / "mine.html", force=True)
    assert wordline.report(result) == result.report()


def test_what_ships_is_listed() -> None:
    listed = program("presets").stdout
    for kind in ("drive", "nand", "cell", "workload"):
        names = wordline.presets(kind)
        assert names and all(name in listed and text in listed for name, text in names.items())
    assert "m64" in wordline.presets()
    with pytest.raises(wordline.ConfigError, match='kind\n    found:   "drives"\n    allowed: drive, .*\n    did you mean "drive"'):
        wordline.presets("drives")


def test_a_notebook_shows_tables_as_tables(result: wordline.Result) -> None:
    html = result.requests._repr_html_()
    assert html.count("<tr>") == 22 and "<th>latency_ns</th>" in html and "3000 rows" in html
    hostile = wordline.Table._unpickled("<b>", [("<script>", "words", b"", ["<img onerror=x>", "&"])])._repr_html_()
    assert "<script>" not in hostile and "<img" not in hostile and hostile.count("<tr>") == 3


def test_tables_are_read_as_dicts_are(result: wordline.Result) -> None:
    blocks = result.blocks
    assert list(blocks.keys()) == blocks.columns == list(blocks)
    assert [name for name, _ in blocks.items()] == blocks.columns and len(list(blocks.values())) == len(blocks.columns)
    assert blocks.get("nowhere", 5) == 5 and blocks.get("nowhere") is None and len(blocks.get("erases")) == len(blocks)


def test_nothing_programmed_has_no_write_amplification() -> None:
    drive = small()
    for ops in ("read", "write"):
        result = drive.run({"lba": [0, 8], "sectors": 8, "op": ops}, **EMPTY)
        assert result["bytes_programmed"] == 0 if "bytes_programmed" in result else True
        assert result["write_amplification"] is None
        assert set(result["write_amplification_by_cause"].values()) == {None}


@pytest.mark.parametrize("way", ["workload", "columns"])
def test_ctrl_c_gives_what_was_measured(way: str) -> None:
    drive = small()
    lba = numpy.random.default_rng(1).integers(0, 200_000, 5_000_000) * 8 % (drive.logical_bytes // 512 - 8)
    load = {"lba": lba, "sectors": 8, "op": "write"} if way == "columns" else {**LOAD, "count": 1_000_000_000}
    told: list[str] = []

    def once_it_runs(phase: str, done: int, total: int | None) -> None:
        told.append(phase)
        if done > 0 and phase == "running":
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as raised:
        drive.run(load, progress=once_it_runs, **EMPTY)
    result = raised.value.result
    assert isinstance(result, wordline.Result) and 0 < result["requests_served"] and result["ended"].startswith("interrupted")
    assert ".result" in raised.value.__notes__[0]
    assert drive.run(LOAD)["requests_served"] == 1_000
    # Where nothing was measured there is nothing.
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as raised:
        wordline.Drive.preset("client_tlc").run(LOAD, cache=False)
    assert not hasattr(raised.value, "result")


def test_long_work_tells_how_far_it_is(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wordline._progress.QUIET", 0.0)
    told: list[tuple[str, int, int | None]] = []
    large = wordline.Drive.preset("client_tlc", {**SMALL, "nand.geometry.blocks_per_plane": 256})
    large.precondition(progress=lambda *at: told.append(at), overwrite="times", overwrite_times=4)
    phases = [phase for phase, _, _ in told]
    assert "overwriting" in phases and all(0 <= done and (total is None or done <= total) for _, done, total in told)
    # A line where it is asked for, nothing where nobody looks; and it is gone at the end.
    drive = small()
    drive.run({**LOAD, "count": 3_000_000}, progress=True, **EMPTY)
    shown = capfd.readouterr().err
    assert "\rwordline: running " in shown and shown.endswith("\r")
    drive.run({**LOAD, "count": 1_000}, **EMPTY)
    assert capfd.readouterr().err == ""
    # What it raises ends the run.
    def bored(*at: object) -> None:
        raise ValueError("bored")

    with pytest.raises(ValueError, match="bored") as raised:
        drive.run({**LOAD, "count": 1_000_000_000}, progress=bored, **EMPTY)
    assert raised.value.result["requests_served"] > 0
    with pytest.raises(TypeError, match=r"progress\n    found:   5 \(int\)\n    allowed: True"):
        drive.run(LOAD, progress=5, **EMPTY)


def test_a_run_error_has_the_exception_of_the_policy_as_its_cause() -> None:
    def policy(lane: wordline.Lane) -> int:
        return 1 // 0

    drive = small(policies={"gc_victim": policy})
    with pytest.raises(wordline.RunError, match="ZeroDivisionError") as raised:
        drive.run({"pattern": "uniform", "count": 60_000, "read_percent": 0, "size_bytes": 65536}, **EMPTY)
    cause = raised.value.__cause__
    assert isinstance(cause, ZeroDivisionError) and cause.__traceback__.tb_frame.f_code.co_name == "policy"
    assert "in policy" in str(raised.value) and raised.value.result["requests_served"] > 0


def test_what_a_policy_sees_is_read_only() -> None:
    def policy(lane: wordline.Lane) -> int:
        for array in (lane.live, lane.eligible, lane.state, lane.erases, lane.closed_at, lane.wear_q12):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        seen.append(lane.live.copy())
        return int(numpy.where(lane.eligible, lane.live, 2**32 - 1).argmin())

    seen: list[numpy.ndarray] = []
    drive = small(policies={"gc_victim": policy})
    drive.run({"pattern": "uniform", "count": 30_000, "read_percent": 0, "size_bytes": 65536}, **EMPTY)
    assert len(seen) > 1 and any((one != seen[0]).any() for one in seen)


def test_a_session_that_is_not_finished_is_told() -> None:
    drive = small()
    with pytest.warns(RuntimeWarning, match=r"without finish\(\)"), drive.session(**EMPTY) as session:
        session.feed(lba=[0], sectors=8, op="write")
    with pytest.warns(RuntimeWarning, match=r"without finish\(\)"):
        session = drive.session(**EMPTY)
        session.submit("write", 0, 8)
        del session
    # One with an exception has something else to tell, and one that was not fed has nothing to lose.
    with pytest.raises(KeyError), drive.session(**EMPTY) as session:
        session.feed(lba=[0], sectors=8, op="write")
        raise KeyError("mine")
    with drive.session(**EMPTY):
        pass
