"""From a graph to its structure: nodes in evaluation order, where each input comes from, and the list of parameters.

Two graphs with equal `Structure` run the same compiled kernel. Whatever is a number (an input's value, a stop, a curve
point, a numeric property) is a parameter and takes no part in it. Reroutes are skipped; nodes that do not reach the
output are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graph_api.catalog import load_catalog
from graph_api.catalog.schema import NodeType, Socket
from graph_api.model import ColorRamp, CurveMapping, Graph, Node, Value

_MOST_DETAIL = 15.0
OUTPUT = "ShaderNodeOutputMaterial"
REROUTE = "NodeReroute"
_OUTPUT_INPUTS = ("Surface", "Displacement")
# What the target property of a Material Output may be for Cycles to use it.
_CYCLES_TARGETS = ("ALL", "CYCLES")


@dataclass(frozen=True)
class Linked:
    """An input fed by output `output`, of socket type `type`, of step `step`."""

    step: int
    output: str
    type: str


@dataclass(frozen=True)
class Constant:
    """An input, property or output value that is a parameter: `size` numbers from row `row` of the parameter table."""

    row: int
    size: int


@dataclass(frozen=True)
class Implicit:
    """An input without a link whose value the geometry gives."""


Source = Linked | Constant | Implicit


@dataclass(frozen=True)
class RampShape:
    """What of a color ramp is structure: its first parameter row (positions, then RGBA of each stop) and its modes."""

    row: int
    stops: int
    color_mode: str
    interpolation: str
    hue_interpolation: str


@dataclass(frozen=True)
class CurveShape:
    """What of a curve mapping is structure: the first row of its table and the number of curves."""

    row: int
    curves: int


Property = bool | str | Constant | RampShape | CurveShape


@dataclass(frozen=True)
class Step:
    """One node: its type, its properties, its inputs as (identifier, socket type, source), the outputs in use."""

    type: str
    properties: tuple[tuple[str, Property], ...]
    inputs: tuple[tuple[str, str, Source], ...]
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Structure:
    """Steps in an order in which every step comes after those it needs; the last is the Material Output."""

    steps: tuple[Step, ...]
    rows: int

    @cached_property
    def digest(self) -> int:
        """Hash, computed once: structures are looked up for every evaluation."""
        return hash((self.steps, self.rows))

    def __hash__(self) -> int:
        return self.digest

    def octaves(self, theta: npt.NDArray[np.float32]) -> int:
        """Octaves that no texture exceeds with the parameters `theta` (rows, settings); 17 where Detail is linked."""
        most = 1
        for step in self.steps:
            for name, _, source in step.inputs:
                if name == "Detail":
                    detail = float(theta[source.row].max()) if isinstance(source, Constant) else _MOST_DETAIL
                    most = max(most, math.floor(min(max(detail, 0.0), _MOST_DETAIL)) + 2)
        return most


@dataclass(frozen=True)
class Parameter:
    """A parameter of one graph: `key` is an input or output identifier or a property name.

    `shape` is that of one value: () for a number, (3,) for a vector or color; a ramp has `color_ramp.positions` of
    (stops,) and `color_ramp.colors` of (stops, 4), a curve `mapping.points` of (points, 2). `default` is the graph's
    own value, flat.
    """

    node: str
    key: str
    row: int
    shape: tuple[int, ...]
    default: tuple[float, ...]
    curve: CurveMapping | None = None


@dataclass(frozen=True)
class Plan:
    """A structure together with what belongs to this one graph: ids of the steps' nodes and its parameters."""

    structure: Structure
    nodes: tuple[str, ...]
    parameters: tuple[Parameter, ...]


def output_node(graph: Graph) -> Node | None:
    """The Material Output that Cycles uses: one for Cycles before one for all, the active one first."""
    found = [node for node in graph.nodes.values() if node.type == OUTPUT]
    usable = [node for node in found if node.properties.get("target", "ALL") in _CYCLES_TARGETS]

    def rank(node: Node) -> tuple[bool, bool]:
        return node.properties.get("target", "ALL") == "CYCLES", bool(node.properties.get("is_active_output", True))

    return max(usable, key=rank, default=None)


