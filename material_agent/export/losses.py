"""What a format cannot carry of a material, by name."""

from __future__ import annotations

from collections.abc import Mapping

from graph_api import active_output, load_catalog
from graph_api.faces import kind_of
from graph_api.model import Graph, Node, Value
from graph_api.resolve import state_of
from graph_api.wiring import upstream

# Shader inputs that the maps hold.
_MAPPED = {"Base Color", "Color", "Roughness", "Metallic", "Normal"}
# Inputs of a shader that do nothing while another is zero: (input, the other).
_IDLE = {
    "Coat": "Coat Weight", "Sheen": "Sheen Weight", "Subsurface": "Subsurface Weight",
    "Emission": "Emission Strength", "Thin Film": "Thin Film Thickness", "Transmission": "Transmission Weight",
}  # fmt: skip


def losses(graph: Graph, to: str, *, height: bool) -> tuple[str, ...]:
    """What the maps of `to` leave out; `height` says whether that format carries one."""
    output = active_output(graph)
    if output is None:
        return ()
    used = [graph.nodes[name] for name in graph.nodes if name in upstream(graph, [output.id])]
    found = [f"{to} holds maps of one patch: the {len(used)} nodes and what they would show elsewhere are baked"]
    shaders = [node for node in used if kind_of(node.type) == "SHADER"]
    for node in shaders:
        found += _of_shader(graph, node)
    if len(shaders) > 1:
        found.append(f"{len(shaders)} shaders become one with mixed channels")
    if not height:
        found.append(f"{to} has no height: relief is in the normal map alone")
    if graph.link_into(output.id, "Volume") is not None:
        found.append(f"{output.id}.Volume: the volume")
    return tuple(found)


def _of_shader(graph: Graph, node: Node) -> list[str]:
    """The inputs that somebody set or linked and that no map holds."""
    catalog = load_catalog(graph.blender_version)
    state = state_of(node, catalog)
    values: Mapping[str, Value | None] = {
        socket.name: node.inputs.get(socket.identifier, socket.default) for socket in state.enabled_inputs
    }
    found = []
    for socket in state.enabled_inputs:
        if socket.name in _MAPPED or socket.type == "SHADER":
            continue
        linked = graph.link_into(node.id, socket.identifier) is not None
        chosen = socket.identifier in node.inputs and node.inputs[socket.identifier] != socket.default
        gate = next((gate for word, gate in _IDLE.items() if socket.name.startswith(word)), None)
        idle = gate is not None and gate != socket.name and not values.get(gate)
        if (linked or chosen) and not (idle and not linked):
            found.append(f"{node.id}.{socket.name}: not in the maps")
    return found
