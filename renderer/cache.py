"""Results kept in memory and on disk, found again only for exactly the same render."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from renderer.keys import request_key
from renderer.protocol import RenderRequest, RenderResult


class RenderCache:
    """Least recently used results within `memory_mb`, and on disk within `disk_mb` when `folder` is given.

    Only successful renders are kept. A result serves a request when graph, view, pixel-changing settings, Blender
    version and renderer version are equal and it holds every channel asked for. Safe to use from several threads.
    """

    def __init__(self, memory_mb: float = 256.0, folder: Path | None = None, disk_mb: float = 1024.0) -> None:
        self._limit = int(memory_mb * 2**20)
        self._memory: OrderedDict[str, RenderResult] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._disk: Any = None
        self.problem = ""
        """Why the disk part was given up, empty while it serves; rendering goes on without it."""
        if folder is not None:
            import diskcache  # noqa: PLC0415

            # The disk cache pickles what we put in it; the folder is the user's own.
            with self._giving_up_on_faults():
                self._disk = diskcache.Cache(
                    str(folder), size_limit=int(disk_mb * 2**20), eviction_policy="least-recently-used"
                )

    def get(self, request: RenderRequest, blender_version: str) -> RenderResult | None:
        """The kept result of this very request, with the channels asked for, or None."""
        key = request_key(request, blender_version)
        with self._lock:
            found = self._memory.get(key)
            if found is not None:
                self._memory.move_to_end(key)
        if found is None and self._disk is not None:
            with self._giving_up_on_faults():
                found = self._disk.get(key)
            if found is not None:
                self._remember(key, found)
        if found is None or any(name not in found.channels for name in request.channels):
            return None
        return replace(found, channels={name: found.channels[name] for name in request.channels}, cached=True)

    def put(self, request: RenderRequest, result: RenderResult) -> None:
        """Keep a successful result; any other is ignored. Its arrays become read-only, since callers share them."""
        if not result.ok:
            return
        for array in result.channels.values():
            array.flags.writeable = False
        key = request_key(request, result.blender_version)
        with self._lock:
            known = self._memory.get(key)
        if known is not None:
            result = replace(result, channels={**known.channels, **result.channels})
        self._remember(key, result)
        if self._disk is not None:
            with self._giving_up_on_faults():
                self._disk.set(key, result)

    def close(self) -> None:
        """Close the disk part."""
        if self._disk is not None:
            self._disk.close()

    @contextmanager
    def _giving_up_on_faults(self) -> Iterator[None]:
        """A full disk, a read-only folder or a damaged file must not cost a render: the disk part is left alone."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - SQLite, the file system and a damaged pickle raise anything
            self._disk = None
            self.problem = f"the cache on disk is not used: {type(error).__name__}: {error}"

    def _remember(self, key: str, result: RenderResult) -> None:
        with self._lock:
            old = self._memory.pop(key, None)
            self._bytes += _size(result) - (_size(old) if old is not None else 0)
            self._memory[key] = result
            while self._bytes > self._limit and self._memory:
                _, dropped = self._memory.popitem(last=False)
                self._bytes -= _size(dropped)


def _size(result: RenderResult) -> int:
    return sum(array.nbytes for array in result.channels.values())
