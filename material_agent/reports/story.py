"""A run's events, put in the order in which a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from material_agent.errors import BadInput
from material_agent.events import (
    AnyEvent,
    AttemptEnded,
    AttemptStarted,
    BestUpdated,
    ContextBuilt,
    Decision,
    Evaluated,
    EvaluationRecord,
    Observed,
    Proposal,
    Reflected,
    Resumed,
    RunEnded,
    RunStarted,
    Search,
    Thought,
    UptakeMeasured,
    WorkerLost,
    effective,
)


@dataclass
class Move:
    """One action and its answer. `evaluation` is set when the answer was judged, `best` when it became the best."""

    op: str
    arguments: str
    observation: str
    status: str = "unanswered"
    messages: tuple[str, ...] = ()
    view: str = ""
    images: Mapping[str, str] = field(default_factory=dict)
    evaluation: EvaluationRecord | None = None
    best: bool = False
    useless: bool = False
    lost: str = ""

    @property
    def plain(self) -> bool:
        """Whether nothing but the action itself is to be told."""
        return self.status == "ok" and not (self.images or self.evaluation or self.lost)


@dataclass
class Edits:
    """Edits in a row that went as asked: counted by action, listed on demand."""

    moves: list[Move] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each action, in the order of their first use."""
        found: dict[str, int] = {}
        for move in self.moves:
            found[move.op] = found.get(move.op, 0) + 1
        return found


@dataclass
class Searches:
    """Searches in a row."""

    events: list[Search] = field(default_factory=list)


@dataclass
class Step:
    """One turn of the actor: why, then thoughts (text), searches and moves in the order in which they happened."""

    number: int
    reason: str = ""
    events: list[str | Search | Move] = field(default_factory=list)

    @property
    def moves(self) -> list[Move]:
        """The moves alone."""
        return [item for item in self.events if isinstance(item, Move)]

    @property
    def told(self) -> list[str | Searches | Edits | Move]:
        """The events as they are told: runs of plain edits and of searches as one."""
        told: list[str | Searches | Edits | Move] = []
        for event in self.events:
            last = told[-1] if told else None
            if isinstance(event, Search):
                group = last if isinstance(last, Searches) else Searches()
                group.events.append(event)
                if group is not last:
                    told.append(group)
            elif isinstance(event, Move) and event.plain:
                edits = last if isinstance(last, Edits) else Edits()
                edits.moves.append(event)
                if edits is not last:
                    told.append(edits)
            else:
                told.append(event)
        return told

    @property
    def reward(self) -> float | None:
        """The best reward that was judged in this step."""
        found = [
            move.evaluation.reward for move in self.moves if move.evaluation and move.evaluation.reward is not None
        ]
        return max(found, default=None)


@dataclass
class Attempt:
    """One attempt, its reflection, and how the reflection before it fared in it."""

    number: int
    start: AttemptStarted | None = None
    steps: list[Step] = field(default_factory=list)
    end: AttemptEnded | None = None
    reflections: list[Reflected] = field(default_factory=list)
    uptake: list[UptakeMeasured] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> Move | None:
        """The move with the highest reward."""
        judged = [
            move for step in self.steps for move in step.moves if move.evaluation and move.evaluation.reward is not None
        ]
        return max(judged, key=_reward, default=None)


@dataclass
class Story:
    """A whole run. `best` is the move behind the material that was kept; `points` are all judged rewards in order."""

    start: RunStarted
    attempts: list[Attempt]
    end: RunEnded | None
    best_event: BestUpdated | None
    best: Move | None
    resumes: int
    spent: dict[str, float]

    @property
    def points(self) -> list[tuple[int, str, float]]:
        """Attempt, observation and reward of every verdict."""
        return [
            (attempt.number, move.observation, move.evaluation.reward)
            for attempt in self.attempts
            for step in attempt.steps
            for move in step.moves
            if move.evaluation and move.evaluation.reward is not None
        ]


