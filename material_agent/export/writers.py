"""A graph as other programs want it: a .blend file, a script for Blender, JSON, or maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from graph_api import dumps, to_python
from graph_api.model import Graph
from material_agent.errors import BadInput
from renderer import CHANNELS, BlenderPool, RenderMessage, RenderRequest, RenderSettings, export_blend, write_maps

MAPS_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Wish:
    """What to write besides the graph.

    `name`: the material's name in Blender. `resolution`: side of maps in pixels. `patch_size_m`: side in metres of the
    patch that maps and the .blend file show.
    """

    name: str = "Material"
    resolution: int = 1024
    patch_size_m: float = 1.0

    @property
    def settings(self) -> RenderSettings:
        """The settings of a render of maps; they have no noise, so one sample is exact."""
        return RenderSettings(self.resolution, 1, self.patch_size_m, timeout_s=MAPS_TIMEOUT_S)


def export_graph(graph: Graph, to: str, path: Path, wish: Wish | None = None) -> tuple[str, ...]:
    """Write `graph` to `path` as `to`, one of `FORMATS`; returns what Blender had to say.

    Raises `BadInput` for an unknown format and for a graph that does not render, and the renderer's errors.
    """
    if to not in FORMATS:
        raise BadInput(f"expected a format to export to, got {to!r}; known: {', '.join(FORMATS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    return tuple(f"{message.level}: {message.text}" for message in FORMATS[to](graph, path, wish or Wish()))


def _blend(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    return export_blend(graph, path, name=wish.name, settings=wish.settings)


def _python(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    path.write_text(to_python(graph, wish.name), encoding="utf-8")
    return ()


def _json(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    path.write_text(dumps(graph), encoding="utf-8")
    return ()


def _maps(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    channels = tuple(channel for channel in CHANNELS if channel != "beauty")
    with BlenderPool(jobs=1) as pool:
        result = pool.render(RenderRequest(graph, "flat", channels, wish.settings))
    if not result.ok:
        said = "; ".join(message.text for message in result.messages)
        raise BadInput(f"expected a graph that renders, got {result.status}: {said}")
    write_maps(path, result)
    return result.messages


FORMATS: Mapping[str, Callable[[Graph, Path, Wish], tuple[RenderMessage, ...]]] = {
    "blend": _blend,
    "python": _python,
    "json": _json,
    "maps": _maps,
}
