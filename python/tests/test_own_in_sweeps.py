"""Policies of one's own beside shipped ones in a sweep: by every way there is, with the same results."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import numpy
import pytest
from conftest import greedy_address

import wordline

SWEEP = {
    "preset": "client_tlc",
    "nand.geometry": {"channels": 1, "chips_per_channel": 2, "blocks_per_plane": 64, "wordlines_per_block": 16},
    "host.buffer": {"policy": "lru_write", "size_mib": 1},
    "drive.over_provisioning_percent": 20,
    "workload": {"pattern": "zipf", "count": 4_000, "read_percent": 0, "size_bytes": 16384},
}
POLICY = "ftl.gc_victim.policy"


def greedy(lane: wordline.Lane) -> int | None:
    """The block with the fewest live units."""
    if not lane.eligible.any():
        return None
    return int(numpy.where(lane.eligible, lane.live, 2**32 - 1).argmin())


def nth(lane: wordline.Lane, n: int) -> int | None:
    """The block with the fewest live units but n."""
    eligible = numpy.flatnonzero(lane.eligible)
    order = eligible[numpy.argsort(lane.live[eligible], kind="stable")]
    return int(order[min(n, len(order) - 1)]) if len(order) else None


class Counting:
    """It has a state, of which each run begins a new one."""

    def __init__(self, every: int = 4) -> None:
        self.every, self.calls = every, 0

    def __call__(self, lane: wordline.Lane) -> int | None:
        self.calls += 1
        eligible = numpy.flatnonzero(lane.eligible)
        if self.calls % self.every or not len(eligible):
            return greedy(lane)
        return int(eligible[0])


def grid(*policies: str, **more: list) -> dict:
    return {**SWEEP, "grid": {POLICY: list(policies), **{key.replace("__", "."): value for key, value in more.items()}}}


def outcome(sweep: wordline.Sweep) -> dict[tuple, str]:
    """What was measured, by what was varied: the event hash of each run."""
    import json

    varied = sweep.columns[2 : sweep.columns.index("repeat")]
    hashes = {}
    for row in sweep.rows:
        kept = json.loads((sweep.folder / "runs" / f"{row['run']}.json").read_text())
        assert row["status"] == "ok", kept["failure"]
        assert row["write_amplification"] == kept["result"]["write_amplification"]
        hashes[tuple(row[key] for key in varied)] = kept["result"]["event_hash"]
    return hashes


def test_an_id_is_no_number(tmp_path: Path) -> None:
    """Whatever its digits look like: it names the run's file."""
    ids = ["12e4567890123456", "0123456789012345", "00000000000000e1"]
    lines = ["run,status,depth,iops", *(f"{name},ok,4,1.5" for name in ids)]
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    sweep = wordline.Sweep(tmp_path)
    assert (sweep["run"], sweep["depth"], sweep["iops"]) == (ids, [4] * 3, [1.5] * 3)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Greedy in C."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("library")
    source = folder / "mine.c"
    source.write_text(
        '#include "wordline_policy.h"\n'
        "static int32_t choose(void *state, const wordline_lane *lane, uint32_t *answer) {\n"
        "  uint32_t least = WORDLINE_NOT_ELIGIBLE, found = WORDLINE_NONE;\n"
        "  for (uint32_t at = 0; at < lane->blocks; at++)\n"
        "    if (lane->live[at] < least) { least = lane->live[at]; found = at; }\n"
        "  *answer = found; (void)state; return 0; }\n"
        'WORDLINE_BLOCK_POLICY(wordline_gc_victim, "mine", choose)\n'
    )
    header = Path(__file__).parents[2] / "include"
    command = ["cc", "-O2", "-shared", "-fPIC", f"-I{header}", "-o", str(folder / "mine.so"), str(source)]
    subprocess.run(command, check=True)
    return folder / "mine.so"


@pytest.mark.parametrize("where", [{"jobs": 2}, {"processes": 2}], ids=["threads", "processes"])
def test_a_function_stands_beside_names_under_its_own(tmp_path: Path, where: dict) -> None:
    file = grid("greedy", "fifo", "mine")
    sweep = wordline.sweep(file, tmp_path / "out", policies={"mine": greedy}, **where)
    hashes = outcome(sweep)
    assert hashes[("mine",)] == hashes[("greedy",)] != hashes[("fifo",)]
    assert sweep[POLICY] == ["greedy", "fifo", "mine"]
    for name in ("tables.txt", "tables.md", "tables.tex", "runs.csv", "write_amplification.csv"):
        text = (tmp_path / "out" / name).read_text()
        assert "mine" in text and "external" not in text.splitlines()[0], f"{name}: {text}"
    # Its result calls it so, too.
    of_mine = next((tmp_path / "out" / "runs").glob(f"{sweep['run'][2]}.json")).read_text()
    assert '"ftl.gc_victim.policy":"mine"' in of_mine and '"name":"mine","kind":"python"' in of_mine


