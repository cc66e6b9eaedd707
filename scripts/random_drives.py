#!/usr/bin/env python3
"""Random drives through the command line, each for a whole life: filled, aged, run, saved, restored, run on.

    python3 scripts/random_drives.py --drives 3000            # make soak
    python3 scripts/random_drives.py --from 17 --drives 1 -v  # one of them, with its commands

A drive is a shipped preset made small, with policies, parameters (least, greatest and other values) and failure rates
drawn from what `wordline policies --json` tells. What must hold: no panic, no run beyond 60 seconds, every refusal says
what is allowed, and a run from a saved drive has the event hash of the run that was not interrupted.
"""

import argparse
import collections
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_S = 60
# Keys beside the policies' whose ends are tried.
RATES = {
    "nand.reliability.program_fail_ppm": (1_000, 20_000, 1_000_000),
    "nand.reliability.erase_fail_ppm": (1_000, 20_000, 1_000_000),
    "nand.reliability.factory_bad_ppm": (1_000, 50_000),
    "nand.reliability.lock_fail_ppm": (1_000, 1_000_000),
}
SHAPE = {
    "nand.geometry.channels": (1, 2),
    "nand.geometry.chips_per_channel": (1, 2),
    "nand.geometry.dies_per_chip": (1, 1, 2),
    "nand.geometry.planes_per_die": (1, 2, 4),
    "nand.geometry.blocks_per_plane": (16, 24, 40, 64, 96),
    "nand.geometry.wordlines_per_block": (4, 8, 16, 64),
    "drive.over_provisioning_percent": (7, 15, 28, 40, 100, 345),
    "drive.logical_gib": (0,),
}
PRECONDITIONING = (
    "none", "fill=50", "fill=100", "fill=100,times=0.5", "fill=50,times=0.1", "steady", "own", "times=1,own",
)
RECORDED = (
    "data/captures/git.capture", "data/captures/multi.capture", "data/captures/postgres.capture",
    "data/captures/sqlite.capture", "data/rocksdb-ycsb-a-run1.csv.zst",
)
CELLS = ("slc", "mlc", "mlc_hire", "tlc_48l", "qlc", "qlc_modes")


def phases(rng):
    """Generators one after the other, or at the same time, as a configuration has them."""
    how = rng.choice(("phases", "phases", "together"))
    rate = rng.choice((None, None, 2_000, 100_000))
    tables = []
    for _ in range(rng.choice((1, 2, 3))):
        lines = [f"[[workload.{how}]]"]
        lines.append(f'pattern = "{rng.choice(("uniform", "zipf", "sequential"))}"')
        lines.append(f"read_percent = {rng.choice((0, 30, 100))}")
        lines.append(f"size_bytes = {rng.choice((512, 4096, 16384, 131072))}")
        lines.append(f"until_requests = {rng.choice((1, 50, 2_000))}")
        if rate:
            lines.append(f'arrival = "poisson"\nrate_iops = {rate}')
        tables.append("\n".join(lines) + "\n")
    return "\n".join(tables)


class Fault(Exception):
    """Something that must not be."""


def ask(program, *args):
    return json.loads(subprocess.run([program, *args], capture_output=True, text=True, check=True).stdout)


def value(rng, allowed):
    """A value of a parameter by the text of what is allowed; mostly the least or the greatest."""
    if allowed == "true or false":
        return rng.choice(("true", "false"))
    if allowed.startswith("one of "):
        return rng.choice(allowed[len("one of "):].split(", "))
    ends = re.search(r"(-?[\d.]+) to (-?[\d.]+)", allowed)
    if not ends:
        return None
    low, high = map(float, ends.groups())
    near = low + (high - low) * rng.random() ** 8
    found = rng.choice((low, high, near, near))
    text = f"{int(found)}" if "whole" in allowed or found == int(found) else f"{found:.6g}"
    return text


