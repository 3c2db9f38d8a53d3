"""A deterministic actor that plays a list of turns: for tests, for documentation, and to replay what another did."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_api import GraphError, action_from_json
from material_agent.actors.base import AttemptSetup, Turn
from material_agent.context import Context
from material_agent.errors import ActorError, BadInput
from material_agent.memory import Reflection, reflection_from_json
from material_agent.observation import Bench


class ScriptedActor:
    """Plays `turns` in order, whatever the answers are; when they run out it ends the attempt with that reason."""

    name = "scripted"

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = tuple(turns)
        self._next = 0

    def act(self, context: Context, bench: Bench) -> Turn:
        """Play the next turn. Raises `ActorError` when there is none."""
        if self._next >= len(self._turns):
            raise ActorError(f"the script ends after {len(self._turns)} turns")
        turn = self._turns[self._next]
        self._next += 1
        return turn


class ScriptedReflector:
    """Gives the reflections of a list in order, one for each time it is asked."""

    name = "scripted"

    def __init__(self, reflections: Sequence[Reflection]) -> None:
        self._reflections = tuple(reflections)
        self._next = 0

    def reflect(self, context: Context, outcome: str, label: str) -> Reflection:
        """Give the next reflection. Raises `ActorError` when there is none."""
        if self._next >= len(self._reflections):
            raise ActorError(f"the script holds {len(self._reflections)} reflections")
        reflection = self._reflections[self._next]
        self._next += 1
        return reflection


@dataclass(frozen=True)
class Script:
    """Turns by attempt, and the reflections between them. Attempts beyond the last one play the last one again."""

    attempts: tuple[tuple[Turn, ...], ...]
    reflections: tuple[Reflection, ...] = ()

    def actor(self, setup: AttemptSetup) -> ScriptedActor:
        """The actor of one attempt; an `ActorFactory`."""
        return ScriptedActor(self.attempts[min(setup.attempt, len(self.attempts)) - 1])

    def reflector(self) -> ScriptedReflector:
        """A reflector that gives the script's reflections."""
        return ScriptedReflector(self.reflections)


def load_script(path: Path) -> Script:
    """Read a script.

    A JSON object: `attempts` is a list of attempts, each a list of turns `{"actions": [...], "reason": "",
    "structure": ""}` with actions as in the events; `reflections` (optional) a list of reflections as in the events.
    Raises `BadInput` naming the place.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"expected a script as JSON, got {path}: {error}") from error
    return script_from_json(data, str(path))


def script_from_json(data: Any, where: str = "script") -> Script:
    """Build a script from parsed JSON; see `load_script`."""
    attempts = data.get("attempts") if isinstance(data, dict) else None
    if not isinstance(attempts, list) or not attempts:
        raise BadInput(f'expected {where} to be an object with a list "attempts" that is not empty')
    for number, attempt in enumerate(attempts):
        if not isinstance(attempt, list):
            raise BadInput(f"expected a list of turns in {where}: attempts[{number}], got {type(attempt).__name__}")
    turns = tuple(
        tuple(_turn(turn, f"{where}: attempts[{i}][{j}]") for j, turn in enumerate(attempt))
        for i, attempt in enumerate(attempts)
    )
    reflections = data.get("reflections", [])
    if not isinstance(reflections, list):
        raise BadInput(f"expected a list of reflections in {where}, got {type(reflections).__name__}")
    return Script(turns, tuple(_reflection(one, where) for one in reflections))


def _turn(data: Any, where: str) -> Turn:
    try:
        actions = tuple(action_from_json(action) for action in data["actions"])
        return Turn(actions, str(data.get("reason", "")), str(data.get("structure", "")))
    except (GraphError, AttributeError, KeyError, TypeError) as error:
        raise BadInput(f"expected a turn in {where}, got {type(error).__name__}: {error}") from error


def _reflection(data: Any, where: str) -> Reflection:
    try:
        return reflection_from_json(data)
    except (GraphError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"expected a reflection in {where}, got {type(error).__name__}: {error}") from error
