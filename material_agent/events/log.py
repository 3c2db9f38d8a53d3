"""The event log: append-only, flushed line by line, readable after a kill."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from material_agent.budget import Ledger
from material_agent.errors import BadInput
from material_agent.events.kinds import ADAPTER, AnyEvent, Event, Resumed


class Log(Protocol):
    """Where events go."""

    def write(self, event: Event, attempt: int = 0) -> None:
        """Append one event."""
        ...


class EventLog:
    """Appends events to a file, each with its number, the time and the ledger.

    Every line is flushed to the operating system; events of a durable kind also to the disk.
    """

    def __init__(
        self,
        path: Path,
        ledger: Ledger,
        *,
        start: int = 0,
        listener: Callable[[Event], None] | None = None,
    ) -> None:
        """Open `path` for appending; `start` is the number of the next event, `listener` hears each one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        self._ledger = ledger
        self._next = start
        self._listener = listener

    def write(self, event: Event, attempt: int = 0) -> None:
        """Append one event."""
        spent = {name: value for name, value in self._ledger.spent.items() if value}
        stamped = event.model_copy(
            update={
                "seq": self._next,
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "attempt": attempt,
                "spent": spent,
            }
        )
        self._file.write(_line(stamped) + "\n")
        self._file.flush()
        if stamped.durable:
            os.fsync(self._file.fileno())
        self._next += 1
        if self._listener is not None:
            self._listener(stamped)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _line(event: Event) -> str:
    try:
        return event.model_dump_json()
    except PydanticSerializationError:
        # An actor may write half a character (a lone surrogate), which no file can hold; a log must not fail for it.
        return json.dumps(_writable(event.model_dump(mode="python")), allow_nan=False)


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_writable(key): _writable(item) for key, item in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list | tuple) else value


class EventFile(NamedTuple):
    """What a log holds: the events, and whether its last line was cut (by a kill in the middle of a write)."""

    events: list[AnyEvent]
    torn: bool
    length: int


def read_events(path: Path) -> EventFile:
    """Read a log; a cut last line is left out and reported, `length` is the byte where it begins.

    Raises `BadInput` naming the line for damage anywhere else.
    """
    events: list[AnyEvent] = []
    length = 0
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        last = number == len(lines)
        if last and not line.endswith(b"\n"):
            return EventFile(events, True, length)
        try:
            events.append(ADAPTER.validate_json(line))
        except ValidationError as error:
            if last:
                return EventFile(events, True, length)
            first = error.errors()[0]
            raise BadInput(f"expected an event in line {number} of {path}, got {first['msg']}") from error
        length += len(line)
    return EventFile(events, False, length)


def effective(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """The events that count: what an interrupted attempt logged before it was repeated is left out.

    `best_updated` stays whatever happened after it: that material was rendered and is kept.
    """
    kept: list[AnyEvent] = []
    for event in events:
        if isinstance(event, Resumed) and event.repeats is not None:
            kept = [old for old in kept if old.attempt != event.repeats or old.kind == "best_updated"]
        kept.append(event)
    return kept
