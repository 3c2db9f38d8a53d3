"""All open tasks of a server, by their ids. An id is the only way to a task, so it cannot be guessed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from material_agent.errors import BadInput
from material_agent.mcp.task import OpenTask

MOST_TASKS = 64


class Hall:
    """Opens, finds and closes tasks; the least recently used idle one makes room for a new one."""

    def __init__(self, most: int = MOST_TASKS) -> None:
        self._tasks: dict[str, OpenTask] = {}
        self._most = most
        self._lock = threading.Lock()
        self._turn = 0

    def open(self, make: Callable[[str], OpenTask]) -> OpenTask:
        """Make a task under a fresh id. Raises `BadInput` when all are at work and none may be closed."""
        task = make(secrets.token_hex(8))
        with self._lock:
            if len(self._tasks) >= self._most:
                self._make_room()
            self._turn += 1
            task.used = self._turn
            self._tasks[task.id] = task
        return task

    @contextmanager
    def at_work(self, name: object) -> Iterator[OpenTask]:
        """The task of an id, for one call at a time. Raises `BadInput` for an id that is none of ours."""
        with self._lock:
            task = self._tasks.get(name) if isinstance(name, str) else None
            if task is None:
                raise BadInput("expected the id of an open task, as open_task gave it; open one first")
            self._turn += 1
            task.used = self._turn
        with task.lock:
            yield task

    def close(self, name: str) -> None:
        """Close a task; its folder stays. Raises `BadInput` for an id that is none of ours."""
        with self.at_work(name) as task:
            with self._lock:
                self._tasks.pop(name, None)
            task.close()

    def ids(self) -> tuple[str, ...]:
        """The ids of the open tasks."""
        with self._lock:
            return tuple(self._tasks)

    def close_all(self) -> None:
        """Cancel what runs, and close every task."""
        with self._lock:
            tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.renderer.watch.cancelled.set()
            task.close()

    def _make_room(self) -> None:
        idle = [task for task in self._tasks.values() if not task.lock.locked()]
        if not idle:
            raise BadInput(f"expected at most {self._most} tasks at work, got one more; close one")
        oldest = min(idle, key=lambda task: task.used)
        self._tasks.pop(oldest.id).close()
