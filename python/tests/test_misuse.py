"""What users do by mistake, or in another order than it was thought of: nothing is lost, and nothing is silent."""

import array
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import SMALL, flat, interrupt, program

import wordline

#: A drive that is run as it is, empty.
EMPTY = {"fill_percent": 0, "overwrite": "none"}
LOAD = {"pattern": "uniform", "count": 1_000}


def small() -> wordline.Drive:
    return wordline.Drive.preset("client_tlc", SMALL)


def many(count: int) -> dict:
    """Writes at random."""
    lba = numpy.random.default_rng(1).integers(0, 200_000, count) * 8
    return {"lba": lba, "sectors": numpy.full(count, 8), "op": numpy.ones(count, dtype="u1")}


def msr(path: Path) -> Path:
    """A trace of two requests."""
    path.write_text("128166372003061629,hm,0,Read,0,4096,100\n128166372003061700,hm,0,Write,4096,4096,100\n")
    return path


def test_who_finds_a_drive_busy_leaves_it_to_be_stopped() -> None:
    drive = small()
    ended: list[BaseException] = []

    def run() -> None:
        try:
            drive.run({"pattern": "uniform", "count": 100_000_000}, **EMPTY)
        except wordline.RunError as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(0.3)
    for attempt in (lambda: drive.run(LOAD), drive.precondition, drive.session):
        with pytest.raises(wordline.WordlineError, match="busy"):
            attempt()
    drive.stop()
    thread.join(5)
    assert not thread.is_alive() and len(ended) == 1


def test_a_session_that_nobody_has_any_more_gives_its_drive_back() -> None:
    drive = small()
    session = drive.session(**EMPTY)
    session.feed(lba=[0], sectors=[8], op=["write"])
    del session
    gc.collect()
    assert drive.run(LOAD, **EMPTY)["requests_served"] == 1_000


def test_a_run_that_never_began_leaves_a_new_drive_new() -> None:
    drive, other = small(), small()
    with pytest.raises(wordline.WorkloadError, match="footprint_gib"):
        drive.run({**LOAD, "footprint_gib": 5_000.0})
    assert drive.run(LOAD)["event_hash"] == other.run(LOAD)["event_hash"]


def test_a_copy_knows_its_run_table_and_its_workload() -> None:
    text = 'preset = "client_tlc"\n[run]\ndepth = 3\nsamples = 7\n[workload]\npattern = "uniform"\ncount = 500\n'
    drive = wordline.Drive.from_toml(text, SMALL)
    copies = [pickle.loads(pickle.dumps(drive)), wordline.Drive.restore(drive.snapshot())]
    results = [each.run(**EMPTY) for each in (drive, *copies)]
    assert {result["depth"] for result in results} == {3}
    assert len({result["event_hash"] for result in results}) == 1


def test_a_request_log_does_not_overwrite_what_is_read(tmp_path: Path) -> None:
    trace = msr(tmp_path / "in.csv")
    before = trace.read_text()
    flags = ["--request-log", str(trace), "--drive", "client_tlc", *flat(SMALL), "--quiet"]
    line = program("run", str(trace), *flags, check=False).stderr.strip().removeprefix("error: ")
    with pytest.raises(wordline.WordlineError) as raised:
        small().run(trace, request_log=trace, **EMPTY)
    assert trace.read_text() == before
    assert str(raised.value).removeprefix("request_log") == line.removeprefix("--request-log")