class Drive:
    """A drive, its workload and its life, drawn from a seed."""

    def __init__(self, seed, families, presets):
        rng = random.Random(seed)
        self.settings = {key: rng.choice(values) for key, values in SHAPE.items()}
        self.args = ["--drive", rng.choice(presets), "--seed", str(seed)]
        if rng.random() < 0.4:
            self.settings["nand.errors.model"] = "cells"
            self.settings["cell.part"] = rng.choice(CELLS)
        for family in families:
            if rng.random() < 0.35:
                policy = rng.choice(family["policies"])
                section = family["section"]
                self.settings[f"{section}.policy"] = policy["name"]
                for parameter in policy["parameters"]:
                    found = value(rng, parameter["allowed"]) if rng.random() < 0.3 else None
                    if found is not None:
                        self.settings[f"{section}.{parameter['key']}"] = found
        for key, values in RATES.items():
            if rng.random() < 0.12:
                self.settings[key] = rng.choice(values)
        self.settings["ftl.mapping.unit"] = rng.choice(("page", "4kib"))
        self.settings["ftl.allocation.superblock"] = rng.choice(("none", "planes", "all"))
        self.before = ["--precondition", rng.choice(PRECONDITIONING)]
        if self.settings.get("nand.errors.model") == "cells":
            steps = (
                f"cycle to {rng.choice((1, 500, 3000, 5000))}",
                f"retain {rng.choice((1, 12, 60))} months",
                f"disturb {rng.choice((1, 1000, 50000))} reads",
            )
            for step in steps:
                if rng.random() < 0.5:
                    self.before += ["--age", step]
        self.load = ["--requests", str(rng.choice((1, 50, 2_000, 10_000)))]
        self.load += ["--synthetic", rng.choice(("uniform", "zipf", "sequential"))]
        self.load += ["--read-percent", str(rng.choice((0, 30, 70, 100)))]
        self.load += ["--size", rng.choice(("512", "4KiB", "16KiB", "4KiB:9,128KiB:1"))]
        self.load += rng.choice(([], ["--depth", "1"], ["--depth", "32"], ["--rate", "2000"], ["--rate", "200000"]))
        if rng.random() < 0.15:
            # What programs did, in place of a generator; how it comes to the drive is drawn anew.
            self.load = [rng.choice(RECORDED), "--set", f"run.requests={rng.choice((1, 50, 2_000, 10_000))}"]
            self.load += rng.choice(([], ["--closed", "1"], ["--closed", "32"]))
        # Phases are written to a file when the drive lives.
        self.phases = None
        if rng.random() < 0.2:
            self.phases = phases(rng)
            self.load = rng.choice(([], ["--closed", "1"], ["--closed", "32"]))
        self.load += ["--set", f"run.executor={rng.choice(('timed', 'timed', 'timed', 'functional'))}"]

    def fit(self, explain):
        """Gives up what does not go together: what a refusal names first, or too little spare room."""
        spare = "drive.over_provisioning_percent"
        for _ in range(24):
            error = explain(self.args[:2] + self.sets())
            named = re.search(r"--set ([\w.]+)=", error)
            if not error:
                break
            if " spare " in error:
                self.settings[spare] = {40: 100, 100: 345}.get(self.settings[spare], 40)
                self.settings["nand.geometry.blocks_per_plane"] = 96
            elif "bits_per_cell" in error:
                self.settings.pop("cell.part", None)
            elif named and named[1] in self.settings:
                del self.settings[named[1]]
            else:
                break
        self.args += self.sets()

    def sets(self):
        return [part for key, found in self.settings.items() for part in ("--set", f"{key}={found}")]

    def live(self, run):
        """The whole life; what became of it."""
        with tempfile.TemporaryDirectory() as folder:
            aged, ended = Path(folder) / "aged.snap", Path(folder) / "ended.snap"
            begin = self.args + self.before + self.load
            if self.phases:
                begin = [self.keep(folder, "phases", ""), *begin]
            whole = run(begin + ["--json", "--save-snapshot", str(ended)])
            if whole.returncode == 2:
                return "refused"
            apart = run(begin + ["--precondition-only", "-q", "--save-snapshot", str(aged)])
            if apart.returncode == 0 and whole.returncode == 0:
                rest = run(self.load + ["--seed", self.args[3], "--json"] + self.saved(folder, aged))
                if rest.returncode == 2 and "looks ahead" in rest.stderr:
                    return "looks ahead"
                if rest.returncode != 0:
                    raise Fault(f"a saved drive cannot be run:\n{rest.stderr}")
                hashes = [json.loads(done.stdout)["event_hash"] for done in (whole, rest)]
                if hashes[0] != hashes[1]:
                    raise Fault(f"event hash {hashes[0]}, and {hashes[1]} from the saved drive")
            if not ended.exists():
                return "ended" if whole.returncode else "not saved"
            on = run(self.load + ["-q", "--out", f"{folder}/on"] + self.saved(folder, ended))
            if on.returncode == 2:
                raise Fault(f"a drive saved at the end cannot be run:\n{on.stderr}")
            return "lived" if whole.returncode == 0 else "ended"

    def saved(self, folder, snapshot):
        """What begins a run from a saved drive, with the phases if there are any."""
        config = f"{snapshot}.toml"
        if self.phases:
            config = self.keep(folder, f"{snapshot.stem}-phases", Path(config).read_text())
        return ["--config", config, "--snapshot", str(snapshot)]

    def keep(self, folder, name, drive):
        """The file of a drive's configuration and the phases."""
        path = Path(folder) / f"{name}.toml"
        path.write_text(f"{drive}\n{self.phases}")
        return str(path)


