"""What is wrong with numbers, and with cached drives, is a warning: it is told where nobody reads a report."""

import warnings
from pathlib import Path

import pytest
from conftest import SMALL

import wordline

#: Writes that come ten times as fast as such a drive takes them.
TOO_FAST = {"pattern": "uniform", "read_percent": 0, "count": 20_000, "arrival": "poisson", "rate_iops": 2_000_000}
#: Reads that come slowly.
SLOW = {"pattern": "uniform", "read_percent": 100, "count": 2_000, "arrival": "poisson", "rate_iops": 1_000}


def grid(tmp: Path) -> Path:
    """A sweep of which one of two runs is overloaded."""
    file = tmp / "grid.toml"
    file.write_text("""
preset = "client_tlc"
[nand.geometry]
channels = 2
chips_per_channel = 2
blocks_per_plane = 64
wordlines_per_block = 16
[drive]
over_provisioning_percent = 20
[workload]
pattern = "uniform"
read_percent = 100
count = 5000
arrival = "poisson"
[run]
fill_percent = 100
overwrite = "none"
[grid]
workload.rate_iops = [1000, 50000000]
""")
    return file


def test_a_result_that_cannot_be_taken_as_it_stands_warns_and_says_why(small: wordline.Drive) -> None:
    with pytest.warns(wordline.ResultWarning, match="overloaded") as warned:
        result = small.run(TOO_FAST)
    assert len(warned) == 1 and warned[0].filename == __file__, "told once, at the line of the call"
    assert "overloaded" in [problem["name"] for problem in result.problems]
    assert all(problem["text"] in str(warned[0].message) for problem in result.problems)


def test_a_result_that_can_does_not(small: wordline.Drive) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert small.run(SLOW, overwrite="none").problems == []


def test_where_warnings_are_errors_the_result_is_not_lost(small: wordline.Drive) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(wordline.ResultWarning) as raised:
            small.run(TOO_FAST)
    assert raised.value.result["requests_served"] == 20_000


@pytest.mark.parametrize("threads", [False, True])
def test_a_sweep_says_how_many_of_its_runs_have_problems(tmp_path: Path, threads: bool) -> None:
    policies = {"gc_victim": lambda lane: None} if threads else None
    with pytest.warns(wordline.ResultWarning, match="1 of 2 overloaded; sweep.problems says which") as warned:
        sweep = wordline.sweep(grid(tmp_path), tmp_path / "out", jobs=2, policies=policies, cache=False)
    assert warned[0].filename == __file__
    (problem,) = sweep.problems
    assert [of["name"] for of in problem["problems"]] == ["overloaded"] and "50000000" in problem["name"]
    assert "1 of 2 overloaded" in str(sweep)
    (tmp_path / "out" / "problems.json").unlink()
    with pytest.raises(wordline.WordlineError, match="run it again"):
        sweep.problems  # noqa: B018


@pytest.mark.parametrize("kind", ["run", "precondition", "session", "sweep"])
def test_what_is_wrong_with_the_cache_is_told_once(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, out = tmp_path / "cache", tmp_path / "out"
    cache.mkdir()
    # Others may write to it.
    cache.chmod(0o777)
    monkeypatch.setenv("WORDLINE_CACHE", str(cache))
    small = wordline.Drive.preset("client_tlc", SMALL)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        match kind:
            case "run":
                small.run(SLOW)
            case "precondition":
                small.precondition()
            case "session":
                small.session().finish()
            case "sweep":
                wordline.sweep(grid(tmp_path), out, jobs=2)
    of_cache = [one for one in warned if one.category is wordline.WordlineWarning]
    assert len(of_cache) == 1 and "the cache is not used" in str(of_cache[0].message), warned
    assert of_cache[0].filename == __file__