def test_a_library_an_address_and_a_function_have_one_hash_by_every_way(tmp_path: Path, library: Path) -> None:
    compiled, address = greedy_address()
    policies = {"function": greedy, "address": address, "library": str(library), "path": library}
    ways = {"threads": {"jobs": 2}, "processes": {"processes": 2}}
    hashes = {}
    for way, where in ways.items():
        sweep = wordline.sweep(grid("greedy", *policies), tmp_path / way, policies=policies, **where)
        hashes[way] = outcome(sweep)
        assert len(set(hashes[way].values())) == 1, hashes
    # The command line has libraries by name, too.
    file = tmp_path / "grid.toml"
    file.write_text(
        'preset = "client_tlc"\ndrive.over_provisioning_percent = 20\n[nand.geometry]\nchannels = 1\n'
        "chips_per_channel = 2\nblocks_per_plane = 64\nwordlines_per_block = 16\n"
        '[host.buffer]\npolicy = "lru_write"\nsize_mib = 1\n[policies]\nlibrary = "mine.so"\n'
        '[workload]\npattern = "zipf"\ncount = 4_000\nread_percent = 0\nsize_bytes = 16384\n'
        '[grid]\nftl.gc_victim.policy = ["greedy", "library"]\n'
    )
    shutil.copy(library, tmp_path)
    with pytest.raises(wordline.ConfigError, match="allow-libraries"):
        wordline.sweep(file, tmp_path / "refused")
    hashes["file"] = outcome(wordline.sweep(file, tmp_path / "file", allow_libraries=True))
    assert len({event for each in hashes.values() for event in each.values()}) == 1, hashes


def test_parameters_vary(tmp_path: Path) -> None:
    file = grid("greedy", "mine", policies__mine__n=[0, 9])
    sweep = wordline.sweep(file, tmp_path / "out", policies={"mine": nth}, processes=2)
    hashes = outcome(sweep)
    assert hashes[("mine", 0)] == hashes[("greedy", 0)] == hashes[("greedy", 9)] != hashes[("mine", 9)]
    partial = wordline.sweep(
        grid("other"), tmp_path / "partial", policies={"other": functools.partial(nth, n=9)}
    )
    assert outcome(partial)[("other",)] == hashes[("mine", 9)]


def test_an_object_of_a_class_begins_anew_with_each_run(tmp_path: Path) -> None:
    file = grid("mine", policies__mine__every=[2, 50])
    one = wordline.sweep(file, tmp_path / "one", policies={"mine": Counting}, jobs=1)
    many = wordline.sweep(file, tmp_path / "many", policies={"mine": Counting}, processes=2)
    assert outcome(one) == outcome(many) and len(set(outcome(one).values())) == 2
    # In one after the other as in each alone.
    alone = wordline.sweep(
        {**file, "grid": {POLICY: ["mine"], "policies.mine.every": [50]}}, tmp_path / "alone", policies={"mine": Counting}
    )
    assert outcome(alone)[("mine", 50)] == outcome(one)[("mine", 50)]


def test_results_of_one_function_are_never_those_of_another_of_its_name(tmp_path: Path) -> None:
    def made(n: int):
        def mine(lane: wordline.Lane) -> int | None:
            return nth(lane, n)

        return mine

    out = tmp_path / "out"

    def run(policy: object) -> tuple[str, str]:
        sweep = wordline.sweep(grid("mine"), out, policies={"mine": policy}, force=True)
        return sweep["run"][0], outcome(sweep)[("mine",)]

    # The same source, the same name: what they have closed over differs.
    (first, of_first), (second, of_second) = run(made(0)), run(made(9))
    assert first != second and of_first != of_second
    assert run(made(0))[0] == first, "what is the same is not run again"
    # What cannot be known is run again each time, and is never taken for another.
    secret = object()

    def unknown(lane: wordline.Lane) -> int | None:
        return greedy(lane) if secret is not None else None

    assert run(unknown)[0] != run(unknown)[0]


