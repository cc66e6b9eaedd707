#!/usr/bin/env python3
"""Writes papers/rhs/experiment.toml: the skews, mixes, strategies and offsets of RHS section IV.

    python3 scripts/rhs_experiment.py > papers/rhs/experiment.toml

Zipf x/y: x % of the operations go to y % of the drive, on a drive of any size. All phases of a workload have the same
hot places (scatter_seed); writes are shifted against reads by a part of the drive.
"""

SKEWS = [(60, 40), (70, 30), (80, 20), (90, 20), (95, 20)]
MIXES = [(80, 2.0), (98, 1.0)]  # % reads, drives written before the measurement
OFFSETS = [0, 5, 10, 25, 50]  # % of the drive
STEPS = range(1, 11)  # tenths of the drive written
# Probabilities that a read raises a heat of 0, 1 and 2 (figure 5).
STRATEGIES = [
    ("equal1", [1.0, 1.0, 1.0]),
    ("equal01", [0.1, 0.1, 0.1]),
    ("equal001", [0.01, 0.01, 0.01]),
    ("falling", [1.0, 0.1, 0.01]),
    ("p04", [0.4, 0.04, 0.004]),
    ("p005", [0.05, 0.005, 0.0005]),
]
SCHEMES = ["rrhd", "rhgw", "rhwo", "dgwo"]
CODES = {
    "orbc": "[[8], [4, 12], [2, 6, 10, 14], [1, 3, 5, 7, 9, 11, 13, 15]]",
    "pbbc": "[[8], [3, 7, 9, 13], [2, 4, 6, 11, 15], [1, 5, 10, 12, 14]]",
    "mbbc": "[[2, 5, 11], [1, 7, 10, 12], [3, 9, 13, 15], [4, 6, 8, 14]]",
}


def technique(name, label, settings):
    quoted = ", ".join(f'"{one}"' for one in settings)
    print(f'[[technique]]\nname = "{name}"\nlabel = "{label}"\nset = [{quoted}]\n')


def heat(name, label, scheme, chances):
    technique(name, label, ["ftl.page_class.policy=read_heat", f"ftl.page_class.decrease={scheme}",
                            f"ftl.page_class.p={chances}"])


def workload(name, label, skew, across=None):
    print(f'[[workload]]\nname = "{name}"\nlabel = "{label}"')
    if skew:
        print(f"skew = [{skew[0]}, {skew[1]}]")
    if across is not None:
        print(f"across = {across}")
    print()


def phase(name, seed, skew, read_percent, until, shift=0):
    print(f'[[workload.spec.phases]]\nname = "{name}"\nsize_bytes = 16384')
    print(f"read_percent = {read_percent}\nseed = {seed}")
    print(f"{until[0]} = {until[1]}")
    if skew:
        print(f'pattern = "zipf"\nzipf_access_percent = {skew[0]}\nzipf_space_percent = {skew[1]}\nscatter_seed = 77')
        if shift:
            print(f"write_shift_percent = {shift}")
    else:
        print('pattern = "uniform"')
    print()


def study(name, config, techniques, workloads, quick, more=""):
    names = lambda all: "[" + ", ".join(f'"{one}"' for one in all) + "]"
    print(f'[[study]]\nname = "{name}"\nconfig = {names(config)}\nquick = ["quick.toml"]')
    print(f"techniques = {names(techniques)}")
    print(f"workloads = {names(workloads)}\nquick_workloads = {names(quick)}\n{more}\n")


print("# What is run for RHS. Written by scripts/rhs_experiment.py; the README says what is faithful and what is")
print("# assumed.\n")
print('title = "RHS: page types by how often data is read"\n\n[[age]]\nname = "now"\n')

technique("even", "no separation", ["ftl.page_class.policy=sequential"])
for code, rows in CODES.items():
    technique(f"optimal_{code}", f"optimal, {code.upper()}",
              ["ftl.page_class.policy=oracle", f"nand.cell.gray_code={rows}"])
for name, chances in STRATEGIES:
    for scheme in SCHEMES:
        heat(f"{scheme}_{name}", f"{scheme.upper()} {chances}", scheme, chances)

# Figure 4: two drives written, then two pages read for each page, measured. The reads that follow are not measured:
# they tell the oracle how often each page is read in the mean, not only how often in this sample.
potential = []
for skew in [None, *SKEWS]:
    name = f"read_{skew[0]}_{skew[1]}" if skew else "read_uniform"
    potential.append(name)
    workload(name, f"Zipf {skew[0]}/{skew[1]}" if skew else "uniform", skew)
    phase("write", 1, skew, 0, ("until_drive_writes", 2), 50)
    phase("read", 2, skew, 100, ("until_drive_reads", 2))
    phase("more", 3, skew, 100, ("until_drive_reads", 18))

# Figures 5 and 6: reads and writes mixed, until the drive was written so often; then a page read for each, measured.
def mixed(skew, reads, drives, offset):
    name = f"mix_{skew[0]}_{reads}_{offset}"
    workload(name, f"Zipf {skew[0]}/{skew[1]}, {reads}:{100 - reads}, offset {offset} %", skew, offset)
    phase("mix", 1, skew, reads, ("until_drive_writes", drives), offset)
    phase("read", 2, skew, 100, ("until_drive_reads", 1))
    return name


