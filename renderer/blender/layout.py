"""Node positions for a person who opens the file: left to right along the links, no two nodes overlapping."""

from __future__ import annotations

from renderer.blender.types import Bpy

GAP_X, GAP_Y = 60.0, 40.0
# Blender reports no node heights without a window; these are its interface's measures, rounded up.
_HEADER, _ROW, _PROPERTY = 40.0, 24.0, 26.0
_EXTRA = {"ShaderNodeValToRGB": 190.0, "ShaderNodeRGBCurve": 280.0, "ShaderNodeVectorCurve": 280.0,
          "ShaderNodeFloatCurve": 260.0, "ShaderNodeRGB": 180.0, "ShaderNodeNormal": 160.0,
          "ShaderNodeTexImage": 120.0}  # fmt: skip
_MIN_WIDTH = 140.0


def height_of(node: Bpy) -> float:
    """An upper estimate of a node's height in Blender's interface units."""
    rows = sum(_ROW * (4 if s.type == "VECTOR" and not s.is_linked and not s.hide_value else 1)
               for s in (*node.inputs, *node.outputs) if s.enabled)  # fmt: skip
    base = {item.identifier for item in node.bl_rna.base.bl_rna.properties} if node.bl_rna.base else set()
    own = sum(1 for item in node.bl_rna.properties if item.identifier not in base)
    return float(_HEADER + rows + _PROPERTY * own + _EXTRA.get(node.bl_idname, 0.0))


def arrange(tree: Bpy) -> None:
    """Place every node: its column is its longest distance to an output, its row follows what it feeds."""
    nodes = {node.name: node for node in tree.nodes}
    feeds: dict[str, list[str]] = {name: [] for name in nodes}
    for link in tree.links:
        feeds[link.from_node.name].append(link.to_node.name)
    depth = _depths(feeds)
    columns: dict[int, list[str]] = {}
    for name in nodes:
        columns.setdefault(depth[name], []).append(name)
    x = 0.0
    middle: dict[str, float] = {}
    for column in sorted(columns):
        names = sorted(columns[column], key=lambda name: -_mean([middle[to] for to in feeds[name] if to in middle]))
        x -= max(max(nodes[name].width, _MIN_WIDTH) for name in names) + GAP_X
        heights = [height_of(nodes[name]) for name in names]
        top = (sum(heights) + GAP_Y * (len(names) - 1)) / 2
        for name, height in zip(names, heights, strict=True):
            nodes[name].location = (x, top)
            middle[name] = top - height / 2
            top -= height + GAP_Y


def _depths(feeds: dict[str, list[str]]) -> dict[str, int]:
    """Longest path to a node that feeds nothing; a tree with a cycle is cut where it closes."""
    depth: dict[str, int] = {}

    def walk(name: str, path: frozenset[str]) -> int:
        if name not in depth:
            onward = [walk(to, path | {name}) for to in feeds[name] if to not in path]
            depth[name] = 1 + max(onward, default=-1)
        return depth[name]

    for name in feeds:
        walk(name, frozenset((name,)))
    return depth


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
