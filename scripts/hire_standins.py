#!/usr/bin/env python3
"""Writes papers/hire/experiment.toml: stand-ins for the seventeen traces of HIRE (section 4.1), of which the paper
names three (stg1, fin1, fin2) and no volume of the others.

Each is three populations of 8-KiB pages apart: one that is only read (RH), one that is only written (WH), one that is
both (MH). Which share of reads goes to RH, and of writes to WH, follows from the paper's figures by its own model
(calibration section 4.1): a boosted read saves 58.82 %, a reduced cycle 20 % of wear. So these shares are fitted; the
shares of writes of the traces are from the literature, from memory (calibration section 13).
"""

import sys
from pathlib import Path

# Share of writes in requests [A] calibration section 13; src2_0 is left out, so that there are seventeen.
WRITES = {
    "hm_0": 0.65, "mds_0": 0.88, "prn_0": 0.89, "prn_1": 0.25, "proj_0": 0.88, "prxy_0": 0.97,
    "prxy_1": 0.35, "rsrch_0": 0.91, "src1_2": 0.75, "stg_0": 0.85, "stg_1": 0.36, "ts_0": 0.82,
    "usr_0": 0.60, "wdev_0": 0.80, "web_0": 0.70, "fin1": 0.77, "fin2": 0.18,
}
# Shares of reads that go to RH, of writes that go to WH [F] calibration section 4.1: the same for all but the three
# that the text has numbers of.
READS, CYCLES = {"stg_1": 0.996, "fin1": 0.117}, {"stg_1": 0.9995, "fin2": 0.083}
ELSE_READS, ELSE_CYCLES = 0.764, 0.884
SPACE_MIB = 3276.8  # 80 % of 4 GiB, the space that is filled
# Space of MH and WH [A]: in proportion to their writes, so that blocks of both are overwritten as fast, but at least
# .5 %; together at most half of the space, so that MH pages are accessed often enough to have a class.
MIXED, LEAST, TOGETHER = 0.02, 0.005, 0.5
DRIVE_WRITES, PAGES = 3, 524_288  # of 4 GiB, of 8 KiB

HEAD = """# What is run for HIRE. Written by scripts/hire_standins.py, which says where the numbers come from; the
# README says what is faithful and what is assumed.

title = "HIRE: voltages by how data is used"

[[technique]]
name = "baseline"
label = "baseline"
set = []

[[technique]]
name = "hvc"
label = "HVC"
set = ["ftl.program_mode.policy=high"]

[[technique]]
name = "lvc"
label = "LVC"
set = ["ftl.program_mode.policy=low"]

# The classes of the whole trace, known before the drive is filled: what the paper's numbers need.
[[technique]]
name = "hire"
label = "HIRE"
set = ["ftl.program_mode.policy=hire", "ftl.stream.policy=hotness", "ftl.stream.place=preclassified"]

# The paper's text: what left the buffer counts when it is written next.
[[technique]]
name = "hire_on_rewrite"
label = "HIRE, on rewrite"
set = ["ftl.program_mode.policy=hire", "ftl.stream.policy=hotness", "ftl.stream.place=on_rewrite",
       "host.hotness.policy=hit_counts"]

# Ours: what leaves the buffer clean and read-hot is written once more at once, for at most 5 % of what the host writes.
[[technique]]
name = "hire_promote"
label = "HIRE, promoting"
set = ["ftl.program_mode.policy=hire", "ftl.stream.policy=hotness", "ftl.stream.place=promote",
       "host.hotness.policy=hit_counts"]

[[age]]
name = "now"
"""

