"""What a node looks like in Blender's editor: its rows from top to bottom and its size in interface units.

Blender computes a node's height only when it draws it, so that none is to be had without a window. The measures here
are those of its interface at scale 1 (a row of 20 units and 2 between rows); boxes with a picture or a curve are
rounded up. Widths and header kinds are Blender's own (`data/faces.json`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from graph_api.catalog import Catalog, NodeType, SocketState, load_catalog
from graph_api.model import ColorRamp, CurveMapping, Graph, Node, Value
from graph_api.resolve import shown
from graph_api.summary import LAYOUT, brief

RowKind = Literal["output", "input", "property", "ramp", "curve", "swatch"]
HEADER, ROW, FIELD, MARGIN = 26.0, 22.0, 20.0, 8.0
_TALL = {"ramp": 96.0, "curve": 250.0, "datablock": 48.0}
_PICKERS = {"ShaderNodeRGB": 190.0, "ShaderNodeNormal": 150.0}
_DEFAULT_WIDTH = 140.0
REROUTE = "NodeReroute"


@dataclass(frozen=True)
class Row:
    """One line of a node. `top` is its distance below the node's upper edge; `socket` the identifier, if it has one.

    `value` is what the field shows, None where there is no field; `linked` says that a link decides instead.
    """

    kind: RowKind
    text: str
    top: float
    height: float
    socket: str = ""
    type: str = ""
    value: Value | None = None
    linked: bool = False

    @property
    def middle(self) -> float:
        """Distance of the socket's dot below the node's upper edge."""
        return self.top + min(self.height, ROW) / 2


@dataclass(frozen=True)
class Face:
    """A node as drawn: title, the kind that colors the header, size and rows."""

    id: str
    type: str
    title: str
    kind: str
    width: float
    height: float
    rows: tuple[Row, ...]

    def dot(self, socket: str, *, output: bool) -> float:
        """Distance of a socket below the upper edge; the header's middle when the socket is not shown."""
        kind = "output" if output else "input"
        return next((row.middle for row in self.rows if row.kind == kind and row.socket == socket), HEADER / 2)


@cache
def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(
        resources.files("graph_api").joinpath("data", "faces.json").read_text(encoding="utf-8")
    )
    return table


def kind_of(node_type: str) -> str:
    """What colors the header: TEXTURE, SHADER, COLOR, VECTOR, CONVERTER, INPUT, OUTPUT, …; NONE when unknown."""
    return str(_table().get(node_type, {}).get("kind", "NONE"))


def title_of(node: Node, kind: NodeType | None) -> str:
    """The header's text: the label, else what Blender calls the operation or the type."""
    if node.label:
        return node.label
    if kind is None:
        return node.type
    if node.type in ("ShaderNodeMath", "ShaderNodeVectorMath"):
        return words(str(node.properties.get("operation", kind.properties["operation"].default)))
    return kind.label


def words(name: str) -> str:
    """`use_clamp` or `MULTIPLY_ADD` as a person reads it."""
    return name.replace("_", " ").title() if "_" in name or name.isupper() or name.islower() else name


def face_of(node: Node, graph: Graph, catalog: Catalog | None = None) -> Face:
    """The face of one node of `graph`."""
    catalog = catalog or load_catalog(graph.blender_version)
    kind = catalog.node(node.type)
    known = _table().get(node.type, {})
    width = max(float(node.properties.get("width", known.get("width", _DEFAULT_WIDTH))), 60.0)
    if node.type == REROUTE:
        rows = (Row("output", "", 0.0, 16.0, "Output"), Row("input", "", 0.0, 16.0, "Input"))
        return Face(node.id, node.type, node.label, "NONE", 16.0, 16.0, rows)
    stack = _Stack(node, graph)
    if kind is not None:
        state = kind.state(node.properties) or kind.states[0]
        stack.outputs(state)
        stack.properties(kind)
        stack.inputs(state)
    return Face(node.id, node.type, title_of(node, kind), kind_of(node.type), width, stack.top + MARGIN, stack.done)


class _Stack:
    """Rows piled up under the header."""

    def __init__(self, node: Node, graph: Graph) -> None:
        self.node = node
        self.fed = {link.dst_socket for link in graph.links_to(node.id)}
        self.top = HEADER
        self.rows: list[Row] = []

    @property
    def done(self) -> tuple[Row, ...]:
        return tuple(self.rows)

    def add(self, kind: RowKind, text: str, height: float = ROW, **more: Any) -> None:
        self.rows.append(Row(kind, text, self.top, height, **more))
        self.top += height

    def outputs(self, state: SocketState) -> None:
        for socket in state.enabled_outputs:
            self.add("output", shown(socket), socket=socket.identifier, type=socket.type)
        if self.node.type in _PICKERS and state.enabled_outputs:
            first = state.enabled_outputs[0]
            value = self.node.outputs.get(first.identifier, first.default)
            self.add("swatch", "", _PICKERS[self.node.type], value=value)
        elif self.node.type == "ShaderNodeValue":
            first = state.enabled_outputs[0]
            self.add("property", "", value=self.node.outputs.get(first.identifier, first.default))

    def properties(self, kind: NodeType) -> None:
        for name, prop in kind.properties.items():
            if name in LAYOUT or name == "mute":
                continue
            value = self.node.properties.get(name, prop.default)
            if isinstance(value, ColorRamp):
                self.add("ramp", words(value.interpolation), _TALL["ramp"], value=value)
            elif isinstance(value, CurveMapping):
                self.add("curve", "", _TALL["curve"], value=value)
            else:
                self.add("property", words(name), _TALL.get(prop.type, ROW), value=value)

    def inputs(self, state: SocketState) -> None:
        for socket in state.enabled_inputs:
            linked = socket.identifier in self.fed
            value = None if linked or socket.hide_value else self.node.inputs.get(socket.identifier, socket.default)
            parts = len(value) if socket.type == "VECTOR" and isinstance(value, tuple) else 0
            height = ROW + FIELD * parts
            self.add(
                "input", shown(socket), height,
                socket=socket.identifier, type=socket.type, value=value, linked=linked,
            )  # fmt: skip


def value_text(value: Value | None) -> str:
    """A field's text, as Blender rounds it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1e5 else f"{value:.4g}"
    if isinstance(value, str):
        return words(value)
    return brief(value)
