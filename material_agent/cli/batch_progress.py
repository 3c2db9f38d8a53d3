"""Live progress of a batch: a table on a terminal, one line for each finished task elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from material_agent.batch import Board, Fault, Listener, Plan, TaskProgress, TaskResult
from material_agent.cli.output import console, say

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

_FAILURES = 5  # the newest, on a terminal
_ROWS = 12  # running tasks, on a terminal


@contextmanager
def display() -> Iterator[Listener]:
    """Yield the listener that shows a batch on stderr."""
    if not console().is_terminal:
        yield Lines()
        return
    from rich.live import Live

    with Live(console=console(), refresh_per_second=4, transient=True) as live:
        yield Screen(live)


class Lines(Listener):
    """Plain lines, for logs."""

    def planned(self, board: Board, plan: Plan, faults: tuple[Fault, ...], notes: tuple[str, ...]) -> None:
        """What there is to do."""
        self.board = board
        for text in opening(board, faults, notes):
            say(text)

    def ended(self, result: TaskResult) -> None:
        """One line for the task, with the state of all."""
        say(f"{self.board.kept + self.board.done}/{self.board.total} {outcome(result)} ({pace(self.board)})")


class Screen(Listener):
    """A live table: counts and pace, what runs, what failed."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._lock = threading.Lock()

    def planned(self, board: Board, plan: Plan, faults: tuple[Fault, ...], notes: tuple[str, ...]) -> None:
        """What there is to do."""
        self.board = board
        for text in opening(board, faults, notes):
            self._live.console.print(text, markup=False)
        self._show()

    def progress(self, task: str, state: TaskProgress) -> None:
        """A task says where it stands."""
        self._show()

    def ended(self, result: TaskResult) -> None:
        """A task is over."""
        self._show()

    def _show(self) -> None:
        with self._lock:
            self._live.update(table(self.board))


def opening(board: Board, faults: tuple[Fault, ...], notes: tuple[str, ...]) -> list[str]:
    """What is said before the first task."""
    kept = f", {board.kept} of them complete already" if board.kept else ""
    lines = [f"{board.total} reference{'' if board.total == 1 else 's'}{kept}"]
    lines += [f"cannot be used: {fault.name}: {fault.reason}" for fault in faults]
    return lines + list(notes)


def outcome(result: TaskResult) -> str:
    """A finished task in a few words."""
    words = {"accepted": "accepted", "not_accepted": "not accepted", "failed": "failed"}[result.status]
    figure = "" if result.reward is None else f" {result.reward:.3f}"
    why = f": {result.reason}" if result.reason else ""
    return f"{result.name}{figure} {words}{why}"


def pace(board: Board) -> str:
    """Throughput, time left, failures so far."""
    if board.per_hour is None or board.left_s is None:
        return "time left unknown"
    lost = f", {len(board.failed)} failed" if board.failed else ""
    return f"{board.per_hour:.3g} an hour, {clock(board.left_s)} left{lost}"


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def table(board: Board) -> Table:
    """The whole state as a table."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    whole = Table.grid(padding=(0, 0))
    done = board.kept + board.done
    head = Table.grid(padding=(0, 2))
    counts = f"{done} of {board.total}, {board.accepted} accepted" + (f", {board.kept} kept" if board.kept else "")
    head.add_row(ProgressBar(total=board.total, completed=done, width=32), Text(counts), Text(pace(board), style="dim"))
    whole.add_row(head)
    tasks = Table.grid(padding=(0, 2))
    now = time.monotonic()
    running = list(board.running.items())
    for name, state in running[:_ROWS]:
        best = "–" if state.best is None else f"{state.best:.3f}"
        since = clock(now - board.since.get(name, now))
        step = f"attempt {state.attempt}, step {state.step}" if state.attempt else ""
        # Text, not markup: a name or a reason may hold brackets.
        tasks.add_row(Text(name[:40]), Text(since, style="dim"), Text(step, style="dim"), Text(best), Text(state.doing))
    if len(running) > _ROWS:
        tasks.add_row(Text(f"… and {len(running) - _ROWS} more", style="dim"))
    whole.add_row(tasks)
    for result in board.failed[-_FAILURES:]:
        whole.add_row(Text(f"failed: {result.name}: {result.reason}"[:200], style="red"))
    return whole
