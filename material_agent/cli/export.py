"""`material-agent export`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from material_agent.cli.options import Json, Output
from material_agent.cli.output import Reply
from material_agent.cli.sources import read_source, render_graph
from material_agent.errors import BadInput

if TYPE_CHECKING:
    from graph_api.model import Graph


class Target(StrEnum):
    """What a graph can be written as."""

    blend = "blend"
    python = "python"
    json = "json"
    maps = "maps"


def export(
    source: Annotated[Path, typer.Argument(help="A run folder, a graph .json or a .blend file.")],
    to: Annotated[Target, typer.Option("--to", help="What to write.")],
    name: Annotated[str, typer.Option(help="Name of the material in Blender.")] = "Material",
    resolution: Annotated[int, typer.Option("--resolution", "-r", min=1, max=16384, help="Side of maps, px.")] = 1024,
    output: Output = None,
    json: Json = False,
) -> Reply:
    """Write a material as a .blend file, a Python script for Blender, graph JSON, or a folder of maps."""
    graph = read_source(source).graph
    path = output or _default(source, to)
    notes = _WRITERS[to](graph, path, name, resolution)
    return Reply("export", {"to": to.value, "path": path, "notes": notes}, "\n".join([*notes, str(path)]))


def _default(source: Path, to: Target) -> Path:
    stem = source.resolve().stem if source.suffix else source.resolve().name
    return Path(stem + {"blend": ".blend", "python": ".py", "json": ".json", "maps": "-maps"}[to.value])


def _blend(graph: Graph, path: Path, name: str, resolution: int) -> list[str]:
    from renderer import export_blend

    return [f"{message.level}: {message.text}" for message in export_blend(graph, path, name=name)]


def _python(graph: Graph, path: Path, name: str, resolution: int) -> list[str]:
    from graph_api import to_python

    _write(path, to_python(graph, name))
    return []


def _json(graph: Graph, path: Path, name: str, resolution: int) -> list[str]:
    from graph_api import dumps

    _write(path, dumps(graph))
    return []


def _maps(graph: Graph, path: Path, name: str, resolution: int) -> list[str]:
    from renderer import CHANNELS, RenderSettings, write_maps

    channels = tuple(channel for channel in CHANNELS if channel != "beauty")
    result = render_graph(graph, "flat", channels, RenderSettings(resolution, timeout_s=600.0))
    if not result.ok:
        said = "; ".join(message.text for message in result.messages)
        raise BadInput(f"expected maps of {resolution} px, got no picture: {result.status}: {said}")
    write_maps(path, result)
    return [f"{message.level}: {message.text}" for message in result.messages]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")


_WRITERS: Mapping[Target, Callable[[Graph, Path, str, int], list[str]]] = {
    Target.blend: _blend,
    Target.python: _python,
    Target.json: _json,
    Target.maps: _maps,
}
