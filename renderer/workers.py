"""One worker as the pool sees it: start, send, receive, watch the clock, end."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection

from renderer import wire
from renderer.errors import BlenderUnavailable
from renderer.missing import explain_import_error
from renderer.process import Process
from renderer.protocol import RenderRequest, RenderResult

START_TIMEOUT_S = 120.0
_STOP_S = 2.0


class WorkerLost(Exception):
    """The worker's process ended, or its socket broke."""


@dataclass(frozen=True)
class Pending:
    """A request that a worker has, and its place in the caller's list."""

    index: int
    request: RenderRequest


class Worker:
    """A Blender process, restarted when needed. Not thread-safe: the pool leases it to one caller at a time."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._process: Process | None = None
        self.pending: deque[Pending] = deque()
        self.deadline = 0.0
        self.renders = 0
        self.version = ""
        """Blender's version once the present process has greeted, else empty."""

    @property
    def pid(self) -> int | None:
        """The process id while a process runs."""
        return None if self._process is None else self._process.pid

    @property
    def connection(self) -> Connection:
        """The socket to wait on; the worker must have been started."""
        assert self._process is not None
        return self._process.connection

    def start(self) -> None:
        """Start the process unless one runs; does not wait for Blender to load."""
        if self._process is not None and self._process.running:
            return
        self.kill()
        self._process = Process("renderer.blender.worker", (self._threads,))
        self.renders = 0
        self.deadline = time.monotonic() + START_TIMEOUT_S

    def submit(self, pending: Pending) -> None:
        """Queue a request; the time limit of the first in the queue runs from when the worker is free for it."""
        try:
            self.connection.send(pending.request)
        except OSError as error:
            raise WorkerLost from error
        self.pending.append(pending)
        if len(self.pending) == 1 and self.version:
            self._arm()

    def receive(self) -> RenderResult | None:
        """The answer to the oldest pending request, or None when the message was the greeting."""
        try:
            message = wire.receive(self.connection)
        except (EOFError, OSError) as error:
            raise WorkerLost from error
        if isinstance(message, RenderResult):
            self.renders += 1
            self.pending.popleft()
            self._arm()
            return message
        kind, text = message
        if kind == "unavailable":
            raise BlenderUnavailable(explain_import_error(text))
        self.version = text
        self._arm()
        return None

    def _arm(self) -> None:
        if self.pending:
            self.deadline = time.monotonic() + self.pending[0].request.settings.timeout_s

    @property
    def overdue(self) -> bool:
        """Whether the present render, or the start, has used up its time."""
        return bool(self.pending) and time.monotonic() >= self.deadline

    def memory_mb(self) -> float:
        """Resident memory of the process in MiB; 0 when it has ended."""
        return 0.0 if self._process is None else self._process.memory_mb()

    def exit_text(self) -> str:
        """How the process ended, for a message."""
        return "not started" if self._process is None else self._process.exit_text()

    def stop(self) -> None:
        """End an idle worker in order; one that does not go in two seconds is killed."""
        if self._process is None:
            return
        with contextlib.suppress(OSError):
            self._process.connection.send(None)
        self._process.wait(_STOP_S)
        self.kill()

    def kill(self) -> None:
        """End the process now and forget its requests; safe in any state."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
        self.pending.clear()
        self.version = ""
