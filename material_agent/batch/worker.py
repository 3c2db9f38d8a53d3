"""The process that does tasks: one after another, each from a message, until its owner is gone."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

_PARENT_POLL_S = 0.1
_HUSH_S = 0.2  # progress at most this often: a search logs hundreds of events a second
LOG = "worker.log"


def main(socket: int, parent: int, threads: int) -> None:
    """Serve until the socket ends, a None arrives or the parent is gone; never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    # Before NumPy and torch load, which read these once. The temporary files of a task that is ended in the middle go
    # with the folder of this process, which its owner removes.
    os.environ.update(OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads), OMP_WAIT_POLICY="PASSIVE")
    os.environ["TMPDIR"] = str(Path.cwd())
    connection = Connection(socket)
    try:
        _serve(connection)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except BaseException:  # noqa: BLE001 - the process's boundary: the owner reads it in the log
        traceback.print_exc()
        os._exit(1)
    finally:
        os._exit(0)


def _serve(connection: Connection) -> None:
    from material_agent.batch.progress import Reporter  # noqa: PLC0415 - after the environment is set
    from material_agent.batch.result import failed  # noqa: PLC0415
    from material_agent.batch.task import run_task  # noqa: PLC0415
    from renderer import BlenderPool, RenderCache  # noqa: PLC0415

    pool: BlenderPool | None = None
    try:
        while (spec := connection.recv()) is not None:
            _log_to(spec.store, spec.folder)
            if pool is None or pool.jobs != spec.config.jobs:
                if pool is not None:
                    pool.close()
                pool = BlenderPool(spec.config.jobs, threads=spec.threads)
            pool.cache = RenderCache()  # a task's own, as in a run by itself
            try:
                result = run_task(spec, renderer=pool, progress=Reporter(connection.send, _HUSH_S))
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise
            except Exception as error:  # noqa: BLE001 - a fault of ours in one task must not cost the others
                traceback.print_exc()
                result = failed(spec, "internal", f"{type(error).__name__}: {error}")
            _end_log(spec.store, spec.folder)
            connection.send(result)
    finally:
        if pool is not None:
            pool.close()


def _log_to(store: str, folder: str) -> None:
    """What libraries say goes to a log beside the task's files, where whoever looks into a crash finds it."""
    if "://" in store:
        return
    place = Path(store) / folder
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle = os.open(place / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    except OSError:
        return
    for descriptor in (1, 2):
        os.dup2(handle, descriptor)
    os.close(handle)
    faulthandler.enable()


def _end_log(store: str, folder: str) -> None:
    """A log in which nothing was said is not left behind; what is said between tasks is nobody's."""
    sys.stdout.flush()
    sys.stderr.flush()
    if "://" in store:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    path = Path(store) / folder / LOG
    if path.is_file() and not path.stat().st_size:
        path.unlink()


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_S)
    os._exit(0)
