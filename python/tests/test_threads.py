"""Long work: Ctrl-C, other threads, memory, pickles."""

import pickle
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import SMALL, flat, interrupt, program, told

import wordline

LONG = {"pattern": "uniform", "count": 2_000_000_000}


def test_ctrl_c_ends_a_run_and_the_drive_stays_usable(small: wordline.Drive) -> None:
    small.precondition(overwrite="none")
    took = interrupt(0.3)
    with pytest.raises(KeyboardInterrupt):
        small.run(LONG)
    # A tenth of a second on a machine that has nothing else to do.
    assert took() < 1.0
    assert small.run({"pattern": "uniform", "count": 100})["requests_served"] == 100


def test_ctrl_c_ends_filling_and_ageing() -> None:
    # Hours of overwriting.
    drive = wordline.Drive.preset("tlc")
    took = interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        drive.precondition(overwrite="times", overwrite_times=1000)
    assert took() < 4.0


def test_another_thread_stops_it_and_finds_it_busy(small: wordline.Drive) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            small.run(LONG, fill_percent=0, overwrite="none")
        except wordline.RunError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    with pytest.raises(wordline.WordlineError, match="busy"):
        small.run({"pattern": "uniform", "count": 1})
    with pytest.raises(wordline.WordlineError, match="busy"):
        small.blocks  # noqa: B018
    small.stop()
    thread.join(20)
    assert not thread.is_alive() and raised[0].result["requests_served"] > 0
    assert raised[0].result["ended"].startswith("interrupted")
    assert small.run({"pattern": "uniform", "count": 100})["requests_served"] == 100


def test_other_threads_go_on_while_a_drive_runs(small: wordline.Drive) -> None:
    counted = [0]
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    small.run({"pattern": "uniform", "count": 300_000})
    done.set()
    thread.join()
    assert counted[0] > 20


def test_a_session_has_its_drive_to_itself(small: wordline.Drive) -> None:
    session = small.session(depth=2)
    session.feed(lba=[0, 8, 16], sectors=[8] * 3, op=["write"] * 3)
    with pytest.raises(wordline.WordlineError, match="session"):
        small.run({"pattern": "uniform"})
    session.advance_to(1_000_000_000)
    assert session.in_flight == 0 and session.now_ns == 1_000_000_000
    assert list(session.completions()["lba"]) == [0, 8, 16] and len(session.completions()) == 0
    assert session.finish()["requests_served"] == 3
    with pytest.raises(wordline.WordlineError, match="finished"):
        session.feed(lba=[0], sectors=[8], op=[0])
    with small.session() as other:
        other.feed(lba=[0], sectors=[8], op=[0])
    assert small.run({"pattern": "uniform", "count": 10})["requests_served"] == 10


def test_snapshots_and_pickles_are_the_drive(small: wordline.Drive) -> None:
    load = {"pattern": "uniform", "count": 2_000}
    small.run(load)
    twin, other = wordline.Drive.restore(small.snapshot()), pickle.loads(pickle.dumps(small))
    hashes = {drive.run(load)["event_hash"] for drive in (small, twin, other)}
    assert len(hashes) == 1


def test_requests_one_by_one_are_the_run_of_all(small: wordline.Drive) -> None:
    twin = wordline.Drive.restore(small.snapshot())
    requests = [("write", 8 * n, 8) for n in range(200)] + [(0, 8 * n, 8) for n in range(0, 200, 3)] + [("flush", 0, 0)]
    with small.session(depth=4) as session:
        for request in requests:
            session.submit(*request)
        one_by_one = session.finish()
    op, lba, sectors = zip(*requests, strict=True)
    columns = {"op": [{"write": 1, "flush": 3}.get(each, each) for each in op], "lba": lba, "sectors": sectors}
    at_once = twin.run(columns, depth=4)
    assert one_by_one["event_hash"] == at_once["event_hash"]
    with small.session(arrivals=True) as session:
        session.submit("read", 0, 8, arrival_ns=1_000)
        for wrong, key in [(("read", 0, 8, 999), "arrival_ns"), (("raed", 0, 8), "op"), ((4, 0, 8), "op")]:
            with pytest.raises(wordline.WorkloadError, match=key):
                session.submit(*wrong)
        with pytest.raises(wordline.WorkloadError, match="sectors"):
            session.submit("read", 0, 0)


def test_a_snapshot_of_the_command_line_is_a_drive(tmp_path: Path) -> None:
    path = tmp_path / "aged.drive"
    flags = ["--drive", "client_tlc", *flat(SMALL), "--synthetic", "uniform"]
    program("run", *flags, "--requests", "3000", "--save-snapshot", str(path), "--quiet")
    drive = wordline.Drive.restore(path)
    load = {"pattern": "uniform", "count": 2_000, "seed": 5}
    ours = drive.run(load)
    flags = ["--config", f"{path}.toml", "--snapshot", str(path), "--synthetic", "uniform", "--requests", "2000"]
    theirs = told(*flags, "--set", "workload.seed=5")
    assert ours["event_hash"] == theirs["event_hash"]
    path.with_suffix(".drive.toml").unlink()
    with pytest.raises(wordline.SnapshotError, match="aged.drive.toml"):
        wordline.Drive.restore(path)
    with pytest.raises(wordline.SnapshotError, match="nowhere"):
        wordline.Drive.restore(tmp_path / "nowhere")


def test_memory_is_flat_over_many_runs(small: wordline.Drive) -> None:
    def runs(count: int) -> int:
        for _ in range(count):
            result = small.run({"pattern": "uniform", "count": 50}, keep_requests=True, samples=10)
            assert len(result.requests["lba"]) == 50 and len(result.to_dict()) > 20
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    runs(50)
    early = runs(50)
    # KiB. A leak of a result a run (100 KiB or more) would be 20 MiB or more.
    assert runs(200) - early < 8 * 1024


def test_importing_needs_no_numpy() -> None:
    code = "import sys, wordline; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
