"""`material-agent export`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from material_agent.cli.options import Json, Output, PatchSize
from material_agent.cli.output import Reply
from material_agent.cli.sources import read_source

_SUFFIXES = {"blend": ".blend", "python": ".py", "json": ".json", "maps": "-maps"}


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
    patch_size: PatchSize = 1.0,
    output: Output = None,
    json: Json = False,
) -> Reply:
    """Write a material as a .blend file, a Python script for Blender, graph JSON, or a folder of maps."""
    from material_agent.export import Wish, export_graph

    graph = read_source(source).graph
    stem = source.resolve().stem if source.is_file() else source.resolve().name
    path = output or Path(stem + _SUFFIXES[to.value])
    notes = export_graph(graph, to.value, path, Wish(name, resolution, patch_size))
    return Reply("export", {"to": to.value, "path": path, "notes": notes}, "\n".join([*notes, str(path)]))