TAIL = """
[[workload]]
name = "prxy_0-recorded"
trace = "msr-prxy_0-first20k.csv.zst"
set = ["address=compact", "repeat=7"]

[[workload]]
name = "msr-cut"
trace = "msr-cut-rw20-80.trace.zst"
set = ["address=compact", "repeat=7"]

[[workload]]
name = "fin1-recorded"
trace = "umass-financial1-first10k.spc.zst"
set = ["address=compact", "repeat=10"]

[[workload]]
name = "hm_0-recorded"
trace = "msr-hm_0-sample1k.csv.zst"
set = ["address=compact", "repeat=80"]

# Figures 3, 4 and 5.
[[study]]
name = "voltages"
config = ["drive.toml"]
quick = ["quick.toml"]
techniques = ["baseline", "hvc", "lvc", "hire", "hire_on_rewrite", "hire_promote"]
workloads = ["hm_0", "mds_0", "prn_0", "prn_1", "proj_0", "prxy_0", "prxy_1", "rsrch_0", "src1_2", "stg_0", "stg_1",
             "ts_0", "usr_0", "wdev_0", "web_0", "fin1", "fin2"]
quick_workloads = ["stg_1", "fin1", "fin2", "mds_0"]

# Recordings, beside the stand-ins: not one that the paper has, and none is fitted.
[[study]]
name = "recorded"
config = ["drive.toml", "recorded.toml"]
techniques = ["baseline", "hvc", "lvc", "hire", "hire_on_rewrite", "hire_promote"]
workloads = ["prxy_0-recorded", "msr-cut", "fin1-recorded", "hm_0-recorded"]
quick_workloads = []

[[figure]]
name = "figure-3"
title = "Time of a page read"
study = "voltages"
kind = "bars"
metrics = ["flash_read_mean_us"]
against = "baseline"

[[figure]]
name = "figure-4"
title = "Wear of all erases for the same host writes"
study = "voltages"
kind = "bars"
metrics = ["wearing_weight_write"]
against = "baseline"

[[figure]]
name = "figure-4-erase"
title = "Wearing weight of an erase in the mean"
study = "voltages"
kind = "bars"
metrics = ["wearing_weight"]

[[figure]]
name = "figure-5"
title = "Write latency"
study = "voltages"
kind = "bars"
metrics = ["write_mean_us"]
against = "baseline"

[check]
default_percent = 0.0
"""


def workload(name, writes):
    to_rh, to_wh = READS.get(name, ELSE_READS), CYCLES.get(name, ELSE_CYCLES)
    reads = 1 - writes
    mixed_reads, mixed_writes = reads * (1 - to_rh), writes * (1 - to_wh)
    mixed = max(MIXED, LEAST)
    cold = mixed * to_wh / (1 - to_wh)
    if mixed + cold > TOGETHER:
        mixed, cold = (TOGETHER * part / (mixed + cold) for part in (mixed, cold))
    mixed, cold = max(mixed, LEAST), max(cold, LEAST)
    count = round(DRIVE_WRITES * PAGES / writes)
    out = [
        f'\n[[workload]]\nname = "{name}"\nquick_set = ["footprint_gib=0.2"]\n',
        f'[workload.spec]\ncount = {count}\narrival = "poisson"\nrate_iops = 20  # 1/s [A]\nchunk_kib = 8',
    ]
    parts = [
        ("mixed", mixed_reads + mixed_writes, 100 * mixed_reads / (mixed_reads + mixed_writes), mixed),
        ("write_hot", writes * to_wh, 0, cold),
        ("read_hot", reads * to_rh, 100, 1 - mixed - cold),
    ]
    at = 0.0
    for part, share, read_percent, space in parts:
        # Whole pages.
        mib = round(SPACE_MIB * space * 128) / 128
        out.append(
            f'\n[[workload.spec.parts]]\nname = "{part}"\nshare_percent = {100 * share:.6f}\n'
            f"read_percent = {read_percent:.6f}\nat_mib = {at:.7f}\nspace_mib = {mib:.7f}\nsize_bytes = 8192"
        )
        at = round((at + mib) * 128) / 128
    return "\n".join(out) + "\n"


def main():
    path = Path(__file__).resolve().parent.parent / "papers/hire/experiment.toml"
    text = HEAD + "".join(workload(name, writes) for name, writes in WRITES.items()) + TAIL
    if sys.argv[1:] == ["--check"]:
        sys.exit(path.read_text() != text)
    path.write_text(text)


main()
