"""Where the nodes go in Blender's editor: columns by distance from the output, so that people can read the graph."""

from __future__ import annotations

from graph_api.model import Graph

COLUMN_WIDTH = 300.0
ROW_HEIGHT = 260.0


def positions(graph: Graph) -> dict[str, tuple[float, float]]:
    """(x, y) of every node in editor units; a node stands left of all that it feeds."""
    following: dict[str, list[str]] = {}
    for link in graph.links:
        following.setdefault(link.src, []).append(link.dst)
    depth: dict[str, int] = {}

    def measure(name: str, path: frozenset[str]) -> int:
        if name not in depth:
            later = [one for one in following.get(name, []) if one in graph.nodes and one not in path]
            depth[name] = max((measure(one, path | {one}) + 1 for one in later), default=0)
        return depth[name]

    rows: dict[int, int] = {}
    placed: dict[str, tuple[float, float]] = {}
    for name in graph.nodes:
        column = measure(name, frozenset({name}))
        row = rows.get(column, 0)
        rows[column] = row + 1
        placed[name] = (-column * COLUMN_WIDTH, -row * ROW_HEIGHT)
    return placed
