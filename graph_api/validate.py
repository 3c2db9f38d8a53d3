"""The check before a render ("compile"): everything that Blender would drop, ignore or render wrongly, silently."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graph_api.catalog import Catalog, NodeType, Property, Socket, SocketState, load_catalog
from graph_api.model import ColorRamp, CurveMapping, Graph, Link, Node, Value
from graph_api.resolve import closest
from graph_api.structures import MAX_STOPS
from graph_api.wiring import REROUTE, active_output, input_types, output_type, reaches, upstream

IMAGE_TYPES = ("ShaderNodeTexImage", "ShaderNodeTexEnvironment")
FRAME = "NodeFrame"


@dataclass(frozen=True)
class Problem:
    """One finding. `level` is "error" (must not be rendered) or "warning" (it renders, perhaps not as meant)."""

    level: str
    code: str
    message: str
    node: str | None = None
    socket: str | None = None


def validate(graph: Graph, catalog: Catalog | None = None, *, max_nodes: int | None = None) -> tuple[Problem, ...]:
    """Check a whole graph; never raises for what a graph may hold. No "error" among the problems: it compiles."""
    catalog = catalog or load_catalog(graph.blender_version)
    problems: list[Problem] = []
    if max_nodes is not None and len(graph.nodes) > max_nodes:
        problems.append(Problem("error", "node_limit", f"expected at most {max_nodes} nodes, got {len(graph.nodes)}"))
    states: dict[str, SocketState] = {}
    for node in graph.nodes.values():
        kind = catalog.node(node.type)
        if kind is None:
            text = f"expected a node type of Blender {catalog.version}, got {node.type!r}"
            problems.append(Problem("error", "unknown_node_type", text, node.id))
            continue
        problems += check_properties(node, kind)
        state = kind.state(node.properties)
        if state is None:
            text = f"expected properties that go together, got {dict(node.properties)}"
            problems.append(Problem("error", "refused_combination", text, node.id))
            continue
        states[node.id] = state
        problems += check_values(node, state)
    problems += check_links(graph, states, catalog)
    problems += check_circles(graph)
    problems += check_output(graph)
    return tuple(problems)


def compiles(problems: tuple[Problem, ...]) -> bool:
    """Whether there is no error among the problems."""
    return all(problem.level != "error" for problem in problems)


def _enum(value: Value, prop: Property) -> str | None:
    return None if value in prop.items else f"one of {', '.join(closest(str(value), prop.items)[:8])}"


def _number(value: Value, prop: Property) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "a number"
    return None if finite(value) else "a finite number"


def _ramp(value: Value, _: Property) -> str | None:
    if not isinstance(value, ColorRamp) or not 1 <= len(value.stops) <= MAX_STOPS:
        return f"a color ramp of 1 to {MAX_STOPS} stops"
    flat = [number for stop in value.stops for number in (stop.position, *stop.color)]
    return None if all(map(math.isfinite, flat)) else "finite numbers"


def _curve(value: Value, prop: Property) -> str | None:
    count = len(prop.default.curves) if isinstance(prop.default, CurveMapping) else 0
    if not isinstance(value, CurveMapping) or len(value.curves) != count or any(len(c) < 2 for c in value.curves):
        return f"{count} curves of at least 2 points"
    flat = [number for curve in value.curves for point in curve for number in (point.x, point.y)]
    return None if all(map(math.isfinite, flat)) else "finite numbers"


def _vector(value: Value, prop: Property) -> str | None:
    size = len(prop.default) if isinstance(prop.default, tuple) else 0
    good = isinstance(value, tuple) and len(value) == size and finite(value)
    return None if good else f"{size} finite numbers"


PROPERTY_CHECKS: dict[str, Callable[[Value, Property], str | None]] = {
    "enum": _enum,
    "bool": lambda value, _: None if isinstance(value, bool) else "true or false",
    "int": _number,
    "float": _number,
    "vector": _vector,
    "string": lambda value, _: None if isinstance(value, str) else "text",
    "datablock": lambda value, _: None if isinstance(value, str) else "a name",
    "ramp": _ramp,
    "curve": _curve,
}


def finite(value: Value | None) -> bool:
    """Whether every number of a value is finite."""
    parts = value if isinstance(value, tuple) else (value,)
    return all(not isinstance(part, float) or math.isfinite(part) for part in parts)


def check_properties(node: Node, kind: NodeType) -> Iterator[Problem]:
    """Names, kinds, items and ranges of the properties that are set."""
    for name, value in node.properties.items():
        prop = kind.properties.get(name)
        if prop is None:
            known = ", ".join(closest(name, kind.properties)[:8])
            text = f"expected a property of {node.type}, got {name!r}; known: {known}"
            yield Problem("error", "unknown_property", text, node.id, name)
            continue
        expected = PROPERTY_CHECKS[prop.type](value, prop)
        if expected is not None:
            yield Problem("error", "bad_property", f"expected {expected} as {name}, got {value!r}", node.id, name)
        elif isinstance(value, int | float) and outside(value, prop.min, prop.max):
            yield Problem("warning", "out_of_range", range_text(name, value, prop.min, prop.max), node.id, name)
    image = node.properties.get("image", "")
    if node.type in IMAGE_TYPES and not image:
        yield Problem("error", "no_image", f"expected an image, got none: {node.type} renders pink", node.id, "image")


def outside(value: float, low: float | None, high: float | None) -> bool:
    """Whether a number lies outside a range."""
    return (low is not None and value < low) or (high is not None and value > high)


def range_text(name: str, value: object, low: float | None, high: float | None) -> str:
    """The message for a value out of range."""
    return f"expected {name} in [{'-inf' if low is None else low}, {'inf' if high is None else high}], got {value!r}"


def check_values(node: Node, state: SocketState) -> Iterator[Problem]:
    """The defaults of inputs and outputs that are set: known, of the right kind, finite, in range."""
    for values, sockets, side in ((node.inputs, state.inputs, "input"), (node.outputs, state.outputs, "output")):
        for name, value in values.items():
            socket = sockets.get(name)
            if socket is None or socket.default is None:
                known = ", ".join(closest(name, sockets)[:8])
                text = f"expected an {side} of {node.type} that holds a value, got {name!r}; known: {known}"
                yield Problem("error", "unknown_socket", text, node.id, name)
                continue
            yield from check_value(node, socket, value)


def check_value(node: Node, socket: Socket, value: Value) -> Iterator[Problem]:
    """One value of one socket."""
    size = len(value) if isinstance(value, tuple) else 1
    text_wanted = isinstance(socket.default, str)
    if size != socket.size or isinstance(value, str) != text_wanted or isinstance(value, ColorRamp | CurveMapping):
        expected = "text" if text_wanted else f"{socket.size} numbers" if socket.size > 1 else "a number"
        text = f"expected {expected} for {socket.name}, got {value!r}"
        yield Problem("error", "bad_value", text, node.id, socket.identifier)
        return
    if not finite(value):
        text = f"expected finite numbers for {socket.name}, got {value!r}"
        yield Problem("error", "not_finite", text, node.id, socket.identifier)
        return
    numbers = value if isinstance(value, tuple) else (value,)
    if any(not isinstance(n, str) and outside(float(n), socket.min, socket.max) for n in numbers):
        text = range_text(socket.name, value, socket.min, socket.max)
        yield Problem("warning", "out_of_range", text, node.id, socket.identifier)


def check_links(graph: Graph, states: dict[str, SocketState], catalog: Catalog) -> Iterator[Problem]:
    """Both ends known and enabled, one link for an input, types that Blender converts."""
    fed: set[tuple[str, str]] = set()
    for link in graph.links:
        ends = ((link.src, link.src_socket, True), (link.dst, link.dst_socket, False))
        problems = [problem for end in ends for problem in check_end(graph, states, *end)]
        yield from problems
        if (link.dst, link.dst_socket) in fed:
            text = f"expected one link into {link.dst}.{link.dst_socket}, got another from {link.src}"
            yield Problem("error", "two_links", text, link.dst, link.dst_socket)
        fed.add((link.dst, link.dst_socket))
        if not problems:
            yield from check_types(graph, link, catalog)


def check_end(graph: Graph, states: dict[str, SocketState], name: str, socket: str, output: bool) -> Iterator[Problem]:
    """One end of a link."""
    side = "output" if output else "input"
    if name not in graph.nodes:
        yield Problem("error", "unknown_node", f"expected a node of the graph, got {name!r} in a link", name, socket)
    elif name in states:
        found = states[name].side(output).get(socket)
        if found is None:
            known = ", ".join(states[name].side(output))
            text = f"expected an {side} of {graph.nodes[name].type}, got {socket!r}; known: {known}"
            yield Problem("error", "unknown_socket", text, name, socket)
        elif not found.enabled:
            text = f"expected an enabled {side} of {name}, got {socket!r}: Blender ignores the link"
            yield Problem("error", "socket_disabled", text, name, socket)


def check_types(graph: Graph, link: Link, catalog: Catalog) -> Iterator[Problem]:
    """Whether what flows converts into what is wanted; ends behind reroutes are looked at from their first reroute."""
    if graph.nodes[link.src].type == REROUTE:
        return
    flows = output_type(graph, link.src, link.src_socket, catalog)
    for node, socket, wanted in input_types(graph, link.dst, link.dst_socket, catalog):
        if flows and not catalog.converts(flows, wanted):
            text = f"expected a {wanted} for {node}.{socket}, got {flows} from {link.src}"
            yield Problem("error", "type_mismatch", text, node, socket)
        elif wanted == "SHADER" and flows != "SHADER":
            text = f"expected a shader for {node}.{socket}, got {flows} from {link.src}: Blender takes it as emission"
            yield Problem("warning", "color_as_shader", text, node, socket)


def check_circles(graph: Graph) -> Iterator[Problem]:
    """Every node from which a circle comes back, reported once for each circle."""
    waiting = {link.dst for link in graph.links} | {link.src for link in graph.links}
    links = list(graph.links)
    while True:  # what nothing feeds any more is in no circle; most graphs end here
        fed = {link.dst for link in links}
        if waiting <= fed:
            break
        waiting &= fed
        links = [link for link in links if link.src in waiting]
    if not links:
        return
    reported: set[str] = set()
    for link in graph.links:
        if link.src in reported:
            continue
        circle = reaches(graph.links, link.dst, link.src)
        if circle:
            reported.update(circle)
            text = f"expected no circle, got {' -> '.join((*circle, link.dst))}"
            yield Problem("error", "cycle", text, link.dst, link.dst_socket)


def check_output(graph: Graph) -> Iterator[Problem]:
    """There is an output, a surface reaches it, and nothing lies about unused."""
    output = active_output(graph)
    if output is None:
        yield Problem("error", "no_output", "expected a ShaderNodeOutputMaterial that Cycles uses, got none")
        return
    fed = {link.dst_socket for link in graph.links_to(output.id)}
    if not fed & {"Surface", "Volume"}:
        text = f"expected a link into {output.id}.Surface, got none: the material renders black"
        yield Problem("error", "no_surface", text, output.id, "Surface")
    used = upstream(graph, [output.id])
    for node in graph.nodes.values():
        if node.id not in used and node.type != FRAME:
            text = f"expected every node to reach {output.id}, got {node.id}, which does not: it has no effect"
            yield Problem("warning", "unreachable", text, node.id)