def test_where_a_request_log_cannot_be_is_known_before_the_run(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "log.csv"
    drive = small()
    with pytest.raises(wordline.WordlineError) as raised:
        drive.run(LOAD, request_log=path)
    assert str(raised.value) == f"{path}: cannot write the request log: its folder does not exist"
    assert drive.run(LOAD)["event_hash"] == small().run(LOAD)["event_hash"]


def test_what_is_fed_names_what_is_wrong_with_it() -> None:
    drive = small()
    with pytest.raises(wordline.WorkloadError, match=r"sectors\[1\]\n    found:   0\n"):
        drive.run({"lba": [0, 8], "sectors": [8, 0], "op": ["read", "read"]}, **EMPTY)
    with pytest.raises(wordline.WorkloadError, match="lba"):
        drive.run({"lba": numpy.zeros((2, 3), dtype="u8"), "sectors": [8] * 6, "op": [1] * 6}, **EMPTY)


#: What an array of whole numbers may be of.
WHOLE = ["u1", "i1", *(f"{order}{sign}{size}" for order in "<>" for sign in "ui" for size in (2, 4, 8))]


@pytest.mark.parametrize("dtype", WHOLE)
def test_arrays_of_every_size_and_byte_order_are_read_as_they_are(dtype: str) -> None:
    lba = numpy.array([8, 16, 24], dtype=dtype)
    wide = numpy.repeat(lba, 2)
    backwards, of_record = lba[::-1].copy()[::-1], numpy.zeros(3, dtype=[("pad", "u1"), ("lba", dtype)])
    of_record["lba"] = lba
    unwritable = lba.copy()
    unwritable.flags.writeable = False
    ways = [lba, wide[::2], backwards, of_record["lba"], unwritable, memoryview(lba), lba.tobytes()]
    for way in ways[: None if lba.itemsize == 1 else -1]:
        session = small().session(**EMPTY)
        session.feed(lba=way, sectors=numpy.array([8] * 3, dtype=dtype), op=numpy.array([0, 1, 2], dtype=dtype))
        assert session.finish()["requests_served"] == 3
        kept = small().run({"lba": way, "sectors": [8] * 3, "op": [1] * 3}, keep_requests=True, **EMPTY).requests
        assert sorted(kept["lba"]) == [8, 16, 24]
    same = numpy.broadcast_to(numpy.array([8], dtype=dtype), (3,))
    kept = small().run({"lba": same, "sectors": [8] * 3, "op": [1] * 3}, keep_requests=True, **EMPTY).requests
    assert list(kept["lba"]) == [8, 8, 8]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (numpy.array([8.0, 16.0]), "float64"),
        (numpy.array([8.0, 16.0], dtype=">f4"), ">f4"),
        (numpy.array([8.0, 16.0], dtype="f2"), "float16"),
        (numpy.array([8, 16], dtype="c16"), "complex128"),
        (numpy.array([8, 16], dtype="m8[ns]"), "timedelta64"),
        (numpy.array([8, 16], dtype="M8[ns]"), "datetime64"),
        (numpy.array(["8", "16"]), "<U2"),
        (numpy.array([b"8", b"16"]), "S2"),
        (numpy.zeros(2, dtype=[("a", "u4")]), r"\('a', '<u4'\)"),
        (numpy.array(8, dtype=">u4"), "0 dimensions"),
        (numpy.array([[8, 16]], dtype=">u4"), "2 dimensions"),
        (numpy.array([8, -16], dtype=">i4"), "-16"),
        (numpy.array([8, -128], dtype="i1"), "-128"),
        (numpy.ma.array([8, 16], mask=[False, True]), "NoneType"),
        (array.array("d", [8.0, 16.0]), "array.array of format d"),
        ([8, -16], "-16"),
        ([8, 16.0], "16.0"),
        ([8, float("nan")], "nan"),
        ([8, None], "NoneType"),
        ({8, 16}, "set"),
        ([8, 2**64], "18446744073709551616"),
    ],
)
def test_what_is_no_column_of_whole_numbers_is_refused_by_what_it_is(values: object, found: str) -> None:
    with pytest.raises(wordline.WorkloadError, match=f"lba.*\n    found:   .*{found}.*\n    allowed: "):
        small().run({"lba": values, "sectors": [8, 8], "op": [0, 0]}, **EMPTY)


def test_times_do_not_go_back_from_one_batch_to_the_next() -> None:
    session = small().session(arrivals=True, **EMPTY)
    session.feed(lba=[0], sectors=[8], op=["write"], arrival_ns=[10_000_000])
    with pytest.raises(wordline.WorkloadError, match=r"arrival_ns\[0\]\n    found:   5\n"):
        session.feed(lba=[0], sectors=[8], op=["write"], arrival_ns=[5])


