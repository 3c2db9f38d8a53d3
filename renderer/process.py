"""A Python process with a socket to it, started so that nothing of the caller's script or folder leaks in."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parent.parent)
# -P and -c keep the working folder and the user's script out of the path; our own root goes last, so that nothing in
# it can hide a module of the standard library.
_BOOT = "import sys; sys.path.append({root!r}); from {module} import main; main({arguments})"


class Process:
    """Runs `main(socket, parent_pid, *arguments)` of a module. It talks through `connection` only."""

    def __init__(self, module: str, arguments: tuple[int, ...]) -> None:
        self._owner = os.getpid()
        ours, theirs = socket.socketpair()
        # A folder of its own as working directory: relative entries of PYTHONPATH then find nothing of the user's.
        self._folder = tempfile.TemporaryDirectory(prefix="material-agent-", ignore_cleanup_errors=True)
        numbers = ", ".join(map(str, (theirs.fileno(), self._owner, *arguments)))
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOT.format(root=_ROOT, module=module, arguments=numbers)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                # A Ctrl-C in the terminal is for the caller alone, which then ends its workers in order.
                start_new_session=True,
                cwd=self._folder.name,
            )
        self.connection = Connection(ours.detach())

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def memory_mb(self) -> float:
        """Resident memory in MiB; 0 when the process has ended."""
        import psutil  # noqa: PLC0415 - the add-on carries this package into Blenders that lack psutil

        try:
            return float(psutil.Process(self.pid).memory_info().rss) / 2**20
        except psutil.Error:
            return 0.0

    def exit_text(self) -> str:
        """How the process ended, for a message."""
        self.wait(2.0)
        code = self._process.returncode
        return "still running" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"

    def wait(self, seconds: float) -> None:
        """Wait for the end, at most `seconds`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=seconds)

    def kill(self) -> None:
        """End the process now and release what belonged to it; in a fork of its owner, nothing is done."""
        if os.getpid() != self._owner:
            return
        if self.running:
            self._process.kill()
        self._process.wait()
        self.connection.close()
        self._folder.cleanup()
