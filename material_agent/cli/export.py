"""`material-agent export`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from material_agent.cli.options import Json, Output, PatchSize
from material_agent.cli.output import Reply
from material_agent.cli.sources import Source, read_source
from material_agent.errors import BadInput


class Target(StrEnum):
    """What a graph can be written as."""

    blend = "blend"
    python = "python"
    json = "json"
    maps = "maps"
    glb = "glb"
    mtlx = "mtlx"


class Normals(StrEnum):
    """What green means in a normal map: up, or down."""

    opengl = "opengl"
    directx = "directx"


def export(
    source: Annotated[Path, typer.Argument(help="A run folder, a graph .json or a .blend file.")],
    to: Annotated[Target, typer.Option("--to", help="What to write.")],
    name: Annotated[str, typer.Option(help="Name of the material in Blender.")] = "Material",
    resolution: Annotated[int, typer.Option("--resolution", "-r", min=1, max=16384, help="Side of maps, px.")] = 1024,
    patch_size: PatchSize = 1.0,
    samples: Annotated[int, typer.Option(min=1, max=4096, help="Places that a map's pixel is the mean of.")] = 8,
    bits: Annotated[int, typer.Option(help="Bits of PNG maps, 8 or 16.")] = 8,
    exr: Annotated[bool, typer.Option("--exr", help="Also write maps as exact floats.")] = False,
    normal: Annotated[Normals, typer.Option(help="Convention of the normal map.")] = Normals.opengl,
    output: Output = None,
    json: Json = False,
) -> Reply:
    """Write a material for other tools: .blend, Python script, graph JSON, folder of maps, .glb or MaterialX.

    What the format cannot carry is told, each line beginning with "lost:".
    """
    from material_agent.export import ENDINGS, Wish, export_graph

    if bits not in (8, 16):
        raise BadInput(f"expected --bits 8 or 16, got {bits}")
    found = read_source(source)
    graph = found.graph
    stem = _stem(source, found)
    path = output or Path(stem + ENDINGS[to.value])
    notes = export_graph(
        graph, to.value, path, Wish(name, resolution, patch_size, bits, exr, normal.value, _pictures(found), samples)
    )
    return Reply("export", {"to": to.value, "path": path, "notes": notes}, "\n".join([*notes, str(path)]))


def _pictures(found: Source) -> dict[str, Path]:
    """The reference and the comparison of a run, to be packed."""
    named = {"Reference": "reference.png", "Comparison": "comparison.png"}
    paths = {title: found.path / name for title, name in named.items()} if found.kind == "run" else {}
    return {title: path for title, path in paths.items() if path.is_file()}


def _stem(source: Path, found: Source) -> str:
    """What to name the result after: the file or folder, or the material that was chosen in a file."""
    from graph_api import safe_id

    if source != found.path:
        return safe_id(found.material)
    return found.path.resolve().name if found.path.is_dir() else found.path.resolve().stem