def refusal(program, args):
    """What `explain` says against a drive; nothing if it is one."""
    done = subprocess.run([program, "explain", *args], capture_output=True, text=True)
    if done.returncode not in (0, 2):
        raise Fault(f"explain: exit {done.returncode}:\n{done.stderr[-1500:]}")
    return done.stderr if done.returncode else ""


def runner(program, verbose):
    def run(args):
        command = [program, "run", *args]
        if verbose:
            print("  " + " ".join(f"'{arg}'" if " " in arg else arg for arg in command))
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, cwd=ROOT)
        except subprocess.TimeoutExpired:
            raise Fault(f"not ended after {LONGEST_S} s: {' '.join(args)}") from None
        if "panicked" in done.stderr or done.returncode not in (0, 1, 2):
            raise Fault(f"exit {done.returncode}:\n{done.stderr[-1500:]}")
        if done.returncode == 2 and not re.search("allowed|must|cannot|needs|at most|at least", done.stderr):
            raise Fault(f"a refusal that does not say what is allowed:\n{done.stderr}")
        return done

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--drives", type=int, default=100, help="how many (default 100)")
    parser.add_argument("--from", dest="first", type=int, default=0, help="first seed (default 0)")
    parser.add_argument("--program", default=str(ROOT / "target/debug/wordline"), help="the program")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each command")
    args = parser.parse_args()
    families = ask(args.program, "policies", "--json")
    presets = sorted(path.stem for path in (ROOT / "presets/drive").glob("*.toml"))
    run = runner(args.program, args.verbose)
    outcomes, faults, told = collections.Counter(), 0, time.monotonic()
    for seed in range(args.first, args.first + args.drives):
        try:
            drive = Drive(seed, families, presets)
            drive.fit(lambda sets: refusal(args.program, sets))
            outcomes[drive.live(run)] += 1
        except Fault as fault:
            faults += 1
            print(f"seed {seed}: {fault}\n  again: python3 scripts/random_drives.py -v --drives 1 --from {seed}")
        if time.monotonic() - told > 15:
            told = time.monotonic()
            print(f"  {seed - args.first + 1} of {args.drives}: {dict(outcomes)}", file=sys.stderr)
    print(f"{args.drives} drives from seed {args.first}: {dict(outcomes)}; {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
