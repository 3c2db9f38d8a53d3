"""The search behind `tune`: CMA-ES over named inputs of the present graph, every candidate charged like any other."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from graph_api import ActionRejected, Catalog, SetParam, content_hash, load_catalog
from graph_api.actions import Edit
from graph_api.model import Graph, Node, Value
from graph_api.resolve import Notice, find_socket, known_node, names_of, state_of
from material_agent.evolution import strategy
from material_agent.observation import Bench, Trial
from material_agent.proposals import BUDGETS, Goal, Tune

GENERATION = 8
FINALISTS = 5
STEP = 0.12
"""The first step of the search, as a share of each parameter's range."""
NARROW = 10.0
"""A declared range up to this width is searched whole; in a wider one the value is searched by ratio."""
RATIO = 4.0
MOST_NUMBERS = 24
GAIN = 1e-3
"""A smaller rise of the goal is noise of the budget term: nothing is changed for it."""


@dataclass(frozen=True)
class Knob:
    """One number: component `part` of an input (0 for a scalar), with the range to search in."""

    node: str
    socket: str
    part: int
    start: float
    low: float
    high: float
    ratio: bool
    whole: bool

    def at(self, unit: float) -> float:
        """The value at a position in [0, 1] of the range."""
        unit = min(max(unit, 0.0), 1.0)
        value = self.low * (self.high / self.low) ** unit if self.ratio else self.low + (self.high - self.low) * unit
        return float(round(value)) if self.whole else float(f"{value:.6g}")

    @property
    def unit(self) -> float:
        """The present value as a position in [0, 1]."""
        start = min(max(self.start, self.low), self.high)
        if self.ratio:
            return math.log(start / self.low) / math.log(self.high / self.low)
        return (start - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Found:
    """What a search came to: the edits of the best (empty: nothing beat the present values), the goal before and after.

    `moved` says what the edits change, one line each.
    """

    edits: tuple[Edit, ...]
    before: float
    after: float
    tried: int
    moved: tuple[str, ...] = ()


def knobs_of(graph: Graph, tune: Tune, catalog: Catalog, *, allowed: bool = True) -> list[Knob]:
    """The numbers behind the names.

    Raises `ActionRejected` for a name that is no input, for one that a link feeds, and when searching is not `allowed`.
    """
    if not allowed:
        raise ActionRejected("bad_action", "an action of this run", "tune, which is off")
    knobs: list[Knob] = []
    for name in dict.fromkeys(tune.parameters):
        knobs += _knobs(graph, name, catalog)
    if len(knobs) > MOST_NUMBERS:
        raise ActionRejected("bad_action", f"at most {MOST_NUMBERS} numbers in tune.parameters", str(len(knobs)))
    return list({(knob.node, knob.socket, knob.part): knob for knob in knobs}.values())


def affordable(tune: Tune, left: float | None) -> Tune:
    """The search within what the ledger has `left` (None: no limit). Raises `ActionRejected` when it is too little."""
    if left is None or left >= tune.budget:
        return tune
    if left < BUDGETS[0]:
        raise ActionRejected("bad_action", f"{BUDGETS[0]} candidates left for a search", f"{left:.0f}")
    return replace(tune, budget=int(left))


def search(graph: Graph, tune: Tune, knobs: Sequence[Knob], bench: Bench, resolution: int) -> Found:
    """Spend at most `tune.budget` candidates: the screen ranks, the full judge has the last word over the best few.

    The screen costs a fifth of the judge, and leads to better places for the same time. Deterministic from the graph
    and the parameters. Raises `BudgetExhausted` when the ledger has nothing left.
    """

    def tried(points: Sequence[Sequence[float]], judge: Literal["screen", "full"]) -> list[Trial]:
        return bench.try_many([_edits(graph, knobs, point) for point in points], resolution=resolution, judge=judge)

    present = [knob.unit for knob in knobs]
    seen: list[tuple[float, Sequence[float]]] = []
    for points, tell in _generations(graph, tune, present):
        trials = tried(points, "screen")
        seen += [(trial.score, point) for trial, point in zip(trials, points, strict=True) if trial.ok]
        if any(trial.reason.startswith("not tried") for trial in trials):
            break
        tell([1.0 - trial.score for trial in trials])
    seen.sort(key=lambda item: -item[0])
    finalists = [present, *(point for _, point in seen[:FINALISTS])]
    scores = [_goal(trial, tune.goal) for trial in tried(finalists, "full")]
    best = max(range(len(scores)), key=lambda index: scores[index])
    count = len(seen) + len(finalists)
    if scores[best] <= scores[0] + GAIN:
        return Found((), scores[0], scores[0], count)
    edits = tuple(_edits(graph, knobs, finalists[best]))
    return Found(edits, scores[0], scores[best], count, _moves(knobs, finalists[best]))


def _generations(
    graph: Graph, tune: Tune, start: list[float]
) -> Iterator[tuple[list[Any], Callable[[list[float]], object]]]:
    """Batches of points, each with what takes their losses."""
    seed = hashlib.sha256(f"{content_hash(graph)}/{tune.parameters}/{tune.goal}".encode()).digest()
    evolution = strategy(start, STEP, GENERATION, int.from_bytes(seed[:3], "big") + 1)
    for _ in range(max(1, (tune.budget - FINALISTS - 1) // GENERATION)):
        points = evolution.ask()
        yield points, partial(evolution.tell, points)


def _goal(trial: Trial, goal: Goal) -> float:
    """The figure to raise; 0 for a candidate that failed or whose term is unscored."""
    if trial.evaluation is None:
        return 0.0
    term = trial.evaluation.terms.get(goal)
    value = trial.evaluation.reward if goal == "reward" else math.nan if term is None else term.value
    return value if math.isfinite(value) else 0.0


def _knobs(graph: Graph, name: str, catalog: Catalog) -> list[Knob]:
    node_id, dot, key = name.partition(".")
    if not dot:
        raise ActionRejected("bad_action", 'a parameter as "node.Socket"', repr(name)[:80], known=tuple(graph.nodes))
    node = known_node(graph, node_id.strip())
    notices: list[Notice] = []
    socket = find_socket(node, key.strip(), catalog, notices, output=False)
    if socket is None:
        known = names_of(state_of(node, catalog).enabled_inputs)
        raise ActionRejected("unknown_socket", f"an input of {node.id}", repr(key)[:80], known=known, node=node.id)
    if graph.link_into(node.id, socket.identifier) is not None:
        got = f"{name}, which a link feeds"
        raise ActionRejected("bad_action", "an input without a link", got, node=node.id, socket=key)
    parts = _numbers(_value(node, socket.identifier, catalog))
    if not parts:
        raise ActionRejected("bad_action", "an input that holds numbers", f"{name} of type {socket.type}", node=node.id)
    if socket.type == "RGBA":
        parts = parts[:3]  # alpha has no effect on a patch
    whole = socket.type == "INT"
    # A colour above 1 would be a surface that gives back more light than it gets.
    declared = (0.0, 1.0) if socket.type == "RGBA" else (socket.min, socket.max)
    return [_knob(node.id, socket.identifier, i, part, declared, whole) for i, part in enumerate(parts)]


def _knob(
    node: str, socket: str, part: int, start: float, declared: tuple[float | None, float | None], whole: bool
) -> Knob:
    low = -math.inf if declared[0] is None else declared[0]
    high = math.inf if declared[1] is None else declared[1]
    if high - low <= NARROW:
        return Knob(node, socket, part, start, low, high, False, whole)
    if start > 0:
        return Knob(node, socket, part, start, max(low, start / RATIO), min(high, start * RATIO), low <= 0, whole)
    reach = max(abs(start) * RATIO, 1.0)
    return Knob(node, socket, part, start, max(low, start - reach), min(high, start + reach), False, whole)


def _numbers(value: Value | None) -> list[float]:
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int | float):
        return [float(value)]
    return [float(part) for part in value] if isinstance(value, tuple) else []


def _edits(graph: Graph, knobs: Sequence[Knob], point: Sequence[float]) -> list[Edit]:
    """One `set_param` for each input; a vector's other components stay as they are."""
    catalog = load_catalog(graph.blender_version)
    wanted: dict[tuple[str, str], dict[int, float]] = {}
    for knob, unit in zip(knobs, point, strict=False):
        # The present value itself, not its rounded twin, so that the first candidate is the graph as it is.
        number = knob.start if unit == knob.unit else knob.at(unit)
        wanted.setdefault((knob.node, knob.socket), {})[knob.part] = number
    edits: list[Edit] = []
    for (node, socket), parts in wanted.items():
        value = _value(graph.nodes[node], socket, catalog)
        if isinstance(value, tuple):
            edits.append(SetParam(node, socket, tuple(parts.get(i, float(old)) for i, old in enumerate(value))))
        else:
            edits.append(SetParam(node, socket, parts[0]))
    return edits


def _value(node: Node, identifier: str, catalog: Catalog) -> Value | None:
    return node.inputs.get(identifier, state_of(node, catalog).inputs[identifier].default)


def _moves(knobs: Sequence[Knob], point: Sequence[float]) -> tuple[str, ...]:
    lines = []
    for knob, unit in zip(knobs, point, strict=False):
        part = (
            f"[{knob.part}]"
            if sum(other.socket == knob.socket and other.node == knob.node for other in knobs) > 1
            else ""
        )
        lines.append(f"{knob.node}.{knob.socket}{part}: {knob.start:.4g} → {knob.at(unit):.4g}")
    return tuple(lines)
