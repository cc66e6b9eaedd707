"""Sweeps by an executor: with functions as policies, and on a Dask cluster."""

import csv
import os
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import program

import wordline

SWEEP = """
preset = "client_tlc"
nand.geometry = { channels = 2, chips_per_channel = 2, blocks_per_plane = 64, wordlines_per_block = 16 }
host.buffer = { policy = "lru_write", size_mib = 1 }
[workload]
pattern = "uniform"
count = COUNT
read_percent = 0
[sweep]
repeats = 4
[grid]
drive.over_provisioning_percent = [12, 20]
"""

#: Two policies that are built in, for tests without one of their own.
POLICIES = 'ftl.gc_victim.policy = ["greedy", "fifo"]\n'

#: What a run costs this machine.
COSTS = {"processor_time_s"}


def write(folder: Path, count: int = 3_000, policies: str = "") -> Path:
    path = folder / "grid.toml"
    path.write_text(SWEEP.replace("COUNT", str(count)) + policies)
    return path


def rows(folder: Path) -> list[dict[str, str]]:
    with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
        return [{key: value for key, value in row.items() if key not in COSTS} for row in csv.DictReader(file)]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module with policies that can be imported, here and by processes of ours."""
    (tmp_path / "own_victims.py").write_text(
        "import numpy\n\ndef greedy(lane):\n"
        "    if not lane.eligible.any():\n        return None\n"
        "    return int(numpy.where(lane.eligible, lane.live, 2**32 - 1).argmin())\n\n"
        "def fails(lane):\n    raise ValueError('as it should')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield "own_victims"
    sys.modules.pop("own_victims", None)


def test_a_function_is_asked_by_every_run(tmp_path: Path, module: str) -> None:
    greedy = __import__(module).greedy
    file = write(tmp_path)
    own = wordline.sweep(file, tmp_path / "own", jobs=2, policies={"gc_victim": greedy})
    plain = wordline.sweep(file, tmp_path / "plain", jobs=2)
    assert own["write_amplification"] == plain["write_amplification"] and len(own) == 8
    # Other runs under other names: the policy is another.
    assert set(own["run"]).isdisjoint(plain["run"])


def test_a_function_that_fails_fails_its_runs(tmp_path: Path, module: str) -> None:
    fails = __import__(module).fails
    file = write(tmp_path)
    with pytest.raises(wordline.RunError, match="8 runs failed; 8 of 8 runs are there"):
        wordline.sweep(file, tmp_path / "out", jobs=2, policies={"gc_victim": fails})
    assert {row["status"] for row in rows(tmp_path / "out")} == {"failed"}


@pytest.fixture
def cluster(module: str):
    distributed = pytest.importorskip("distributed")
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster:
        yield cluster


def test_a_cluster_of_which_a_worker_dies_makes_the_same_table(tmp_path: Path, cluster) -> None:
    file = write(tmp_path, 20_000, POLICIES)
    pids = [worker.process.pid for worker in cluster.workers.values()]
    out = tmp_path / "there"

    def kill() -> None:
        # Once there is a result; others are under way.
        while not list((out / "runs").glob("*.json")):
            time.sleep(0.01)
        os.kill(pids[0], 9)

    killer = threading.Thread(target=kill)
    killer.start()
    there = wordline.sweep(file, out, scheduler=cluster.scheduler_address)
    killer.join()
    program("sweep", str(file), "-o", str(tmp_path / "here"), "--quiet")
    assert rows(out) == rows(tmp_path / "here") and len(there) == 16
    assert {row["status"] for row in rows(out)} == {"ok"}
    texts = [(folder / "tables.txt").read_text() for folder in (out, tmp_path / "here")]
    assert texts[0] == texts[1]


def test_what_a_cluster_cannot_import_is_refused(tmp_path: Path, cluster, module: str) -> None:
    file = write(tmp_path)
    address = cluster.scheduler_address
    with pytest.raises(wordline.ConfigError, match="policies: gc_victim\n    found:   a C address"):
        wordline.sweep(file, tmp_path / "out", scheduler=address, policies={"gc_victim": 17})
    lock = threading.Lock()
    with pytest.raises(wordline.ConfigError, match="which cannot be sent"):
        wordline.sweep(file, tmp_path / "out", scheduler=address, policies={"gc_victim": lambda lane: lock})
    greedy = __import__(module).greedy
    own = wordline.sweep(file, tmp_path / "out", scheduler=address, policies={"gc_victim": greedy})
    assert set(own["status"]) == {"ok"}


def test_a_program_of_other_sources_is_refused() -> None:
    from wordline import _tasks

    with pytest.raises(wordline.ConfigError, match="other sources"):
        _tasks.carry_out_elsewhere([], "0" * 16, b"")
