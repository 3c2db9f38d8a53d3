"""Going on with an interrupted run: everything that counts is read back from the events."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluators.result import Facts
from graph_api import from_json
from material_agent.config import RunConfig
from material_agent.errors import BadInput
from material_agent.events import (
    AnyEvent,
    AttemptEnded,
    AttemptStarted,
    BestUpdated,
    Evaluated,
    Observed,
    Reflected,
    Resumed,
    RunEnded,
    RunStarted,
    UptakeMeasured,
    effective,
    read_events,
)
from material_agent.fit.folder import RunFolder
from material_agent.fit.keeper import Kept
from material_agent.memory import figures
from material_agent.reflexion import Ended, Progress
from material_agent.reflexion.loop import REFLECTION_TRIES

# What may differ between a run and its resume: where it runs, how long, how parallel.
FREE = ("reference", "out", "jobs", "limits", "attempts", "render_timeout_s")

# What crosses attempts as it was in memory, and is not to be had from the events.
_NOT_ON_DISK = ("trajectory", "scalar")


@dataclass
class State:
    """Where a run stands.

    `run` is its id, empty for a new one. `repeats` is the attempt that was interrupted; `ended` the outcome,
    when it had ended.
    """

    run: str = ""
    progress: Progress = field(default_factory=Progress)
    kept: Kept | None = None
    spent: dict[str, float] = field(default_factory=dict)
    next_event: int = 0
    repeats: int | None = None
    resumes: int = 0
    ended: str | None = None
    torn: bool = False


def read_state(folder: RunFolder, config: RunConfig, sha256: str, *, reflects: bool) -> State:
    """Read where the run in `folder` stands, and cut a half-written last line off its log.

    Raises `BadInput` when there is no run, or one with another reference or other settings.
    """
    if not folder.events.exists():
        raise BadInput(f"expected a run to resume in {folder.root}, got no events.jsonl")
    events, torn, length = read_events(folder.events)
    started = events[0] if events else None
    if not isinstance(started, RunStarted):
        raise BadInput(f"expected a run to resume in {folder.root}, got a log without its first event")
    _check_same(started, config, sha256)
    if config.context.memory in _NOT_ON_DISK:
        raise BadInput(
            f"expected a run whose memory is on disk to resume, got memory = {config.context.memory!r}; start it again "
            "with --overwrite"
        )
    if torn:
        os.truncate(folder.events, length)
    counted = effective(events)
    ended = _ended(counted, config.attempts, reflects=reflects)
    last = events[-1]
    return State(
        run=started.run,
        progress=_progress(counted, ended),
        kept=_kept(counted),
        spent=dict(last.spent),
        next_event=last.seq + 1,
        repeats=_interrupted(counted, len(ended)),
        resumes=sum(isinstance(event, Resumed) for event in events),
        ended=last.outcome if isinstance(last, RunEnded) else None,
        torn=torn,
    )


def _check_same(started: RunStarted, config: RunConfig, sha256: str) -> None:
    if started.reference["sha256"] != sha256:
        raise BadInput(f"expected the reference of the run, got another picture (sha256 {sha256[:12]})")
    asked = config.model_dump(mode="json")
    different = [name for name, value in asked.items() if name not in FREE and started.config.get(name) != value]
    if different:
        was = ", ".join(f"{name}={started.config.get(name)!r}" for name in different)
        raise BadInput(f"expected the settings of the run to resume ({was}), got others")


def _ended(events: Sequence[AnyEvent], attempts: int, *, reflects: bool) -> list[Ended]:
    """The attempts that are over, reflection included, in order."""
    ended: list[Ended] = []
    for event in events:
        if isinstance(event, AttemptEnded) and event.attempt == len(ended) + 1:
            done = Ended(
                number=event.attempt,
                outcome=event.outcome,
                stop=event.stop,
                reason=event.reason,
                label=event.label,
                reward=event.best_reward,
                structure=event.structure,
                turns=event.steps,
                observation=event.best_observation,
            )
            needs_reflection = reflects and not done.ends_run and done.number < attempts
            if needs_reflection and not _reflected(events, done.number):
                break
            ended.append(done)
    return ended


def _reflected(events: Sequence[AnyEvent], attempt: int) -> bool:
    """Whether the reflection on an attempt was concluded: taken, refused for good, or not to be had."""
    tries = [event for event in events if isinstance(event, Reflected) and event.attempt == attempt]
    return len(tries) >= REFLECTION_TRIES or any(one.accepted or one.reflection is None for one in tries)


def _interrupted(events: Sequence[AnyEvent], ended: int) -> int | None:
    started = [event.attempt for event in events if isinstance(event, AttemptStarted)]
    return ended + 1 if ended + 1 in started else None


def _progress(events: Sequence[AnyEvent], ended: list[Ended]) -> Progress:
    seen: dict[str, Mapping[str, tuple[float, ...]]] = {}
    measured = set()
    for event in events:
        if event.attempt > len(ended):
            continue
        if isinstance(event, Observed):
            seen.setdefault(event.id, {})
        elif isinstance(event, Evaluated):
            seen[event.observation] = figures(event.evaluation)
        elif isinstance(event, UptakeMeasured):
            measured.add(event.reflection)
    return Progress(ended, seen, measured)


def _kept(events: Sequence[AnyEvent]) -> Kept | None:
    best = next((event for event in reversed(events) if isinstance(event, BestUpdated)), None)
    if best is None:
        return None
    return Kept(from_json(best.graph), facts_from_json(best.facts), best.attempt, best.observation, best.evaluation)


def facts_from_json(data: Mapping[str, Any]) -> Facts:
    """The facts that `dataclasses.asdict` wrote."""
    return Facts(**{**data, "compile_messages": tuple(data["compile_messages"])})
