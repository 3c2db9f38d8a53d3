"""What Blender writes to the real stdout and stderr, kept from our own output and turned into messages."""

from __future__ import annotations

import ctypes
import os
import re
import tempfile

from renderer.protocol import RenderMessage

_LEVELS = (
    ("error", re.compile(r"\berror\b|\bfailed\b|\bcannot\b|can't\b|out of memory", re.IGNORECASE)),
    ("warning", re.compile(r"\bwarn(?:ing)?\b|\binvalid\b|\bmissing\b|\bnot found\b|\bunsupported\b", re.IGNORECASE)),
)
_LINES_KEPT = 20


class LogCapture:
    """Sends file descriptors 1 and 2 to an unnamed file for the rest of the process's life."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        for stream in (1, 2):
            os.dup2(self._file.fileno(), stream)

    def text(self) -> str:
        """What was written since the last call."""
        self._libc.fflush(None)
        log = self._file.fileno()
        size = os.lseek(log, 0, os.SEEK_END)
        if not size:
            return ""
        os.lseek(log, 0, os.SEEK_SET)
        data = os.read(log, size)
        os.ftruncate(log, 0)
        os.lseek(log, 0, os.SEEK_SET)
        return data.decode("utf-8", errors="replace")


def messages_from_log(text: str, nodes: tuple[str, ...]) -> list[RenderMessage]:
    """The lines of a log that speak of a problem, with the node they name if it is one of `nodes`."""
    found = []
    for raw in text.splitlines():
        line = " ".join(raw.split())
        level = next((name for name, pattern in _LEVELS if pattern.search(line)), None)
        if level is not None:
            node = max((name for name in nodes if name and name in line), key=len, default=None)
            found.append(RenderMessage(level, line, node))
    return found[:_LINES_KEPT]
