"""Hashes of what a graph is, whatever its node ids and the order it was built in.

`content_hash`: the whole graph, unused nodes included. `render_hash`: only what can show in a render.
Numbers count as the float32 that Blender stores, and what equals the catalog's default counts as absent. Labels, roles
and the layout of the editor do not count.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from graph_api.catalog import Catalog, NodeType, load_catalog
from graph_api.model import ColorRamp, CurveMapping, Graph, Node, Value
from graph_api.wiring import REROUTE, active_output

LAYOUT = frozenset({"hide", "location", "width", "use_custom_color", "color", "is_active_output"})
VERSION = "1"  # part of every hash: raise it when their meaning changes

Feeds = Mapping[str, list[tuple[str, str, str]]]


def digest(*parts: object) -> str:
    """SHA-256 of the parts' JSON, as hex."""
    return hashlib.sha256(json.dumps(parts, separators=(",", ":"), ensure_ascii=True).encode()).hexdigest()


def number(value: float) -> str:
    """A number as the hex of its float32; both zeros are one."""
    clipped = max(-3.4028234663852886e38, min(3.4028234663852886e38, value)) if value == value else value  # noqa: PLR0124
    return struct.pack(">f", clipped + 0.0 or 0.0).hex()


def plain(value: object) -> object:
    """A value as JSON with normalised numbers."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return number(float(value)) if abs(value) < 1e39 else repr(value)
    if isinstance(value, ColorRamp | CurveMapping):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value)}
    assert isinstance(value, tuple | list), "a value of the model"
    return [plain(item) for item in value]


def _differing(values: Mapping[str, Value], defaults: Mapping[str, Value | None]) -> list[list[object]]:
    """Names and values that are not the default, by name."""
    found = {name: plain(value) for name, value in values.items()}
    return [[name, found[name]] for name in sorted(found) if found[name] != plain(defaults.get(name))]


def _properties(node: Node, kind: NodeType | None) -> list[list[object]]:
    defaults = {name: prop.default for name, prop in kind.properties.items()} if kind is not None else {}
    return _differing({k: v for k, v in node.properties.items() if k not in LAYOUT}, defaults)


def _payload(node: Node, catalog: Catalog) -> str:
    """Everything that is set on a node."""
    kind = catalog.node(node.type)
    state = (kind.state(node.properties) or kind.states[0]) if kind is not None else None
    inputs = {name: socket.default for name, socket in state.inputs.items()} if state is not None else {}
    outputs = {name: socket.default for name, socket in state.outputs.items()} if state is not None else {}
    return digest(
        node.type, _properties(node, kind), _differing(node.inputs, inputs), _differing(node.outputs, outputs)
    )


def _render_payload(node: Node, linked: Iterable[str], catalog: Catalog) -> str:
    """What of a node can show: enabled inputs that nothing feeds, properties, the value of Value and RGB nodes."""
    kind = catalog.node(node.type)
    state = kind.state(node.properties) if kind is not None else None
    if state is None:
        return _payload(node, catalog)
    sockets = {s.identifier: s.default for s in state.enabled_inputs if not s.hide_value and s.identifier not in linked}
    inputs = {name: value for name, value in node.inputs.items() if name in sockets}
    outputs = {name: socket.default for name, socket in state.outputs.items()}
    return digest(node.type, _properties(node, kind), _differing(inputs, sockets), _differing(node.outputs, outputs))


def _hashes(payloads: Mapping[str, str], feeds: Feeds) -> dict[str, str]:
    """Merkle hash of every node over its payload and what feeds it.

    Nodes in or behind a circle have no order; they are refined together, as often as there are of them, which tells
    apart whatever their structure tells apart.
    """
    done: dict[str, str] = {}

    def combine(name: str, known: Mapping[str, str]) -> str:
        return digest(payloads[name], sorted([slot, out, known[source]] for source, out, slot in feeds.get(name, [])))

    users: dict[str, list[str]] = {}
    lacking = {name: len(feeds.get(name, [])) for name in payloads}
    for name in payloads:
        for source, _, _ in feeds.get(name, []):
            users.setdefault(source, []).append(name)
    ready = [name for name, count in lacking.items() if count == 0]
    while ready:
        name = ready.pop()
        done[name] = combine(name, done)
        for user in users.get(name, []):
            lacking[user] -= 1
            if lacking[user] == 0:
                ready.append(user)
    rest = {name: payloads[name] for name in payloads if name not in done}
    for _ in rest:
        known = {**done, **rest}
        rest = {name: combine(name, known) for name in rest}
    return {**done, **rest}


def content_hash(graph: Graph, catalog: Catalog | None = None) -> str:
    """Hash of the whole graph: equal for graphs that differ in ids, order, labels, roles and layout only."""
    catalog = catalog or load_catalog(graph.blender_version)
    payloads = {node.id: _payload(node, catalog) for node in graph.nodes.values()}
    feeds: dict[str, list[tuple[str, str, str]]] = {}
    users: dict[str, list[tuple[str, str, str]]] = {}
    for link in graph.links:
        if link.src in payloads and link.dst in payloads:
            feeds.setdefault(link.dst, []).append((link.src, link.src_socket, link.dst_socket))
            users.setdefault(link.src, []).append((link.dst, link.dst_socket, link.src_socket))
    # Upward only, one node that feeds two inputs looks like two equal nodes; the way down tells them apart.
    upward = _hashes(payloads, feeds)
    both = _hashes(upward, users)
    output = active_output(graph)
    return digest(VERSION, graph.blender_version, sorted(both.values()), both[output.id] if output else None)


def render_hash(graph: Graph, catalog: Catalog | None = None) -> str:
    """Hash of what reaches the active Material Output; equal hashes render equal pictures."""
    catalog = catalog or load_catalog(graph.blender_version)
    output = active_output(graph)
    if output is None:
        return digest(VERSION, graph.blender_version, None)
    into: dict[str, list[tuple[str, str, str]]] = {}
    for link in graph.links:
        if link.src in graph.nodes and link.dst in graph.nodes:
            into.setdefault(link.dst, []).append((link.src, link.src_socket, link.dst_socket))
    feeds: dict[str, list[tuple[str, str, str]]] = {}
    waiting, payloads = [output.id], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name in payloads:
            continue
        feeds[name] = [one for edge in into.get(name, []) if (one := _through_reroutes(graph, edge, into)) is not None]
        payloads[name] = _render_payload(graph.nodes[name], [slot for _, _, slot in feeds[name]], catalog)
        waiting.extend(source for source, _, _ in feeds[name])
    return digest(VERSION, graph.blender_version, _hashes(payloads, feeds)[output.id])


def _through_reroutes(graph: Graph, edge: tuple[str, str, str], into: Feeds) -> tuple[str, str, str] | None:
    """The edge from the real source; the reroute itself where it has none."""
    source, out, slot = edge
    seen: set[str] = set()
    while graph.nodes[source].type == REROUTE and into.get(source) and source not in seen:
        seen.add(source)
        source, out, _ = into[source][0]
    return source, out, slot
