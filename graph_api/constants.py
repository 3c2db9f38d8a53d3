"""What an input is set to when no texture feeds it: its default, or what Value, RGB and arithmetic nodes work out.

Bans on values rest on this, so that a value node before a socket is not a way round them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from graph_api.catalog import Catalog, SocketState
from graph_api.model import Graph, Node, Value
from graph_api.wiring import REROUTE

Numbers = tuple[float, ...]
MAX_DEPTH = 16  # deeper chains of constants count as computed


def _divide(a: float, b: float, _: float) -> float:
    return a / b if b else 0.0  # Cycles' safe_divide


def _power(a: float, b: float, _: float) -> float:
    try:
        result = a**b
    except (OverflowError, ZeroDivisionError):
        return 0.0
    return result if isinstance(result, float) and math.isfinite(result) else 0.0


ARITHMETIC: Mapping[str, Callable[[float, float, float], float]] = {
    "ADD": lambda a, b, _: a + b,
    "SUBTRACT": lambda a, b, _: a - b,
    "MULTIPLY": lambda a, b, _: a * b,
    "DIVIDE": _divide,
    "MULTIPLY_ADD": lambda a, b, c: a * b + c,
    "POWER": _power,
    "SQRT": lambda a, _, __: math.sqrt(max(a, 0.0)),
    "ABSOLUTE": lambda a, _, __: abs(a),
    "MINIMUM": lambda a, b, _: min(a, b),
    "MAXIMUM": lambda a, b, _: max(a, b),
    "ROUND": lambda a, _, __: math.floor(a + 0.5),
    "FLOOR": lambda a, _, __: math.floor(a),
    "CEIL": lambda a, _, __: math.ceil(a),
}


def _math(node: Node, inputs: Sequence[Numbers], _: str) -> Numbers | None:
    operation = ARITHMETIC.get(str(node.properties.get("operation", "ADD")))
    if operation is None:
        return None
    a, b, c = (one[0] for one in inputs[:3])
    found = operation(a, b, c)
    return (min(max(found, 0.0), 1.0),) if node.properties.get("use_clamp") else (found,)


def _clamp(_: Node, inputs: Sequence[Numbers], __: str) -> Numbers | None:
    value, low, high = (one[0] for one in inputs[:3])
    return (min(max(value, low), high),)


def _join(_: Node, inputs: Sequence[Numbers], __: str) -> Numbers | None:
    return tuple(one[0] for one in inputs[:3])


def _join_color(node: Node, inputs: Sequence[Numbers], socket: str) -> Numbers | None:
    return (*(_join(node, inputs, socket) or ()), 1.0) if node.properties.get("mode", "RGB") == "RGB" else None


FOLDED: Mapping[str, Callable[[Node, Sequence[Numbers], str], Numbers | None]] = {
    "ShaderNodeMath": _math,
    "ShaderNodeClamp": _clamp,
    "ShaderNodeCombineXYZ": _join,
    "ShaderNodeCombineColor": _join_color,
}


def numbers(value: Value | None) -> Numbers | None:
    """A number or vector as a tuple; None for anything else."""
    if isinstance(value, tuple):
        return value
    return (float(value),) if isinstance(value, bool | int | float) else None


def convert(found: Numbers, source: str, target: str) -> Numbers:
    """A value after Blender's conversion between socket types: color to grey by luminance, vector by its mean."""
    if source == target or len(found) == 0:
        return found
    if target in ("VALUE", "INT", "BOOLEAN") and len(found) > 1:
        if source == "RGBA":
            return (0.2126 * found[0] + 0.7152 * found[1] + 0.0722 * found[2],)
        return (sum(found[:3]) / 3.0,)
    if target in ("VECTOR", "RGBA"):
        three = found[:3] if len(found) >= 3 else (found[0],) * 3
        return three if target == "VECTOR" else (*three, 1.0)
    return found


def _state(node: Node, catalog: Catalog) -> SocketState | None:
    kind = catalog.node(node.type)
    return kind.state(node.properties) if kind is not None else None


def constant_output(
    graph: Graph, node_id: str, socket: str, catalog: Catalog, depth: int = 0
) -> tuple[Numbers, str] | None:
    """(value, socket type) of an output that no texture or geometry decides, else None."""
    node = graph.nodes.get(node_id)
    if node is None or depth > MAX_DEPTH or node.properties.get("mute"):
        return None
    if node.type == REROUTE:
        feed = next((link for link in graph.links if link.dst == node_id), None)
        return None if feed is None else constant_output(graph, feed.src, feed.src_socket, catalog, depth + 1)
    state = _state(node, catalog)
    if state is None or socket not in state.outputs:
        return None
    found = _result(graph, node, socket, state, catalog, depth)
    return None if found is None else (found, state.outputs[socket].type)


def _result(graph: Graph, node: Node, socket: str, state: SocketState, catalog: Catalog, depth: int) -> Numbers | None:
    """The numbers of an output: what is set on a Value or RGB node, or what folding the inputs gives."""
    if node.type in ("ShaderNodeValue", "ShaderNodeRGB"):
        return numbers(node.outputs.get(socket, state.outputs[socket].default))
    fold = FOLDED.get(node.type)
    if fold is None:
        return None
    inputs = [constant_input(graph, node, identifier, catalog, depth + 1) for identifier in state.inputs]
    known = [one for one in inputs if one is not None]
    return fold(node, known, socket) if len(known) == len(inputs) else None


def constant_input(graph: Graph, node: Node, identifier: str, catalog: Catalog, depth: int = 0) -> Numbers | None:
    """The value that an input really has when it is the same everywhere, else None."""
    state = _state(node, catalog)
    if state is None or identifier not in state.inputs:
        return None
    socket = state.inputs[identifier]
    feed = graph.link_into(node.id, identifier)
    if feed is None:
        return None if socket.hide_value else numbers(node.inputs.get(identifier, socket.default))
    found = constant_output(graph, feed.src, feed.src_socket, catalog, depth)
    return None if found is None else convert(found[0], found[1], socket.type)
