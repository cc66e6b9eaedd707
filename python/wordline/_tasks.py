"""Sweeps that Python carries out: in threads of this process, in copies of it, or on a Dask cluster."""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from wordline._core import ConfigError, SweepPlan, SweepWorker, WordlineError, sources
from wordline._processes import Process

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


def carry_out(worker: SweepWorker | Process, orders: list[str]) -> Answer:
    """Carries out orders one after the other."""
    outcomes, undone, remarks = [], [], []
    begun = time.perf_counter()
    for order in orders:
        outcome, why, said = worker.run(order)
        outcomes += [] if outcome is None else [outcome]
        undone += [] if why is None else [why]
        remarks += said
    return outcomes, undone, remarks, (time.perf_counter() - begun) / len(orders)


def carry_out_elsewhere(orders: list[str], of: str, policies: bytes) -> Answer:
    """Carries out orders on a worker of a cluster, if it has a program of the same sources."""
    if sources() != of:
        raise ConfigError(
            f"a worker of the cluster\n    found:   Wordline of other sources ({sources()})\n"
            f"    allowed: the build that plans the sweep ({of})"
        )
    try:
        found = pickle.loads(policies)
    except ImportError as error:
        raise ConfigError(
            f"policies\n    found:   a function that a worker of the cluster cannot import: {error}\n"
            "    allowed: one of a module that is installed there, or of this script or notebook itself"
        ) from error
    return carry_out(SweepWorker(found), orders)


def pickled(policies: dict[str, Any]) -> bytes:
    """Policies for workers elsewhere: functions of this script or notebook as they are, others by their names."""
    import cloudpickle

    for name, policy in policies.items():
        wrong = None
        if isinstance(policy, int) or hasattr(policy, "native_name"):
            wrong = "a C address, which means nothing in another process"
        else:
            try:
                cloudpickle.dumps(policy)
            except Exception as error:
                wrong = f"{policy!r}, which cannot be sent to workers of a cluster: {error}"
        if wrong:
            raise ConfigError(
                f"policies: {name}\n    found:   {wrong}\n"
                "    allowed: a function or a class, or the path of a library that each worker has"
            )
    paths = {name: os.path.abspath(it) for name, it in policies.items() if isinstance(it, str | os.PathLike)}
    return cloudpickle.dumps({**policies, **paths})


def sweep(
    file: Path | dict[str, Any],
    out: Path,
    policies: dict[str, Any],
    settings: tuple[bool, bool, bool, list[str]],
    where: tuple[int | None, int | None, Any],
) -> tuple[list[str], str | None, str | None]:
    """Carries out a sweep, in threads, in processes or on a cluster, and writes its tables: what went wrong with cached
    drives, what with runs, and what is not met."""
    cache, allow_libraries, force, require = settings
    threads, processes, scheduler = where
    parcel = None
    if scheduler is not None:
        _needs_dask()
        parcel = pickled(policies)
    plan = SweepPlan(file, out, policies, allow_libraries, force, require)
    orders = plan.orders(cache)
    if parcel is not None:
        undone, remarks = there(plan, orders, parcel, scheduler)
    elif processes is not None:
        workers: list[Process] = []
        for _ in range(min(processes, len(orders))):
            workers.append(Process(policies, list(workers)))
        try:
            undone, remarks = here(plan, orders, workers)
        finally:
            for worker in workers:
                worker.close()
    else:
        undone, remarks = here(plan, orders, [SweepWorker(policies) for _ in range(threads or cores())])
    return remarks, *plan.conclude(undone)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def here(plan: SweepPlan, orders: list[str], workers: Sequence[SweepWorker | Process]) -> Said:
    """Runs on this machine: a thread for each worker, which carries them out or waits for its process."""
    if not orders:
        return [], []
    free = list(workers)

    def task(orders: list[str]) -> Answer:
        worker = free.pop()
        try:
            return carry_out(worker, orders)
        finally:
            free.append(worker)

    with ThreadPoolExecutor(len(workers)) as pool:
        try:
            return drive(plan, orders, len(workers), lambda orders: pool.submit(task, orders))
        except BaseException:
            for worker in workers:
                worker.stop()
            raise


def _needs_dask() -> None:
    """Refuses a cluster where there is nothing to reach it with."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise WordlineError("scheduler\n    found:   no Dask\n    allowed: pip install distributed") from error


def there(plan: SweepPlan, orders: list[str], policies: bytes, scheduler: Any) -> Said:
    """Runs on a Dask cluster that exists."""
    from distributed import Client

    is_own = not isinstance(scheduler, Client)
    client = Client(scheduler) if is_own else scheduler
    try:
        # A task whose worker dies is given to another; one that kills each worker fails in the end.
        pool = client.get_executor(pure=False, retries=2)
        threads = max(1, sum(client.nthreads().values()))
        here = sources()
        return drive(plan, orders, threads, lambda orders: pool.submit(carry_out_elsewhere, orders, here, policies))
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
