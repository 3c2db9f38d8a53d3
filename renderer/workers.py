"""One worker process as its parent sees it: start, talk, watch, end."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import psutil

from renderer.errors import BlenderUnavailable
from renderer.missing import explain_import_error
from renderer.protocol import RenderRequest, RenderResult

START_TIMEOUT_S = 120.0
_ROOT = str(Path(__file__).resolve().parent.parent)
# -P and -c keep the working folder and the user's script out of the path; our own root goes last, so that nothing in
# it can hide a module of the standard library.
_BOOT = (
    "import sys; sys.path.append({root!r}); from renderer.blender.worker import main; main({fd}, {parent}, {threads})"
)


class WorkerLost(Exception):
    """The worker's process ended, or its socket broke."""


@dataclass
class Pending:
    """A request that a worker has, and its place in the caller's list."""

    index: int
    request: RenderRequest


class Worker:
    """A Blender process behind a socket pair. Not thread-safe: the pool leases it to one caller at a time."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._ready = False
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.pending: deque[Pending] = deque()
        self.deadline = 0.0
        self.renders = 0
        self.version = ""

    @property
    def pid(self) -> int | None:
        """The process id while a process runs."""
        return None if self._process is None else self._process.pid

    @property
    def connection(self) -> Connection:
        """The socket to wait on; the worker must have been started."""
        assert self._connection is not None
        return self._connection

    def start(self) -> None:
        """Start the process unless one runs; does not wait for Blender to load."""
        if self._process is not None and self._process.poll() is None:
            return
        self.kill()
        ours, theirs = socket.socketpair()
        # A folder of its own as working directory: relative entries of PYTHONPATH then find nothing of the user's.
        self._folder = tempfile.TemporaryDirectory(prefix="material-agent-worker-", ignore_cleanup_errors=True)
        code = _BOOT.format(root=_ROOT, fd=theirs.fileno(), parent=os.getpid(), threads=self._threads)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
            cwd=self._folder.name,
        )
        theirs.close()
        self._connection = Connection(ours.detach())
        self._ready, self.renders = False, 0
        self.pending.clear()
        self.deadline = time.monotonic() + START_TIMEOUT_S

    def submit(self, pending: Pending) -> None:
        """Queue a request; the time limit of the first in the queue runs from when the worker is free for it."""
        try:
            self.connection.send(pending.request)
        except OSError as error:
            raise WorkerLost from error
        self.pending.append(pending)
        if len(self.pending) == 1 and self._ready:
            self._arm()

    def receive(self) -> RenderResult | None:
        """The answer to the oldest pending request, or None when the message was the greeting."""
        try:
            message = self.connection.recv()
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
        self._ready, self.version = True, text
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
        if self._process is None:
            return 0.0
        try:
            return float(psutil.Process(self._process.pid).memory_info().rss) / 2**20
        except psutil.Error:
            return 0.0

    def exit_text(self) -> str:
        """How the process ended, for a message."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        code = self._process.returncode
        return "still running" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"

    def stop(self) -> None:
        """End an idle worker in order; one that does not go in two seconds is killed."""
        if self._process is None or self._connection is None:
            return
        with contextlib.suppress(OSError):
            self._connection.send(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        self.kill()

    def kill(self) -> None:
        """End the process now and release what belonged to it; safe in any state."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.kill()
            self._process.wait()
            self._process = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self.pending.clear()
        self._ready = False
