"""One task at a time in a process of its own: started when needed, watched, ended whole."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from material_agent.batch.config import TaskSpec
from material_agent.batch.progress import TaskProgress
from material_agent.batch.result import Kind, TaskResult, failed
from material_agent.batch.task import write_record
from material_agent.batch.worker import LOG
from renderer.process import Process

TRIES = 2  # a worker may be lost to the machine; a second loss is the task's own doing
RECYCLE_AFTER = 100  # tasks after which a worker is replaced, whatever it may have gathered
MEMORY_CAP_MB = 6000.0  # of the worker alone, after a task; its Blender processes have a cap of their own
_POLL_S = 0.1
_TAIL = 400  # characters of a log that a reason has room for

ProgressListener = Callable[[str, TaskProgress], None]


class Stopped(Exception):
    """The batch is being stopped: the task was ended in the middle."""


class _TimeUp(Exception):
    """A task has outlived its limit."""


class TaskRunner:
    """A worker process, kept from task to task and replaced after a loss. One caller at a time.

    A task that crashes its worker or outlives its time is one failed result; the caller sees an exception only for
    `Stopped`. `stop` is for another thread: it makes `run` end its worker and raise within a moment.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._process: Process | None = None
        self._done = 0
        self._stopping = False

    @property
    def pid(self) -> int | None:
        """The worker's process id while one runs."""
        return None if self._process is None else self._process.pid

    def run(self, spec: TaskSpec, listen: ProgressListener) -> TaskResult:
        """Do a task; a crash is tried once more. Raises `Stopped`."""
        try:
            return self._run(spec, listen)
        except BaseException:
            self.end()
            raise

    def stop(self) -> None:
        """Have the present and every later task end at once."""
        self._stopping = True

    def close(self) -> None:
        """End an idle worker in order; one that does not go in two seconds is killed."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.connection.send(None)
            self._process.wait(2.0)
        self.end()

    def _run(self, spec: TaskSpec, listen: ProgressListener) -> TaskResult:
        started = time.monotonic()
        reason = ""
        for tries in range(1, TRIES + 1):
            listen(spec.id, TaskProgress())
            try:
                result = self._attempt(spec, listen)
            except _TimeUp as error:
                self.end()
                return self._lost(spec, "time_limit", str(error), started, tries)
            except (EOFError, OSError):
                reason = self._loss(spec)
                self.end()
                self.check()
                continue
            self._tidy(result)
            return result if tries == 1 else result.model_copy(update={"tries": tries})
        return self._lost(spec, "crash", reason, started, TRIES)

    def _attempt(self, spec: TaskSpec, listen: ProgressListener) -> TaskResult:
        self.check()
        if self._process is None or not self._process.running:
            self.end()
            self._process = Process("material_agent.batch.worker", (self._threads,))
            self._done = 0
        connection = self._process.connection
        limit = spec.time_limit_s
        end = None if limit is None else time.monotonic() + limit
        connection.send(spec)
        while True:
            while not connection.poll(_POLL_S):
                self.check()
                if end is not None and time.monotonic() > end:
                    raise _TimeUp(f"the task was ended at its time limit of {limit:g} s")
            message = connection.recv()
            if isinstance(message, TaskResult):
                return message
            listen(spec.id, message)

    def check(self) -> None:
        """Raise `Stopped` once `stop` was called."""
        if self._stopping:
            raise Stopped

    def _tidy(self, result: TaskResult) -> None:
        """Replace a worker that has done much, grown large, or met a fault that nobody foresaw."""
        self._done += 1
        process = self._process
        if process is None:
            return
        if result.kind == "internal" or self._done >= RECYCLE_AFTER or process.memory_mb() > MEMORY_CAP_MB:
            self.close()

    def _loss(self, spec: TaskSpec) -> str:
        how = self._process.exit_text() if self._process is not None else "gone"
        said = "" if "://" in spec.store else _tail(Path(spec.store) / spec.folder / LOG)
        return f"its process ended ({how}){': ' + said if said else ''}"

    def _lost(self, spec: TaskSpec, kind: Kind, reason: str, started: float, tries: int) -> TaskResult:
        result = failed(spec, kind, reason, time.monotonic() - started, tries)
        write_record(spec, result)
        return result

    def end(self) -> None:
        """End the worker and all that it started, at once; for the thread that runs tasks."""
        process, self._process = self._process, None
        if process is None:
            return
        family: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for child in family:
            with contextlib.suppress(psutil.Error):
                child.kill()


def _tail(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")[-_TAIL:].strip()
    except OSError:
        return ""
