#!/usr/bin/env python3
"""Stand-ins for the traces of PDS and IDS (redFTL tables 7 and 10): writes of program contexts.

    python3 scripts/program_contexts.py data      # writes data/contexts-NAME.csv.zst (needs the program zstd)

What the papers tell is kept exactly: writes and updates in pages of 4 KiB. What they tell in the mean is built in: the
five contexts with most updates have 76 % of them, 63 % of the contexts that update take part in sequential patterns
(section 5.2: an update of theirs begins at the page after one of a dominating context's), 48 to 89 contexts update
(section 5.3). What they do not tell is assumed; papers/pds/README.md lists it.

A program's data is made of regions, one for each context. The five dominating contexts' regions are cut in parts, and
behind each part lies the region of a sequential context; isolated contexts have regions apart.
"""

import random
import subprocess
import sys
import zlib
from pathlib import Path

# Pages before the first: the part of the drive that is filled with other data (90 % of 1,500 blocks of 128 pages).
BASE_PAGES = 172_800
# Of the updates, in percent: the five dominating contexts. Together 76; that they fall like this is assumed.
DOMINATING = (30, 18, 12, 9, 7)
# Name: writes, updates (tables 7 and 10), contexts that update, and what the program is like.
PROGRAMS = {
    "cscope": (17_575, 15_398, 48, "file"),
    "gcc": (10_394, 3_840, 64, "build"),
    "viewperf": (7_003, 119, 48, "results"),
    "tpc-h": (23_522, 20_910, 80, "tables"),
    "tpc-r": (21_897, 18_803, 89, "tables"),
}
# Recorded apart: their sums are not those of their parts (28,400 are 431 more than 27,969). What is beyond the parts is
# taken for gcc's.
TOGETHER = {
    "multi1": (28_400, 19_428, ("cscope", "gcc")),
    "multi2": (35_719, 20_106, ("cscope", "gcc", "viewperf")),
}


def shared_out(pages, shares):
    """So many pages by shares, exactly; one at least to each."""
    whole = sum(shares)
    ends = [round(pages * sum(shares[: n + 1]) / whole) for n in range(len(shares))]
    return [end - start for start, end in zip([0] + ends, ends)]


