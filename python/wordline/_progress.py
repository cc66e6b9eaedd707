"""How far long work is, as a line on standard error."""

from __future__ import annotations

import sys
import time

#: What takes less is not shown; seconds.
QUIET = 2.0


class Line:
    """A line that is written over and over, and is gone at the end."""

    def __init__(self) -> None:
        self.begun = self.since = time.monotonic()
        self.phase = ""
        self.width = 0

    def __call__(self, phase: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if phase != self.phase:
            self.phase, self.since = phase, now
        if now - self.begun < QUIET:
            return
        share = f" {100 * done / total:.0f} %" if total else ""
        spent = now - self.since
        left = f", about {_clock(spent * (total - done) / done)} left" if total and 0 < done <= total and share else ""
        text = f"wordline: {phase}{share}, {_clock(spent)}{left}"
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def _end_of_line(self) -> None:
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def line(always: bool) -> Line | None:
    """A line; none where nobody would see it: standard error goes to a file, and this is no notebook."""
    is_seen = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    return Line() if always or is_seen else None
