"""A graph as a pleasure to open: a group with named inputs, nodes in frames by role, readable labels.

The material's own tree holds one group node before each output; inside the group are the nodes. Cycles flattens groups,
so that nothing of this shows in a render.
"""

from __future__ import annotations

from dataclasses import replace

from graph_api.arrange import FRAME_MARGIN, arrange
from graph_api.catalog import load_catalog
from graph_api.faces import title_of
from graph_api.ids import safe_id
from graph_api.knobs import Knob, knobs
from graph_api.model import Graph, Node, Value
from renderer.blender.build import TreeBuilder
from renderer.blender.types import Bpy
from renderer.protocol import RenderMessage

OUTPUT = "ShaderNodeOutputMaterial"
_SOCKETS = {"VALUE": "NodeSocketFloat", "RGBA": "NodeSocketColor", "VECTOR": "NodeSocketVector"}
_SUBTYPES = {"TRANSLATION": "TRANSLATION", "EULER": "EULER", "XYZ": "XYZ", "FACTOR": "FACTOR", "DISTANCE": "DISTANCE"}
_FRAME_COLORS = {
    "mapping": (0.23, 0.16, 0.22), "macro": (0.17, 0.20, 0.26), "meso": (0.16, 0.23, 0.24), "micro": (0.17, 0.23, 0.19),
    "color": (0.23, 0.22, 0.15), "shading": (0.17, 0.23, 0.17),
}  # fmt: skip
# The inputs of an output node that a material can feed, with the socket that carries each through the group.
_PORTS = {"Surface": "NodeSocketShader", "Volume": "NodeSocketShader", "Displacement": "NodeSocketVector",
          "Thickness": "NodeSocketFloat"}  # fmt: skip


def dress(bpy: Bpy, material: Bpy, graph: Graph, name: str) -> list[RenderMessage]:
    """Build `graph` into the material's tree; returns Blender's refusals."""
    outputs = {node.id: node for node in graph.nodes.values() if node.type == OUTPUT}
    inside = Graph(
        graph.blender_version,
        {node.id: node for node in graph.nodes.values() if node.id not in outputs},
        tuple(link for link in graph.links if link.dst not in outputs),
    )
    if not inside.nodes:
        return _plain(material.node_tree, graph)
    group = bpy.data.node_groups.new(name, "ShaderNodeTree")
    builder = TreeBuilder(group)
    messages = builder.build(inside)
    _label(builder, inside)
    exposed = [knob for knob in knobs(graph) if knob.node in builder.nodes]
    width, middle = _place(group, builder, inside)
    _expose(group, builder, exposed, -width, middle)
    top = TreeBuilder(material.node_tree)
    messages += top.build(Graph(graph.blender_version, outputs))
    node = material.node_tree.nodes.new("ShaderNodeGroup")
    node.node_tree, node.name, node.label, node.width = group, name, name, 220.0
    for knob in exposed:
        next(item for item in node.inputs if item.name == knob.name).default_value = _plain_value(knob)
    messages += _wire(material.node_tree, group, builder, top, node, graph, middle)
    return messages


def _plain(tree: Bpy, graph: Graph) -> list[RenderMessage]:
    builder = TreeBuilder(tree)
    messages = builder.build(graph)
    _label(builder, graph)
    _place(tree, builder, graph)
    return messages


def _label(builder: TreeBuilder, graph: Graph) -> None:
    """Labels where the id says more than Blender's own title does."""
    catalog = load_catalog(graph.blender_version)
    for name, target in builder.nodes.items():
        node = graph.nodes[name]
        target.label = node.label or readable(node, title_of(replace(node, label=""), catalog.node(node.type)))


def readable(node: Node, title: str) -> str:
    """The id in words; empty where it only repeats the title, perhaps with a number."""
    own, words = safe_id(title), safe_id(node.id)
    stem = words.rstrip("0123456789_")
    if stem and (own.startswith(stem) or stem.startswith(own) or safe_id(node.type).endswith(stem.replace("_", ""))):
        return ""
    return node.id.replace("_", " ").strip().capitalize()


