"""Graphs in few words, for a model's context and for people: only what differs from the defaults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graph_api.catalog import Catalog, SocketState, load_catalog
from graph_api.model import ColorRamp, CurveMapping, Graph, Link, Node, Value
from graph_api.resolve import Notice, shown
from graph_api.wiring import active_output, upstream

LAYOUT = frozenset({"hide", "location", "width", "use_custom_color", "color"})

Json = dict[str, Any]


def brief(value: Value) -> str:
    """A value in few characters, numbers to four significant digits."""
    if isinstance(value, ColorRamp):
        stops = ", ".join(f"{stop.position:.3g}:{_color(stop.color)}" for stop in value.stops)
        return f"[{stops}] {value.interpolation}" + ("" if value.color_mode == "RGB" else f" {value.color_mode}")
    if isinstance(value, CurveMapping):
        curves = (" ".join(f"({p.x:.3g},{p.y:.3g})" for p in curve) for curve in value.curves)
        return " | ".join(curves)
    if isinstance(value, tuple):
        return f"({', '.join(f'{float(item):.4g}' for item in value)})"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _color(color: tuple[float, float, float, float]) -> str:
    text = ",".join(f"{part:.3g}" for part in color[:3])
    return f"({text})" if color[3] == 1.0 else f"({text},a={color[3]:.3g})"


def _state(node: Node, catalog: Catalog) -> SocketState | None:
    kind = catalog.node(node.type)
    return kind.state(node.properties) if kind is not None else None


def _name(state: SocketState | None, identifier: str, *, output: bool) -> str:
    """The name that an actor can use: the label or name, the identifier where several enabled ones share it."""
    socket = state.side(output).get(identifier) if state is not None else None
    if state is None or socket is None:
        return identifier
    same = state.enabled_outputs if output else state.enabled_inputs
    return identifier if sum(shown(one) == shown(socket) for one in same) > 1 else shown(socket)


def node_values(node: Node, graph: Graph, catalog: Catalog) -> dict[str, Value]:
    """What is set on a node and takes effect: properties, unlinked enabled inputs, outputs; defaults left out."""
    kind, state = catalog.node(node.type), _state(node, catalog)
    found: dict[str, Value] = {}
    for name, value in node.properties.items():
        prop = kind.properties.get(name) if kind is not None else None
        if name not in LAYOUT and (prop is None or prop.default != value):
            found[name] = value
    fed = {link.dst_socket for link in graph.links_to(node.id)}
    for output, values in ((False, node.inputs), (True, node.outputs)):
        for identifier, value in values.items():
            socket = state.side(output).get(identifier) if state is not None else None
            if socket is not None and (not socket.enabled or socket.default == value):
                continue
            if output or identifier not in fed:
                found[_name(state, identifier, output=output)] = value
    return found


def _link(link: Link, graph: Graph, catalog: Catalog) -> str:
    source = _name(_state(graph.nodes[link.src], catalog), link.src_socket, output=True)
    target = _name(_state(graph.nodes[link.dst], catalog), link.dst_socket, output=False)
    return f"{link.src}.{source} -> {link.dst}.{target}"


def summary_json(graph: Graph, notices: Iterable[Notice] = ()) -> Json:
    """The summary as data: nodes with values in text form, links, unused nodes, notices."""
    catalog = load_catalog(graph.blender_version)
    nodes = []
    for node in graph.nodes.values():
        entry: Json = {"id": node.id, "type": node.type}
        if node.role:
            entry["role"] = node.role
        if node.label:
            entry["label"] = node.label
        values = node_values(node, graph, catalog)
        if values:
            entry["set"] = {name: brief(value) for name, value in values.items()}
        nodes.append(entry)
    output = active_output(graph)
    used = upstream(graph, [output.id]) if output is not None else frozenset()
    found: Json = {"blender": graph.blender_version, "nodes": nodes}
    found["links"] = [_link(link, graph, catalog) for link in graph.links]
    unused = [name for name in graph.nodes if name not in used]
    if unused:
        found["unused"] = unused
    texts = [notice.message for notice in notices]
    if texts:
        found["notices"] = texts
    return found


def summary_text(graph: Graph, notices: Iterable[Notice] = ()) -> str:
    """The summary as text, one line for each node and link."""
    raw = summary_json(graph, notices)
    lines = [f"{len(graph.nodes)} nodes, {len(graph.links)} links, Blender {graph.blender_version}"]
    for node in raw["nodes"]:
        values = ", ".join(f"{name}={value}" for name, value in node.get("set", {}).items())
        role = f" [{node['role']}]" if "role" in node else ""
        label = f" {node['label']!r}" if "label" in node else ""
        lines.append(f"{node['id']}: {node['type']}{role}{label}" + (f": {values}" if values else ""))
    lines += raw["links"]
    if "unused" in raw:
        lines.append(f"not connected to the output: {', '.join(raw['unused'])}")
    lines += [f"note: {text}" for text in raw.get("notices", [])]
    return "\n".join(lines)
