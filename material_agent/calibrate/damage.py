"""Damage done to a graph of known truth, and its twins: always through the graph API's own edits."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from graph_api import ActionRejected, Graph, RemoveNode, SetParam, apply, compiles, reseed, validate
from graph_api.model import Node

# Not counted as textures: they give coordinates, not a pattern.
_NO_PATTERN = frozenset({"ShaderNodeTexCoord", "ShaderNodeTexImage", "ShaderNodeTexEnvironment"})
PERIODS = frozenset({"Scale", "Brick Width", "Row Height"})
"""The numbers that a pattern's size hangs on."""
_NOT_STEPPED = frozenset({"W", "Offset", "Detail", "Value"})
"""Seeds; and numbers of which a step of a stated share is not a step of a stated visibility."""


def textures(graph: Graph) -> tuple[Node, ...]:
    """The nodes that make a pattern."""
    return tuple(n for n in graph.nodes.values() if n.type.startswith("ShaderNodeTex") and n.type not in _NO_PATTERN)


def mapping(graph: Graph) -> Node | None:
    """The node that re-seeding moves, which scales and turns the whole material too."""
    found = (n for n in graph.nodes.values() if n.type == "ShaderNodeMapping" and n.role == "mapping")
    return next(found, None)


def twin(graph: Graph, rng: np.random.Generator) -> Graph:
    """The same material at another place of its endless pattern."""
    x, y, z = rng.uniform(3, 30, 3)
    return reseed(graph, (float(x), float(y), float(z)))


def scaled(graph: Graph, factor: float) -> Graph | None:
    """The material `factor` times as fine, pattern and relief alike; None without a mapping."""
    node = mapping(graph)
    if node is None:
        return None
    before = node.inputs.get("Scale", (1.0, 1.0, 1.0))
    assert isinstance(before, tuple), "a Scale is a vector"
    return _edited(graph, SetParam(node.id, "Scale", tuple(factor * float(v) for v in before)))


def turned(graph: Graph, degrees: float) -> Graph | None:
    """The material turned about the patch's normal; None without a mapping."""
    node = mapping(graph)
    if node is None:
        return None
    before = node.inputs.get("Rotation", (0.0, 0.0, 0.0))
    assert isinstance(before, tuple), "a Rotation is a vector"
    x, y, z = (float(v) for v in before)
    return _edited(graph, SetParam(node.id, "Rotation", (x, y, z + math.radians(degrees))))


def stepped(graph: Graph, step: float, rng: np.random.Generator, keep: Collection[str] = frozenset()) -> Graph | None:
    """Every set number of every texture, but those named `keep`, multiplied by e^±step; None without one.

    The sign is drawn for each socket's name, so that textures that share a scale go on sharing it.
    """
    numbers = [
        (node.id, key, float(value))
        for node in textures(graph)
        for key, value in sorted(node.inputs.items())
        if key not in _NOT_STEPPED
        and key not in keep
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        and value != 0
    ]
    signs = {key: float(rng.choice((-1.0, 1.0))) for key in sorted({key for _, key, _ in numbers})}
    result, changed = graph, False
    for node_id, key, number in numbers:
        edited = _edited(result, SetParam(node_id, key, number * math.exp(signs[key] * step)))
        if edited is not None:
            result, changed = edited, True
    return result if changed else None


def without_branches(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """The graph without each of its textures in turn, where more than one remains to be seen."""
    for node in textures(graph):
        removed = _edited(graph, RemoveNode(node.id))
        if removed is not None and compiles(validate(removed)):
            yield node.id, removed


def other_bonds(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """The graph with the rows of its bricks shifted by another share of a brick."""
    for node in textures(graph):
        if node.type != "ShaderNodeTexBrick":
            continue
        offset, frequency = (node.properties.get(k, d) for k, d in (("offset", 0.5), ("offset_frequency", 2)))
        assert isinstance(offset, int | float) and isinstance(frequency, int | float), "both are numbers"
        for wanted in (0.0, 0.25, 0.5):
            if abs(wanted - float(offset)) > 0.2:
                edited = _edited(graph, SetParam(node.id, "offset", wanted))
                if edited is not None:
                    yield f"{node.id}_{wanted:g}", edited


def _edited(graph: Graph, edit: SetParam | RemoveNode) -> Graph | None:
    try:
        return apply(graph, edit).graph
    except ActionRejected:
        return None