def _place(tree: Bpy, builder: TreeBuilder, graph: Graph) -> tuple[float, float]:
    """Positions and frames; returns the width of it all and the height of its middle. It begins at -width."""
    placed = arrange(graph)
    for name, target in builder.nodes.items():
        target.location = placed.places[name]
        target.width = max(placed.faces[name].width, target.bl_width_min)
        for part in ("hide", "use_custom_color", "color"):
            if part in graph.nodes[name].properties:
                setattr(target, part, graph.nodes[name].properties[part])
    for frame in placed.frames:
        made = tree.nodes.new("NodeFrame")
        made.name = made.label = frame.title
        made.label_size, made.use_custom_color = 28, True
        made.color = _FRAME_COLORS[frame.role]
        made.location = (0.0, 0.0)
        made["role"] = frame.role
        for name in frame.members:
            if name in builder.nodes:
                builder.nodes[name].parent = made
    ys = [y - placed.faces[name].height / 2 for name, (_, y) in placed.places.items()]
    xs = [x for x, _ in placed.places.values()]
    return -min(xs, default=0.0) + 2 * FRAME_MARGIN, sum(ys) / max(len(ys), 1)


def _expose(group: Bpy, builder: TreeBuilder, exposed: list[Knob], left: float, middle: float) -> None:
    if not exposed:
        return
    entry = group.nodes.new("NodeGroupInput")
    entry.location = (left - entry.width - 120.0, middle + 12.0 * len(exposed))
    for knob in exposed:
        item = group.interface.new_socket(knob.name, in_out="INPUT", socket_type=_SOCKETS[knob.type])
        subtype = "FACTOR" if knob.type == "VALUE" and (knob.min, knob.max) == (0.0, 1.0) else knob.subtype
        if subtype in _SUBTYPES and knob.type != "RGBA":
            try:
                item.subtype = _SUBTYPES[subtype]
            except TypeError:  # not one of this socket's
                item.subtype = "NONE"
        if knob.type == "VALUE":
            item.min_value = knob.min if knob.min is not None else -10000.0
            item.max_value = knob.max if knob.max is not None else 10000.0
        item.default_value = _plain_value(knob)
        target = next(s for s in builder.nodes[knob.node].inputs if s.identifier == knob.socket)
        group.links.new(target, next(s for s in entry.outputs if s.identifier == item.identifier))


def _plain_value(knob: Knob) -> Value:
    value = knob.value
    return tuple(map(float, value)) if isinstance(value, tuple) else float(value)  # type: ignore[arg-type]


def _wire(
    tree: Bpy, group: Bpy, builder: TreeBuilder, top: TreeBuilder, node: Bpy, graph: Graph, middle: float
) -> list[RenderMessage]:
    """Carry what feeds each output through the group: one group output for each source socket."""
    messages: list[RenderMessage] = []
    leave = group.nodes.new("NodeGroupOutput")
    leave.location = (120.0, middle)
    ports: dict[tuple[str, str, str], str] = {}
    several = sum(1 for one in graph.nodes.values() if one.type == OUTPUT) > 1
    for link in graph.links:
        if link.dst not in top.nodes or link.src not in builder.nodes:
            continue
        target = top.nodes[link.dst]
        into = next((s for s in target.inputs if s.identifier == link.dst_socket), None)
        origin = next((s for s in builder.nodes[link.src].outputs if s.identifier == link.src_socket), None)
        if into is None or origin is None:
            known = ", ".join(s.identifier for s in target.inputs)
            text = f"expected an input of {link.dst}, got {link.dst_socket!r}; known: {known}"
            messages.append(RenderMessage("error", text, link.dst, link.dst_socket))
            continue
        key = (link.src, link.src_socket, _PORTS.get(into.name, "NodeSocketShader"))
        if key not in ports:
            title = f"{into.name} {link.dst}" if several else into.name
            item = group.interface.new_socket(title, in_out="OUTPUT", socket_type=key[2])
            ports[key] = item.identifier
            group.links.new(next(s for s in leave.inputs if s.identifier == item.identifier), origin)
        tree.links.new(into, next(s for s in node.outputs if s.identifier == ports[key]))
    for index, output in enumerate(top.nodes.values()):
        output.location = (120.0, -220.0 * index)
    node.location = (-node.width - 40.0, 0.0)
    return messages
