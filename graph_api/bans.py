"""Bans: typed patterns that an edit must not bring about.

A ban describes *states*, not spellings. An edit is refused when the graph it leads to holds a match that the graph
before did not hold, so a detour (another order, an alias, a reroute, a value node) meets the same ban, while what was
there already and what the pattern does not name stay free.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from graph_api.catalog import Catalog, load_aliases, load_catalog
from graph_api.constants import constant_input
from graph_api.model import Graph, Link, Node, Scalar, Value
from graph_api.resolve import find_property, find_socket
from graph_api.wiring import REROUTE, upstream

Kind = Literal["node", "link", "param", "remove", "share"]
Hit = tuple[object, ...]
KINDS: tuple[Kind, ...] = ("node", "link", "param", "remove", "share")
OUTPUT_TYPE = "ShaderNodeOutputMaterial"


@dataclass(frozen=True)
class Endpoint:
    """An input by the type and/or role of its node and by its name; what is empty matches anything."""

    socket: str
    type: str = ""
    role: str = ""

    def __str__(self) -> str:
        return f"{who(self.type, self.role)}.{self.socket}"


@dataclass(frozen=True)
class Ban:
    """One forbidden pattern. What is empty matches anything.

    - `node`: a node of `type` and/or `role` must not be added.
    - `link`: `output` of a node of `type`/`role` must not feed input `socket` of a node of `to_type`/`to_role`.
    - `param`: input or property `socket` of a node of `type`/`role` must not be one of `values`, or lie between `low`
      and `high` (each exclusive when its `_open` is set, None: unbounded). A vector matches when a component does. A
      default that nobody chose counts from when the node reaches the material's output: else a ban on the default
      would forbid the node.
    - `remove`: a node of `type`/`role` must not be removed or cut off from the material's output.
    - `share`: one node of `type`/`role` must not feed both of the two `targets`, directly or through other nodes.

    `reason` is told with the refusal.
    """

    kind: Kind
    type: str = ""
    role: str = ""
    output: str = ""
    socket: str = ""
    to_type: str = ""
    to_role: str = ""
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False
    values: tuple[Scalar, ...] = ()
    targets: tuple[Endpoint, ...] = ()
    reason: str = ""

    def matches(self, graph: Graph, catalog: Catalog | None = None) -> frozenset[Hit]:
        """What of the graph falls under the pattern; for `remove`, what must stay."""
        return frozenset(_MATCHERS[self.kind](self, graph, catalog or load_catalog(graph.blender_version)))

    def violations(self, before: Graph, after: Graph, catalog: Catalog | None = None) -> frozenset[Hit]:
        """Matches that the step from `before` to `after` brings about."""
        old, new = self.matches(before, catalog), self.matches(after, catalog)
        return old - new if self.kind == "remove" else new - old

    def describe(self) -> str:
        """One line for people and models."""
        text = _DESCRIPTIONS[self.kind](self)
        return f"{text} ({self.reason})" if self.reason else text

    def holds(self, value: float) -> bool:
        """Whether a number lies in the forbidden range."""
        above = self.low is None or value > self.low or (value == self.low and not self.low_open)
        below = self.high is None or value < self.high or (value == self.high and not self.high_open)
        return above and below


def who(node_type: str, role: str) -> str:
    """A node pattern in words."""
    kind = node_type.removeprefix("ShaderNode")
    return " ".join(part for part in (role, kind) if part) or "any node"


def is_type(node: Node, wanted: str) -> bool:
    """Whether a node is of a type, under its own name, a former or a later one."""
    if not wanted or node.type == wanted:
        return True
    aliases = load_aliases().nodes
    former = aliases.get(wanted)
    if former is not None and node.type == former.new:
        return all(node.properties.get(name) == value for name, value in former.properties.items())
    own = aliases.get(node.type)
    return own is not None and own.new == wanted


def picks(node: Node, node_type: str, role: str) -> bool:
    """Whether a node falls under a type and/or role."""
    return (not role or node.role == role) and is_type(node, node_type)


def single(value: float) -> float:
    """The float32 that Blender stores."""
    return float(struct.unpack("f", struct.pack("f", max(-3.4e38, min(3.4e38, value))))[0])


def _input(node: Node, name: str, catalog: Catalog) -> str | None:
    found = find_socket(node, name, catalog, [])
    return found.identifier if found is not None else None


def _nodes(ban: Ban, graph: Graph, _: Catalog) -> Iterator[Hit]:
    return ((node.id,) for node in graph.nodes.values() if picks(node, ban.type, ban.role))


def _sources(graph: Graph, link: Link) -> Link:
    """The link as it would be without reroutes."""
    feeds = {one.dst: one for one in graph.links if graph.nodes[one.dst].type == REROUTE}
    source, seen = link, set[str]()
    while graph.nodes[source.src].type == REROUTE and source.src in feeds and source.src not in seen:
        seen.add(source.src)
        source = feeds[source.src]
    return Link(source.src, source.src_socket, link.dst, link.dst_socket)


def _links(ban: Ban, graph: Graph, catalog: Catalog) -> Iterator[Hit]:
    for link in graph.links:
        target = graph.nodes[link.dst]
        if target.type == REROUTE or not picks(target, ban.to_type, ban.to_role):
            continue
        if ban.socket and _input(target, ban.socket, catalog) != link.dst_socket:
            continue
        real = _sources(graph, link)
        source = graph.nodes[real.src]
        if not picks(source, ban.type, ban.role):
            continue
        if ban.output:
            found = find_socket(source, ban.output, catalog, [], output=True)
            if found is None or found.identifier != real.src_socket:
                continue
        yield (real.src, real.src_socket, real.dst, real.dst_socket)


def _setting(ban: Ban, graph: Graph, node: Node, catalog: Catalog) -> Value | None:
    """The value that `ban.socket` has on this node, None when it has none or a texture decides it."""
    kind = catalog.node(node.type)
    if kind is None or kind.state(node.properties) is None:
        return None
    identifier = _input(node, ban.socket, catalog)
    if identifier is not None:
        return constant_input(graph, node, identifier, catalog)
    prop = find_property(node, ban.socket, catalog, [])
    if prop is not None:
        return node.properties.get(prop.name, prop.default)
    output = find_socket(node, ban.socket, catalog, [], output=True)
    return node.outputs.get(output.identifier, output.default) if output is not None else None


def _params(ban: Ban, graph: Graph, catalog: Catalog) -> Iterator[Hit]:
    used = _used(graph)
    for node in graph.nodes.values():
        if picks(node, ban.type, ban.role) and (node.id in used or _chosen(ban, graph, node, catalog)):
            value = _setting(ban, graph, node, catalog)
            if value is not None and _forbidden(ban, value):
                yield (node.id, value)


def _used(graph: Graph) -> frozenset[str]:
    """The nodes that reach a material output."""
    return upstream(graph, [node.id for node in graph.nodes.values() if node.type == OUTPUT_TYPE])


def _chosen(ban: Ban, graph: Graph, node: Node, catalog: Catalog) -> bool:
    """Whether somebody set or linked what `ban.socket` names on this node."""
    identifier = _input(node, ban.socket, catalog)
    if identifier is not None:
        return identifier in node.inputs or graph.link_into(node.id, identifier) is not None
    prop = find_property(node, ban.socket, catalog, [])
    return prop.name in node.properties if prop is not None else bool(node.outputs)


def _forbidden(ban: Ban, value: Value) -> bool:
    parts = (value if len(value) < 4 else value[:3]) if isinstance(value, tuple) else (value,)
    if any(_same(part, forbidden) for part in parts for forbidden in ban.values):
        return True
    if ban.low is None and ban.high is None:
        return False
    return any(isinstance(part, int | float) and not isinstance(part, bool) and ban.holds(part) for part in parts)


def _same(value: object, forbidden: Scalar) -> bool:
    if isinstance(value, str) or isinstance(forbidden, str) or not isinstance(value, int | float):
        return isinstance(value, str) and isinstance(forbidden, str) and value.casefold() == forbidden.casefold()
    return single(float(value)) == single(float(forbidden))


def _present(ban: Ban, graph: Graph, _: Catalog) -> Iterator[Hit]:
    """Matching nodes, once for being there and once for reaching the output: cutting a node off removes it too."""
    used = _used(graph)
    for node in graph.nodes.values():
        if picks(node, ban.type, ban.role):
            yield ("there", node.id)
            if node.id in used and not node.properties.get("mute"):
                yield ("used", node.id)


def _shares(ban: Ban, graph: Graph, catalog: Catalog) -> Iterator[Hit]:
    feeding: list[dict[tuple[str, str], frozenset[str]]] = []
    for end in ban.targets:
        found: dict[tuple[str, str], frozenset[str]] = {}
        for node in graph.nodes.values():
            if picks(node, end.type, end.role):
                identifier = _input(node, end.socket, catalog)
                feed = graph.link_into(node.id, identifier) if identifier is not None else None
                if feed is not None:
                    found[(node.id, feed.dst_socket)] = upstream(graph, [feed.src])
        feeding.append(found)
    for first, first_up in feeding[0].items():
        for second, second_up in feeding[1].items():
            for name in first_up & second_up if first != second else ():
                if picks(graph.nodes[name], ban.type, ban.role) and name not in (first[0], second[0]):
                    yield (name, *first, *second)


def _range_text(ban: Ban) -> str:
    if ban.values:
        return " or ".join(map(str, ban.values))
    if ban.low is not None and ban.high is not None:
        return f"in {'(' if ban.low_open else '['}{ban.low:g}, {ban.high:g}{')' if ban.high_open else ']'}"
    if ban.low is not None:
        return f"{'above' if ban.low_open else 'at or above'} {ban.low:g}"
    return f"{'below' if ban.high_open else 'at or below'} {ban.high if ban.high is not None else math.inf:g}"


def _link_text(ban: Ban) -> str:
    source = who(ban.type, ban.role) + (f".{ban.output}" if ban.output else "")
    target = who(ban.to_type, ban.to_role) + (f".{ban.socket}" if ban.socket else "")
    return f"no link from {source} to {target}"


_MATCHERS: Mapping[str, Callable[[Ban, Graph, Catalog], Iterator[Hit]]] = {
    "node": _nodes,
    "link": _links,
    "param": _params,
    "remove": _present,
    "share": _shares,
}
_DESCRIPTIONS: Mapping[str, Callable[[Ban], str]] = {
    "node": lambda ban: f"no {who(ban.type, ban.role)} may be added",
    "link": _link_text,
    "param": lambda ban: f"{who(ban.type, ban.role)}.{ban.socket} must not be {_range_text(ban)}",
    "remove": lambda ban: f"no {who(ban.type, ban.role)} may be removed or cut off",
    "share": lambda ban: f"no {who(ban.type, ban.role)} may feed both {' and '.join(map(str, ban.targets))}",
}
