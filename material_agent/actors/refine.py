"""An actor for a material that exists: it keeps the structure and searches its numbers, branch by branch.

It never touches what is locked or banned: such inputs are left out before a search is asked for, and the graph API
refuses them all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graph_api import ActionRejected, Catalog, Graph, Node, Rules, SetParam, Socket, apply, load_catalog
from graph_api.actions import Finish, Render
from graph_api.arrange import role_of
from graph_api.resolve import state_of
from graph_api.wiring import active_output, upstream
from material_agent.actors.base import AttemptSetup, Turn
from material_agent.context import Context
from material_agent.observation import Bench
from material_agent.proposals import BUDGETS, MOST_PARAMETERS, Goal, Tune

MAPS = ("beauty", "base_color", "roughness", "metallic", "normal", "height")
ORDER = ("color", "macro", "meso", "shading", "micro", "mapping", "")
"""Branches in the order in which they are searched: what shows most first."""
NUMBERS = 16
"""So many numbers are moved at once: more than this a search of some dozens of candidates does not resolve."""
GOALS: tuple[Goal, ...] = ("reward", "appearance", "structure")
"""The goal of the first attempt, the second, the third: each starts from the same material and goes another way."""


class RefineActor:
    """Searches the free numbers of the start graph. Deterministic from the context."""

    name = "refine"

    def __init__(self, setup: AttemptSetup) -> None:
        self._goal: Goal = GOALS[(setup.attempt - 1) % len(GOALS)]
        self._batches: list[tuple[str, ...]] | None = None
        self._tuned = 0

    def act(self, context: Context, bench: Bench) -> Turn:
        """Render the start, then one search and one render a turn, then the end."""
        state = context.state
        if self._batches is None:
            self._batches = list(batches(context))
            return Turn((Render("flat", MAPS),), f"{len(self._batches)} branches have free numbers", "as given")
        evaluation = state.evaluation
        if evaluation is not None and evaluation.success and not state.edited_since_render:
            return Turn((Finish("success", f"every term is above its threshold, reward {evaluation.reward:.3f}"),))
        budget = self._budget(context)
        if not self._batches or not context.constraints.tune or budget < BUDGETS[0]:
            return Turn((Finish("unfinished", self._why(context)),))
        names = self._batches.pop(0)
        self._tuned += 1
        reason = f"search {', '.join(names)} for {self._goal}"
        return Turn((Tune(names, self._goal, budget), Render("flat", MAPS)), reason, "as given")

    def _budget(self, context: Context) -> int:
        """An even share of what the attempt may spend for each search that is left."""
        state = context.state
        left = min(state.share.get("candidates", BUDGETS[1]), state.remaining.get("candidates", BUDGETS[1]))
        return int(min(max(left / max(len(self._batches or ()), 1), BUDGETS[0]), BUDGETS[1], left))

    def _why(self, context: Context) -> str:
        if not context.constraints.tune:
            return "a search is not allowed, and nothing else refines a material"
        if not self._tuned:
            return "every number of the material is locked, linked or out of use, or no candidates are left"
        evaluation = context.state.evaluation
        failures = "; ".join(evaluation.failures[:3]) if evaluation is not None else "no verdict"
        return f"every free number was searched: {failures}"


def batches(context: Context) -> Iterator[tuple[str, ...]]:
    """Names of the free inputs as `node.Socket`, in groups for one search each."""
    graph = context.state.graph
    catalog = load_catalog(graph.blender_version)
    rules = Rules(context.constraints.bans, context.constraints.locks)
    output = active_output(graph)
    used = upstream(graph, [output.id]) if output is not None else frozenset()
    for role in ORDER:
        names: list[str] = []
        count = 0
        for node in graph.nodes.values():
            if node.id not in used or (role_of(node) if role_of(node) in ORDER else "") != role:
                continue
            for socket in free_inputs(graph, node, catalog, rules):
                size = min(socket.size, 3)
                if names and (count + size > NUMBERS or len(names) == MOST_PARAMETERS):
                    yield tuple(names)
                    names, count = [], 0
                names.append(f"{node.id}.{socket.identifier}")
                count += size
        if names:
            yield tuple(names)


def free_inputs(graph: Graph, node: Node, catalog: Catalog, rules: Rules) -> Sequence[Socket]:
    """The inputs whose numbers count, that somebody chose or that stand on a shader, and that no rule holds."""
    found = []
    for socket in state_of(node, catalog).enabled_inputs:
        chosen = socket.identifier in node.inputs or socket.name in ("Base Color", "Color", "Roughness")
        if socket.type not in ("VALUE", "VECTOR", "RGBA") or socket.hide_value or not socket.size or not chosen:
            continue
        if graph.link_into(node.id, socket.identifier) is None and _may_change(graph, node, socket, catalog, rules):
            found.append(socket)
    return found


def _may_change(graph: Graph, node: Node, socket: Socket, catalog: Catalog, rules: Rules) -> bool:
    """Whether some small step of the value is allowed."""
    value = node.inputs.get(socket.identifier, socket.default)
    for step in (1.01, 0.99):
        moved = tuple(float(v) * step + 1e-3 * (step - 1) for v in value) if isinstance(value, tuple) else None
        number = moved if moved is not None else float(value) * step + 1e-3 * (step - 1)  # type: ignore[arg-type]
        try:
            apply(graph, SetParam(node.id, socket.identifier, number), catalog, rules)
        except ActionRejected:
            continue
        return True
    return False
