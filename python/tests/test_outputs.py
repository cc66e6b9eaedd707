"""One rule for all outputs: what a command of the same kind wrote is replaced with `force`, anything else never."""

from pathlib import Path

import pytest
from conftest import SMALL

import wordline


def run(**keywords):
    """A short run on a small drive."""
    workload = {"pattern": "uniform", "count": 300}
    return wordline.run(workload, settings=SMALL, fill_percent=0, overwrite="none", **keywords)


def test_results_and_reports_replace_their_own_kind_alone(tmp_path: Path) -> None:
    result = run()
    folder, page = tmp_path / "out", tmp_path / "page.html"
    result.save(folder)
    result.report(page)
    for again in (lambda **force: result.save(folder, **force), lambda **force: result.report(page, **force)):
        with pytest.raises(FileExistsError, match="(?s)found: .*force=True"):
            again()
        again(force=True)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "config.toml").write_text("mine")
    (tmp_path / "mine.html").write_text("mine")
    for force in (False, True):
        with pytest.raises(FileExistsError, match="config.toml, which would be replaced"):
            result.save(mine, force=force)
        with pytest.raises(FileExistsError, match="not a report"):
            result.report(tmp_path / "mine.html", force=force)
    assert (mine / "config.toml").read_text() == (tmp_path / "mine.html").read_text() == "mine"
    with pytest.raises(OSError, match="its folder does not exist"):
        result.report(tmp_path / "no" / "page.html")


def test_a_request_log_is_one_runs_alone(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    run(request_log=log)
    with pytest.raises(wordline.ConfigError, match="(?s)a request log.*force=True"):
        run(request_log=log)
    run(request_log=log, force=True)
    drive = wordline.Drive.preset("m64", SMALL)
    with pytest.raises(wordline.ConfigError, match="a request log"):
        drive.session(request_log=log)
    with drive.session(request_log=log, force=True) as session:
        session.feed(lba=[0], sectors=[8], op=["write"])
        with pytest.raises(wordline.ConfigError, match="another run is writing this file"):
            run(request_log=log, force=True)
        session.finish()
    run(request_log=log, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.csv"]


def test_the_folder_of_a_sweep_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text("[grid]\nworkload.seed = [1, 2]\n")
    with pytest.raises(wordline.WordlineError, match="(?s)a sweep without results.*wordline sweep"):
        wordline.report(tmp_path)
    rows = "run,status,workload.seed,repeat,seed,problems,IOPS\na,ok,1,0,0,,1000\nb,ok,2,0,0,overloaded,9\n"
    (tmp_path / "runs.csv").write_text(rows)
    assert "Overloaded: 1 of 2 runs." in wordline.report(tmp_path)
    with pytest.raises(wordline.WordlineError, match="a sweep beside something else"):
        wordline.report([tmp_path, run()])
