"""`material-agent render`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from material_agent.cli.exits import Exit
from material_agent.cli.options import Json, Output, PatchSize, Samples, TimeLimit
from material_agent.cli.output import Reply
from material_agent.cli.sources import read_source, render_graph
from material_agent.errors import BadInput

if TYPE_CHECKING:
    from renderer import RenderResult
    from renderer.protocol import Channel


class ViewName(StrEnum):
    """The views of the renderer."""

    flat = "flat"
    tilt = "tilt"
    sphere = "sphere"


class EngineName(StrEnum):
    """The engines of the renderer."""

    blender = "blender"
    preview = "preview"


def render(
    graph: Annotated[Path, typer.Argument(help="A graph .json, a run folder or a .blend file.")],
    view: Annotated[ViewName, typer.Option(help="Flat patch, tilted patch or sphere.")] = ViewName.flat,
    channels: Annotated[str, typer.Option(help="Names with commas between, or all.")] = "beauty",
    resolution: Annotated[int, typer.Option("--resolution", "-r", min=1, max=16384, help="Side in pixels.")] = 512,
    samples: Samples = 16,
    patch_size: PatchSize = 1.0,
    engine: Annotated[
        EngineName, typer.Option(help="Blender, or the fast preview where it can draw the graph.")
    ] = EngineName.blender,
    compare: Annotated[
        bool, typer.Option("--compare", help="Render with both engines; also write one picture of both.")
    ] = False,
    exr: Annotated[bool, typer.Option("--exr", help="Also write the exact floats as OpenEXR.")] = False,
    time_limit: TimeLimit = 300.0,
    output: Output = None,
    json: Json = False,
) -> Reply:
    """Render a graph in Blender or by the preview and write its channels as pictures."""
    from renderer import RenderSettings, write_maps

    wanted = channel_names(channels)
    source = read_source(graph)
    settings = RenderSettings(resolution, samples, patch_size, timeout_s=time_limit)
    result = render_graph(source.graph, view.value, wanted, settings, engine.value)
    messages = [f"{message.level}: {message.text}" for message in result.messages]
    if not result.ok:
        failed: dict[str, Any] = {"status": result.status, "messages": messages, "files": {}}
        return Reply("render", failed, f"no picture: {result.status}: {'; '.join(messages)}", Exit.NOT_ACCEPTED)
    folder = output or Path(f"{graph.stem or 'graph'}-{view.value}")
    manifest = write_maps(folder, result, exr=exr)
    files = {name: str(folder / str(entry["png"])) for name, entry in manifest.items()}
    data: dict[str, Any] = {
        "status": result.status,
        "messages": messages,
        "folder": folder,
        "files": files,
        "maps": manifest,
        "engine": result.engine,
        "blender_version": result.blender_version,
        "device": result.device,
        "seconds": result.seconds,
    }
    lines = [*messages, *files.values(), f"engine: {result.engine}"]
    if not compare:
        return Reply("render", data, "\n".join(lines))
    other = EngineName.preview if result.engine != "preview" else EngineName.blender
    second = render_graph(source.graph, view.value, wanted, settings, other.value)
    return _compared(data, lines, folder, result, second)


def _compared(
    data: dict[str, Any], lines: list[str], folder: Path, result: RenderResult, second: RenderResult
) -> Reply:
    """The reply with the comparison of two engines; without it when only Blender draws the graph."""
    from material_agent.reports import side_by_side
    from renderer.comparison import compare

    if not second.ok or second.engine == result.engine:
        reasons = list(dict.fromkeys(message.text for message in (*result.messages, *second.messages)))
        why = f"no comparison: {'; '.join(reasons) or second.status}"
        return Reply("render", {**data, "comparison": None, "why": why}, "\n".join([*lines, why]), Exit.NOT_ACCEPTED)
    first, second = sorted((result, second), key=lambda one: one.engine)
    differences = compare(first.channels, second.channels)
    path = folder / "comparison.png"
    side_by_side(first, second, differences).save(path)
    lines.append(str(path))
    lines += [
        f"{channel}: largest {d.largest:.2g}, mean {d.mean:.2g}, relative {d.relative:.2g}, {d.beyond:.3%} beyond 1e-4"
        for channel, d in differences.items()
    ]
    seconds = {one.engine: one.seconds for one in (first, second)}
    lines.append(", ".join(f"{name}: {taken:.3f} s" for name, taken in seconds.items()))
    comparison = {"picture": path, "channels": differences, "seconds": seconds}
    return Reply("render", {**data, "comparison": comparison}, "\n".join(lines))


def channel_names(text: str) -> tuple[Channel, ...]:
    """The channels in a list with commas, in the renderer's order; "all" is every one. Raises `BadInput`."""
    from renderer import CHANNELS

    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return CHANNELS
    unknown = [name for name in names if name not in CHANNELS]
    if unknown or not names:
        got = ", ".join(unknown) or "none"
        raise BadInput(f"expected channels, got {got}; known: {', '.join(CHANNELS)}, all")
    return tuple(name for name in CHANNELS if name in names)
