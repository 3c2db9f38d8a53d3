"""The material graph: immutable values that mirror a Blender shader node tree.

Node types and sockets are named by Blender's own identifiers. A graph never changes in place: every edit makes a
new graph that shares what did not change, which is what makes actions atomic and undo exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

Scalar = bool | int | float | str
Vector = tuple[float, ...]


@dataclass(frozen=True)
class ColorStop:
    """One stop of a color ramp: `position` in [0, 1], `color` RGBA, scene-linear Rec. 709."""

    position: float
    color: tuple[float, float, float, float]


@dataclass(frozen=True)
class ColorRamp:
    """The `color_ramp` property of `ShaderNodeValToRGB`; at most 32 stops, sorted by position."""

    stops: tuple[ColorStop, ...]
    color_mode: str = "RGB"
    interpolation: str = "LINEAR"
    hue_interpolation: str = "NEAR"


@dataclass(frozen=True)
class CurvePoint:
    """One control point of a curve; `handle` is Blender's `handle_type`."""

    x: float
    y: float
    handle: str = "AUTO"


@dataclass(frozen=True)
class CurveMapping:
    """The `mapping` property of the curve nodes: one tuple of points for each curve."""

    curves: tuple[tuple[CurvePoint, ...], ...]
    extend: str = "EXTRAPOLATED"
    use_clip: bool = True
    clip: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    black_level: tuple[float, float, float] = (0.0, 0.0, 0.0)
    white_level: tuple[float, float, float] = (1.0, 1.0, 1.0)
    tone: str = "STANDARD"


Value = Scalar | Vector | ColorRamp | CurveMapping


@dataclass(frozen=True)
class Node:
    """One node.

    `inputs` and `outputs` hold default values by socket *identifier*, `properties` by RNA name; each holds only what
    was set, what is absent has the catalog's default. `role` says what the node is for (see `ROLES`).
    """

    id: str
    type: str
    inputs: Mapping[str, Value] = field(default_factory=dict)
    properties: Mapping[str, Value] = field(default_factory=dict)
    outputs: Mapping[str, Value] = field(default_factory=dict)
    role: str = ""
    label: str = ""


ROLES = ("", "mapping", "macro", "meso", "micro", "color", "shading", "output")


@dataclass(frozen=True, order=True)
class Link:
    """A connection from an output socket to an input socket, both by identifier."""

    src: str
    src_socket: str
    dst: str
    dst_socket: str


@dataclass(frozen=True)
class Graph:
    """A node graph for one Blender version (`"5.0"`: the catalog that its names belong to)."""

    blender_version: str
    nodes: Mapping[str, Node] = field(default_factory=dict)
    links: tuple[Link, ...] = ()

    def with_node(self, node: Node) -> Graph:
        """The graph with `node` added, or put in the place of the one with its id."""
        return replace(self, nodes={**self.nodes, node.id: node})

    def link_into(self, node: str, socket: str) -> Link | None:
        """The link that feeds input `socket` of `node`, if any."""
        return next((link for link in self.links if link.dst == node and link.dst_socket == socket), None)

    def links_from(self, node: str) -> tuple[Link, ...]:
        """The links that leave `node`."""
        return tuple(link for link in self.links if link.src == node)

    def links_to(self, node: str) -> tuple[Link, ...]:
        """The links that enter `node`."""
        return tuple(link for link in self.links if link.dst == node)
