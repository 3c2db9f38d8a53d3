"""Stop rules: when an attempt is over, and why."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from material_agent.observation import Observation
from material_agent.proposals import Proposed, proposed_to_json

StopKind = Literal["finished", "loop", "no_progress", "step_limit", "budget", "actor_failed", "actor_gone", "one_turn"]
REPEATS = 3


@dataclass(frozen=True)
class Stop:
    """The end of an attempt. `budget` and `actor_gone` end the run too; the others are reflected upon."""

    kind: StopKind
    reason: str


@dataclass(frozen=True)
class StopRules:
    """Limits of one attempt: `max_steps` turns of the actor, K actions without a better render.

    `one_turn`: the actor has one turn and is shown nothing of what comes of it.
    """

    max_steps: int = 80
    no_progress_actions: int = 240
    one_turn: bool = False


@dataclass
class LoopWatch:
    """Counts equal pairs of action and observation.

    Two observations are the same when status, words and the graph that they left are the same; a refused or failed
    action says the same thing whatever the graph has become meanwhile.
    """

    seen: Counter[str] = field(default_factory=Counter)

    def note(self, action: Proposed, observation: Observation, graph_hash: str) -> Stop | None:
        """Take in one pair; the third of a kind is a loop."""
        state = graph_hash if observation.status == "ok" else ""
        pair = [proposed_to_json(action), observation.status, observation.changed, observation.messages, state]
        return self._count(json.dumps(pair, sort_keys=True, default=str), f"{action.op} with the same answer")

    def note_empty_turn(self) -> Stop | None:
        """Take in a turn without actions."""
        return self._count("", "a turn without actions")

    def _count(self, key: str, what: str) -> Stop | None:
        self.seen[key] += 1
        return Stop("loop", f"{what} came {REPEATS} times") if self.seen[key] >= REPEATS else None
