"""Questions about links: what type flows through a reroute, what Blender converts, what would close a circle."""

from __future__ import annotations

from collections.abc import Iterable

from graph_api.catalog import Catalog
from graph_api.model import Graph, Link, Node

REROUTE = "NodeReroute"
REROUTE_TYPES = {  # `socket_idname` of a reroute without a source
    "NodeSocketFloat": "VALUE",
    "NodeSocketColor": "RGBA",
    "NodeSocketVector": "VECTOR",
    "NodeSocketShader": "SHADER",
    "NodeSocketInt": "INT",
    "NodeSocketBool": "BOOLEAN",
}


def output_type(graph: Graph, node_id: str, socket: str, catalog: Catalog) -> str:
    """Type of the value that leaves an output; a reroute passes on what it receives. Empty when unknown."""
    seen: set[str] = set()
    node = graph.nodes.get(node_id)
    while node is not None and node.type == REROUTE and node.id not in seen:
        seen.add(node.id)
        feed = next((link for link in graph.links if link.dst == node.id), None)
        if feed is None:
            return REROUTE_TYPES.get(str(node.properties.get("socket_idname", "NodeSocketColor")), "RGBA")
        node, socket = graph.nodes.get(feed.src), feed.src_socket
    kind = catalog.node(node.type) if node is not None else None
    state = kind.state(node.properties) if kind is not None and node is not None else None
    found = state.outputs.get(socket) if state is not None else None
    return found.type if found is not None else ""


def input_types(graph: Graph, node_id: str, socket: str, catalog: Catalog) -> Iterable[tuple[str, str, str]]:
    """(node, socket, type) of the real inputs that a link into here reaches: itself, or those behind a reroute."""
    waiting, seen = [(node_id, socket)], set()
    while waiting:
        name, slot = waiting.pop()
        node = graph.nodes.get(name)
        if node is None or name in seen:
            continue
        if node.type == REROUTE:
            seen.add(name)
            waiting.extend((link.dst, link.dst_socket) for link in graph.links if link.src == name)
            continue
        kind = catalog.node(node.type)
        state = kind.state(node.properties) if kind is not None else None
        found = state.inputs.get(slot) if state is not None else None
        if found is not None:
            yield name, slot, found.type


def accepts(source: str, target: str, catalog: Catalog) -> bool:
    """Whether a link makes sense.

    Blender takes a color into a shader input as emission; here that is refused, because it is nearly always a slip and
    an Emission node says the same openly.
    """
    return catalog.converts(source, target) and (source == target or target != "SHADER")


def reaches(links: Iterable[Link], start: str, goal: str) -> tuple[str, ...]:
    """A path of node ids downstream from `start` to `goal`, both included; empty when there is none."""
    following: dict[str, list[str]] = {}
    for link in links:
        following.setdefault(link.src, []).append(link.dst)
    waiting: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while waiting:
        path = waiting.pop()
        if path[-1] == goal:
            return path
        for name in following.get(path[-1], ()):
            if name not in seen:
                seen.add(name)
                waiting.append((*path, name))
    return ()


def upstream(graph: Graph, node_ids: Iterable[str]) -> frozenset[str]:
    """These nodes and all that feeds them."""
    feeding: dict[str, list[str]] = {}
    for link in graph.links:
        feeding.setdefault(link.dst, []).append(link.src)
    waiting, seen = [n for n in node_ids if n in graph.nodes], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(source for source in feeding.get(name, ()) if source in graph.nodes)
    return frozenset(seen)


def active_output(graph: Graph, engine: str = "CYCLES") -> Node | None:
    """The Material Output that an engine renders.

    As in Blender's `ntreeShaderOutputNode`: one whose target is the engine wins over one for all, among equals the
    active one; without either the first.
    """
    found: Node | None = None
    for node in graph.nodes.values():
        target = node.properties.get("target", "ALL")
        if node.type != "ShaderNodeOutputMaterial" or target not in ("ALL", engine):
            continue
        if found is None:
            found = node
            continue
        best = found.properties.get("target", "ALL")
        active = bool(node.properties.get("is_active_output", True))
        if (target == engine and (best == "ALL" or active)) or (target == "ALL" and best == "ALL" and active):
            found = node
    return found
