"""Uptake: whether the next attempt did what a reflection asked for, and whether that helped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graph_api import Catalog, action_to_json
from graph_api.actions import AddNode, Edit
from graph_api.model import Graph
from material_agent.context import Step
from material_agent.environment import PROGRESS
from material_agent.memory import Reflection


@dataclass(frozen=True)
class Uptake:
    """What came of one reflection. `helped` is None when there is no reward to compare with, or no difference."""

    reflection: str
    change_made: bool
    ban_respected: bool
    reward_before: float | None
    reward_after: float | None

    @property
    def helped(self) -> bool | None:
        """Whether the best reward rose (True) or fell (False) by more than the noise of the budget term."""
        if self.reward_before is None or self.reward_after is None:
            return None
        delta = self.reward_after - self.reward_before
        return None if abs(delta) <= PROGRESS else delta > 0


def measure_uptake(
    reflection: Reflection,
    *,
    reward_before: float | None,
    reward_after: float | None,
    start: Graph,
    reached: Sequence[Graph],
    steps: Sequence[Step],
    catalog: Catalog,
) -> Uptake:
    """Measure one reflection on the attempt after it; `reached` are that attempt's best and last graph.

    The change counts as made when a reached graph holds the pattern, or when every action that was asked for was done.
    The ban counts as respected when no reached graph holds a match that the start graph did not.
    """
    change = reflection.graph_change
    by_pattern = change.pattern is not None and any(change.pattern.matches(graph, catalog) for graph in reached)
    # A change asks for edits; whatever else a step was, it cannot be what was asked for.
    acted = [step.action for step in steps if step.observation.status == "ok" and isinstance(step.action, Edit)]
    done = [_essence(action, reached) for action in acted]
    by_actions = bool(change.actions) and all(_essence(action, reached) in done for action in change.actions)
    ban = reflection.forbidden_op
    respected = ban.kind == "remove" or not any(ban.violations(start, graph, catalog) for graph in reached)
    return Uptake(reflection.id, by_pattern or by_actions, respected, reward_before, reward_after)


def _essence(action: Any, graphs: Sequence[Graph]) -> dict[str, Any]:
    """An action with node ids replaced by node types and roles: the next attempt is free to name its nodes anew."""
    data = action_to_json(action)
    if isinstance(action, AddNode):
        return {"op": action.op, "type": action.type, "role": action.role}
    if isinstance(action, Edit):
        for key in ("node", "dst"):
            if key in data:
                data[key] = _kind(data[key], graphs)
        if "src" in data:
            node, dot, socket = str(data["src"]).partition(".")
            data["src"] = f"{_kind(node, graphs)}{dot}{socket}"
    return data


def _kind(node: str, graphs: Sequence[Graph]) -> str:
    found = next((graph.nodes[node] for graph in graphs if node in graph.nodes), None)
    return node if found is None else f"{found.role}:{found.type}"
