#!/usr/bin/env python3
"""Runs the job files beside this script with fio itself and prints what `figures.txt` holds: what each asked for.

Needs fio (3.33 made the file): measure.py > figures.txt
"""
import collections
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BLOCK = 4096
HASH = 0x61C8864680B583EB
FLUSHES = ("sync", "datasync")


def log_of(job):
    """What fio asked for: (operation, offset, bytes) in order."""
    with tempfile.TemporaryDirectory() as folder:
        text = "[global]\nioengine=null\nwrite_iolog=log\n" + job.read_text()
        (pathlib.Path(folder) / "job.fio").write_text(text)
        subprocess.run(["fio", "job.fio"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        rows = []
        for line in (pathlib.Path(folder) / "log").read_text().splitlines():
            words = line.split()
            if len(words) == 5 and words[2] in ("read", "write", "trim"):
                rows.append((words[2], int(words[3]), int(words[4])))
            elif len(words) >= 3 and words[2] in FLUSHES:
                rows.append(("flush", 0, 0))
        return rows


def fnv(rows):
    """FNV-1a of the rows as text."""
    value = 0xCBF29CE484222325
    for byte in "".join(f"{op} {offset} {size}\n" for op, offset, size in rows).encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016x}"


def blocks(row):
    return range(row[1] // BLOCK, (row[1] + row[2] + BLOCK - 1) // BLOCK)


def histogram(counter):
    return " ".join(f"{key}:{counter[key]}" for key in sorted(counter))


def figures(name, rows):
    moved = [row for row in rows if row[0] != "flush"]
    yield "operations", histogram(collections.Counter(op for op, _, _ in rows))
    yield "bytes", str(sum(size for _, _, size in moved))
    yield "sizes", histogram(collections.Counter(f"{op}/{size}" for op, _, size in moved))
    if len(rows) < 1000:
        yield "order", fnv(rows)
        yield "set", fnv(sorted(rows))
    visits = collections.Counter(block for row in moved for block in blocks(row))
    yield "visits", histogram(collections.Counter(visits.values()))
    written = collections.Counter(block for row in moved if row[0] == "write" for block in blocks(row))
    always = sum(1 for block, count in written.items() if count == visits[block])
    yield "always_written", f"{always} {len(visits)}"
    third = len(moved) // 3
    is_same = [row[1] for row in moved[:third]] == [row[1] for row in moved[third : 2 * third]]
    yield "passes", "same" if is_same else "different"
    runs = collections.Counter()
    length, end = 0, None
    for _, offset, size in moved:
        if offset != end and length:
            runs[min(length, 20)] += 1
            length = 0
        length, end = length + 1, offset + size
    runs[min(length, 20)] += 1
    yield "runs", histogram(runs)
    count = 1024
    base = 256 if "zipf" in name or "pareto" in name else 0
    back = pow(HASH, -1, count)
    ranks = collections.Counter((offset // BLOCK - base) * back % count for _, offset, _ in moved)
    yield "ranks", histogram(collections.Counter({rank: ranks[rank] for rank in range(24)}))
    deciles = collections.Counter()
    for rank, times in ranks.items():
        deciles[rank * 20 // count] += times
    yield "rank_parts", histogram(deciles)
    first = [offset // BLOCK for _, offset, _ in moved if offset // BLOCK < count]
    yield "space_parts", histogram(collections.Counter(block * 20 // count for block in first))


def main():
    version = subprocess.run(["fio", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"# Made by measure.py with {version}.")
    for job in sorted(HERE.glob("*.fio")):
        print(f"[{job.stem}]")
        for key, value in figures(job.stem, log_of(job)):
            print(f"{key} {value}")


if __name__ == "__main__":
    sys.exit(main())