def test_no_request_arrives_in_time_that_has_passed() -> None:
    drive = small()
    with drive.session(arrivals=True, **EMPTY) as session:
        session.advance_to(1_000_000_000)
        allowed = r"allowed: 1000000000 ns or later: the session's clock was advanced to there \(advance_to\)"
        with pytest.raises(wordline.WorkloadError, match=rf"arrival_ns\[0\]\n    found:   5\n    {allowed}"):
            session.feed(lba=[0], sectors=[8], op=["write"], arrival_ns=[5])
        with pytest.raises(wordline.WorkloadError, match=rf"arrival_ns\n    found:   999999999\n    {allowed}"):
            session.submit("write", 0, 8, arrival_ns=999_999_999)
        # Nor without a time, which would be the first.
        for without in (lambda: session.submit("write", 0, 8), lambda: session.feed(lba=[0], sectors=[8], op=[1])):
            with pytest.raises(wordline.WorkloadError, match="arrival_ns\n    found:   none"):
                without()
        session.submit("write", 0, 8, arrival_ns=1_000_000_000)
        assert session.finish()["requests_served"] == 1
    # Nor at a time that nobody can add to.
    late = {"lba": [0], "sectors": [8], "op": ["write"], "arrival_ns": [2**64 - 1]}
    for call in (lambda: drive.run(late, **EMPTY), lambda: drive.session(arrivals=True, **EMPTY).feed(late)):
        with pytest.raises(wordline.WorkloadError, match=r"arrival_ns\[0\]\n    found:   18446744073709551615\n.*146 years"):
            call()
    with drive.session(**EMPTY) as session, pytest.raises(wordline.WorkloadError, match="arrivals=True"):
        session.feed(lba=[0], sectors=[8], op=["write"], arrival_ns=[5])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), numpy.float32("nan")])
def test_what_is_no_number_is_refused_by_its_key(value: float) -> None:
    drive = small()
    shown = str(float(value))
    for key, call in [
        ("read_percent", lambda: drive.run({**LOAD, "read_percent": value}, **EMPTY)),
        ("zipf_theta", lambda: drive.run({**LOAD, "zipf_theta": value}, **EMPTY)),
        ("rate_iops", lambda: drive.run({**LOAD, "arrival": "poisson", "rate_iops": value}, **EMPTY)),
        ("size_bytes", lambda: drive.run({**LOAD, "size_bytes": [[4096, value]]}, **EMPTY)),
        ("fill_percent", lambda: drive.run(LOAD, fill_percent=value)),
        ("explain_tail", lambda: drive.run(LOAD, explain_tail=value, **EMPTY)),
        ("over_provisioning_percent", lambda: wordline.Drive.preset("m64", {"drive.over_provisioning_percent": value})),
        ("t_read_us", lambda: wordline.Drive.preset("m64", {"nand": {"timing": {"t_read_us": [value]}}})),
    ]:
        with pytest.raises(wordline.WordlineError, match=rf"{key}\b(.|\n)*found.*{shown}(.|\n)*allowed") as raised:
            call()
        assert "TOML" not in str(raised.value)


def test_a_zero_below_zero_is_zero() -> None:
    configs = {small().run({**LOAD, "read_percent": zero}, explain_tail=zero, **EMPTY).config for zero in (0.0, -0.0)}
    assert len(configs) == 1


def deep(levels: int, of: type) -> object:
    """Dicts or lists inside each other."""
    value: object = of()
    for _ in range(levels):
        value = {"a": value} if of is dict else [value]
    return value


def cyclic(of: type) -> object:
    """A dict or a list that contains itself."""
    value: Any = of()
    value.update(a=value) if of is dict else value.append(value)
    return value


def wide() -> object:
    """A list of a few lists, which as text would be longer than all memory."""
    value: list[object] = [1]
    for _ in range(31):
        value = [value] * 10
    return value


