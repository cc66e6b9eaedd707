"""A student's afternoon: which victim policy is best, and is mine?

Three traces, three amounts of over-provisioning, three policies that ship and one of our own, three repeats: 108 runs.

    python student.py FOLDER_OF_TRACES out/first                as it comes to mind: ends with code 3, and says why
    python student.py FOLDER_OF_TRACES out/clean --clean        with the section CLEAN below: numbers to be shown
"""

import argparse
import sys
from pathlib import Path

import numpy

import wordline

TRACES = ["tencent-cbs-50k.csv.zst", "cloudphysics-vm-2h.csv.zst", "desktop-diskmon-sys1.txt.zst"]

#: What makes the difference: drives that are overwritten until they are steady, however long that takes, and requests
#: at a tenth of the traces' rate, which the smallest drives can keep up with.
CLEAN = {"run": {"overwrite_times": 1_000}, "workload": {"speed_up": 0.1}}


def oldest_of_emptiest(lane: wordline.Lane, slack: float = 0.05) -> int | None:
    """Of the blocks that are nearly as empty as the emptiest, the one that was filled longest ago."""
    if not lane.eligible.any():
        return None
    live = numpy.where(lane.eligible, lane.live, 2**32 - 1).astype(numpy.int64)
    near = live <= live.min() + slack * lane.units_per_block
    return int(numpy.where(near, lane.closed_at, numpy.iinfo(numpy.uint64).max).argmin())


def plan(traces: list[str], repeats: int, clean: bool) -> dict:
    """All runs."""
    more = CLEAN if clean else {"run": {}, "workload": {}}
    return {
        "run": {"size": "footprint", **more["run"]},
        "workload": {"path": traces[0], **more["workload"]},
        "sweep": {
            "repeats": repeats,
            "rows": ["workload", "drive.over_provisioning_percent"],
            "columns": ["ftl.gc_victim.policy"],
            "metrics": ["write_amplification", "write_latency_p99"],
        },
        "grid": {
            "workload": traces,
            "drive.over_provisioning_percent": [7, 15, 28],
            "ftl.gc_victim.policy": ["greedy", "cost_benefit", "fifo", "mine"],
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=Path, help="the folder of the traces")
    parser.add_argument("out", type=Path, help="the folder of the sweep")
    parser.add_argument("--clean", action="store_true", help="overwrite for longer, and send requests more slowly")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--require", default="steady,not-overloaded")
    args = parser.parse_args()
    traces = [str((args.traces / name).absolute()) for name in TRACES]
    policies = {"mine": oldest_of_emptiest}
    where = {"processes": args.processes, "require": args.require}
    try:
        sweep = wordline.sweep(plan(traces, args.repeats, args.clean), args.out, policies=policies, **where)
    except wordline.NotMet as unmet:
        print(unmet.sweep)
        print(f"error: {unmet}", file=sys.stderr)
        return 3
    print(sweep)
    return 0


if __name__ == "__main__":
    sys.exit(main())
