#!/usr/bin/env python3
"""What Wordline says of drives one can buy, beside what was measured of them.

    benches/real/real.py [WORDLINE]

Fits tPROG to a drive's sequential writes, then predicts its uniform 4-KiB writes, page by page and by row
(ftl.allocation.issue). Drives have their flash (drive.raw_gib), capacity (drive.logical_gib) and parity
(ftl.parity_percent), at a sixteenth of their size: fewer blocks, and shorter ones, erased in as much less time.
WORDLINE is the program, target/release/wordline by default. Deterministic; a few minutes.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEQUENTIAL = ["--synthetic", "sequential", "--size", "128KiB", "--depth", "32", "--requests", "60000"]
RANDOM = ["--synthetic", "uniform", "--size", "4KiB", "--depth", "256", "--requests", "1000000"]
# Of the default drive (presets/nand/client_tlc.toml): wordlines of a block, and us to erase it; planes of a die.
WORDLINES, ERASE_US, PLANES = 704, 3500, 4
# Of the drives here, which are made so many times smaller.
SHORT, SCALE = 44, 16


def size(drive):
    """The keys that give a drive its flash and its capacity, scaled down to whole blocks of each plane."""
    row_gib = drive["dies"] * PLANES * SHORT * 3 * 16 / 2**20
    blocks = round(drive["raw_gib"] / SCALE / row_gib)
    raw_gib = blocks * row_gib
    return {
        "nand.geometry.dies_per_chip": drive["dies"] // 8,
        "nand.geometry.wordlines_per_block": SHORT,
        # More than the firmware uses.
        "nand.geometry.blocks_per_plane": blocks + blocks // 20,
        "nand.timing.t_erase_us": ERASE_US * SHORT / WORDLINES,
        # The step of a whole block's erase is longer.
        "nand.timing.erase_steps": 1,
        "drive.raw_gib": raw_gib,
        "drive.logical_gib": raw_gib * drive["logical_gib"] / drive["raw_gib"],
        "ftl.parity_percent": drive["parity_percent"],
    }


def drives_of(folder):
    """The drives and what was measured of them."""
    return tomllib.loads(Path(folder, "drives.toml").read_text())["drive"]


def program_of(arguments):
    """The program to run."""
    return arguments[1] if len(arguments) > 1 else str(HERE.parent.parent / "target/release/wordline")


def settings_of(drive, program_us, issue):
    """The settings that make the default drive that drive, at a smaller size."""
    return size(drive) | {
        "nand.timing.t_program_us": f"[{program_us}]",
        "ftl.allocation.issue": issue,
    }


def result_of(program, load, settings):
    """The result of a run."""
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "run", "-q", *load, *sets, "--out", f"{folder}/out"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(Path(folder, "out", "result.json").read_text())


def run(program, load, drive, program_us, issue):
    """The result of writes to such a drive."""
    return result_of(program, [*load, "--read-percent", "0"], settings_of(drive, program_us, issue))


def mb_s(result):
    return result["bytes_written"] / result["simulated_ns"] * 1e3


def fitted(program, drive, issue):
    """tPROG in us that gives the drive's sequential writes."""
    program_us = 400.0
    for _ in range(4):
        program_us *= mb_s(run(program, SEQUENTIAL, drive, program_us, issue)) / drive["sequential_mb_s"]
    return program_us


def main():
    program = program_of(sys.argv)
    drives = drives_of(HERE)
    print(f"{'drive':24} {'measured':>9} {'by page':>9} {'off':>6} {'by row':>9} {'off':>6} {'WA':>6} {'measured':>9}")
    rates = {}
    for drive in drives:
        row = f"{drive['name']:24} {drive['random_k_s']:>7.1f} k"
        for issue in ("page", "row"):
            result = run(program, RANDOM, drive, fitted(program, drive, issue), issue)
            rate = result["requests_measured"] / result["simulated_ns"] * 1e6
            rates[drive["name"], issue] = rate
            row += f" {rate:>7.1f} k {100 * (rate / drive['random_k_s'] - 1):>+4.0f} %"
        measured = drive.get("write_amplification")
        print(row + f" {result['write_amplification']:>6.2f} {measured or '-':>9}", flush=True)
    pro, most = (rates[name, "row"] for name in ("Micron 7450 PRO 960 GB", "Micron 7450 MAX 800 GB"))
    print(f"7450 MAX over PRO: {most / pro:.2f}, measured 1.70")


if __name__ == "__main__":
    main()
