"""What an actor and a reflector are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from material_agent.budget import Ledger
from material_agent.context import Context
from material_agent.events import Log
from material_agent.memory.reflection import Reflection
from material_agent.observation import Bench
from material_agent.proposals import Proposed


@dataclass(frozen=True)
class Turn:
    """What an actor proposes: actions in order, and why (recorded as the decision's reason).

    `structure` names the kind of structure it is building ("bricks"); later attempts are told what was tried.
    """

    actions: tuple[Proposed, ...]
    reason: str = ""
    structure: str = ""


@dataclass(frozen=True)
class AttemptSetup:
    """What a fresh actor is made with: the attempt's number and seed, and the ledger to charge model calls to."""

    attempt: int
    seed: int
    ledger: Ledger


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


class ActorFactory(Protocol):
    """Makes the actor of one attempt."""

    def __call__(self, setup: AttemptSetup) -> Actor:
        """Make a fresh actor; nothing may be carried over from the one before."""
        ...


@runtime_checkable
class Accountable(Protocol):
    """An actor factory or a reflector that spends on its own account, such as for calls of a model.

    A run calls `begin` once, before the first attempt.
    """

    def begin(self, ledger: Ledger, log: Log) -> None:
        """From now on charge `ledger` and write what was spent to `log`."""
        ...
