"""Keeping a library's own complaints off stderr: what is wrong with a file is said once, in the error."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator

_ONE_AT_A_TIME = threading.Lock()
_STDERR = 2


@contextlib.contextmanager
def without_lines(mark: bytes) -> Iterator[None]:
    """Drop the lines on the process's stderr that hold `mark`; whatever else is written meanwhile comes out at the end.

    OpenEXR prints each fault of a damaged file from C, and offers its callers no way to stop it.
    """
    with _ONE_AT_A_TIME, contextlib.ExitStack() as stack:
        try:
            saved = os.dup(_STDERR)
        except OSError:  # no stderr, nothing to keep clean
            yield
            return
        stack.callback(os.close, saved)
        kept = stack.enter_context(tempfile.TemporaryFile())
        sys.stderr.flush()
        os.dup2(kept.fileno(), _STDERR)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(saved, _STDERR)
            kept.seek(0)
            rest = b"".join(line for line in kept if mark not in line)
            if rest:
                os.write(_STDERR, rest)
