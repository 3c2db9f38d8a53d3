"""Graph to node tree, by identifiers only: no node type is known here.

What Blender refuses becomes a message with node and socket; the tree is then not rendered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph_api.model import ColorRamp, CurveMapping, Graph, Link, Node, Value
from renderer.blender.types import Bpy
from renderer.protocol import RenderMessage

_Structured = ColorRamp | CurveMapping
_IMAGE_SETTINGS = ("image_colorspace", "image_alpha")
PICTURE_KEY = "material_agent"
"""Custom property of the image blocks that a build has loaded: file and settings, so that each is loaded once."""


def structure(graph: Graph) -> tuple[Any, ...]:
    """What two graphs must share for one tree to serve both by an update of values alone."""
    return (
        tuple(
            (
                node.id,
                node.type,
                tuple(node.inputs),
                tuple(node.outputs),
                tuple(
                    (key, None if isinstance(value, _Structured) else value) for key, value in node.properties.items()
                ),
            )
            for node in graph.nodes.values()
        ),
        graph.links,
    )


class TreeBuilder:
    """Builds a graph into one Blender node tree and keeps the way back from graph nodes to Blender nodes."""

    def __init__(self, tree: Bpy) -> None:
        self.tree = tree
        self.nodes: dict[str, Any] = {}
        self.messages: list[RenderMessage] = []

    def build(self, graph: Graph) -> list[RenderMessage]:
        """Clear the tree and build `graph`; returns the problems, worst kind "error"."""
        self.tree.nodes.clear()
        self.nodes = {}
        self.messages = []
        for node in graph.nodes.values():
            self._add(node)
        for link in graph.links:
            self._link(link)
        self._check_links()
        return self.messages

    def update(self, old: Graph, new: Graph) -> list[RenderMessage]:
        """Bring the tree from `old` to `new`, which has the same `structure`."""
        self.messages = []
        for before, after in zip(old.nodes.values(), new.nodes.values(), strict=True):
            if before is after:
                continue
            target = self.nodes[after.id]
            for sockets, was, now in (
                (target.inputs, before.inputs, after.inputs),
                (target.outputs, before.outputs, after.outputs),
            ):
                changed = {key: value for key, value in now.items() if value != was[key]}
                if changed:
                    self._set_sockets(after, sockets, changed)
            for key, value in after.properties.items():
                if isinstance(value, _Structured) and value != before.properties[key]:
                    self._set_property(after, target, key, value)
        return self.messages

    def _error(self, text: str, node: str | None = None, socket: str | None = None) -> None:
        self.messages.append(RenderMessage("error", text, node, socket))

    def _add(self, node: Node) -> None:
        try:
            target = self.tree.nodes.new(node.type)
        except RuntimeError as error:
            self._error(f"Blender has no shader node {node.type!r}: {_one_line(error)}", node.id)
            return
        target.name = node.id
        target.label = node.label
        self.nodes[node.id] = target
        # The picture before how it is to be read.
        for key in sorted(node.properties, key=lambda name: name in _IMAGE_SETTINGS):
            self._set_property(node, target, key, node.properties[key])
        self._set_sockets(node, target.inputs, node.inputs)
        self._set_sockets(node, target.outputs, node.outputs)

    def _set_sockets(self, node: Node, sockets: Bpy, values: Mapping[str, Value]) -> None:
        if not values:
            return
        by_identifier = {socket.identifier: socket for socket in sockets}
        for identifier, value in values.items():
            socket = by_identifier.get(identifier)
            if socket is None:
                known = ", ".join(by_identifier)
                self._error(
                    f"expected a socket of {node.type}, got {identifier!r}; known: {known}", node.id, identifier
                )
                continue
            if not _finite(value):
                self._error(f"expected finite numbers, got {value!r}", node.id, identifier)
                continue
            try:
                socket.default_value = value
            except (AttributeError, TypeError, ValueError, OverflowError) as error:
                self._error(f"Blender refuses {value!r}: {_one_line(error)}", node.id, identifier)

    def _set_property(self, node: Node, target: Bpy, key: str, value: Value) -> None:
        try:
            if isinstance(value, ColorRamp):
                _set_ramp(getattr(target, key), value)
            elif isinstance(value, CurveMapping):
                _set_curves(getattr(target, key), value)
            elif key in _IMAGE_SETTINGS:
                _set_image_setting(target, key, str(value))
            elif _is_image(target, key):
                self._set_image(node, target, key, str(value))
            else:
                setattr(target, key, value)
        except (AttributeError, TypeError, ValueError, OverflowError, RuntimeError, IndexError) as error:
            self._error(f"Blender refuses {key} = {value!r}: {_one_line(error)}", node.id, key)

    def _set_image(self, node: Node, target: Bpy, key: str, path: str) -> None:
        import bpy  # noqa: PLC0415

        if not path:
            return
        if not Path(path).is_file():
            self._error(f"expected an image file, got {path!r}, which does not exist", node.id, key)
            return
        # One block for each way of reading a file: color space and alpha belong to the block.
        wanted = tuple(str(node.properties.get(name, "")) for name in _IMAGE_SETTINGS)
        title = "|".join((path, *wanted))
        for known in bpy.data.images:
            if known.get(PICTURE_KEY) == title:
                setattr(target, key, known)
                return
        image = bpy.data.images.load(path, check_existing=False)
        image[PICTURE_KEY] = title
        setattr(target, key, image)

    def _link(self, link: Link) -> None:
        source, target = self.nodes.get(link.src), self.nodes.get(link.dst)
        if source is None or target is None:
            missing = link.src if source is None else link.dst
            self._error(f"a link needs the node {missing!r}, which is not in the tree", link.dst, link.dst_socket)
            return
        output = self._find(source.outputs, link.src, link.src_socket, "output")
        into = self._find(target.inputs, link.dst, link.dst_socket, "input")
        if output is not None and into is not None:
            self.tree.links.new(into, output)

    def _find(self, sockets: Bpy, node: str, identifier: str, kind: str) -> Bpy | None:
        """The enabled socket with this identifier; a message and None when there is none."""
        socket = next((item for item in sockets if item.identifier == identifier), None)
        if socket is None:
            known = ", ".join(item.identifier for item in sockets)
            self._error(f"expected an {kind} of {node}, got {identifier!r}; known: {known}", node, identifier)
        elif not socket.enabled:
            self._error(f"the {kind} is not enabled with the node's properties", node, identifier)
            return None
        return socket

    def _check_links(self) -> None:
        for link in self.tree.links:
            if not link.is_valid:
                origin = f"{link.from_node.name}.{link.from_socket.identifier}"
                text = f"Blender marks the link from {origin} as invalid: a cycle, or types that do not convert"
                self._error(text, link.to_node.name, link.to_socket.identifier)


def _finite(value: Value) -> bool:
    """Blender takes NaN and infinity without a word and renders black."""
    if isinstance(value, tuple):
        return all(map(math.isfinite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _set_image_setting(target: Bpy, key: str, value: str) -> None:
    image = target.image
    if image is None or not value:
        return
    if key == "image_alpha":
        image.alpha_mode = value
    else:
        image.colorspace_settings.name = value


def _is_image(target: Bpy, key: str) -> bool:
    definition = target.bl_rna.properties.get(key)
    return definition is not None and definition.type == "POINTER" and definition.fixed_type.identifier == "Image"


def _set_ramp(ramp: Bpy, value: ColorRamp) -> None:
    ramp.color_mode = value.color_mode
    ramp.interpolation = value.interpolation
    ramp.hue_interpolation = value.hue_interpolation
    elements = ramp.elements
    while len(elements) > len(value.stops):
        elements.remove(elements[-1])
    while len(elements) < len(value.stops):
        elements.new(1.0)
    for element, stop in zip(elements, value.stops, strict=True):
        element.position = stop.position
        element.color = stop.color


def _set_curves(mapping: Bpy, value: CurveMapping) -> None:
    mapping.extend = value.extend
    mapping.tone = value.tone
    mapping.use_clip = value.use_clip
    mapping.clip_min_x, mapping.clip_min_y, mapping.clip_max_x, mapping.clip_max_y = value.clip
    mapping.black_level = value.black_level
    mapping.white_level = value.white_level
    for curve, points in zip(mapping.curves, value.curves, strict=True):
        while len(curve.points) > max(len(points), 2):
            curve.points.remove(curve.points[-1])
        while len(curve.points) < len(points):
            curve.points.new(1.0, 1.0)
        for target, point in zip(curve.points, points, strict=True):
            target.location = (point.x, point.y)
            target.handle_type = point.handle
    mapping.update()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