def test_fingerprints_tell_functions_apart() -> None:
    from wordline._policies import fingerprint

    def of(text: str, **names: object) -> str | None:
        scope: dict = {"numpy": numpy, **names}
        exec(text, scope)
        return fingerprint(scope["f"])

    plain = "def f(lane):\n    return helper(lane) + K\n"
    helper = "def helper(lane):\n    return 1\n"
    base = of(helper + plain, K=1)
    assert base is not None and base == of("\n\n" + helper + "# a remark\n" + plain, K=1)
    others = [
        of(helper + plain, K=2),
        of(helper.replace("1", "2") + plain, K=1),
        of(helper + plain.replace("lane):", "lane, more=1):"), K=1),
        of(helper + plain, K=(1, 2)),
        of(helper + plain, K=[1, 2]),
        of(helper + plain, K={1: 2}),
        of(helper + plain, K=numpy.array([1, 2])),
        of(helper + plain, K=numpy.array([1, 3])),
        of("f = __import__('functools').partial(lambda lane, a: a, a=1)"),
        of("f = __import__('functools').partial(lambda lane, a: a, a=2)"),
        of("class f:\n    x = 1\n    def __call__(self, lane):\n        return self.x\n"),
        of("class f:\n    x = 2\n    def __call__(self, lane):\n        return self.x\n"),
        of("class C:\n    def __call__(self, lane):\n        return self.x\nf = C()\nf.x = 1\n", __name__="own"),
        of("class C:\n    def __call__(self, lane):\n        return self.x\nf = C()\nf.x = 2\n", __name__="own"),
        of("def f(lane):\n    return numpy.argmin(lane.live)\n"),
        of("def f(lane):\n    return numpy.argmax(lane.live)\n"),
        of("def f(lane):\n    return f(lane)\n"),
    ]
    assert None not in others and len({base, *others}) == len(others) + 1
    # Of these nobody knows.
    assert of(helper + plain, K=object()) is None
    assert of(helper + plain, K=__import__("conftest")) is None


def test_what_a_process_dies_of_is_told(tmp_path: Path) -> None:
    def dies(lane: wordline.Lane) -> int | None:
        os.kill(os.getpid(), 9)
        return None

    with pytest.raises(wordline.RunError, match=r"1 runs failed.*\n.*died 2 times, while it ran dies: signal 9 \(SIGKILL\)"):
        wordline.sweep(grid("greedy", "dies"), tmp_path / "out", policies={"dies": dies}, processes=2)
    # The other run is kept.
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 1


def test_what_ends_the_program_ends_its_processes(tmp_path: Path) -> None:
    def raises(lane: wordline.Lane) -> int:
        raise KeyboardInterrupt("of mine")

    with pytest.raises(KeyboardInterrupt, match="of mine"):
        wordline.sweep(grid("mine"), tmp_path / "out", policies={"mine": raises}, processes=1)


def test_a_cluster_takes_functions_that_have_no_module(tmp_path: Path, library: Path) -> None:
    distributed = pytest.importorskip("distributed")
    least = 3

    def mine(lane: wordline.Lane) -> int | None:
        return int(numpy.where(lane.eligible & (lane.live >= least), lane.live, 2**32 - 1).argmin())

    policies = {"mine": mine, "counting": Counting, "library": library}
    file = grid("greedy", *policies)
    here = wordline.sweep(file, tmp_path / "here", policies=policies, processes=2)
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster:
        there = wordline.sweep(file, tmp_path / "there", policies=policies, scheduler=cluster.scheduler_address)
    assert outcome(here) == outcome(there) and len(outcome(here)) == 4
    # The same runs, by name.
    assert here["run"] == there["run"]


def test_single_runs_have_names_too() -> None:
    settings = {key: value for key, value in SWEEP.items() if key not in ("preset", "workload")}
    named = wordline.run(
        SWEEP["workload"], "client_tlc", {**settings, POLICY: "mine"}, policies={"mine": greedy}, cache=False
    )
    by_family = wordline.run(SWEEP["workload"], "client_tlc", settings, policies={"gc_victim": greedy}, cache=False)
    plain = wordline.run(SWEEP["workload"], "client_tlc", {**settings, POLICY: "greedy"}, cache=False)
    assert named["event_hash"] == by_family["event_hash"] == plain["event_hash"]
    assert named["config"][POLICY] == named["external_policies"][0]["name"] == "mine"
    drive = wordline.Drive.preset("client_tlc", {**settings, POLICY: "mine"}, policies={"mine": greedy})
    assert drive.run(SWEEP["workload"], cache=False)["event_hash"] == plain["event_hash"]

    def raises(lane: wordline.Lane) -> int:
        raise ValueError("as it should")

    with pytest.raises(wordline.RunError, match="ValueError: as it should"):
        wordline.run(SWEEP["workload"], "client_tlc", settings, policies={"gc_victim": raises}, cache=False)


