"""The parameters of a graph that a person turns first, with the names a person would give them.

Which sockets count is a table (`data/knobs.json`): those of mapping, shader and relief always, those of textures and
other shaders when somebody set them; at most a dozen, in the table's order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from graph_api.arrange import role_of
from graph_api.catalog import Catalog, Socket, load_catalog
from graph_api.faces import title_of
from graph_api.model import Graph, Node, Value
from graph_api.wiring import active_output, upstream

_TYPES = ("VALUE", "RGBA", "VECTOR")


@dataclass(frozen=True)
class Knob:
    """One exposed parameter: input `socket` of `node` with its `value`; `name` is unique within the graph."""

    name: str
    node: str
    socket: str
    type: str
    value: Value
    min: float | None = None
    max: float | None = None
    subtype: str = ""


@cache
def _table() -> dict[str, Any]:
    text = resources.files("graph_api").joinpath("data", "knobs.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def knobs(graph: Graph) -> tuple[Knob, ...]:
    """The parameters to expose, most general first; only of nodes that reach the output Cycles renders."""
    catalog, output = load_catalog(graph.blender_version), active_output(graph)
    used = upstream(graph, [output.id]) if output is not None else frozenset()
    found: list[Knob] = []
    taken: set[str] = set()
    for node, socket, pattern in _candidates(graph, used, catalog):
        if len(found) == _table()["most"]:
            break
        value = node.inputs.get(socket.identifier, socket.default)
        assert value is not None, "a candidate has a value"
        if socket.type == "RGBA" and "{what}" in pattern and _grey(value):
            continue  # a mask's black and white, not a color
        alone = sum(one.type == node.type for one in graph.nodes.values() if one.id in used) == 1
        name = _unique(pattern.format(what=_what(node, catalog, alone=alone)), taken)
        found.append(Knob(name, node.id, socket.identifier, socket.type, value, socket.min, socket.max, socket.subtype))
    return tuple(found)


def _candidates(graph: Graph, used: frozenset[str], catalog: Catalog) -> Iterator[tuple[Node, Socket, str]]:
    for part in ("always", "when_set"):
        for rule in _table()[part]:
            for node in graph.nodes.values():
                if node.id not in used or node.type != rule["type"] or rule.get("role", role_of(node)) != role_of(node):
                    continue
                if "feeds" in rule and not any(one.dst_socket == rule["feeds"] for one in graph.links_from(node.id)):
                    continue
                socket = _free(graph, node, rule["socket"], catalog)
                if socket is not None and (part == "always" or socket.identifier in node.inputs):
                    yield node, socket, rule["name"]


def _free(graph: Graph, node: Node, name: str, catalog: Catalog) -> Socket | None:
    """The enabled input of this name whose own value counts."""
    kind = catalog.node(node.type)
    state = kind.state(node.properties) if kind is not None else None
    for socket in state.enabled_inputs if state is not None else ():
        if socket.name == name and socket.type in _TYPES and not socket.hide_value and socket.default is not None:
            return socket if graph.link_into(node.id, socket.identifier) is None else None
    return None


def _grey(value: Value) -> bool:
    return isinstance(value, tuple) and max(value[:3]) - min(value[:3]) < 1e-3


def _what(node: Node, catalog: Catalog, *, alone: bool) -> str:
    """What the node makes, in words: its label, or its type, with the scale of its role unless it is `alone`."""
    if node.label:
        return node.label
    title = title_of(node, catalog.node(node.type)).removesuffix(" Texture")
    word = "" if alone else _table()["scale_words"].get(node.role, "")
    return f"{word} {title}".strip()


def _unique(name: str, taken: set[str]) -> str:
    fresh, number = name, 2
    while fresh in taken:
        fresh, number = f"{name} {number}", number + 1
    taken.add(fresh)
    return fresh
