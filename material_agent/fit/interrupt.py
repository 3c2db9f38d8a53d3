"""Being told to stop: SIGTERM is treated as Ctrl-C, wherever Python lets a handler be set."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from material_agent.errors import Terminated


@contextmanager
def terminate_as_interrupt() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM while inside; a no-op outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise Terminated("SIGTERM")

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
