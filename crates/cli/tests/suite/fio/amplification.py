#!/usr/bin/env python3
"""Prints amplification.txt: what the drive of drive.toml makes of requests that fio itself logged.

Needs fio (3.33 made the file) and the path of the program: amplification.py target/release/wordline
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
JOBS = [
    "rw=randwrite loops=6",
    "rw=randwrite io_size=3g randrepeat=0",
    "rw=randwrite loops=6 norandommap=1",
    "rw=randrw rwmixread=70 loops=6",
    "rw=randrw rwmixread=70 loops=6 norandommap=1",
]


def log_of(options, folder):
    # One request at a time: with more, fio's null engine logs each twice. The order is the same.
    lines = ["[job]", "size=512m", "ioengine=null", "iodepth=1", "write_iolog=log", *options.split()]
    (folder / "job.fio").write_text("\n".join(lines) + "\n")
    subprocess.run(["fio", "job.fio"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    number = 0
    with open(folder / "log") as log, open(folder / "trace.csv", "w") as trace:
        for line in log:
            words = line.split()
            if len(words) == 5 and words[2] in ("read", "write"):
                time = 128166372000000000 + 10 * number
                trace.write(f"{time},fio,0,{words[2].capitalize()},{words[3]},{words[4]},0\n")
                number += 1
    return folder / "trace.csv"


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    version = subprocess.run(["fio", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"# Made by amplification.py with {version}: write amplification, options.")
    for options in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            trace = log_of(options, pathlib.Path(folder))
            drive = ["--config", HERE / "drive.toml", "--json"]
            how = ["--format", "msr", "--closed", "1", "--address", "as_is"]
            run = subprocess.run([program, "run", trace, *drive, *how], check=True, capture_output=True, text=True)
            print(f"{json.loads(run.stdout)['write_amplification']:.4f} {options}", flush=True)


if __name__ == "__main__":
    main()
