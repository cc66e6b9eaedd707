#!/usr/bin/env python3
"""Reads beside writes at a given rate, as measured of drives one can buy.

    benches/real/tails.py [WORDLINE] [KEY=VALUE ...]

    benches/real/tails.py target/release/wordline flash.preemption.policy=immediate

A job reads 4 KiB at depth 1 while another writes 4 KiB at a rate, for four seconds. tPROG is fitted to what a drive
writes in sequence and tR to a read at depth 1 of an idle drive; how its programs and erases are suspended is that of
the default drive, which was fitted to these very percentiles. KEY=VALUE changes the drive, to compare. Deterministic;
some two minutes.
"""

import sys
import tempfile
from pathlib import Path

from real import HERE, drives_of, fitted, program_of, result_of, settings_of

# What a read of the default drive takes beside tR: link, firmware, command and data; us.
BESIDE_TR_US = 5.4
JOBS = """[global]
direct=1
filename=/dev/nvme0n1
bs=4k
time_based=1
runtime=4
[writes]
rw=randwrite
iodepth=256
rate_iops={rate}
[reads]
rw=randread
iodepth=1
"""


def percentiles(program, drive, program_us, kilo_writes, more):
    """p50, p99 and p99.9 of the reads in us, and writes served in 1,000 a second; with more settings, as given."""
    settings = settings_of(drive, program_us, "row") | {
        "nand.timing.t_read_us": drive["read_us"] - BESIDE_TR_US,
        # As after hours of writes: four seconds would live on what a drive keeps free.
        "run.overwrite_pace": "saturated",
    }
    settings |= more
    with tempfile.TemporaryDirectory() as folder:
        jobs = Path(folder, "jobs.fio")
        jobs.write_text(JOBS.format(rate=int(1000 * kilo_writes)))
        result = result_of(program, [str(jobs)], settings)
    of = {job["name"]: job for job in result["jobs"]}
    latency = of["reads"]["latency_ns"]["read"]
    return [latency[name] / 1000 for name in ("p50", "p99", "p99_9")], of["writes"]["iops"]["all"] / 1000


def main():
    more = dict(word.split("=", 1) for word in sys.argv if "=" in word)
    program = program_of([word for word in sys.argv if "=" not in word])
    heads = "  ".join(f"{name:>17}" for name in ("p50", "p99", "p99.9"))
    print(f"{'drive':24} {'writes':>8} {'served':>8}  {heads}  (us: here, measured, off)")
    for drive in drives_of(HERE):
        program_us = None
        for kilo_writes, p50, _, p99, p999 in drive.get("reads_beside_writes", []):
            program_us = program_us or fitted(program, drive, "row")
            found, served = percentiles(program, drive, program_us, kilo_writes, more)
            pairs = zip(found, (p50, p99, p999))
            told = [f"{here:5.0f} {real:5} {100 * (here / real - 1):+4.0f} %" for here, real in pairs]
            print(f"{drive['name']:24} {kilo_writes:>6} k {served:>6.1f} k  {'  '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