mixes = {}
for skew in [(80, 20), (95, 20)]:
    for reads, drives in MIXES:
        for offset in OFFSETS:
            mixes[skew[0], reads, offset] = mixed(skew, reads, drives, offset)

# Figure 7: ten pages read for each page, then a tenth of the drive written and the same reads again, ten times.
def adapting(skew, reads):
    name = f"adapt_{skew[0]}_{reads}"
    workload(name, f"Zipf {skew[0]}/{skew[1]}, {reads} reads a page", skew)
    phase("r0", 1, skew, 100, ("until_drive_reads", reads))
    for step in STEPS:
        phase(f"w{10 * step}", 2 * step, skew, 0, ("until_drive_writes", 0.1), 50)
        phase(f"r{10 * step}", 2 * step + 1, skew, 100, ("until_drive_reads", reads))
    return name


adapt = [adapting(skew, 10) for skew in [(70, 30), (80, 20), (95, 20)]]
adapt_less = [adapting(skew, 2) for skew in [(70, 30), (80, 20), (95, 20)]]
adapt_more = [adapting(skew, 40) for skew in [(70, 30), (80, 20), (95, 20)]]

# Figure 8: four fifths of the drive used, written in order and then half of it at random; two workloads read it, 95 %
# of the reads to 5 % of the space, before (half a read a page), with overwrites of 30 % of it beside them, and after.
USED = 80.0
ONE = "space_mib = 1024\nsize_bytes = 16384"


def hybrid(name, seed, parts, *until):
    print(f'[[workload.spec.phases]]\nname = "{name}"\nseed = {seed}')
    print(f"footprint_percent = {USED}\nchunk_kib = 0")
    print("\n".join(f"{key} = {value}" for key, value in until))
    for part in parts:
        print(f"\n[[workload.spec.phases.parts]]\n{part}\n{ONE}")
    print()


def part(name, share, read_percent, places="uniform"):
    hot = "\nhot_space_percent = 5\nhot_access_percent = 95" if places == "hot_cold" else ""
    lines = [f'name = "{name}"', f"share_percent = {share}", f"read_percent = {read_percent}"]
    return "\n".join([*lines, f'places = "{places}"{hot}'])


workload("ssd", "95/5 and 5/95 reads, even overwrites", None)
READS = part("reads", 100, 100, "hot_cold")
hybrid("precondition", 1, [part("writes", 100, 0)], ("until_drive_writes", 0.4))
hybrid("before", 2, [READS], ("until_drive_reads", 0.4))
hybrid("both", 3, [part("reads", 50, 100, "hot_cold"), part("writes", 50, 0)], ("until_drive_writes", 0.24))
hybrid("after", 4, [READS], ("until_drive_reads", 0.4))

READ = 'measured = ["read"]'
study("potential", ["drive.toml"], ["even", *(f"optimal_{code}" for code in CODES)], potential,
      ["read_uniform", "read_90_20", "read_95_20"], READ)
study("strategies", ["drive.toml"], ["even", *(f"{scheme}_{name}" for name, _ in STRATEGIES for scheme in SCHEMES)],
      [mixes[skew, reads, 50] for skew in (80, 95) for reads, _ in MIXES], ["mix_80_80_50"], READ)
study("overlap", ["drive.toml"], [f"{scheme}_falling" for scheme in ("rhgw", "rhwo", "dgwo")], list(mixes.values()),
      [mixes[80, 98, offset] for offset in OFFSETS], READ)
study("hybrid", ["drive.toml", "hybrid.toml"], ["even", "dgwo_falling", "dgwo_equal1"], ["ssd"], ["ssd"],
      'measured = ["before", "after"]')
steps = ", ".join(f'"r{10 * step}"' for step in [0, *STEPS])
SERIES = f"measured = [{steps}]\nmeasured_across = [{', '.join(str(10 * step) for step in [0, *STEPS])}]"
study("adaptation", ["drive.toml", "shuffled.toml"], ["dgwo_falling"], adapt, adapt,
      f"{SERIES}\nseeds = 8\nquick_seeds = 2")
study("adaptation_less", ["drive.toml", "shuffled.toml"], ["dgwo_falling"], adapt_less, adapt_less, SERIES)
study("adaptation_more", ["drive.toml", "shuffled.toml"], ["dgwo_falling"], adapt_more, adapt_more[:1], SERIES)

print('''[[figure]]
name = "figure-4"
title = "Sensing of a page read, optimal placement"
study = "potential"
kind = "bars"
metrics = ["sense_mean_us"]

[[figure]]
name = "figure-5"
title = "Achieved of what is possible"
study = "strategies"
kind = "bars"
metrics = ["achieved"]

[[figure]]
name = "figure-7"
title = "Adaptation"
study = "adaptation"
kind = "series"
metrics = ["achieved"]
across = "written, % of the drive"

[check]
default_percent = 0.0''')
