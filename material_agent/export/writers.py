"""A graph as other programs want it: a .blend file, a script for Blender, JSON, maps, glTF or MaterialX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from graph_api import dumps, to_python
from graph_api.model import Graph
from material_agent.errors import BadInput
from material_agent.export.maps import write_map_folder
from material_agent.export.scenes import write_glb, write_materialx
from material_agent.export.wish import Wish
from renderer import RenderMessage, export_blend


def export_graph(graph: Graph, to: str, path: Path, wish: Wish | None = None) -> tuple[str, ...]:
    """Write `graph` to `path` as `to`, one of `FORMATS`.

    Returns what there is to say, each "level: text": what Blender had to say, whether maps tile, and under the level
    "lost" what the format cannot carry. Raises `BadInput` for an unknown format and for a graph that does not render,
    `MissingExtra` without a library that the format needs, and the renderer's errors.
    """
    if to not in FORMATS:
        raise BadInput(f"expected a format to export to, got {to!r}; known: {', '.join(FORMATS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    return tuple(f"{message.level}: {message.text}" for message in FORMATS[to](graph, path, wish or Wish()))


def _blend(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    return export_blend(graph, path, name=wish.name, settings=wish.settings, pictures=wish.pictures)


def _python(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    path.write_text(to_python(graph, wish.name), encoding="utf-8")
    named = [str(node.properties["image"]) for node in graph.nodes.values() if node.properties.get("image")]
    return tuple(RenderMessage("lost", f"{name}: the script takes pictures from the open file") for name in named)


def _json(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    path.write_text(dumps(graph), encoding="utf-8")
    return ()


# How the name of what is written ends; maps are a folder.
ENDINGS: Mapping[str, str] = {
    "blend": ".blend", "python": ".py", "json": ".json", "maps": "-maps", "glb": ".glb", "mtlx": ".mtlx",
}  # fmt: skip
FORMATS: Mapping[str, Callable[[Graph, Path, Wish], tuple[RenderMessage, ...]]] = {
    "blend": _blend,
    "python": _python,
    "json": _json,
    "maps": write_map_folder,
    "glb": write_glb,
    "mtlx": write_materialx,
}
