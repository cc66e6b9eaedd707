"""Policies of one's own, by the three ways: each is greedy, and does what Rust's greedy does."""

import shutil
import subprocess
from pathlib import Path

import numpy
import pytest
from conftest import SMALL, greedy_address

import wordline

LOAD = {"pattern": "zipf", "count": 20_000, "read_percent": 0, "size_bytes": 16384}
HEADER = Path(__file__).parents[2] / "include"


def greedy(lane: wordline.Lane) -> int | None:
    """The block with the fewest live units, the first of equals."""
    if not lane.eligible.any():
        return None
    return int(numpy.where(lane.eligible, lane.live, 2**32 - 1).argmin())


def drive(policy: object, **settings: object) -> wordline.Drive:
    return wordline.Drive.preset("client_tlc", {**SMALL, **settings}, policies={"gc_victim": policy})


@pytest.fixture(scope="module")
def expected() -> str:
    built_in = wordline.Drive.preset("client_tlc", {**SMALL, "ftl.gc_victim.policy": "greedy"})
    return built_in.run(LOAD, cache=False)["event_hash"]


def test_a_function_of_python_is_greedy(expected: str) -> None:
    result = drive(greedy).run(LOAD)
    assert result["event_hash"] == expected
    (told,) = result["external_policies"]
    assert told["name"] == "greedy" and told["kind"] == "python" and len(told["hash"]) == 16 and told["calls"] > 100


def test_a_c_address_is_greedy(expected: str) -> None:
    function, address = greedy_address()
    result = drive(address).run(LOAD)
    assert result["event_hash"] == expected and result["external_policies"][0]["kind"] == "address"


def test_a_library_is_greedy(expected: str, tmp_path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    source = tmp_path / "mine.c"
    source.write_text(
        '#include "wordline_policy.h"\n'
        "static int32_t choose(void *state, const wordline_lane *lane, uint32_t *answer) {\n"
        "  uint32_t least = WORDLINE_NOT_ELIGIBLE, found = WORDLINE_NONE;\n"
        "  for (uint32_t at = 0; at < lane->blocks; at++)\n"
        "    if (lane->live[at] < least) { least = lane->live[at]; found = at; }\n"
        "  *answer = found; (void)state; return 0; }\n"
        'WORDLINE_BLOCK_POLICY(wordline_gc_victim, "mine", choose)\n'
    )
    library = tmp_path / "mine.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{HEADER}", "-o", str(library), str(source)], check=True)
    result = drive(str(library)).run(LOAD)
    assert result["event_hash"] == expected and result["external_policies"][0]["name"] == "mine"


def test_what_goes_wrong_is_told_with_what_was_measured() -> None:
    def raises(lane: wordline.Lane) -> int:
        raise ValueError("of mine")

    def ineligible(lane: wordline.Lane) -> int:
        return int(numpy.flatnonzero(~lane.eligible)[0])

    cases = [(raises, "ValueError: of mine"), (ineligible, "found"), (lambda lane: "7", "not a whole number"), (lambda lane: None, "found")]
    for policy, text in cases:
        used = drive(policy)
        with pytest.raises(wordline.RunError) as raised:
            used.run(LOAD, fill_percent=100, overwrite="none", loop_mode="closed")
        message = str(raised.value)
        assert text in message and "ftl.gc_victim: policy" in message and "call" in message, message