@pytest.mark.parametrize(
    "value",
    [cyclic(dict), cyclic(list), deep(20_000, dict), deep(20_000, list), wide(), [["a" * (17 << 20)], [1]]],
    ids=["cyclic dict", "cyclic list", "deep dict", "deep list", "wide list", "long text"],
)
def test_what_has_no_end_is_refused_wherever_it_is_given(value: Any) -> None:
    drive = small()
    calls = [
        lambda: wordline.Drive.preset("client_tlc", value if isinstance(value, dict) else {"run.age": value}),
        lambda: wordline.Drive.preset("client_tlc", {"run": {"age": value}}),
        lambda: wordline.Drive.from_toml('preset = "m64"\n', {"run.age": value}),
        lambda: wordline.run({**LOAD, "size_bytes": value}),
        lambda: wordline.run(LOAD, settings={"run": value}),
        lambda: drive.run({**LOAD, "size_bytes": value}, **EMPTY),
        lambda: drive.run(LOAD, age=value),
        lambda: drive.session(age=value),
        lambda: drive.precondition(age=value),
        lambda: drive.run({"lba": value, "sectors": [8], "op": [1]}, **EMPTY),
        lambda: drive.run({"lba": [0], "sectors": [8], "op": value}, **EMPTY),
        lambda: drive.run({"lba": [0], "sectors": [value], "op": [1]}, **EMPTY),
    ]
    for call in calls:
        with pytest.raises(wordline.WordlineError, match="allowed") as raised:
            call()
        assert len(str(raised.value)) < 2_000
    # It was in no way of the drive.
    assert drive.run(LOAD, **EMPTY)["requests_served"] == 1_000


def test_a_list_may_hold_one_value_many_times() -> None:
    key = "nand.timing.t_read_us"
    for values in ([50.5, 50.5, 50.5], [50.5, 50.5, 60.25], [60.25, 50.5, 50.5]):
        same = {value: value for value in values}
        configs = {wordline.Drive.preset("client_tlc", {key: [of(value) for value in values]}).config for of in (same.get, lambda value: value + 0.0)}
        assert len(configs) == 1 and f"t_read_us = {values}" in configs.pop()
    row = [1, 5]
    for rows in ([row, row, [3, 7]], [row, [1, 5], [3, 7]]):
        with pytest.raises(wordline.ConfigError, match=r"gray_code=\[\[1, 5\], \[1, 5\], \[3, 7\]\]"):
            wordline.Drive.preset("client_tlc", {"nand.cell.gray_code": rows})


def test_deep_texts_are_refused() -> None:
    text = "a = " + "[" * 100_000
    snapshot = b"wordline drive\n\0" + len(text).to_bytes(8, "little") + text.encode()
    for call in [
        lambda: wordline.Drive.from_toml(text),
        lambda: wordline.Drive.from_toml("a" + ".a" * 100_000 + " = 1"),
        lambda: wordline.Drive.restore(snapshot),
        lambda: wordline._core.SweepWorker().run('{"id":' * 100_000),
    ]:
        with pytest.raises(wordline.WordlineError):
            call()


def test_what_leads_back_to_its_drive_is_freed() -> None:
    class Policy:
        def __call__(self, lane: wordline.Lane) -> int:
            return 0

    gone = []
    for _ in range(10):
        policy = Policy()
        policy.drive = wordline.Drive.preset("client_tlc", SMALL, policies={"gc_victim": policy})
        # A session in use leads back, too; and a result that somebody writes into.
        policy.session = policy.drive.session(**EMPTY)
        gone.append(weakref.ref(policy))
    policy = Policy()
    worker = wordline._core.SweepWorker({"gc_victim": policy})
    policy.worker = worker
    gone.append(weakref.ref(policy))
    result = small().run(LOAD, **EMPTY)
    keeper = Policy()
    result["latency_ns"]["keeper"], keeper.result = keeper, result
    gone.append(weakref.ref(keeper))
    del policy, worker, result, keeper
    gc.collect()
    assert [each() for each in gone] == [None] * len(gone)


