"""What tests share: a small drive, and the command line beside which Python is held."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
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


def interrupt(after: float) -> Callable[[], float]:
    """Ctrl-C in so many seconds; returns what tells how much processor time this process has taken since. Seconds
    would also count what others do on this machine, so that only half a minute of them is too much."""
    sent: list[tuple[float, float]] = []

    def send() -> None:
        sent.append((time.process_time(), time.monotonic()))
        os.kill(os.getpid(), signal.SIGINT)

    def took() -> float:
        [(processor, clock)] = sent
        assert time.monotonic() - clock < 30.0
        return time.process_time() - processor

    threading.Timer(after, send).start()
    return took


def greedy_address() -> tuple[object, int]:
    """A compiled greedy policy, which must be kept alive, and its C address: numba.cfunc(...).address is such a one;
    without numba, ctypes makes one."""

    class Lane(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint32) for name in ("abi", "size", "lane", "blocks", "units_per_block", "random")] + [
            *[(name, ctypes.c_uint64) for name in ("now", "erases", "call")],
            ("live", ctypes.POINTER(ctypes.c_uint32)),
        ]

    def choose(_state: int, lane: object, answer: object) -> int:
        live = lane[0].live[: lane[0].blocks]
        best = min(range(len(live)), key=live.__getitem__)
        answer[0] = best if live[best] < 2**31 else 2**32 - 2
        return 0

    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(Lane), ctypes.POINTER(ctypes.c_uint32))
    compiled = kind(choose)
    address = ctypes.cast(compiled, ctypes.c_void_p).value
    assert address is not None
    return compiled, address