WRONG = [
    ({"policies": [greedy]}, TypeError, "policies\n    found:   .*list.*\n    allowed: a dict"),
    ({"policies": {3: greedy}}, TypeError, "policies: a name\n    found:   3"),
    ({"policies": {"mine": 1.5}}, TypeError, "policies: mine\n    found:   1.5.*float.*\n    allowed: a function"),
    ({"policies": {"mine": 0}}, wordline.ConfigError, "policies: mine\n    found:   0\n    allowed: the address of"),
    ({"policies": {"mine": "nowhere.so"}}, wordline.ConfigError, "nowhere.so"),
    ({"policies": {"mine": "mine.c"}}, wordline.ConfigError, "policies: mine\n    found:   mine.c, which is a source"),
    ({"policies": {"mien": greedy}}, wordline.ConfigError, "\"mine\"\n    allowed: greedy, .*mien\n    did you mean \"mien\""),
    ({"policies": {"mine": greedy, "other": greedy}}, wordline.ConfigError, "policies\n    found:   \"other\", which no"),
    ({"policies": {"mine": greedy, "gc_victm": greedy}}, wordline.ConfigError, "gc_victm.*\n.*\n.*did you mean \"gc_victim\""),
    ({"policies": {"mine": greedy, "fifo": greedy}}, wordline.ConfigError, "policies: fifo\n    found:   fifo\n    allowed: a name that no shipped"),
    ({"policies": {"mine": greedy, "my own": greedy}}, wordline.ConfigError, "policies: my own\n.*\n    allowed: a name of letters"),
    ({"policies": {"mine": object}}, wordline.ConfigError, "policies: mine\n    found:   the class object, whose objects cannot be called"),
    ({"policies": {"mine": nth}}, wordline.ConfigError, "policies: mine\n    found:   nth.*missing.*n'.*\n    allowed: one argument"),
    ({}, wordline.ConfigError, "\"mine\"\n    allowed: greedy, "),
    ({"policies": {"mine": greedy}, "processes": 0}, wordline.ConfigError, "processes\n    found:   0 .*\n    allowed: a whole number"),
    ({"policies": {"mine": greedy}, "jobs": "2"}, TypeError, "jobs\n    found:   2 \\(str\\)\n    allowed: a whole number"),
    ({"policies": {"mine": greedy}, "jobs": 1, "processes": 2}, wordline.ConfigError, "processes\n    found:   beside jobs"),
]


@pytest.mark.parametrize(("wrong", "kind", "text"), WRONG)
def test_a_wrong_call_names_the_argument(tmp_path: Path, wrong: dict, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        wordline.sweep(grid("greedy", "mine"), tmp_path / "out", **wrong)
    assert not list((tmp_path / "out").glob("runs/*.json"))


def test_wrong_parameters_and_tables_are_named(tmp_path: Path, library: Path) -> None:
    for policy, key, text in [
        (nth, "policies.mine.m", "policies.mine.m\n    found:   no such parameter of nth.*\n    allowed: n"),
        (greedy, "policies.mine.n", "policies.mine.n\n.*\n    allowed: no parameters"),
        (greedy, "policies.mien.n", "policies.mien.n\n    found:   no policy mien\n    allowed: mine"),
        (greedy, "policies.mine", "policies.mine\n    found:.*\n    allowed: policies.NAME.PARAMETER"),
        (library, "policies.mine.n", "policies.mine.n\n    found:   a parameter of mine, which is a library"),
        (greedy, "workload.cuont", "workload.cuont|cuont"),
    ]:
        file = {**SWEEP, "grid": {POLICY: ["mine"], key: [1, 2]}}
        with pytest.raises((wordline.ConfigError, wordline.WorkloadError), match=text):
            wordline.sweep(file, tmp_path / "out", policies={"mine": policy})
    with pytest.raises(TypeError, match="file: grid.run.depth: found object"):
        wordline.sweep({**SWEEP, "grid": {"run.depth": [object()]}}, tmp_path / "out")
    with pytest.raises(TypeError, match="file\n    found:   3"):
        wordline.sweep(3, tmp_path / "out")


def test_what_is_required_and_not_met_is_raised_with_the_rows(tmp_path: Path) -> None:
    file = {**grid("greedy", "mine"), "run": {"overwrite": "none", "fill_percent": 50}}
    text = 'preset = "client_tlc"\n[run]\noverwrite = "none"\n[workload]\npattern = "uniform"\ncount = 10\nread_percent = 0\n'
    path = tmp_path / "grid.toml"
    path.write_text(text + "[grid]\nnand.geometry.blocks_per_plane = [64, 80]\n")
    for what, policies in [(file, {"mine": greedy}), (path, None)]:
        out = tmp_path / f"out-{policies is None}"
        with pytest.raises(wordline.NotMet, match=r"require is not met\n    .*: steady: .*\n    .*: steady: ") as raised:
            wordline.sweep(what, out, policies=policies, require="steady,not-overloaded")
        assert isinstance(raised.value, wordline.RunError) and len(raised.value.sweep) == 2
        assert len(wordline.sweep(what, out, policies=policies, require=["IOPS>0"])) == 2
        with pytest.raises(wordline.ConfigError, match="require: .*stady.*allowed: .*did you mean \"steady\""):
            wordline.sweep(what, tmp_path / "wrong", policies=policies, require="stady")