class Planner:
    """Builds the plan of one graph. `numeric_structure` names, by node type, the integer properties that stay fixed."""

    def __init__(self, graph: Graph, fixed: dict[str, frozenset[str]]) -> None:
        self.graph = graph
        self.fixed = fixed
        self.catalog = load_catalog(graph.blender_version)
        self._links = {(link.dst, link.dst_socket): link for link in graph.links}
        self._steps: list[Step] = []
        self._nodes: list[str] = []
        self._index: dict[str, int] = {}
        self._wanted: dict[int, set[str]] = {}
        self._parameters: list[Parameter] = []
        self._rows = 0

    def plan(self, output: Node) -> Plan:
        """The plan that ends in `output`; the graph must have no cycle and only known sockets."""
        self._visit(output.id)
        steps = tuple(
            Step(step.type, step.properties, step.inputs, tuple(sorted(self._wanted.get(index, ()))))
            for index, step in enumerate(self._steps)
        )
        return Plan(Structure(steps, self._rows), tuple(self._nodes), tuple(self._parameters))

    def origin(self, node: str, socket: str) -> tuple[str, str] | None:
        """The node and output that feed an input, reroutes skipped."""
        link = self._links.get((node, socket))
        while link is not None and self.graph.nodes[link.src].type == REROUTE:
            link = self._links.get((link.src, "Input"))
        return None if link is None else (link.src, link.src_socket)

    def _visit(self, identifier: str) -> int:
        if identifier in self._index:
            return self._index[identifier]
        node = self.graph.nodes[identifier]
        kind = self.catalog.node(node.type)
        assert kind is not None, f"{node.type} was checked"
        state = kind.state(node.properties)
        assert state is not None, f"{node.type} was checked"
        linked: dict[str, Linked] = {}
        for socket in state.enabled_inputs:
            origin = (
                None
                if node.type == OUTPUT and socket.identifier not in _OUTPUT_INPUTS
                else self.origin(identifier, socket.identifier)
            )
            if origin is not None:
                index = self._visit(origin[0])
                self._wanted.setdefault(index, set()).add(origin[1])
                linked[socket.identifier] = Linked(index, origin[1], self._output_type(*origin))
        inputs = tuple(
            (socket.identifier, socket.type, linked.get(socket.identifier) or self._unlinked(node, socket))
            for socket in state.enabled_inputs
        )
        properties = tuple(self._property(node, kind, name) for name in sorted(kind.properties))
        outputs = tuple(
            (
                socket.identifier,
                socket.type,
                self._constant(node, socket.identifier, node.outputs.get(socket.identifier, socket.default)),
            )
            for socket in state.enabled_outputs
            if kind.type in _VALUE_NODES
        )
        self._steps.append(Step(node.type, properties, inputs + outputs))
        self._nodes.append(identifier)
        self._index[identifier] = len(self._steps) - 1
        return self._index[identifier]

    def _output_type(self, node: str, socket: str) -> str:
        kind = self.catalog.node(self.graph.nodes[node].type)
        state = kind.state(self.graph.nodes[node].properties) if kind is not None else None
        return state.outputs[socket].type if state is not None and socket in state.outputs else "SHADER"

    def _unlinked(self, node: Node, socket: Socket) -> Source:
        if socket.default is None or socket.type == "SHADER" or _from_geometry(node.type, socket):
            return Implicit()
        return self._constant(node, socket.identifier, node.inputs.get(socket.identifier, socket.default))

    def _constant(self, node: Node, key: str, value: Value | None) -> Constant:
        numbers = value if isinstance(value, tuple) else (value,)
        flat = tuple(float(number) for number in numbers[:3])  # type: ignore[arg-type]
        return self._add(node, key, () if len(flat) == 1 else (len(flat),), flat)

    def _add(
        self,
        node: Node,
        key: str,
        shape: tuple[int, ...],
        default: tuple[float, ...],
        curve: CurveMapping | None = None,
        rows: int | None = None,
    ) -> Constant:
        size = len(default) if rows is None else rows
        constant = Constant(self._rows, size)
        self._parameters.append(Parameter(node.id, key, self._rows, shape, default, curve))
        self._rows += size
        return constant

    def _property(self, node: Node, kind: NodeType, name: str) -> tuple[str, Property]:
        declared = kind.properties[name]
        value = node.properties.get(name, declared.default)
        if isinstance(value, ColorRamp):
            positions = tuple(stop.position for stop in value.stops)
            colors = tuple(channel for stop in value.stops for channel in stop.color)
            first = self._add(node, f"{name}.positions", (len(positions),), positions)
            self._add(node, f"{name}.colors", (len(positions), 4), colors)
            shape = RampShape(first.row, len(positions), value.color_mode, value.interpolation, value.hue_interpolation)
            return name, shape
        if isinstance(value, CurveMapping):
            points = tuple(number for curve in value.curves for point in curve for number in (point.x, point.y))
            rows = CURVE_TABLE * len(value.curves)
            table = self._add(node, f"{name}.points", (len(points) // 2, 2), points, value, rows)
            return name, CurveShape(table.row, len(value.curves))
        if declared.type in ("int", "float") and name not in self.fixed.get(node.type, frozenset()):
            return name, self._constant(node, name, value)
        return name, value if isinstance(value, bool) else str(value)


# Rows of a curve's table: values at i / 256, then the lower end, the step, and the slopes below and above its range.
CURVE_TABLE = 261
_VALUE_NODES = ("ShaderNodeValue", "ShaderNodeRGB")
# Types whose unlinked Vector is the constant although Blender hides it; every other texture takes Generated.
_CONSTANT_VECTOR = ("ShaderNodeTexWhiteNoise",)


def _from_geometry(node_type: str, socket: Socket) -> bool:
    if socket.identifier == "Vector" and node_type.startswith("ShaderNodeTex"):
        return node_type not in _CONSTANT_VECTOR
    return socket.hide_value and socket.identifier in ("Normal", "Tangent", "Coat Normal", "Displacement")
