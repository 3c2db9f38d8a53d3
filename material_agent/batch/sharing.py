"""Reflections shared by tasks without a common disk: each takes along what there is and brings home what it learnt."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from material_agent.batch.result import LEARNT, TaskResult
from material_agent.batch.store import Store
from material_agent.memory import Memory

OFFERED = 200  # newest reflections that a task takes along: about half a megabyte


class TravellingMemory:
    """The batch's memory, held by whoever hands out the tasks."""

    def __init__(self, memory: Memory, store: Store) -> None:
        self._memory = memory
        self._store = store

    def offered(self) -> bytes:
        """What a task takes along, as `TaskSpec.memory`."""
        return json.dumps(self._memory.rows(newest=OFFERED)).encode()

    def learn(self, result: TaskResult) -> None:
        """Take in what a task brought home; twice changes nothing."""
        if LEARNT in result.files and (data := self._store.read(f"{result.folder}/{LEARNT}")) is not None:
            self._memory.put(json.loads(data))


@contextmanager
def travelling_memory(store: Store, kept: Iterable[TaskResult]) -> Iterator[TravellingMemory]:
    """The memory of a batch whose tasks run elsewhere, filled with what the complete ones learnt."""
    with tempfile.TemporaryDirectory(prefix="material-agent-memory-") as place:
        memory = TravellingMemory(Memory(Path(place) / "memory.sqlite"), store)
        for result in kept:
            memory.learn(result)
        yield memory
