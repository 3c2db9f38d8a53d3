"""Whether a material tiles: its pattern, moved by exactly one patch, must come out as it was.

That is asked of the graph and not of the border of the picture, where a joint between two bricks looks like a seam and
a cut brick like a joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from graph_api import active_output, fresh_id, load_catalog
from graph_api.faces import kind_of
from graph_api.model import Graph, Link, Node
from graph_api.resolve import state_of
from graph_api.wiring import upstream

FloatArray = npt.NDArray[np.float32]
LIMIT = 0.01
"""A tile is claimed when no channel differs by more than this share of its range on average."""
# How far one patch is, by the output that gives coordinates: 1, or the patch's side in metres.
_UNIT = {("ShaderNodeTexCoord", "UV"), ("ShaderNodeTexCoord", "Generated"), ("ShaderNodeUVMap", "UV")}
_METRES = {("ShaderNodeTexCoord", "Object"), ("ShaderNodeNewGeometry", "Position")}
# What does not change over a flat patch.
_SAME = {("ShaderNodeTexCoord", "Normal"), ("ShaderNodeNewGeometry", "Normal"), ("ShaderNodeNewGeometry", "Tangent"),
         ("ShaderNodeNewGeometry", "True Normal"), ("ShaderNodeNewGeometry", "Backfacing"),
         ("ShaderNodeNewGeometry", "Incoming"), ("ShaderNodeNewGeometry", "Random Per Island")}  # fmt: skip
_COORDINATES = ("ShaderNodeTexCoord", "ShaderNodeNewGeometry", "ShaderNodeUVMap")
_UNKNOWN = ("ShaderNodeCameraData", "ShaderNodeWireframe", "ShaderNodeScript")


@dataclass(frozen=True)
class Verdict:
    """Whether the maps tile. `mismatch`: by channel, the mean difference after a move by one patch, of its range."""

    tiles: bool
    mismatch: Mapping[str, float]
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"the maps are not claimed to tile: {self.reason}"
        worst = max(self.mismatch, key=lambda name: self.mismatch[name])
        share = f"{100 * self.mismatch[worst]:.2g} % of the range of {worst}"
        if self.tiles:
            return f"the maps tile: moved by one patch they differ by at most {share}"
        return f"the maps do not tile: moved by one patch they differ by {share}"


def moved(graph: Graph, patches: tuple[float, float], patch_size_m: float) -> Graph | str:
    """The graph with all its coordinates moved by so many patches in x and y, or the reason why that cannot be told."""
    output = active_output(graph)
    used = upstream(graph, [output.id]) if output is not None else frozenset()
    unknown = [name for name in used if graph.nodes[name].type in _UNKNOWN]
    if unknown:
        return f"what {sorted(unknown)[0]} gives depends on the camera or the mesh"
    work = _with_explicit_coordinates(graph, used)
    nodes, links = dict(work.nodes), []
    shifts: dict[tuple[str, str], str] = {}
    for link in work.links:
        source = work.nodes[link.src]
        key = (source.type, link.src_socket)
        if source.type not in _COORDINATES or key in _SAME or (link.dst not in used and link.dst in graph.nodes):
            links.append(link)
            continue
        if key not in _UNIT and key not in _METRES:
            return f"{link.src}.{link.src_socket} depends on the camera or the mesh"
        size = 1.0 if key in _UNIT else patch_size_m
        place = (link.src, link.src_socket)
        if place not in shifts:
            shifts[place] = name = fresh_id(f"moved {link.src}", nodes)
            offset = (patches[0] * size, patches[1] * size, 0.0)
            nodes[name] = Node(name, "ShaderNodeVectorMath", inputs={"Vector_001": offset})
            links.append(Link(link.src, link.src_socket, name, "Vector"))
        links.append(Link(shifts[place], "Vector", link.dst, link.dst_socket))
    return replace(work, nodes=nodes, links=tuple(links))


def _with_explicit_coordinates(graph: Graph, used: frozenset[str]) -> Graph:
    """The graph with a link where a texture would take the coordinates of the mesh by itself."""
    catalog = load_catalog(graph.blender_version)
    name = fresh_id("coordinates", graph.nodes)
    links = list(graph.links)
    for node in graph.nodes.values():
        if node.id not in used or kind_of(node.type) != "TEXTURE":
            continue
        for socket in state_of(node, catalog).enabled_inputs:
            if socket.name == "Vector" and socket.hide_value and graph.link_into(node.id, socket.identifier) is None:
                own = "UV" if node.type == "ShaderNodeTexImage" else "Generated"
                links.append(Link(name, own, node.id, socket.identifier))
    if len(links) == len(graph.links):
        return graph
    return replace(graph, nodes={**graph.nodes, name: Node(name, "ShaderNodeTexCoord")}, links=tuple(links))


def judge(original: Mapping[str, FloatArray], copies: list[Mapping[str, FloatArray]]) -> Verdict:
    """Compare the channels with those of the moved graphs."""
    mismatch: dict[str, float] = {}
    for name, array in original.items():
        span = float(array.max() - array.min())
        worst = max(float(np.abs(array - copy[name]).mean()) for copy in copies)
        mismatch[name] = round(worst / span, 6) if span > 1e-6 else float(worst > 1e-6)
    return Verdict(all(value < LIMIT for value in mismatch.values()), mismatch)
