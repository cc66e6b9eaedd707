"""Wordline: an SSD you can open.

A drive of NAND flash in software, from host queues down to cells::

    import wordline

    drive = wordline.Drive.preset("m64", {"ftl.gc_victim.policy": "cost_benefit"})
    result = drive.run({"pattern": "zipf", "count": 100_000}, depth=32)
    print(result["latency_ns.read.p99"], "ns")

Times are in ns of simulated time, sizes in bytes, addresses in sectors of 512 bytes. Nothing here needs numpy until an
array is asked for.
"""

#: What type checkers take for true; importing it takes time.
TYPE_CHECKING = False

from wordline._core import (
    Column,
    Comparison,
    ConfigError,
    Drive,
    Lane,
    Result,
    ResultWarning,
    RunError,
    Session,
    SnapshotError,
    Table,
    Unit,
    WordlineError,
    WordlineWarning,
    WorkloadError,
    compare,
    endurance,
    presets,
    report,
    run,
    version,
)

if TYPE_CHECKING:
    from wordline._plot import plot
    from wordline._sweep import NotMet, Sweep, sweep

__version__ = version().split("+")[0]

__all__ = [
    "Column",
    "Comparison",
    "ConfigError",
    "Drive",
    "Lane",
    "NotMet",
    "Result",
    "ResultWarning",
    "RunError",
    "Session",
    "SnapshotError",
    "Sweep",
    "Table",
    "Unit",
    "WordlineError",
    "WordlineWarning",
    "WorkloadError",
    "compare",
    "endurance",
    "plot",
    "presets",
    "report",
    "run",
    "sweep",
    "version",
]

#: What takes time to import, and where it is.
_LATER = {"plot": "wordline._plot", **dict.fromkeys(("NotMet", "Sweep", "sweep"), "wordline._sweep")}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'wordline' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