class Stranger(BaseException):
    """No error of a policy."""


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, Stranger])
def test_what_ends_the_program_is_raised_as_itself(kind: type[BaseException]) -> None:
    raised_at = []

    def raises(unit: wordline.Unit) -> int:
        raised_at.append(unit.call)
        raise kind("of mine")

    def made() -> wordline.Drive:
        return wordline.Drive.preset("client_tlc", {**SMALL, "ftl.stream.streams": 2}, policies={"stream": raises})

    empty = {"fill_percent": 0, "overwrite": "none"}
    columns = {"lba": numpy.arange(2_000) * 8, "sectors": numpy.full(2_000, 8), "op": numpy.ones(2_000, dtype="u1")}

    def in_session() -> None:
        session = made().session(**empty)
        session.feed(columns)
        session.finish()

    ways = [
        lambda: made().run(LOAD, **empty),
        lambda: made().run(LOAD),
        lambda: made().run(columns, **empty),
        lambda: made().precondition(),
        lambda: made().session(),
        in_session,
    ]
    for way in ways:
        with pytest.raises(kind, match="of mine") as raised:
            way()
        # With where it was raised.
        assert raised.traceback[-1].name == "raises"
    assert len(raised_at) == len(ways)
    # The drive is there afterwards, and the exception was raised once.
    drive = made()
    with pytest.raises(kind):
        drive.run(LOAD, **empty)
    assert drive.counters
    with pytest.raises(wordline.RunError):
        drive.run(LOAD, **empty)


def test_what_ends_the_program_ends_a_sweep(tmp_path: Path) -> None:
    def raises(lane: wordline.Lane) -> int:
        raise KeyboardInterrupt("of mine")

    sweep = tmp_path / "grid.toml"
    sweep.write_text('preset = "m64"\nnand.geometry.blocks_per_plane = 64\n[workload]\npattern = "uniform"\ncount = 1_000\n[grid]\nrun.depth = [1, 2]\n')
    with pytest.raises(KeyboardInterrupt):
        wordline.sweep(sweep, tmp_path / "out", policies={"gc_victim": raises}, cache=False)
    # Nothing was kept of it: the runs are still to be done.
    assert not list((tmp_path / "out" / "runs").iterdir())


def test_a_function_separates_data() -> None:
    def by_size(unit: wordline.Unit) -> int:
        return 1 if unit.kind == 1 and unit.sectors > 8 else 0

    settings = {**SMALL, "ftl.stream.streams": 2}
    own = wordline.Drive.preset("client_tlc", settings, policies={"stream": by_size})
    load = {"pattern": "uniform", "count": 2_000, "read_percent": 0, "size_bytes": [[4096, 1], [65536, 1]]}
    result = own.run(load, fill_percent=0, overwrite="none")
    assert result["external_policies"][0]["family"] == "ftl.stream" and result["external_policies"][0]["calls"] > 0
    streams = own.blocks["stream"]
    assert {0.0, 1.0} <= set(streams[~numpy.isnan(streams)])


def test_wrong_policies_are_refused() -> None:
    for policies, kind, text in [
        ({"gc_victm": greedy}, wordline.ConfigError, "allowed: gc_victim"),
        ({"gc_victim": 1.5}, TypeError, "a function, a C address"),
        ({"gc_victim": 0}, wordline.ConfigError, "found:   0"),
        ({"gc_victim": "nowhere.so"}, wordline.ConfigError, "nowhere.so"),
    ]:
        with pytest.raises(kind, match=text):
            wordline.Drive.preset("client_tlc", SMALL, policies=policies)
    with pytest.raises(wordline.SnapshotError, match="ftl.gc_victim"):
        drive(greedy).snapshot()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_numba_is_greedy(expected: str) -> None:
    numba = pytest.importorskip("numba")
    import wordline.numba as types

    least, none = types.NOT_ELIGIBLE, types.NONE

    @numba.cfunc(types.block_policy)
    def choose(state, lanes, answer):
        lane = numba.carray(lanes, 1)[0]
        live = types.live(lane)
        best = numba.uint32(least)
        answer[0] = none
        for block in range(lane.blocks):
            if live[block] < best:
                best = live[block]
                answer[0] = block
        return 0

    assert drive(choose.address).run(LOAD)["event_hash"] == expected

    @numba.cfunc(types.block_policy)
    def raises(state, lanes, answer):
        raise ValueError

    with pytest.raises(wordline.RunError, match="ftl.gc_victim"):
        drive(raises.address).run(LOAD)
