"""A storage engineer's afternoon: which of three drives suits what we run?

A block trace of ours (blkparse) and a fio job in which every write of a log is a commit, each on three drives of the
same capacity: as large as what is run touches, each with the over-provisioning that it is sold with.

    python storage_engineer.py TRACE.blkparse out/drives

The folder gets tables, a result for each run, and drives.html: all of them as a page.
"""

import argparse
import sys
from pathlib import Path

import wordline

DRIVES = ["client_tlc", "tlc", "qlc"]
JOBS = Path(__file__).parent / "commits.fio"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    # A past of their own for all, where it can be known: none brings another one along.
    run = {"size": "footprint", "past": "own"}
    grid = {"workload": [str(args.trace.absolute()), str(JOBS)], "preset": DRIVES}
    metrics = ["IOPS", "read_latency_p99", "write_latency_p99", "write_amplification"]
    file = {"run": run, "sweep": {"rows": ["workload"], "columns": ["preset"], "metrics": metrics}, "grid": grid}
    print(wordline.sweep(file, args.out / "sweep"))
    results = {}
    for workload in (args.trace, JOBS):
        for drive in DRIVES:
            # The same runs, with their courses over time: drives that were aged before are taken from the cache.
            results[f"{workload.stem} on {drive}"] = wordline.run(workload, drive, **run)
    capacities = {name: result["drive.logical_bytes"] for name, result in results.items()}
    for name, result in results.items():
        spare = 100 * (result["drive.physical_bytes"] / result["drive.logical_bytes"] - 1)
        print(f"{name}: {capacities[name] / 2**20:.0f} MiB and {spare:.1f} % of over-provisioning")
        for problem in result["problems"]:
            print("   ", problem["text"])
    print(wordline.compare({name: results[name] for name in results if name.startswith("commits")}))
    wordline.report(results, args.out / "drives.html", force=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
