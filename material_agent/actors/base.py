"""What an actor and a reflector are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from graph_api.actions import Action
from material_agent.context import Context
from material_agent.environment.observation import Bench
from material_agent.memory.reflection import Reflection


@dataclass(frozen=True)
class Turn:
    """What an actor proposes: actions in order, and why (recorded as the decision's reason)."""

    actions: tuple[Action, ...]
    reason: str = ""


class Actor(Protocol):
    """One actor lives for one attempt: what crosses attempts is memory alone."""

    name: str

    def act(self, context: Context, bench: Bench) -> Turn:
        """Propose the next actions; `bench` is for searching between two actions, and is charged."""
        ...


class Reflector(Protocol):
    """Turns a failed attempt into the four fields."""

    name: str

    def reflect(self, context: Context, outcome: str, label: str) -> Reflection:
        """Reflect on the attempt in `context.history`; `label` is its kind of failure."""
        ...
