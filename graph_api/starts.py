"""The graph every attempt starts from, and the one way to re-seed a graph."""

from __future__ import annotations

from dataclasses import replace

from graph_api.catalog import load_catalog
from graph_api.model import Graph, Link, Node


def start_graph(version: str = "5.0") -> Graph:
    """Texture coordinates (UV) into a Mapping, and a Principled BSDF into the Material Output.

    The ids are the same for ever: `texture_coordinate`, `mapping`, `principled`, `output`.
    """
    load_catalog(version)
    nodes = (
        Node("texture_coordinate", "ShaderNodeTexCoord"),
        Node("mapping", "ShaderNodeMapping", role="mapping"),
        Node("principled", "ShaderNodeBsdfPrincipled", role="shading"),
        Node("output", "ShaderNodeOutputMaterial", role="output"),
    )
    links = (
        Link("texture_coordinate", "UV", "mapping", "Vector"),
        Link("principled", "BSDF", "output", "Surface"),
    )
    return Graph(version, {node.id: node for node in nodes}, links)


def reseed(graph: Graph, offset: tuple[float, float, float]) -> Graph:
    """The graph with `offset` added to the Location of every Mapping node of role `mapping`.

    Blender's textures have no seed; another place of the same endless pattern is the only other sample of it.
    """
    nodes = dict(graph.nodes)
    for node in graph.nodes.values():
        if node.type == "ShaderNodeMapping" and node.role == "mapping":
            place = node.inputs.get("Location", (0.0, 0.0, 0.0))
            assert isinstance(place, tuple), "a Location is a vector"
            moved = tuple(float(a) + float(b) for a, b in zip(place, offset, strict=True))
            nodes[node.id] = replace(node, inputs={**node.inputs, "Location": moved})
    return replace(graph, nodes=nodes)
