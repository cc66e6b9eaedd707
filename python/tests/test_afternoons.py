"""Three afternoons, as their scripts in examples/afternoons have them; the lecturer's is a notebook."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import wordline

ROOT = Path(__file__).parents[2]
AFTERNOONS = ROOT / "examples" / "afternoons"
TRACES = ROOT.parent / "shared" / "traces"
#: Once each, or as often as the script has it.
REPEATS = "3" if os.environ.get("WORDLINE_SOAK") else "1"


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(AFTERNOONS / name), *arguments]
    environment = {**os.environ, "WORDLINE_CACHE": ""}
    return subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment)


@pytest.fixture
def traces() -> str:
    names = runpy.run_path(str(AFTERNOONS / "student.py"))["TRACES"]
    if missing := [name for name in names if not (TRACES / name).exists()]:
        pytest.skip(f"{TRACES} has no {', '.join(missing)}")
    return str(TRACES)


def cells(out: Path) -> dict[tuple, list[str | None]]:
    """What is wrong with the runs of each cell."""
    found: dict[tuple, list[str | None]] = {}
    keys = ("workload", "drive.over_provisioning_percent", "ftl.gc_victim.policy")
    for row in wordline.Sweep(out).rows:
        assert row["status"] == "ok"
        found.setdefault(tuple(row[key] for key in keys), []).append(row["problems"])
    assert len(found) == 36
    return found


def test_a_students_first_sweep_is_refused_and_names_the_runs(tmp_path: Path, traces: str) -> None:
    done = script("student.py", traces, str(tmp_path / "first"), "--repeats", REPEATS)
    assert done.returncode == 3, done.stderr
    assert "require is not met" in done.stderr and "mine" in done.stdout
    each = r"^    workload=\S+ over_provisioning_percent=\d+ gc_victim=\w+.*: (steady|not-overloaded):"
    named = re.findall(each, done.stderr, re.M)
    assert {"steady", "not-overloaded"} == set(named)
    wrong = [problems for all in cells(tmp_path / "first").values() for problems in all if problems]
    assert len(wrong) >= 12


def test_with_what_the_script_shows_nine_cells_of_ten_are_clean(tmp_path: Path, traces: str) -> None:
    done = script("student.py", traces, str(tmp_path / "clean"), "--clean", "--repeats", REPEATS)
    assert done.returncode == 0, done.stderr
    found = cells(tmp_path / "clean")
    clean = sum(not any(problems) for problems in found.values())
    assert clean >= 0.9 * len(found), {cell: problems for cell, problems in found.items() if any(problems)}


def blkparse(path: Path, requests: int = 20_000) -> Path:
    """A trace as blkparse prints it: 300 MiB of which a tenth is hot, at 2,000 requests a second."""
    pages, state, lines = 76_800, 12_345, []
    for number in range(requests):
        state = (state * 1_103_515_245 + 12_345) % 2**31
        page = (state >> 8) % (pages // 10) if state % 10 < 7 else (state >> 8) % pages
        # Each place once, so that all of it is touched.
        page = number * 16 if number * 16 < pages else page
        rwbs, sectors = ("R", 8) if state % 3 == 0 else ("W", 128 if number * 16 < pages else 8)
        lines.append(f"259,0    1 {number:8} {number / 2_000:14.9f}  4711  Q  {rwbs:>3} {page * 8} + {sectors} [db]")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_storage_engineer_compares_three_drives_of_one_capacity(tmp_path: Path) -> None:
    out = tmp_path / "drives"
    done = script("storage_engineer.py", str(blkparse(tmp_path / "ours.blkparse")), str(out))
    assert done.returncode == 0, done.stderr
    told = re.findall(r"^(ours|commits) on (\w+): (\d+) MiB and ([\d.]+) % of over-provisioning$", done.stdout, re.M)
    assert len(told) == 6, done.stdout
    for workload in ("ours", "commits"):
        # The same capacity, and to a block in each plane the spare room that each is sold with: 7 %.
        assert len({capacity for name, _, capacity, _ in told if name == workload}) == 1, told
    assert all(7.0 <= float(spare) < 8.1 for *_, spare in told), told
    assert "flush" in done.stdout, "what a commit takes is told"
    page = (out / "drives.html").read_text()
    assert all(f"{name} on {drive}" in page for name, drive, *_ in told)
    assert (out / "sweep" / "tables.txt").exists()