class Program:
    """The regions of a program's updated data, and what it has written so far."""

    def __init__(self, name, writes, updates, contexts, first):
        self.rng = random.Random(f"{name} {writes}")
        self.name, self.left = name, [writes - updates, updates]
        self.first, self.seen, self.out = first, set(), []
        sequential = round(0.63 * contexts) - len(DOMINATING)
        self.counts = (sequential, contexts - sequential - len(DOMINATING))
        self.process = 1 + list(PROGRAMS).index(name)

    def context(self, kind, number):
        return zlib.crc32(f"{self.name} {kind} {number}".encode()) or 1

    def lay_out(self, pages):
        """(context, first page, pages) of each piece of the main data, in order, and of the isolated regions."""
        sequential, isolated = self.counts
        rest = 100 - sum(DOMINATING)
        others = rest * sequential / (sequential + isolated)
        main = shared_out(pages, [sum(DOMINATING) * 1.0, others, rest - others])
        parts = [kind for kind in range(len(DOMINATING)) for _ in range(sequential // len(DOMINATING))]
        parts += list(range(sequential - len(parts)))
        parts.sort()
        each = [DOMINATING[kind] / parts.count(kind) for kind in parts]
        pieces, at = [], self.first
        follow = shared_out(main[1], [1] * sequential)
        for number, (kind, size) in enumerate(zip(parts, shared_out(main[0], each))):
            pieces.append(("dominating", kind, at, size))
            pieces.append(("sequential", number, at + size, follow[number]))
            at += size + follow[number]
        apart = []
        for number, size in enumerate(shared_out(main[2], [1] * isolated)):
            apart.append(("isolated", number, at, size))
            at += size
        pieces = [piece for piece in pieces if piece[3] > 0]
        self.next = at
        return pieces, [piece for piece in apart if piece[3] > 0]

    def write(self, kind, number, first, pages):
        """A burst, cut to what is left to be written of its kind; whether anything is left."""
        take = 0
        while take < pages:
            left = int(first + take in self.seen)
            if self.left[left] == 0:
                break
            self.left[left] -= 1
            self.seen.add(first + take)
            take += 1
        if take:
            self.out.append((self.context(kind, number), first, take, self.process))
        return any(self.left)

    def emit(self, piece, most=128):
        """A region in order, in bursts of 8 to 128 pages, or what it has."""
        kind, number, first, pages = piece
        while pages:
            burst = min(self.rng.randint(8, most), pages)
            if pages - burst < 8:
                burst = min(pages, most)
            if not self.write(kind, number, first, burst):
                return
            first, pages = first + burst, pages - burst

    def file(self):
        """One large file, written anew in order again and again; temporary data between."""
        pieces, apart = self.lay_out(self.left[0])
        while any(self.left):
            for piece in pieces:
                self.emit(piece)
            for piece in self.rng.sample(apart, len(apart)):
                self.emit(piece)

    def written_once(self, pages, contexts, most):
        """Data that is never updated, by so many contexts in turn."""
        kind = self.rng.randrange(contexts)
        while pages > 0:
            burst = min(pages, self.rng.randint(8, most))
            self.write("once", kind, self.next, burst)
            self.next, pages, kind = self.next + burst, pages - burst, self.rng.randrange(contexts)

    def rewriting(self, pages, contexts, most):
        """Some data that is written anew in order, and before each time a share of data that is written once."""
        updates = self.left[1]
        pieces, apart = self.lay_out(pages)
        times = 1 + -(-updates // pages)
        once = self.left[0] - pages
        for number in range(times):
            self.written_once(once * (number + 1) // times - once * number // times, contexts, most)
            for piece in pieces + self.rng.sample(apart, len(apart)):
                self.emit(piece)

    def build(self):
        """Objects are written once; an image is linked of them, again and again."""
        self.rewriting(640, 8, 32)

    def results(self):
        """Results are written once; a small log is written anew."""
        self.rewriting(17, 4, 128)

    def tables(self):
        """Tables are loaded; then rows in them change, 1 to 4 pages at a time, whichever context's turn it is."""
        pieces, apart = self.lay_out(self.left[0])
        for piece in pieces + apart:
            self.emit(piece)
        mains = [n for n, piece in enumerate(pieces) if piece[0] == "dominating"]
        weights = [piece[3] for piece in pieces] + [piece[3] for piece in apart]
        everything = pieces + apart
        while any(self.left):
            at = self.rng.choices(range(len(everything)), weights)[0]
            kind, number, first, pages = everything[at]
            run = min(self.rng.randint(1, 4), pages)
            if kind == "sequential" and at - 1 in mains:
                # It follows an update of the dominating context before it.
                _, main, start, size = pieces[at - 1]
                before = min(self.rng.randint(1, 4), size)
                self.write("dominating", main, start + size - before, before)
                self.write(kind, number, first, run)
            else:
                self.write(kind, number, first + self.rng.randint(0, pages - run), run)


def bursts(name, writes, updates, first):
    """The bursts of a program, and the page after its last."""
    _, _, contexts, like = PROGRAMS[name]
    program = Program(name, writes, updates, contexts, first)
    getattr(program, like)()
    return program.out, first + writes - updates


def trace(name):
    """The bursts of a trace, and how many writes and updates it has to have."""
    if name in PROGRAMS:
        writes, updates = PROGRAMS[name][:2]
        return bursts(name, writes, updates, BASE_PAGES)[0], writes, updates
    writes, updates, names = TOGETHER[name]
    beyond = [total - sum(PROGRAMS[part][n] for part in names) for n, total in enumerate((writes, updates))]
    lines, first = [], BASE_PAGES
    for part in names:
        own = [PROGRAMS[part][n] + (beyond[n] if part == "gcc" else 0) for n in (0, 1)]
        out, first = bursts(part, *own, first)
        lines.append(out)
    rng, merged = random.Random(name), []
    while any(lines):
        which = rng.choices(range(len(lines)), [len(line) for line in lines])[0]
        merged.append(lines[which].pop(0))
    return merged, writes, updates


def check(lines, writes, updates):
    """What the papers tell of it: what came out."""
    writer, by_context, found, follows, last = {}, {}, [0, 0], set(), None
    for context, first, pages, process in lines:
        for page in range(first, first + pages):
            found[0] += 1
            old = writer.get(page)
            if old is not None:
                found[1] += 1
                by_context[old] = by_context.get(old, 0) + 1
                if last and last[0] + 1 == page and last[1] != old:
                    follows |= {old, last[1]}
                last = (page, old)
            writer[page] = context
    assert found == [writes, updates], (found, writes, updates)
    assert sorted(writer) == list(range(BASE_PAGES, BASE_PAGES + writes - updates))
    top = sum(sorted(by_context.values())[-5:])
    return len(by_context), 100 * top / updates, 100 * len(follows) / len(by_context)


def main(folder):
    for name in [*PROGRAMS, *TOGETHER]:
        lines, writes, updates = trace(name)
        contexts, top, sequential = check(lines, writes, updates)
        print(f"{name}: {writes} writes, {updates} updates, {len(lines)} requests; {contexts} contexts are updated, "
              f"five of them {top:.0f} %, {sequential:.0f} % in sequences")
        text = ["#wordline 1 time_ns,op,lba,sectors,device,stream,file,process,context\n"]
        for number, (context, first, pages, process) in enumerate(lines):
            text.append(f"{number * 1_000_000},W,{first * 8},{pages * 8},0,0,0,{process},{context}\n")
        path = Path(folder) / f"contexts-{name}.csv.zst"
        pack = ["zstd", "-19", "-q", "-c"]
        packed = subprocess.run(pack, input="".join(text).encode(), capture_output=True, check=True)
        path.write_bytes(packed.stdout)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "data")
