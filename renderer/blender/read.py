"""Node tree to graph: what differs from a fresh node of the same type, by identifier, not by name.

Groups are read in place, each instance with nodes of its own; reroutes, frames and muted nodes are resolved. What a
graph cannot hold is left out and named in `messages`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from graph_api.arrange import TITLES
from graph_api.catalog import Catalog, Socket, load_catalog
from graph_api.ids import fresh_id
from graph_api.model import ColorRamp, ColorStop, CurveMapping, CurvePoint, Graph, Link, Node, Value
from renderer.blender.convert import Converters, as_type
from renderer.blender.follow import BORDERS, FRAME, REROUTE, Origin, Scope, follow, inside, is_group, plain_value
from renderer.blender.pictures import picture_path
from renderer.blender.studio import with_nodes
from renderer.blender.types import Bpy
from renderer.protocol import RenderMessage

_PLAIN = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
OUTPUT = "ShaderNodeOutputMaterial"
_PASSED = (REROUTE, FRAME, *BORDERS)
# What a graph cannot hold, by type or a part of its name, with the reason that the user is told.
_UNSUPPORTED = {
    "ShaderNodeScript": "OSL scripts are not read",
    "Repeat": "repeat zones are not read",
    "Closure": "closures are not read",
    "Bundle": "bundles are not read",
    "MenuSwitch": "menu switches are not read",
    "OutputWorld": "it has no effect in a material",
    "OutputLight": "it has no effect in a material",
}
_Key = tuple[tuple[str, ...], str]


class TreeReader:
    """Reads one material's tree."""

    def __init__(self, bpy: Bpy, tree: Bpy, version: str, pictures: str) -> None:
        """`version`: of the catalog. `pictures`: a folder for what lies inside the file."""
        self.tree = tree
        self.version = version
        self.messages: list[RenderMessage] = []
        self._pictures = pictures
        self._catalog: Catalog = load_catalog(version)
        self._blender = tuple(bpy.app.version)
        self._several_outputs = sum(node.bl_idname == OUTPUT for node in tree.nodes) > 1
        self._scratch = with_nodes(bpy.data.materials.new("scratch"))
        self._ids: dict[_Key, str] = {}
        self._found: list[tuple[Scope, Bpy]] = []
        self._nodes: dict[str, Node] = {}

    def graph(self) -> Graph:
        """The graph; `messages` then holds what could not be read and what is worth knowing."""
        self._collect(Scope(self.tree))
        links = list(self._links())
        self._note_outputs()
        return Graph(self.version, self._nodes, tuple(links))

    def _warn(self, text: str, node: str, socket: str | None = None) -> None:
        self.messages.append(RenderMessage("warning", text, node, socket))

    def _collect(self, scope: Scope) -> None:
        """Read every node of a tree and of the groups in it."""
        for node in scope.tree.nodes:
            if node.bl_idname in _PASSED or node.mute:
                continue
            where = " in ".join(repr(name) for name in (node.name, *reversed(scope.path)))
            if is_group(node):
                if node.node_tree is None:
                    self._warn(f"{where} was left out: the group has no tree", node.name)
                else:
                    self._collect(inside(scope, node))
                continue
            reason = self._reason(node)
            if reason is not None:
                self._warn(f"{where} was left out: {reason}", node.name)
                continue
            name = fresh_id(self._name(scope, node), self._nodes)
            self._ids[scope.path, node.name] = name
            self._nodes[name] = self._node(node, name)
            self._found.append((scope, node))

    def _reason(self, node: Bpy) -> str | None:
        """Why a graph cannot hold the node."""
        for part, reason in _UNSUPPORTED.items():
            if part in node.bl_idname:
                return reason
        if self._catalog.node(node.bl_idname) is None:
            return f"{node.bl_idname} is no node of Blender {self.version} that is known here"
        return None

    def _name(self, scope: Scope, node: Bpy) -> str:
        """The label or name, after that of its group unless the material is one group and nothing else."""
        own = str(node.label or node.name)
        if scope.group is None or (len(scope.path) == 1 and self._is_wrapped()):
            return own
        return f"{scope.group.label or scope.group.node_tree.name} {own}"

    def _is_wrapped(self) -> bool:
        real = [node for node in self.tree.nodes if node.bl_idname not in (FRAME, REROUTE, OUTPUT)]
        return len(real) == 1

    def _node(self, node: Bpy, node_id: str) -> Node:
        tree = self._scratch.node_tree
        tree.nodes.clear()
        fresh = tree.nodes.new(node.bl_idname)
        properties: dict[str, Value] = {}
        if node.bl_idname == OUTPUT and self._several_outputs:
            properties["is_active_output"] = node.is_active_output
        for key in _own_properties(node):
            definition = node.bl_rna.properties[key]
            if definition.type == "POINTER":
                value = self._pointer(node, key, node_id, properties)
            else:
                value = read_property(node, key)
            if value is not None and value != read_property(fresh, key):
                properties[key] = value
                if isinstance(value, bool | int | float | str) and definition.type != "POINTER":
                    setattr(fresh, key, value)
        return Node(
            node_id,
            node.bl_idname,
            inputs=_changed(node.inputs, fresh.inputs),
            properties=properties,
            outputs=_changed(node.outputs, fresh.outputs),
            role=_role(node),
            label=node.label,
        )

    def _pointer(self, node: Bpy, key: str, node_id: str, properties: dict[str, Value]) -> Value | None:
        """A property that points at data of its own: ramps and curves are read, pictures become files."""
        definition, value = node.bl_rna.properties[key], getattr(node, key)
        if value is None or (definition.is_readonly and definition.fixed_type.identifier not in _POINTERS):
            return None
        kind = definition.fixed_type.identifier
        if kind == "Image":
            path, problem = picture_path(value, self._pictures)
            if problem:
                self._warn(problem, node_id, key)
            if path is not None:
                properties.update(_image_settings(value))
            return path
        if kind in _POINTERS:
            return _POINTERS[kind](value)
        self._warn(f"{key} = {value.name!r} was left out: a graph does not hold a {kind.lower()}", node_id, key)
        return None

    def _links(self) -> Iterator[Link]:
        converters = Converters(self._nodes)
        for scope, node in self._found:
            name = self._ids[scope.path, node.name]
            for socket in node.inputs:
                if not socket.enabled:
                    continue
                origin = follow(scope, socket, self._blender)
                if origin is None:
                    continue
                if origin.node is None:
                    yield from self._constant(origin, name, socket, converters)
                    continue
                source = self._ids.get((origin.scope.path, origin.node.name))
                if source is None:
                    text = f"the link from {origin.node.name!r} was left out with it"
                    self._warn(text, name, socket.identifier)
                    continue
                yield from converters.link(
                    source, origin.socket, (origin.type, *origin.types, socket.type), name, socket.identifier
                )

    def _constant(self, origin: Origin, name: str, socket: Bpy, converters: Converters) -> Iterator[Link]:
        """A border's own value: set on the input where the input can hold it, else from a node that holds it."""
        hidden = getattr(socket, "hide_value", False)
        if origin.value is None or (hidden and self._blender < (5, 0)):
            return  # Blender 4 gives such an input what the geometry gives, not the border's value
        value, kind = as_type(origin.value, origin.type, (*origin.types, socket.type))
        node = self._nodes[name]
        if kind == socket.type and self._holds(node, socket, value):
            inputs = {**node.inputs, socket.identifier: value}
            if value == self._default(node, socket):
                del inputs[socket.identifier]
            self._nodes[name] = replace(node, inputs=inputs)
            return
        yield from converters.constant(value, kind, socket.type, name, socket.identifier)

    def _known(self, node: Node, socket: Bpy) -> Socket | None:
        kind = self._catalog.node(node.type)
        state = kind.state(node.properties) if kind is not None else None
        return state.inputs.get(socket.identifier) if state is not None else None

    def _default(self, node: Node, socket: Bpy) -> Value | None:
        known = self._known(node, socket)
        return known.default if known is not None else None

    def _holds(self, node: Node, socket: Bpy, value: Value) -> bool:
        known = self._known(node, socket)
        if known is None or known.default is None or known.hide_value:
            return False
        if known.size != (len(value) if isinstance(value, tuple) else 1):
            return False
        parts = value if isinstance(value, tuple) else (value,)
        return all(
            not isinstance(part, int | float)
            or ((known.min is None or part >= known.min) and (known.max is None or part <= known.max))
            for part in parts
        )

    def _note_outputs(self) -> None:
        outputs = [node for node in self.tree.nodes if node.bl_idname == OUTPUT]
        used = self.tree.get_output_node("CYCLES")
        if used is None:
            self.messages.append(RenderMessage("warning", "the material has no output node"))
        elif len(outputs) > 1:
            others = ", ".join(repr(node.name) for node in outputs if node.name != used.name)
            text = f"{used.name!r} is the output that Cycles renders; kept beside it: {others}"
            self.messages.append(RenderMessage("info", text, self._ids.get(((), used.name))))


def _role(node: Bpy) -> str:
    """The role that a frame round the node is named after, with or without a number."""
    frame = node.parent
    if frame is None:
        return ""
    words = str(frame.label or frame.name).casefold().rstrip("0123456789. ")
    return words if words in TITLES else ""


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


def _image_settings(image: Bpy) -> dict[str, Value]:
    """How the file's numbers are to be understood, where that is not what Blender would take them for."""
    found: dict[str, Value] = {"image_colorspace": str(image.colorspace_settings.name)}
    if image.alpha_mode != "STRAIGHT":
        found["image_alpha"] = str(image.alpha_mode)
    return found


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


_POINTERS: dict[str, Callable[[Bpy], Value | None]] = {"ColorRamp": _ramp, "CurveMapping": _curves}


def _changed(sockets: Bpy, fresh: Bpy) -> dict[str, Value]:
    """Values by identifier that differ from those of a fresh node with the same properties."""
    defaults = {socket.identifier: plain_value(socket) for socket in fresh}
    values = {socket.identifier: plain_value(socket) for socket in sockets}
    return {key: value for key, value in values.items() if value is not None and value != defaults.get(key)}
