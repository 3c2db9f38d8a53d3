"""What feeds a socket, through reroutes, muted nodes and group borders; group instances are read in place.

Blender 5 resolves all of these before Cycles sees the tree: what passes a border is not converted to the border's type,
and a reroute or muted node without a source counts as no link at all. Blender 4 converts at every border and takes a
missing source for zero. (Both observed with `bpy` 5.0.1 and 4.5; `tests/renderer/test_renderer_import.py` repeats it.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graph_api.model import Value
from renderer.blender.types import Bpy

BORDERS = ("NodeGroupInput", "NodeGroupOutput")
REROUTE, FRAME = "NodeReroute", "NodeFrame"


@dataclass(frozen=True)
class Scope:
    """A node tree as one instance of a group: `outer` is the tree that holds the group node `group`."""

    tree: Bpy
    path: tuple[str, ...] = ()
    outer: Scope | None = None
    group: Bpy | None = None


@dataclass(frozen=True)
class Origin:
    """Where a socket's value comes from: an output of a real node, or a constant when `node` is None.

    `types`: the socket types at borders on the way, source first, that Blender 4 converts to one after the other.
    """

    scope: Scope
    node: Bpy | None = None
    socket: str = ""
    type: str = "VALUE"
    value: Value | None = None
    types: tuple[str, ...] = field(default=())


def is_group(node: Bpy) -> bool:
    """Whether the node is an instance of a group, also one that lacks its tree."""
    return bool(node.bl_rna.properties.get("node_tree")) and node.bl_idname.endswith("Group")


def inside(scope: Scope, node: Bpy) -> Scope:
    """The tree of a group node as an instance of its own."""
    return Scope(node.node_tree, (*scope.path, node.name), scope, node)


def follow(scope: Scope, socket: Bpy, version: tuple[int, ...]) -> Origin | None:
    """What feeds `socket`; None when nothing does and its own value counts."""
    walk = _Walk(scope, socket, converts=version < (5, 0))
    while walk.socket is not None:
        walk.step()
    return walk.found


class _Walk:
    """The way up from a socket; it ends when `socket` is None, with what was `found`."""

    def __init__(self, scope: Scope, socket: Bpy, *, converts: bool) -> None:
        self.scope, self.socket, self.converts = scope, socket, converts
        self.types: list[str] = []
        self.found: Origin | None = None

    def step(self) -> None:
        link = next((one for one in self.socket.links if not one.is_muted), None) if self.socket.is_linked else None
        self.socket = None
        if link is None:
            return
        origin = link.from_socket
        node = origin.node
        if node.bl_idname == REROUTE or node.mute:
            self._pass_through(node, origin)
        elif node.bl_idname == "NodeGroupInput" and self.scope.outer is not None:
            assert self.scope.group is not None, "an instance has its group node"
            outside = next((one for one in self.scope.group.inputs if one.identifier == origin.identifier), None)
            self._cross(self.scope.outer, outside, origin)
        elif is_group(node) and node.node_tree is not None:
            self._cross(inside(self.scope, node), _group_output(node.node_tree, origin.identifier), origin)
        else:
            types = tuple(self.types) if self.converts else ()
            self.found = Origin(self.scope, node, origin.identifier, origin.type, types=types)

    def _pass_through(self, node: Bpy, origin: Bpy) -> None:
        """To the input that a reroute or a muted node hands on, if it hands on any."""
        if node.bl_idname == REROUTE:
            before = node.inputs[0]
        else:
            link = next((one for one in node.internal_links if one.to_socket == origin), None)
            before = link.from_socket if link is not None else None
        if before is not None and not before.is_linked and self.converts:
            self._constant(origin.type, _zero(origin.type))
        else:
            self.socket = before

    def _cross(self, scope: Scope, socket: Bpy | None, origin: Bpy) -> None:
        """Over a group's border to `socket` on its other side, whose own value counts when nothing is linked to it."""
        self.scope = scope
        self.types.insert(0, origin.type)
        if socket is None:
            self._constant(origin.type, _zero(origin.type))
        elif any(not link.is_muted for link in socket.links):
            self.socket = socket
        else:
            self._constant(socket.type, plain_value(socket))

    def _constant(self, kind: str, value: Value | None) -> None:
        self.found = Origin(self.scope, type=kind, value=value, types=tuple(self.types))


def _group_output(tree: Bpy, identifier: str) -> Bpy | None:
    outputs = [node for node in tree.nodes if node.bl_idname == "NodeGroupOutput"]
    active = next((node for node in outputs if node.is_active_output), outputs[0] if outputs else None)
    if active is None:
        return None
    return next((socket for socket in active.inputs if socket.identifier == identifier), None)


def plain_value(socket: Bpy) -> Value | None:
    """A socket's own value as a graph value; None where there is none."""
    value = getattr(socket, "default_value", None)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return tuple(value) if hasattr(value, "__len__") else None


_ZEROS: dict[str, Value] = {
    "VALUE": 0.0, "INT": 0, "BOOLEAN": False, "VECTOR": (0.0, 0.0, 0.0), "RGBA": (0.0, 0.0, 0.0, 1.0),
}  # fmt: skip


def _zero(kind: str) -> Value | None:
    return _ZEROS.get(kind)
