"""What is going on in a batch: what a task says of itself, and the board that keeps count."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from material_agent.batch.result import TaskResult
from material_agent.events import AttemptStarted, BestUpdated, Decision, Event, Search


@dataclass(frozen=True)
class TaskProgress:
    """Where a task stands: attempt, step, what it does, best reward so far."""

    attempt: int = 0
    step: int = 0
    doing: str = "starting"
    best: float | None = None


class Reporter:
    """Turns a run's events into `TaskProgress`, sent at most every `hush_s` seconds."""

    def __init__(self, send: Callable[[TaskProgress], object], hush_s: float) -> None:
        self._send = send
        self._hush_s = hush_s
        self._last = float("-inf")
        self._now = TaskProgress()

    def __call__(self, event: Event) -> None:
        """Take an event in."""
        now = _after(self._now, event)
        if now != self._now:
            self._now = now
            if time.monotonic() - self._last >= self._hush_s:
                self._last = time.monotonic()
                self._send(now)


def _after(now: TaskProgress, event: Event) -> TaskProgress:
    match event:
        case AttemptStarted():
            return TaskProgress(event.attempt, 0, "thinking", now.best)
        case Decision():
            return TaskProgress(now.attempt, event.step, " ".join(event.reason.split())[:120], now.best)
        case Search():
            return TaskProgress(now.attempt, now.step, f"searching at {event.resolution} px", now.best)
        case BestUpdated():
            return TaskProgress(now.attempt, now.step, now.doing, event.evaluation.reward)
    return now


@dataclass
class Board:
    """The state of a batch, for a display: counts, running tasks, failures, pace.

    `kept`: complete from before. `clock` is monotonic; pace and time left are for people.
    """

    total: int
    kept: int = 0
    clock: Callable[[], float] = time.monotonic
    done: int = 0
    accepted: int = 0
    failed: list[TaskResult] = field(default_factory=list)
    running: dict[str, TaskProgress] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._started = self.clock()

    def progress(self, task: str, state: TaskProgress) -> None:
        """A task began, or says where it stands."""
        self.since.setdefault(task, self.clock())
        self.running[task] = state

    def ended(self, result: TaskResult) -> None:
        """A task is over."""
        self.running.pop(result.id, None)
        self.since.pop(result.id, None)
        self.done += 1
        self.accepted += result.status == "accepted"
        if result.status == "failed":
            self.failed.append(result)

    @property
    def left(self) -> int:
        """Tasks that are not over."""
        return self.total - self.kept - self.done

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first task could begin."""
        return self.clock() - self._started

    @property
    def per_hour(self) -> float | None:
        """Tasks an hour, None before the first is done."""
        return 3600.0 * self.done / self.elapsed_s if self.done and self.elapsed_s > 0 else None

    @property
    def left_s(self) -> float | None:
        """Seconds left at the present pace, None before there is one."""
        return 3600.0 * self.left / self.per_hour if self.per_hour else None
