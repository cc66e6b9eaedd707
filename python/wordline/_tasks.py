"""Sweeps whose runs are carried out by an executor: threads of this process, or workers of a Dask cluster."""

from __future__ import annotations

import importlib
import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from wordline._core import ConfigError, SweepPlan, SweepWorker, WordlineError, sources

#: Least duration of a task whose runs are short; seconds.
TASK_SECONDS = 1.0
#: Most runs of a task.
MOST_RUNS = 256
#: Tasks that wait at each worker while it has one.
AHEAD = 1

#: What a task answers: outcomes, why runs were not done, what went wrong with cached drives, and how long a run took;
#: seconds.
Answer = tuple[list[str], list[str], list[str], float]

#: Why runs were not done, and what went wrong with cached drives.
Said = tuple[list[str], list[str]]


def carry_out(worker: SweepWorker, orders: list[str]) -> Answer:
    """Carries out orders one after the other."""
    outcomes, undone, remarks = [], [], []
    begun = time.perf_counter()
    for order in orders:
        outcome, why, said = worker.run(order)
        outcomes += [] if outcome is None else [outcome]
        undone += [] if why is None else [why]
        remarks += said
    return outcomes, undone, remarks, (time.perf_counter() - begun) / len(orders)


def carry_out_elsewhere(orders: list[str], of: str, policies: dict[str, tuple[str, str]]) -> Answer:
    """Carries out orders on a worker of a cluster, if it has a program of the same sources."""
    if sources() != of:
        raise ConfigError(
            f"a worker of the cluster\n    found:   Wordline of other sources ({sources()})\n"
            f"    allowed: the build that plans the sweep ({of})"
        )
    return carry_out(SweepWorker({family: imported(*name) for family, name in policies.items()}), orders)


def imported(module: str, name: str) -> Any:
    """The object of that name in a module."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def name_of(family: str, policy: Any) -> tuple[str, str]:
    """Module and name by which a worker can import a policy."""
    module, name = getattr(policy, "__module__", None), getattr(policy, "__qualname__", None)
    try:
        if module not in (None, "__main__") and name is not None and imported(module, name) is policy:
            return module, name
    except (ImportError, AttributeError):
        pass
    raise ConfigError(
        f"policies: {family}\n    found:   {policy!r}, which workers of a cluster cannot import\n"
        "    allowed: a function at the top of a module that is installed there"
    )


def sweep(
    file: Path,
    out: Path,
    policies: dict[str, Any],
    settings: tuple[int | None, bool, bool, bool],
    scheduler: Any,
) -> tuple[list[str], str | None]:
    """Carries out a sweep and writes its tables: what went wrong with cached drives, and with runs if anything did."""
    jobs, cache, allow_libraries, force = settings
    names = {family: name_of(family, policy) for family, policy in policies.items()} if scheduler is not None else {}
    plan = SweepPlan(file, out, policies, allow_libraries, force)
    orders = plan.orders(cache)
    if scheduler is None:
        undone, remarks = here(plan, orders, policies, jobs or len(os.sched_getaffinity(0)))
    else:
        undone, remarks = there(plan, orders, names, scheduler)
    return remarks, plan.conclude(undone)


def here(plan: SweepPlan, orders: list[str], policies: dict[str, Any], jobs: int) -> Said:
    """Runs in threads of this process, each with a worker of its own."""
    free = [SweepWorker(policies) for _ in range(jobs)]
    all_workers = list(free)

    def task(orders: list[str]) -> Answer:
        worker = free.pop()
        try:
            return carry_out(worker, orders)
        finally:
            free.append(worker)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return drive(plan, orders, jobs, lambda orders: pool.submit(task, orders))
        except BaseException:
            for worker in all_workers:
                worker.stop()
            raise


def there(plan: SweepPlan, orders: list[str], names: dict[str, tuple[str, str]], scheduler: Any) -> Said:
    """Runs on a Dask cluster that exists."""
    try:
        from distributed import Client
    except ImportError as error:
        raise WordlineError("scheduler\n    found:   no Dask\n    allowed: pip install 'wordline[cluster]'") from error
    is_own = not isinstance(scheduler, Client)
    client = Client(scheduler) if is_own else scheduler
    try:
        # A task whose worker dies is given to another; one that kills each worker fails in the end.
        pool = client.get_executor(pure=False, retries=2)
        threads = max(1, sum(client.nthreads().values()))
        return drive(plan, orders, threads, lambda orders: pool.submit(carry_out_elsewhere, orders, sources(), names))
    finally:
        if is_own:
            client.close()


def drive(
    plan: SweepPlan, orders: list[str], slots: int, submit: Callable[[list[str]], Future[Answer]]
) -> Said:
    """Hands out orders, about a second of work per task, and keeps the answers; returns why some were not done, and
    what went wrong with cached drives, once."""
    open_orders, running, undone = deque(orders), set[Future[Answer]](), list[str]()
    remarks = dict[str, None]()
    length = 1
    try:
        while open_orders or running:
            while open_orders and len(running) < slots * (1 + AHEAD):
                # The last ones are spread over all.
                fair = max(1, len(open_orders) // (2 * slots))
                count = min(length, fair, len(open_orders))
                running.add(submit([open_orders.popleft() for _ in range(count)]))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                outcomes, failed, said, seconds = future.result()
                for outcome in outcomes:
                    plan.keep(outcome)
                undone += failed
                remarks |= dict.fromkeys(said)
                length = max(1, min(MOST_RUNS, int(TASK_SECONDS / max(seconds, 1e-6))))
    finally:
        for future in running:
            future.cancel()
    return undone, list(remarks)
