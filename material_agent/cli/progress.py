"""Live progress of a run: a small table on a terminal, plain lines elsewhere. Hears events, computes nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from material_agent.cli.output import console, say
from material_agent.events import (
    AttemptEnded,
    AttemptStarted,
    BestUpdated,
    ContextBuilt,
    Decision,
    Evaluated,
    Event,
    ModelCall,
    Reflected,
    Resumed,
    RunEnded,
    RunStarted,
    Search,
    WorkerLost,
)

if TYPE_CHECKING:
    from rich.table import Table

    from material_agent.config import RunConfig

# What a run is sure to use up; actions and renders mostly stay far under their limits.
_PACE = ("candidates", "renders", "actions")


@dataclass
class State:
    """What is shown."""

    attempts: int
    limits: dict[str, float]
    attempt: int = 0
    step: int = 0
    score: float | None = None
    best: float | None = None
    tried: list[str] = field(default_factory=list)
    doing: str = "starting Blender"
    spent: dict[str, float] = field(default_factory=dict)

    def hear(self, event: Event) -> str:
        """Take an event in; returns a line for people when it is worth one, else an empty text."""
        self.spent = event.spent or self.spent
        handler = _HANDLERS.get(type(event))
        return handler(self, event) if handler else ""

    @property
    def time_left(self) -> str:
        """An estimate from what is spent of the counted limits, never above the safety stop."""
        seconds = self.spent.get("seconds", 0.0)
        stop = self.limits.get("seconds")
        shares = [self.spent.get(name, 0.0) / self.limits[name] for name in _PACE if self.limits.get(name)]
        share = max(shares, default=0.0)
        estimates = [seconds / share - seconds] if share > 0.02 else []
        estimates += [stop - seconds] if stop is not None else []
        return f"at most {_clock(max(0.0, min(estimates)))}" if estimates else "unknown"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _started(state: State, event: RunStarted) -> str:
    state.doing = "looking at the reference"
    return f"reference {event.reference.get('id')}, actor {event.actor}, Blender {event.versions.get('blender', '?')}"


def _attempt(state: State, event: AttemptStarted) -> str:
    state.attempt, state.step, state.score, state.doing = event.attempt, 0, None, "thinking"
    return f"attempt {event.attempt} of {state.attempts}" + (", another structure" if event.force_new_structure else "")


def _context(state: State, event: ContextBuilt) -> str:
    state.step = event.step
    return ""


def _decision(state: State, event: Decision) -> str:
    state.step, state.doing = event.step, event.reason
    return f"  step {event.step}: {event.reason}"


def _model_call(state: State, event: ModelCall) -> str:
    state.doing = f"{event.model} answered" if event.status == "ok" else f"{event.model}: {event.status}"
    return "" if event.status == "ok" else f"  {event.model} did not answer ({event.status}): {event.error}"


def _search(state: State, event: Search) -> str:
    state.doing = f"searching: {event.tried} candidates at {event.resolution} px"
    return ""


def _evaluated(state: State, event: Evaluated) -> str:
    state.score = event.evaluation.reward
    return f"  score {_figure(state.score)}, best {_figure(state.best)}, time left {state.time_left}"


def _best(state: State, event: BestUpdated) -> str:
    state.best = event.evaluation.reward
    return ""


def _lost(state: State, event: WorkerLost) -> str:
    return f"  a Blender worker was lost ({event.status}); the run goes on"


def _attempt_ended(state: State, event: AttemptEnded) -> str:
    if event.structure and event.structure not in state.tried:
        state.tried.append(event.structure)
    return f"  attempt {event.attempt} ended: {event.outcome}, {event.reason}; best {_figure(event.best_reward)}"


def _reflected(state: State, event: Reflected) -> str:
    if not event.accepted or event.reflection is None:
        return f"  reflection refused: {'; '.join(event.reasons)}"
    return f"  reflection: {event.reflection.get('graph_change', {}).get('text', '')}"


def _resumed(state: State, event: Resumed) -> str:
    return "resumed" + (f"; attempt {event.repeats} is repeated" if event.repeats else "")


def _ended(state: State, event: RunEnded) -> str:
    state.doing = event.reason
    return f"ended: {event.outcome}, {event.reason}"


_HANDLERS: dict[type[Event], Callable[..., str]] = {
    RunStarted: _started,
    AttemptStarted: _attempt,
    ContextBuilt: _context,
    Decision: _decision,
    ModelCall: _model_call,
    Search: _search,
    Evaluated: _evaluated,
    BestUpdated: _best,
    WorkerLost: _lost,
    AttemptEnded: _attempt_ended,
    Reflected: _reflected,
    Resumed: _resumed,
    RunEnded: _ended,
}


@contextmanager
def display(config: RunConfig) -> Iterator[Callable[[Event], None]]:
    """Yield the listener that shows a run's events on stderr."""
    state = State(config.attempts, {str(name): value for name, value in config.run_limits().items()})
    if not console().is_terminal:
        yield lambda event: _print_line(state.hear(event))
        return
    from rich.live import Live

    with Live(_table(state), console=console(), refresh_per_second=4, transient=True) as live:

        def listen(event: Event) -> None:
            state.hear(event)
            live.update(_table(state))

        yield listen


def _print_line(line: str) -> None:
    if line:
        say(" ".join(line.split()) if not line.startswith("  ") else "  " + " ".join(line.split()))


def _table(state: State) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    rows = (
        ("attempt", f"{state.attempt} of {state.attempts}, step {state.step}"),
        ("score", f"{_figure(state.score)}, best so far {_figure(state.best)}"),
        ("time left", state.time_left),
        ("tried", ", ".join(state.tried) or "–"),
        ("now", " ".join(state.doing.split())[:200]),
    )
    for name, value in rows:
        # Text, not markup: a reason may hold brackets.
        table.add_row(Text(name, style="dim"), Text(value))
    return table