def test_a_drive_in_use_keeps_its_function() -> None:
    called = []

    def policy(lane: wordline.Lane) -> int:
        called.append(lane.call)
        # Not each time: it goes over all that the tests have loaded.
        if len(called) % 16 == 1:
            gc.collect()
        return int(numpy.where(lane.eligible, lane.live, 2**32 - 1).argmin())

    drive = wordline.Drive.preset("client_tlc", SMALL, policies={"gc_victim": policy})
    del policy
    gc.collect()
    drive.run({"pattern": "uniform", "count": 100, "read_percent": 0}, overwrite="times", overwrite_times=0.2)
    session = wordline.Drive.preset("client_tlc", SMALL, policies={"gc_victim": lambda lane: called.append(1)}).session(**EMPTY)
    # The drive's own name is gone; the session keeps it.
    gc.collect()
    before = len(called)
    with pytest.raises(wordline.RunError):
        session.feed({**many(60_000), "sectors": numpy.full(60_000, 64)})
        session.finish()
    assert before > 16 and len(called) == before + 1


def test_the_end_of_time_is_no_bug() -> None:
    drive = small()
    session = drive.session(**EMPTY)
    try:
        session.advance_to(2**64 - 1)
    except wordline.WordlineError:
        # That it is refused is as good.
        pass
    session.finish()
    assert drive.run(LOAD)["requests_served"] == 1_000


def test_a_run_error_always_has_a_result_or_none() -> None:
    assert wordline.RunError("of somebody else").result is None
    drive = small()
    session = drive.session(**EMPTY)
    drive.stop()
    with pytest.raises(wordline.RunError) as raised:
        session.feed(many(100))
    assert raised.value.result is None


@pytest.mark.parametrize("way", ["run", "feed"])
def test_ctrl_c_ends_arrays_as_it_ends_workloads(way: str) -> None:
    drive = small()
    columns = many(3_000_000)
    begun = drive.run if way == "run" else drive.session(**EMPTY).feed
    took = interrupt(0.3)
    with pytest.raises(KeyboardInterrupt):
        begun(columns, **(EMPTY if way == "run" else {}))
    # A tenth of a second on a machine that has nothing else to do.
    assert took() < 1.0


def test_results_are_read_as_dicts_are() -> None:
    result = small().run(LOAD, **EMPTY)
    assert list(result) == list(result.keys()) and len(result) == len(result.to_dict())
    assert dict(result.items()) == result.to_dict()
    assert result.get("nowhere", 5) == 5 and result.get("requests_served") == 1_000
    assert 5 not in result


def workers(session: int) -> set[int]:
    """Workers of sweeps that a session's processes have started, also once those have ended."""
    found = subprocess.run(["ps", "-eo", "pid=,sid=,args="], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in found.splitlines() if line.endswith("-m wordline worker")]
    return {int(pid) for pid, sid, *_ in lines if int(sid) == session}


def test_ctrl_c_leaves_no_worker_of_a_sweep_behind(tmp_path: Path) -> None:
    sweep = tmp_path / "grid.toml"
    run = '[run]\nfill_percent = 0\noverwrite = "none"\n[workload]\npattern = "uniform"\ncount = 200_000_000\n'
    sweep.write_text(f'preset = "client_tlc"\n{run}[grid]\nrun.depth = [1, 2]\n')
    code = f"import wordline; wordline.sweep({str(sweep)!r}, {str(tmp_path / 'out')!r}, jobs=2, cache=False)"
    # A session of its own: other tests, and other people, have workers too.
    line = [sys.executable, "-c", code]
    program = subprocess.Popen(line, start_new_session=True, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while len(workers(program.pid)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(workers(program.pid)) == 2
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    _, told = program.communicate(timeout=60)
    assert "KeyboardInterrupt" in told, told
    until = time.monotonic() + 5
    while workers(program.pid) and time.monotonic() < until:
        time.sleep(0.1)
    left = workers(program.pid)
    for each in left:
        os.kill(each, signal.SIGKILL)
    assert not left


def test_the_module_is_imported_in_20_ms() -> None:
    code = "import time; t = time.perf_counter(); import wordline; print(time.perf_counter() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(7)
    ]
    assert min(times) < 0.02, times
