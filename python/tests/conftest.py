"""What tests share: a small drive, and the command line beside which Python is held."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import wordline

#: A drive on which a test takes no time, as settings on a preset.
SMALL = {
    "nand.geometry": {"channels": 2, "chips_per_channel": 2, "blocks_per_plane": 64, "wordlines_per_block": 16},
    "drive.over_provisioning_percent": 20,
    "host.buffer": {"policy": "lru_write", "size_mib": 1},
}


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds what another has left."""
    monkeypatch.setenv("WORDLINE_CACHE", "")


@pytest.fixture
def small() -> wordline.Drive:
    return wordline.Drive.preset("client_tlc", SMALL)


def flat(settings: dict, before: str = "") -> list[str]:
    """Settings as `--set` takes them."""
    all = []
    for key, value in settings.items():
        if isinstance(value, dict):
            all += flat(value, f"{before}{key}.")
        else:
            all += ["--set", f"{before}{key}={value}"]
    return all


def program(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """The command line, as the package's script runs it."""
    command = [sys.executable, "-m", "wordline", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "WORDLINE_CACHE": ""})
    if check:
        assert done.returncode == 0, done.stderr
    return done


def told(*arguments: str) -> dict:
    """The result of `wordline run`."""
    return json.loads(program("run", *arguments, "--json").stdout)


def traces() -> Path:
    """The project's recorded traces."""
    return Path(__file__).parents[2] / "data"
