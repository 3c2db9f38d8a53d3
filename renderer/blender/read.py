"""Node tree to graph: what differs from a fresh node of the same type, by identifier, not by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graph_api.ids import fresh_id
from graph_api.model import ColorRamp, ColorStop, CurveMapping, CurvePoint, Graph, Link, Node, Value
from renderer.blender.studio import with_nodes
from renderer.blender.types import Bpy
from renderer.protocol import RenderMessage

_PLAIN = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
OUTPUT = "ShaderNodeOutputMaterial"
_PASSED = ("NodeReroute", "NodeFrame")
# What a graph cannot hold, with the reason that the user is told.
_UNSUPPORTED = {
    "ShaderNodeGroup": "node groups are not read; ungroup it in Blender (Ctrl-Alt-G)",
    "ShaderNodeScript": "OSL scripts are not read",
}


class TreeReader:
    """Reads one material's tree."""

    def __init__(self, bpy: Bpy, tree: Bpy, version: str) -> None:
        self.tree = tree
        self.version = version
        self.messages: list[RenderMessage] = []
        self._several_outputs = sum(node.bl_idname == OUTPUT for node in tree.nodes) > 1
        self._scratch = with_nodes(bpy.data.materials.new("scratch"))

    def graph(self) -> Graph:
        """The graph; `messages` then holds what could not be read and what is worth knowing."""
        ids: dict[str, str] = {}
        nodes: dict[str, Node] = {}
        for node in self.tree.nodes:
            if node.bl_idname in _PASSED or node.mute:
                continue
            reason = _UNSUPPORTED.get(node.bl_idname)
            if reason is not None:
                self._warn(f"{node.name!r} was left out: {reason}", node.name)
                continue
            ids[node.name] = fresh_id(node.label or node.name, nodes)
            nodes[ids[node.name]] = self._node(node, ids[node.name])
        links = tuple(self._links(ids))
        self._note_outputs(ids)
        return Graph(self.version, nodes, links)

    def _warn(self, text: str, node: str, socket: str | None = None) -> None:
        self.messages.append(RenderMessage("warning", text, node, socket))

    def _node(self, node: Bpy, node_id: str) -> Node:
        tree = self._scratch.node_tree
        tree.nodes.clear()
        fresh = tree.nodes.new(node.bl_idname)
        properties: dict[str, Value] = {}
        if node.bl_idname == OUTPUT and self._several_outputs:
            properties["is_active_output"] = node.is_active_output
        for key in _own_properties(node):
            value = read_property(node, key)
            if value is not None and value != read_property(fresh, key):
                properties[key] = value
                if isinstance(value, (bool, int, float, str)) and node.bl_rna.properties[key].type != "POINTER":
                    setattr(fresh, key, value)
        self._check_image(node, node_id)
        return Node(
            node_id,
            node.bl_idname,
            inputs=_changed(node.inputs, fresh.inputs),
            properties=properties,
            outputs=_changed(node.outputs, fresh.outputs),
            label=node.label,
        )

    def _check_image(self, node: Bpy, node_id: str) -> None:
        image = getattr(node, "image", None)
        if image is not None and not image.packed_file and image.source == "FILE" and not image.has_data:
            self._warn(f"the picture {image.filepath!r} cannot be read", node_id, "image")

    def _links(self, ids: dict[str, str]) -> Iterator[Link]:
        for node in self.tree.nodes:
            if node.name not in ids:
                continue
            for socket in node.inputs:
                origin = origin_of(socket)
                if origin is None or not socket.enabled:
                    continue
                source = ids.get(origin.node.name)
                if source is None:
                    self._warn(
                        f"the link from {origin.node.name!r} was left out with it", ids[node.name], socket.identifier
                    )
                else:
                    yield Link(source, origin.identifier, ids[node.name], socket.identifier)

    def _note_outputs(self, ids: dict[str, str]) -> None:
        outputs = [node for node in self.tree.nodes if node.bl_idname == OUTPUT]
        used = self.tree.get_output_node("CYCLES")
        if used is None:
            self.messages.append(RenderMessage("warning", "the material has no output node"))
        elif len(outputs) > 1:
            others = ", ".join(repr(node.name) for node in outputs if node.name != used.name)
            text = f"{used.name!r} is the output that Cycles renders; kept beside it: {others}"
            self.messages.append(RenderMessage("info", text, ids.get(used.name)))


def origin_of(socket: Bpy) -> Bpy | None:
    """The output that feeds `socket`, through reroutes and muted nodes; None when nothing does."""
    while socket.is_linked and not socket.links[0].is_muted:
        origin = socket.links[0].from_socket
        node = origin.node
        if node.bl_idname == "NodeReroute":
            socket = node.inputs[0]
        elif node.mute:
            inner = next((link for link in node.internal_links if link.to_socket == origin), None)
            if inner is None:
                return None
            socket = inner.from_socket
        else:
            return origin
    return None


def _own_properties(node: Bpy) -> list[str]:
    base = {item.identifier for item in node.bl_rna.base.bl_rna.properties}
    return [item.identifier for item in node.bl_rna.properties if item.identifier not in base]


def read_property(node: Bpy, key: str) -> Value | None:
    """A node's property as a graph value; None for what a graph does not hold."""
    definition, value = node.bl_rna.properties[key], getattr(node, key)
    if definition.type == "POINTER":
        reader = _POINTERS.get(definition.fixed_type.identifier)
        return reader(value) if reader is not None and value is not None else None
    if definition.type not in _PLAIN or definition.is_readonly or getattr(definition, "is_enum_flag", False):
        return None
    return tuple(value) if getattr(definition, "is_array", False) else value


def _image_path(image: Bpy) -> str | None:
    path = image.filepath_from_user()
    return str(path) if path else None


def _ramp(ramp: Bpy) -> ColorRamp:
    stops = tuple(ColorStop(element.position, tuple(element.color)) for element in ramp.elements)
    return ColorRamp(stops, ramp.color_mode, ramp.interpolation, ramp.hue_interpolation)


def _curves(mapping: Bpy) -> CurveMapping:
    curves = tuple(
        tuple(CurvePoint(point.location[0], point.location[1], point.handle_type) for point in curve.points)
        for curve in mapping.curves
    )
    clip = (mapping.clip_min_x, mapping.clip_min_y, mapping.clip_max_x, mapping.clip_max_y)
    black, white = tuple(mapping.black_level), tuple(mapping.white_level)
    return CurveMapping(curves, mapping.extend, mapping.use_clip, clip, black, white, mapping.tone)


_POINTERS: dict[str, Callable[[Bpy], Value | None]] = {
    "ColorRamp": _ramp,
    "CurveMapping": _curves,
    "Image": _image_path,
}


def _changed(sockets: Bpy, fresh: Bpy) -> dict[str, Value]:
    """Values by identifier that differ from those of a fresh node with the same properties."""
    defaults = {socket.identifier: _value(socket) for socket in fresh}
    values = {socket.identifier: _value(socket) for socket in sockets}
    return {key: value for key, value in values.items() if value is not None and value != defaults.get(key)}


def _value(socket: Bpy) -> Value | None:
    value = getattr(socket, "default_value", None)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return tuple(value) if hasattr(value, "__len__") else None
