"""The command line: `wordline`, or `python -m wordline`."""

import signal
import sys

from wordline import _core


def main() -> int:
    """Runs the command line; returns its exit code."""
    # The program has handlers of its own: the first Ctrl-C ends a run with what it has measured.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    worker = [sys.executable, "-m", "wordline", "worker"]
    return _core.main(["wordline", *sys.argv[1:]], worker)


if __name__ == "__main__":
    sys.exit(main())
