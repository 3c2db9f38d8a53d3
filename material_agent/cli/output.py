"""What a command prints: one JSON object or one text on stdout, everything else on stderr."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from material_agent.cli.exits import Exit

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Reply:
    """The answer of a command: `data` for programs, `text` for people, and how it exits."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    code: Exit = Exit.SUCCESS

    def as_json(self) -> str:
        """One object with the name and version of its schema first."""
        schema = {"name": f"material-agent/{self.name}", "version": SCHEMA_VERSION}
        return json.dumps(plain({"schema": schema, **self.data}), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:  # noqa: PLR0911 - one return for each kind of value
    """`value` as JSON types: dataclasses become objects, arrays lists, paths text, and NaN or infinity null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return [plain(item) for item in value]


_reserved: list[IO[str]] = []


def answer_stream() -> IO[str]:
    """The real stdout, for a command that speaks a protocol over it."""
    return _reserved[-1] if _reserved else sys.stdout


@contextmanager
def reserved_stdout() -> Iterator[IO[str]]:
    """Yield the real stdout; whatever else writes to descriptor 1 meanwhile lands on stderr."""
    sys.stdout.flush()
    saved = os.dup(1)
    before = sys.stdout
    try:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        with os.fdopen(os.dup(saved), "w", encoding="utf-8", errors="replace") as stream:
            _reserved.append(stream)
            yield stream
    finally:
        _reserved.clear()
        sys.stdout = before
        os.dup2(saved, 1)
        os.close(saved)


@cache
def console() -> Console:
    """The console for progress and logs, on stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """One plain line on stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
