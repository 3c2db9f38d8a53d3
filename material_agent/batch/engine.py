"""Who does the tasks: the processes of this machine, or a cluster."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeAlias

from material_agent.batch.config import Share, TaskSpec, share
from material_agent.batch.result import TaskResult
from material_agent.batch.runner import ProgressListener, Stopped, TaskRunner

_LOOK_S = 0.2
_Results: TypeAlias = "queue.Queue[tuple[TaskResult, threading.Event] | BaseException | None]"


class Engine(Protocol):
    """Does tasks, in any order."""

    name: str
    portion: Share
    """What each of the tasks at once gets of the cores of its machine."""
    far: bool
    """Whether tasks may run on machines that have neither the pictures nor the shared memory."""

    def run(self, specs: Iterable[TaskSpec], listen: ProgressListener) -> Iterator[TaskResult]:
        """Yield the result of each task when it is over.

        Tasks are taken from `specs` only when there is room for them. Closing the iterator, also by an exception or
        Ctrl-C in its consumer, ends what is running and leaves no process behind.
        """
        ...


class LocalEngine:
    """As many workers as `jobs`, on this machine."""

    name = "local"
    far = False

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.portion = share(jobs)

    def run(self, specs: Iterable[TaskSpec], listen: ProgressListener) -> Iterator[TaskResult]:
        """As `Engine.run`; each worker is a process that takes one task at a time."""
        source, lock = iter(specs), threading.Lock()
        results: _Results = queue.Queue()
        runners = [TaskRunner(self.portion.threads) for _ in range(self.jobs)]

        def work(runner: TaskRunner) -> None:
            try:
                while True:
                    with lock:
                        spec = next(source, None)
                    if spec is None:
                        break
                    taken = threading.Event()
                    results.put((runner.run(spec, listen), taken))
                    # The next task may be offered what this one learnt, so its result has to be taken in first.
                    while not taken.wait(_LOOK_S):
                        runner.check()
            except Stopped:
                pass
            except BaseException as error:  # noqa: BLE001 - what a thread cannot raise, its consumer does
                results.put(error)
            finally:
                runner.end()
                results.put(None)

        threads = [threading.Thread(target=work, args=(runner,), daemon=True) for runner in runners]
        try:
            for thread in threads:
                thread.start()
            yield from _drained(results, len(threads))
        finally:
            for runner in runners:
                runner.stop()
            for thread in threads:
                thread.join(timeout=10.0)


def _drained(results: _Results, threads: int) -> Iterator[TaskResult]:
    while threads:
        found = results.get()
        if found is None:
            threads -= 1
        elif isinstance(found, BaseException):
            raise found
        else:
            yield found[0]
            found[1].set()
