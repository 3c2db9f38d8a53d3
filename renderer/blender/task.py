"""One task in one process: reads a pickled `(name, arguments)` from a socket, answers, ends."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.connection import Connection

from renderer.blender.capture import LogCapture
from renderer.blender.worker import end_with_parent


def main(socket: int, parent: int) -> None:
    """Run the task that `renderer.blendfile` sends; never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    capture = LogCapture()
    threading.Thread(target=end_with_parent, args=(parent,), daemon=True).start()
    connection = Connection(socket)
    try:
        name, arguments = connection.recv()
        try:
            import bpy  # noqa: F401, PLC0415
        except ImportError as error:
            connection.send(("unavailable", str(error)))
            return
        from renderer.blender.blendfile import TASKS  # noqa: PLC0415

        try:
            connection.send(("ok", TASKS[name](*arguments)))
        except Exception as error:  # noqa: BLE001 - a broken file is an answer, with what Blender said of it
            said = " ".join(f"{type(error).__name__}: {error}".split())
            connection.send(("error", f"{said} {capture.text().strip()}".strip()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        os._exit(0)
