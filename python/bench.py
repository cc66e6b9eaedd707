"""What Python costs over the command line: `scripts/python.sh bench`, part of `make bench`. Prints a table, and adds
its rows to `benches/results/<commit>.json` if that is there."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy

import wordline

REQUESTS = 2_000_000
PAIRS = 5
#: A lane of 456 blocks that cleaning is busy with.
LANE = {
    "nand.geometry": {"channels": 1, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 1},
    "nand.geometry.blocks_per_plane": 456,
    "drive.over_provisioning_percent": 7,
}
WRITES = 4_000_000


def seconds(of: Callable[[], object]) -> float:
    begun = time.perf_counter()
    of()
    return time.perf_counter() - begun


def over_command_line(program: str) -> float:
    """How much longer a run takes than that of the program, in percent: the median of alternating pairs."""
    flags = ["--drive", "m64", "--synthetic", "uniform", "--requests", str(REQUESTS), "--no-cache", "--quiet"]

    def command() -> None:
        subprocess.run([program, "run", *flags], check=True, stdout=subprocess.DEVNULL)

    def python() -> None:
        load = {"pattern": "uniform", "count": REQUESTS}
        wordline.Drive.preset("m64").run(load, cache=False)

    pairs = [(seconds(python), seconds(command)) for _ in range(PAIRS)]
    return (statistics.median(ours / theirs for ours, theirs in pairs) - 1) * 100


def filled() -> wordline.Drive:
    drive = wordline.Drive.preset("m64")
    drive.precondition(overwrite="none")
    return drive


def a_request(drive: wordline.Drive, batch: int) -> float:
    """Nanoseconds a random read takes of a session that is fed so many at a time; 0: by `submit`."""
    count = 100 * 4096
    units = drive.logical_bytes // 4096
    lba = numpy.random.default_rng(1).integers(0, units, count, dtype=numpy.uint64) * 8
    with drive.session(depth=32, samples=0) as session:
        if batch == 0:
            addresses = lba.tolist()
            submit = session.submit

            def feed() -> None:
                for address in addresses:
                    submit("read", address, 8)
        else:
            sectors, op = numpy.full(batch, 8, numpy.uint32), numpy.zeros(batch, numpy.uint8)

            def feed() -> None:
                for at in range(0, count, batch):
                    session.feed(lba=lba[at : at + batch], sectors=sectors, op=op)

        took = seconds(feed)
        session.finish()
    return took / count * 1e9


def greedy(lane: wordline.Lane) -> int | None:
    """The block with the fewest live units."""
    answer = int(numpy.where(lane.eligible, lane.live, 2**32 - 1).argmin())
    return answer if lane.eligible[answer] else None


def of_numba() -> int:
    """The address of the same function, compiled."""
    import numba

    from wordline import numba as types

    @numba.cfunc(types.block_policy)
    def choose(state, lanes, answer):  # noqa: ANN001, ANN202
        lane = numba.carray(lanes, 1)[0]
        live = types.live(lane)
        least = numba.uint32(types.NOT_ELIGIBLE)
        answer[0] = types.NONE
        for block in range(lane.blocks):
            if live[block] < least:
                least = live[block]
                answer[0] = block
        return 0

    keep.append(choose)
    return choose.address


keep: list[object] = []


def a_call(policy: object) -> float:
    """Nanoseconds a choice of a victim takes more than that of the greedy that is built in."""

    def run(policies: dict[str, object] | None) -> tuple[float, int]:
        drive = wordline.Drive.preset("m64", LANE, policies=policies)
        drive.precondition(overwrite="none")
        load = {"pattern": "uniform", "count": WRITES // 8, "read_percent": 0}
        took = seconds(lambda: drive.run(load, samples=0))
        return took, drive.counters["ftl.victims"]

    pairs = [(run({"gc_victim": policy}), run(None)) for _ in range(PAIRS)]
    return statistics.median((ours[0] - theirs[0]) / ours[1] * 1e9 for ours, theirs in pairs)


def importing() -> float:
    """Milliseconds that importing takes."""
    code = "import time; t = time.perf_counter(); import wordline; print((time.perf_counter() - t) * 1e3)"
    told = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(9)]
    return statistics.median(told)


def main() -> None:
    rows: list[tuple[str, float, str, str | None]] = [("python_import", importing(), "ms", "<= 20")]
    rows.append(("python_over_command_line", over_command_line(sys.argv[1]), "%", "<= 5"))
    drive = filled()
    rows.append(("python_feed_4096", a_request(drive, 4096), "ns/request", None))
    rows.append(("python_feed_32", a_request(drive, 32), "ns/request", None))
    rows.append(("python_submit", a_request(drive, 0), "ns/request", "<= 772"))
    rows.append(("python_function_call", a_call(greedy), "ns/call", "<= 10000"))
    # The call itself is measured by `cargo bench -p wordline-abi`; this is the loop that numba makes, too.
    rows.append(("python_numba_greedy", a_call(of_numba()), "ns/call", None))
    for name, value, unit, goal in rows:
        print(f"{name:<28} {value:>12.2f} {unit:<12} {goal or ''}")
    add(rows)


def add(rows: list[tuple[str, float, str, str | None]]) -> None:
    """Adds the rows to those of this commit."""
    root = Path(__file__).parents[1]
    commit = subprocess.check_output(["git", "-C", root, "rev-parse", "--short=12", "HEAD"], text=True).strip()
    path = root / "benches" / "results" / f"{commit}.json"
    if not path.is_file():
        return
    told = json.loads(path.read_text())
    names = {name for name, *_ in rows}
    kept = [row for row in told["rows"] if row["name"] not in names]
    told["rows"] = kept + [dict(zip(("name", "value", "unit", "goal"), row, strict=True)) for row in rows]
    lines = ",\n".join("    " + json.dumps(row) for row in told.pop("rows"))
    head = ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in told.items())
    path.write_text(f'{{\n{head},\n  "rows": [\n{lines}\n  ]\n}}\n')
    print(f"added to {path.relative_to(root)}")


if __name__ == "__main__":
    main()
