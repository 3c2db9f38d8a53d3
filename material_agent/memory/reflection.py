"""A reflection: exactly four fields, each checkable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graph_api.actions import Edit
from graph_api.rules import Ban

Scale = Literal["macro", "meso", "micro", "global"]


@dataclass(frozen=True)
class Evidence:
    """A fact with its source: the observation that showed it and the figure that was read there."""

    observation: str
    figure: str
    value: float
    text: str


@dataclass(frozen=True)
class Attribution:
    """Where the failure sits and what is held responsible.

    `cause` names a branch (node ids or roles) and is a hypothesis, claimed only for `scope` (such as "this reference").
    """

    scale: Scale
    channel: str
    cause: str
    scope: str


@dataclass(frozen=True)
class GraphChange:
    """What to do next: actions to take, or a pattern (same language as bans) that the next graph must hold."""

    text: str
    actions: tuple[Edit, ...] = ()
    pattern: Ban | None = None


@dataclass(frozen=True)
class Reflection:
    """The four fields. `id` ties it to the attempt it came from."""

    id: str
    evidence: tuple[Evidence, ...]
    scale: Attribution
    graph_change: GraphChange
    forbidden_op: Ban
