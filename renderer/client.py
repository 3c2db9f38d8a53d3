"""The pool of Blender workers: `Renderer` for the rest of the program."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from multiprocessing import connection
from types import TracebackType

from renderer.cache import RenderCache
from renderer.errors import BlenderUnavailable, PoolClosed
from renderer.protocol import RenderMessage, RenderRequest, RenderResult, Status
from renderer.workers import Pending, Worker, WorkerLost

# One request waits in the socket while one renders, so that a worker never idles between two.
_QUEUE_DEPTH = 2
# Threads for each core, all workers together. While one worker is at its serial part (sync, transport) another uses its
# core; with one thread each, two workers were seen on one core of two, the other idle (256²: 133 ms against 76 ms).
_OVERLAP = 2
# How often a running render's memory is looked at.
_WATCH_S = 0.25
_HAND_BACK_S = 2.0
# A process may be lost to the machine while Blender loads; a second loss is the installation's fault.
_STARTS = 2


class BlenderPool:
    """Blender processes that stay up. Safe to use from several threads.

    `jobs`: processes, by default one for each core. `threads`: Cycles threads in each, by default twice its share
    of the cores. `cache`: looked up first, successes stored. `recycle_after`: renders after which a worker is replaced.
    `memory_cap_mb`: resident memory at which a worker is ended. Workers start when first needed. A graph that fails,
    hangs or kills its worker costs one result with a status, never an exception; only an environment without a working
    Blender raises (`BlenderUnavailable`).
    """

    def __init__(
        self,
        jobs: int | None = None,
        *,
        threads: int | None = None,
        cache: RenderCache | None = None,
        recycle_after: int = 5000,
        memory_cap_mb: float = 4096.0,
    ) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.jobs = cores if jobs is None else jobs
        if self.jobs < 1:
            raise ValueError(f"expected jobs >= 1, got {jobs}")
        self.cache = cache
        self.version = ""
        self._recycle_after = recycle_after
        self._memory_cap_mb = memory_cap_mb
        self.threads = threads or min(cores, max(1, _OVERLAP * cores // self.jobs))
        self._workers = [Worker(self.threads) for _ in range(self.jobs)]
        self._idle = list(self._workers)
        self._changed = threading.Condition()
        self._closed = False
        # Also runs at interpreter exit and when the pool is garbage, so no path leaves a process behind.
        self._finalizer = weakref.finalize(self, _kill_all, self._workers)

    def __enter__(self) -> BlenderPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers that run now."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    def memory_mb(self) -> float:
        """Resident memory of all workers together, in MiB."""
        return sum(worker.memory_mb() for worker in self._workers)

    def warm_up(self) -> str:
        """Start every worker and wait for it; returns Blender's version. Raises `BlenderUnavailable`."""
        with self._lease(self.jobs) as workers:
            for worker in workers:
                worker.start()
            for worker in workers:
                self._greet(worker)
        return self.version

    def render(self, request: RenderRequest) -> RenderResult:
        """Render one request; see `render_many`."""
        return self.render_many([request])[0]

    def render_many(self, requests: Sequence[RenderRequest]) -> list[RenderResult]:
        """Render all, in the order given, over all idle workers.

        Raises `BlenderUnavailable` and `PoolClosed`.
        """
        results: dict[int, RenderResult] = {}
        todo: deque[Pending] = deque()
        for index, request in enumerate(requests):
            hit = self.cache.get(request, self._known_version()) if self.cache is not None else None
            if hit is None:
                todo.append(Pending(index, request))
            else:
                results[index] = hit
        if todo:
            with self._lease(min(self.jobs, len(todo))) as workers:
                self._run(workers, todo, results)
        ordered = [results[index] for index in range(len(requests))]
        for request, result in zip(requests, ordered, strict=True):
            if self.cache is not None and not result.cached:
                self.cache.put(request, result)
        return ordered

    def close(self) -> None:
        """Stop every process, busy or not; safe to call twice. Renders of other threads end with `PoolClosed`."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
            # Threads that render see the flag at their next look and give their workers back.
            self._changed.wait_for(lambda: len(self._idle) == self.jobs, _HAND_BACK_S)
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.stop()
        self._finalizer()

    def _known_version(self) -> str:
        if not self.version:
            try:
                self.version = metadata.version("bpy")
            except metadata.PackageNotFoundError:
                self.warm_up()
        return self.version

    def _greet(self, worker: Worker) -> None:
        starts = 1
        while not worker.version:
            if not worker.connection.poll(max(0.0, worker.deadline - time.monotonic())):
                worker.kill()
                raise BlenderUnavailable("Blender did not start within two minutes")
            try:
                worker.receive()
            except WorkerLost:
                how = worker.exit_text()
                worker.kill()
                if starts == _STARTS:
                    raise BlenderUnavailable(f"the Blender process ended while starting ({how})") from None
                starts += 1
                worker.start()
        self.version = worker.version

    @contextmanager
    def _lease(self, count: int) -> Iterator[list[Worker]]:
        """At least one worker, up to `count` if idle. One that is left with requests was interrupted and is killed."""
        with self._changed:
            while not self._idle and not self._closed:
                self._changed.wait()
            if self._closed:
                raise PoolClosed("the pool is closed")
            leased = [self._idle.pop() for _ in range(min(count, len(self._idle)))]
        try:
            yield leased
        finally:
            for worker in leased:
                if worker.pending or self._closed:
                    worker.kill()
            with self._changed:
                self._idle.extend(leased)
                self._changed.notify_all()

    def _run(self, workers: list[Worker], todo: deque[Pending], results: dict[int, RenderResult]) -> None:
        wanted = len(results) + len(todo)
        while len(results) < wanted:
            if self._closed:
                raise PoolClosed("the pool was closed during a render")
            for depth in range(_QUEUE_DEPTH):
                for worker in workers:
                    if todo and len(worker.pending) == depth:
                        self._submit(worker, todo, results)
            busy = {worker.connection: worker for worker in workers if worker.pending}
            pause = min((worker.deadline - time.monotonic() for worker in busy.values()), default=0.0)
            ready = connection.wait(list(busy), max(0.0, min(pause, _WATCH_S)))
            for item in ready:
                self._receive(busy[item], todo, results)  # type: ignore[index]
            for worker in busy.values():
                self._watch(worker, todo, results, quiet=not ready)

    def _submit(self, worker: Worker, todo: deque[Pending], results: dict[int, RenderResult]) -> None:
        if not worker.pending and worker.renders >= self._recycle_after:
            worker.stop()
        if worker.renders + len(worker.pending) >= self._recycle_after and worker.pending:
            return
        worker.start()
        pending = todo.popleft()
        try:
            worker.submit(pending)
        except WorkerLost:
            todo.appendleft(pending)
            self._lost(worker, "crashed", f"the Blender process ended ({worker.exit_text()})", todo, results)

    def _receive(self, worker: Worker, todo: deque[Pending], results: dict[int, RenderResult]) -> None:
        index = worker.pending[0].index
        try:
            result = worker.receive()
        except WorkerLost:
            self._lost(worker, "crashed", f"the Blender process ended ({worker.exit_text()})", todo, results)
            return
        self.version = worker.version
        if result is not None:
            results[index] = result

    def _watch(self, worker: Worker, todo: deque[Pending], results: dict[int, RenderResult], *, quiet: bool) -> None:
        if worker.overdue:
            limit = worker.pending[0].request.settings.timeout_s
            self._lost(worker, "timeout", f"the render was stopped at its limit of {limit:g} s", todo, results)
        elif quiet and (used := worker.memory_mb()) > self._memory_cap_mb:
            text = f"the Blender process used {used:.0f} MiB, more than its cap of {self._memory_cap_mb:.0f} MiB"
            self._lost(worker, "crashed", text, todo, results)

    def _lost(
        self, worker: Worker, status: Status, text: str, todo: deque[Pending], results: dict[int, RenderResult]
    ) -> None:
        """Charge the request that was being rendered and give the ones behind it to whoever is free."""
        waiting = list(worker.pending)
        worker.kill()
        if not waiting:
            return
        first, *rest = waiting
        message = RenderMessage("error", text)
        results[first.index] = RenderResult(status, messages=(message,), blender_version=self.version)
        todo.extendleft(reversed(rest))


def _kill_all(workers: list[Worker]) -> None:
    for worker in workers:
        worker.kill()
