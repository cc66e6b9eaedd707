"""Workers of a sweep in processes of their own, which are copies of this one: they have its functions."""

from __future__ import annotations

import json
import multiprocessing
import signal
import threading
import warnings
from multiprocessing.connection import Connection
from typing import Any

from wordline._core import RunError, SweepWorker

#: How often a run is tried whose process dies.
TRIES = 2


def _serve(orders: Connection, others: list[Connection], policies: dict[str, Any]) -> None:
    """Carries out orders until there are no more."""
    # Ctrl-C is for the process that gave the orders. Its ends of the other pipes were copied, too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in others:
        other.close()
    worker = SweepWorker(policies)
    while True:
        try:
            order = orders.recv()
        except EOFError:
            return
        try:
            answer: tuple[Any, BaseException | None] = (worker.run(order), None)
        except BaseException as error:
            answer = (None, error)
        try:
            orders.send(answer)
        except (AttributeError, TypeError, ValueError):
            # An exception that cannot be sent.
            orders.send((None, RunError(repr(answer[1]))))


class Process:
    """A worker in a process of its own. It answers as a `SweepWorker` does."""

    #: No two are started at once: each copies what there is of the others.
    _starting = threading.Lock()

    def __init__(self, policies: dict[str, Any], beside: list[Process]) -> None:
        self.policies = policies
        self.beside = beside
        self.is_stopped = False
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        with Process._starting:
            self.orders, theirs = context.Pipe()
            others = [other.orders for other in [*self.beside, self] if not other.orders.closed]
            self.process = context.Process(target=_serve, args=(theirs, others, self.policies), daemon=True)
            with warnings.catch_warnings():
                # Of threads that a copy does not have: those of a sweep hold nothing that it needs.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.process.start()
            theirs.close()

    def run(self, order: str) -> tuple[str | None, str | None, list[str]]:
        """Has an order carried out, a second time if the process dies."""
        for _ in range(TRIES):
            if self.is_stopped:
                return None, None, []
            try:
                self.orders.send(order)
                answer, raised = self.orders.recv()
            except (EOFError, OSError):
                self.process.join()
                died = self.process.exitcode or 0
                self.orders.close()
                if not self.is_stopped:
                    self._start()
                continue
            if raised is not None:
                raise raised
            return answer
        if self.is_stopped:
            return None, None, []
        told = json.loads(order)
        how = f"signal {-died} ({signal.Signals(-died).name})" if died < 0 else f"exit code {died}"
        asked = ", ".join(policy["name"] for policy in told["asked"])
        while_it = f", while it ran {asked}" if asked else ""
        return None, f"{told['name']} ({told['id']}): its process died {TRIES} times{while_it}: {how}", []

    def stop(self) -> None:
        """Ends the process, whatever it does."""
        self.is_stopped = True
        self.process.kill()

    def close(self) -> None:
        """Ends a process that has nothing to do."""
        self.orders.close()
        self.process.join()
