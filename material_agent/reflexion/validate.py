"""Validation of a reflection on entry: facts that exist, a change that can be done, a ban that leaves a road open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graph_api import ActionRejected, Ban, BanInvalid, Catalog, Rules, apply, check_ban
from graph_api.model import Graph
from material_agent.errors import ReflectionRefused
from material_agent.memory import Figures, Reflection, agrees


@dataclass(frozen=True)
class Ground:
    """What a reflection is checked against.

    `seen` maps the id of every observation of this run to its figures. `graphs` are those that the change may be meant
    for: the start graph, and the last attempt's best. `bans` are the ones that will hold beside the new one.
    """

    seen: Figures
    graphs: Sequence[Graph]
    bans: Sequence[Ban]
    catalog: Catalog
    max_nodes: int


def check_reflection(reflection: Reflection, ground: Ground) -> None:
    """Raise `ReflectionRefused` with every reason, when a reflection may not enter memory."""
    problems = (*_evidence(reflection, ground), *_ban(reflection, ground), *_change(reflection, ground))
    if problems:
        raise ReflectionRefused(problems)


def _evidence(reflection: Reflection, ground: Ground) -> list[str]:
    if not reflection.evidence:
        return ["expected at least one fact as evidence, got none"]
    problems = []
    for fact in reflection.evidence:
        figures = ground.seen.get(fact.observation)
        if figures is None:
            problems.append(f"expected an observation of this run, got {fact.observation!r}")
        elif fact.figure not in figures:
            known = ", ".join(sorted(figures)) or "none, nothing was judged there"
            problems.append(f"expected a figure of {fact.observation}, got {fact.figure!r}; known: {known}")
        elif not math.isfinite(fact.value) or not agrees(fact.value, figures[fact.figure]):
            seen = " or ".join(f"{value:.4g}" for value in figures[fact.figure])
            problems.append(f"expected {fact.figure} = {seen} in {fact.observation}, got {fact.value:.4g}")
    return problems


def _ban(reflection: Reflection, ground: Ground) -> list[str]:
    ban = reflection.forbidden_op
    try:
        Rules(tuple(ground.bans)).with_ban(ban, ground.catalog)
    except BanInvalid as error:
        return [f"the ban cannot be used: {error}"]
    if any(same_pattern(ban, other) for other in ground.bans):
        return [f"expected a new ban, got one that is already active: {ban.describe()}"]
    return []


def _change(reflection: Reflection, ground: Ground) -> list[str]:
    change, ban = reflection.graph_change, reflection.forbidden_op
    if not change.actions and change.pattern is None:
        return ["expected actions or a pattern as the graph change, got neither: words alone change nothing"]
    problems = []
    if change.pattern is not None:
        if same_pattern(change.pattern, ban):
            problems.append(f"the ban forbids the very change that is asked for: {ban.describe()}")
        if any(same_pattern(change.pattern, other) for other in ground.bans):
            problems.append("an active ban forbids the pattern that the change asks for")
        try:
            check_ban(change.pattern, ground.catalog)
        except BanInvalid as error:
            problems.append(f"the pattern of the change cannot be used: {error}")
    if change.actions:
        refusals = [_refusal(reflection, graph, ground) for graph in ground.graphs]
        if all(refusals):
            problems.append(f"the change cannot be applied: {refusals[-1]}")
    return problems


def _refusal(reflection: Reflection, graph: Graph, ground: Ground) -> str:
    """Why the actions do not apply to `graph` under all bans, the new one included; empty when they do."""
    rules = Rules((*ground.bans, reflection.forbidden_op), (), ground.max_nodes)
    changed = False
    for action in reflection.graph_change.actions:
        try:
            applied = apply(graph, action, ground.catalog, rules)
        except ActionRejected as error:
            return str(error)
        graph, changed = applied.graph, changed or applied.changed
    return "" if changed else "it changes nothing"


def same_pattern(first: Ban, second: Ban) -> bool:
    """Whether two bans forbid the same, whatever their reasons say."""
    return _pattern(first) == _pattern(second)


def _pattern(ban: Ban) -> tuple[object, ...]:
    return tuple(getattr(ban, name) for name in ban.__dataclass_fields__ if name != "reason")