def tell(events: Sequence[AnyEvent]) -> Story:
    """The story behind `events`. Raises `BadInput` when they do not begin with the start of a run."""
    if not events or not isinstance(events[0], RunStarted):
        raise BadInput(f"expected a log that begins with run_started, got {events[0].kind if events else 'no event'}")
    resumes = sum(isinstance(event, Resumed) for event in events)
    kept = effective(events)
    story = Story(events[0], _attempts(kept), None, None, None, resumes, dict(events[-1].spent))
    # Only a run_ended that nothing follows is the end: a resumed run has older ones.
    story.end = events[-1] if isinstance(events[-1], RunEnded) else None
    bests = [event for event in kept if isinstance(event, BestUpdated)]
    story.best_event = bests[-1] if bests else None
    moves = {move.observation: move for attempt in story.attempts for step in attempt.steps for move in step.moves}
    # A repeated attempt gives its observations the same names again, so a name alone is not the best.
    for event in bests:
        move = moves.get(event.observation)
        if move is not None and move.evaluation == event.evaluation:
            move.best = True
    if story.best_event:
        found = moves.get(story.best_event.observation)
        story.best = found if found is not None and found.best else _void_best(events, story.best_event)
    return story


def _void_best(events: Sequence[AnyEvent], best: BestUpdated) -> Move:
    """The best move of an interrupted attempt that was repeated: its steps are void, its material is kept."""
    move = Move("render", "", best.observation, "ok", evaluation=best.evaluation, best=True)
    for event in events:
        if isinstance(event, Observed) and event.id == best.observation and event.graph_hash == best.graph_hash:
            move.images, move.view = event.images, event.view
    return move


def _attempts(events: Iterable[AnyEvent]) -> list[Attempt]:
    attempts: dict[int, Attempt] = {}
    for event in events:
        if event.attempt == 0:
            continue
        attempt = attempts.setdefault(event.attempt, Attempt(event.attempt))
        attempt.spent = dict(event.spent)
        _tell_event(attempt, event)
    return [attempts[number] for number in sorted(attempts)]


def _tell_event(attempt: Attempt, event: AnyEvent) -> None:
    match event:
        case AttemptStarted():
            attempt.start = event
        case ContextBuilt():
            _step_number(attempt, event.step)
        case Decision():
            _step_number(attempt, event.step).reason = event.reason
        case Thought():
            _step(attempt).events.append(event.text)
        case Search():
            _step(attempt).events.append(event)
        case Proposal():
            move = Move(str(event.action["op"]), arguments(event.action), event.observation)
            _step(attempt).events.append(move)
        case Observed() | Evaluated() | WorkerLost():
            _answer(attempt, event)
        case AttemptEnded():
            attempt.end = event
        case Reflected():
            attempt.reflections.append(event)
        case UptakeMeasured():
            attempt.uptake.append(event)
        case _:
            pass


def _answer(attempt: Attempt, event: Observed | Evaluated | WorkerLost) -> None:
    if isinstance(event, Observed) and event.op == "reset":
        return  # the environment's own first word, to no action
    if isinstance(event, Observed):
        move = _move(attempt, event.id, event.op)
        move.status, move.messages, move.view = event.status, event.messages, event.view
        move.images, move.useless = event.images, event.useless
    elif isinstance(event, Evaluated):
        _move(attempt, event.observation).evaluation = event.evaluation
    else:
        _move(attempt, event.observation).lost = event.status


def _step_number(attempt: Attempt, number: int) -> Step:
    if not attempt.steps or attempt.steps[-1].number != number:
        attempt.steps.append(Step(number))
    return attempt.steps[-1]


def _step(attempt: Attempt) -> Step:
    if not attempt.steps:
        attempt.steps.append(Step(0))
    return attempt.steps[-1]


def _move(attempt: Attempt, observation: str, op: str = "render") -> Move:
    for step in reversed(attempt.steps):
        for move in reversed(step.moves):
            if move.observation == observation:
                return move
    move = Move(op, "", observation)
    _step(attempt).events.append(move)
    return move


def _reward(move: Move) -> float:
    return move.evaluation.reward if move.evaluation and move.evaluation.reward is not None else float("-inf")


def arguments(action: Mapping[str, Any]) -> str:
    """An action's arguments as one short line."""
    return "  ".join(
        f"{key}={_short(value)}" for key, value in action.items() if key != "op" and value not in (None, "")
    )


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(_short(item) for item in value[:6]) + (", …" if len(value) > 6 else "") + ")"
    if isinstance(value, Mapping):
        if "stops" in value:
            return f"ramp with {len(value['stops'])} stops"
        return "{" + ", ".join(f"{key}: {_short(item)}" for key, item in list(value.items())[:4]) + "}"
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "…"
