"""What is raised says what the command line says."""

import pytest
from conftest import SMALL, flat, program

import wordline


def line(*arguments: str) -> str:
    done = program(*arguments, check=False)
    assert done.returncode in (1, 2), done
    return done.stderr.strip().removeprefix("error: ")


@pytest.mark.parametrize(
    ("settings", "workload"),
    [
        ({"ftl.gc_victim.policy": "fifi"}, {"pattern": "uniform"}),
        ({"ftl.gc_victim.polcy": "fifo"}, {"pattern": "uniform"}),
        ({"drive.over_provisioning_percent": -1}, {"pattern": "uniform"}),
        ({}, {"path": "nowhere.csv"}),
        ({"run.depth": 1_000_000}, {"pattern": "uniform"}),
    ],
)
def test_texts_are_the_command_lines(settings: dict, workload: dict) -> None:
    flags = [f"--synthetic={workload['pattern']}"] if "pattern" in workload else [workload["path"]]
    expected = line("run", *flags, "--drive", "client_tlc", *flat({**SMALL, **settings}), "--quiet")
    with pytest.raises(wordline.WordlineError) as raised:
        wordline.run(workload if "pattern" in workload else workload["path"], "client_tlc", {**SMALL, **settings})
    assert str(raised.value) == expected


def test_each_has_its_kind(small: wordline.Drive, tmp_path) -> None:
    damaged = tmp_path / "damaged.csv"
    rows = "".join(f"{at},R,{8 * at},8\n" for at in range(20))
    damaged.write_text(f"#wordline 1 time_ns,op,lba,sectors\n{rows}20,X,8,8\n")
    cases = [
        (wordline.ConfigError, lambda: wordline.Drive.preset("m46"), 'did you mean "m64"'),
        (wordline.ConfigError, lambda: small.run({"pattern": "uniform"}, depht=3), "depht=3: run.depht"),
        (wordline.WorkloadError, lambda: small.run({"patern": "uniform"}), "`pattern`"),
        (wordline.WorkloadError, lambda: small.run(str(damaged)), "damaged.csv:22"),
        (wordline.WorkloadError, lambda: small.run({"lba": [0], "sectors": [8], "op": ["reed"]}), r"op\[0\]"),
        (wordline.WorkloadError, lambda: small.run({"lba": [0, 8], "sectors": [8], "op": [0, 0]}), "equal length"),
        (wordline.WorkloadError, lambda: small.run({"lba": [-8], "sectors": [8], "op": [0]}), "lba"),
        (wordline.WorkloadError, lambda: small.run({"lba": [0], "sectors": [8], "op": [0], "size": [1]}), "'size'|\"size\""),
        (wordline.WorkloadError, lambda: small.run(), "nothing to run"),
        (wordline.SnapshotError, lambda: wordline.Drive.restore(b"x"), "not a snapshot"),
        (wordline.SnapshotError, lambda: wordline.Drive.restore(small.snapshot()[:-9]), "snapshot"),
    ]
    for kind, call, text in cases:
        with pytest.raises(kind, match=text):
            call()
    assert small.run({"pattern": "uniform", "count": 100})["requests_served"] == 100


def test_a_run_that_fails_has_what_was_measured() -> None:
    worn = {**SMALL, "nand.reliability.endurance_cycles": 4}
    drive = wordline.Drive.preset("client_tlc", worn)
    with pytest.raises(wordline.RunError) as raised:
        drive.run({"pattern": "uniform", "count": 400_000, "read_percent": 0, "size_bytes": 65536}, overwrite="none")
    result = raised.value.result
    assert isinstance(result, wordline.Result) and 0 < result["requests_served"] < 400_000
    assert result["ended"].startswith("read_only")


def test_the_program_is_there() -> None:
    assert program("--version").stdout.strip() == f"wordline {wordline.version()}"
    assert program("run", "--depht", "3", check=False).returncode == 2
    assert "Examples" in program("sweep", "--help").stdout
