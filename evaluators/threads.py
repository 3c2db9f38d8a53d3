"""One thread for linear algebra while figures are computed.

BLAS libraries split sums by the number of threads they are given, so that a score would depend in its seventh digit on
the machine's cores and on OMP_NUM_THREADS. At our sizes more threads gain nothing. (Torch sees to itself in
`functional.texture`.)
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_held: list[Any] = []  # the limit in force, and one None for each user beyond the first
# The limit is the process's: what two threads compute at once shares one, lifted by the last to leave.


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold NumPy's and SciPy's linear algebra at one thread; also a decorator. Cheap when nested."""
    with _lock:
        _held.append(None if _held else threadpool_limits(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            # The first entry is the limit and goes last.
            _held.pop() if len(_held) > 1 else _held.pop().restore_original_limits()
