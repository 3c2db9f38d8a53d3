"""The worker process: takes requests from one socket, renders, answers. Started by `renderer.workers`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection

from renderer import wire
from renderer.blender.capture import LogCapture
from renderer.protocol import RenderMessage, RenderRequest, RenderResult

PARENT_POLL_S = 0.5


def main(socket: int, parent: int, threads: int) -> None:
    """Serve until the socket ends, a None arrives or the parent is gone; never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    capture = LogCapture()
    threading.Thread(target=end_with_parent, args=(parent,), daemon=True).start()
    connection = Connection(socket)
    try:
        _serve(connection, capture, threads)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        # Blender's own exit handlers can crash in a process with threads, and have nothing to save here.
        os._exit(0)


def _serve(connection: Connection, capture: LogCapture, threads: int) -> None:
    try:
        from renderer.blender.engine import Engine  # noqa: PLC0415

        engine = Engine(threads, capture)
    except Exception as error:  # noqa: BLE001 - whatever keeps Blender from loading is told to the pool
        connection.send(("unavailable", f"{type(error).__name__}: {error}"))
        return
    capture.text()
    connection.send(("ready", engine.version))
    while True:
        request: RenderRequest | None = connection.recv()
        if request is None:
            return
        start = time.perf_counter()
        try:
            result = engine.render(request)
        except Exception as error:  # noqa: BLE001 - a fault of one graph must not cost the worker
            result = RenderResult("error", messages=(RenderMessage("error", f"{type(error).__name__}: {error}"),))
        wire.send(connection, replace(result, seconds=time.perf_counter() - start))


def end_with_parent(parent: int) -> None:
    """A killed parent cannot say so, and children it forked may hold the socket open: watch the process itself."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
