"""Memory: what crosses attempts, on disk.

One SQLite file for each run, or one that several runs share when asked. Concurrent writers wait for each other (write
ahead log, busy time-out). All writes are keyed, so that repeating an interrupted attempt changes nothing twice.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from material_agent.errors import BadInput
from material_agent.memory.codec import reflection_from_json, reflection_to_json
from material_agent.memory.reflection import Reflection

Window = Literal["1", "3", "all", "retrieved"]
RETRIEVED = 3  # how many similar reflections are offered; Reflexion's own window is one to three
RETIRE_AFTER = 2  # runs in which a shared reflection may hurt before nobody is offered it any more
# Up to this distance a reference counts as similar to that of another run: of the bundled references' pairs of one
# family half are nearer, of those of two families one in twelve.
SIMILAR = 0.2
LABEL_BONUS = 0.25  # in units of feature distance: the same kind of failure brings a reflection this much nearer
FORMAT = 1

SCHEMA = """
CREATE TABLE IF NOT EXISTS reflections (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    reference TEXT NOT NULL,
    label TEXT NOT NULL,
    reward REAL,
    features TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS outcomes (
    reflection TEXT NOT NULL,
    run TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    change_made INTEGER NOT NULL,
    ban_respected INTEGER NOT NULL,
    reward_before REAL,
    reward_after REAL,
    hurt INTEGER NOT NULL,
    PRIMARY KEY (reflection, run)
);
"""

_COLUMNS = "id, run, attempt, reference, label, reward, features, body"
_PUT = f"INSERT OR REPLACE INTO reflections ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True)
class Origin:
    """Where a reflection comes from: run, attempt, reference (a content hash), its features, failure label, reward."""

    run: str
    attempt: int
    reference: str
    features: tuple[float, ...] = ()
    label: str = ""
    reward: float | None = None


class Remembered(NamedTuple):
    """A reflection with its origin."""

    reflection: Reflection
    origin: Origin


@dataclass(frozen=True)
class OutcomeRecord:
    """What came of a reflection in the attempt after it."""

    reflection: str
    run: str
    attempt: int
    change_made: bool
    ban_respected: bool
    reward_before: float | None
    reward_after: float | None
    hurt: bool


class Memory:
    """Reflections and what came of them."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises `BadInput` when it is not a memory of this format."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._connect() as database:
                database.execute("PRAGMA journal_mode=WAL")
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version not in (0, FORMAT):
                    raise BadInput(f"expected a memory of format {FORMAT}, got format {version}: {path}")
                database.executescript(SCHEMA)
                database.execute(f"PRAGMA user_version={FORMAT}")
        except sqlite3.DatabaseError as error:
            raise BadInput(f"expected a memory database, got {path}: {error}") from error

    def add(self, reflection: Reflection, origin: Origin) -> None:
        """Remember a reflection; the same id again replaces it."""
        row = (
            reflection.id,
            origin.run,
            origin.attempt,
            origin.reference,
            origin.label,
            origin.reward,
            json.dumps(origin.features),
            json.dumps(reflection_to_json(reflection)),
        )
        with self._connect() as database:
            database.execute(_PUT, row)

    def recall(
        self, window: Window, run: str, features: Sequence[float] = (), label: str = ""
    ) -> tuple[Remembered, ...]:
        """What `run` is offered: the last one, the last three, all, or the nearest by reference and failure.

        Left out is what hurt in this run, and what has hurt in `RETIRE_AFTER` runs. Oldest first; for "retrieved",
        the nearest last, where a reader's attention is best, and of other runs only what came of a similar reference.
        """
        offered = [item for item in self._all() if not self._withdrawn(item.reflection.id, run)]
        if window == "retrieved":
            near = [item for item in offered if item.origin.run == run or _apart(item.origin, features) <= SIMILAR]
            ranked = sorted(near, key=lambda item: _distance(item.origin, features, label))
            return tuple(reversed(ranked[:RETRIEVED]))
        return tuple(offered if window == "all" else offered[-int(window) :])

    def record(self, outcome: OutcomeRecord) -> None:
        """Note what came of a reflection; one record for each run."""
        row = (
            outcome.reflection,
            outcome.run,
            outcome.attempt,
            outcome.change_made,
            outcome.ban_respected,
            outcome.reward_before,
            outcome.reward_after,
            outcome.hurt,
        )
        with self._connect() as database:
            database.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def retired(self, reflection: str) -> bool:
        """Whether a reflection has hurt often enough that no run is offered it any more."""
        with self._connect() as database:
            query = "SELECT COUNT(*) FROM outcomes WHERE reflection = ? AND hurt"
            (count,) = database.execute(query, (reflection,)).fetchone()
        return bool(count >= RETIRE_AFTER)

    def forget_from(self, run: str, attempt: int) -> None:
        """Drop what `run` wrote in `attempt` and after it: the attempt is going to be repeated."""
        with self._connect() as database:
            database.execute("DELETE FROM reflections WHERE run = ? AND attempt >= ?", (run, attempt))
            database.execute("DELETE FROM outcomes WHERE run = ? AND attempt >= ?", (run, attempt))

    def rows(self, run: str | None = None, newest: int | None = None) -> dict[str, list[list[Any]]]:
        """Reflections and outcomes as plain JSON, of one run or of all; with `newest`, that many reflections at most.

        What `put` takes: the way from one machine's memory into another's.
        """
        chosen = "" if run is None else " WHERE run = :run"
        last = "" if newest is None else " LIMIT :newest"
        values = {"run": run, "newest": newest}
        with self._connect() as database:
            reflections = database.execute(
                f"SELECT {_COLUMNS} FROM reflections{chosen} ORDER BY position DESC{last}", values
            ).fetchall()
            outcomes = database.execute(f"SELECT * FROM outcomes{chosen}", values).fetchall()
        return {
            "reflections": [list(row) for row in reversed(reflections)],
            "outcomes": [list(row) for row in outcomes],
        }

    def put(self, rows: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        """Take in what `rows` gave; what is here already is replaced, so that doing it twice changes nothing."""
        with self._connect() as database:
            database.executemany(_PUT, rows["reflections"])
            database.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows["outcomes"])

    def _withdrawn(self, reflection: str, run: str) -> bool:
        with self._connect() as database:
            query = "SELECT COUNT(*) FROM outcomes WHERE reflection = ? AND run = ? AND hurt"
            (here,) = database.execute(query, (reflection, run)).fetchone()
        return bool(here) or self.retired(reflection)

    def _all(self) -> list[Remembered]:
        with self._connect() as database:
            query = "SELECT body, run, attempt, reference, features, label, reward FROM reflections ORDER BY position"
            rows = database.execute(query).fetchall()
        return [
            Remembered(
                reflection_from_json(json.loads(body)),
                Origin(run, attempt, reference, tuple(json.loads(features)), label, reward),
            )
            for body, run, attempt, reference, features, label, reward in rows
        ]

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        # A connection for each call: safe in any thread, and nothing is open when the process is killed.
        with closing(sqlite3.connect(self.path, timeout=30.0)) as database, database:
            yield database


def _distance(origin: Origin, features: Sequence[float], label: str) -> float:
    bonus = LABEL_BONUS if label and origin.label == label else 0.0
    apart = _apart(origin, features)
    return apart - bonus if math.isfinite(apart) else (math.inf if not bonus else 1e6)


def _apart(origin: Origin, features: Sequence[float]) -> float:
    """Root mean square difference of the references' features; infinite without them."""
    if not features or len(features) != len(origin.features):
        return math.inf
    return math.dist(origin.features, features) / math.sqrt(len(features))
