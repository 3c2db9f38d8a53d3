"""Texture maps: rendered channels as files, with a manifest that says how to read each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from graph_api.model import Graph
from material_agent.errors import BadInput
from material_agent.export.ambient import FloatArray, ambient_occlusion
from material_agent.export.losses import losses
from material_agent.export.tiling import Verdict, judge, moved
from material_agent.export.wish import Wish
from renderer import CHANNELS, BlenderPool, RenderMessage, RenderRequest, quantize, write_exr, write_png
from renderer.images import encode

AMBIENT = "ambient_occlusion"
MANIFEST = "maps.json"
TILING_RESOLUTION = 256
_SPACES = {"base_color": "sRGB", "normal": "Non-Color", "height": "Non-Color", AMBIENT: "Non-Color",
           "roughness": "Non-Color", "metallic": "Non-Color"}  # fmt: skip


@dataclass(frozen=True)
class Baked:
    """Maps in channel units, (H, W, C) float32, row 0 at the top; whether they tile; what Blender said."""

    channels: Mapping[str, FloatArray]
    tiling: Verdict
    messages: tuple[RenderMessage, ...]


def bake(graph: Graph, wish: Wish) -> Baked:
    """Render the maps of the flat patch. Raises `BadInput` for a graph that does not render."""
    channels = tuple(channel for channel in CHANNELS if channel != "beauty")
    steps = [moved(graph, step, wish.patch_size_m) for step in ((1.0, 0.0), (0.0, 1.0))]
    copies = [step for step in steps if isinstance(step, Graph)]
    small = replace(wish.settings, resolution=min(wish.resolution, TILING_RESOLUTION), samples=1)
    with BlenderPool(jobs=1) as pool:
        result = pool.render(RenderRequest(graph, "flat", channels, wish.settings))
        if not result.ok:
            said = "; ".join(message.text for message in result.messages)
            raise BadInput(f"expected a graph that renders, got {result.status}: {said}")
        seen = [pool.render(RenderRequest(one, "flat", channels, small)) for one in (graph, *copies)]
    if len(copies) < len(steps):
        tiling = Verdict(False, {}, next(step for step in steps if isinstance(step, str)))
    elif not all(one.ok for one in seen):
        tiling = Verdict(False, {}, "the moved material did not render")
    else:
        tiling = judge(seen[0].channels, [one.channels for one in seen[1:]])
    made: dict[str, FloatArray] = dict(result.channels)
    made[AMBIENT] = ambient_occlusion(made["height"], wish.patch_size_m, wraps=tiling.tiles)
    return Baked(made, tiling, result.messages)


def write_baked(baked: Baked, folder: Path, wish: Wish) -> dict[str, dict[str, Any]]:
    """Write each map as PNG, and as EXR when wished; returns the manifest's entry of each."""
    folder.mkdir(parents=True, exist_ok=True)
    entries: dict[str, dict[str, Any]] = {}
    for name, array in baked.channels.items():
        entry: dict[str, Any] = {"png": f"{name}.png", "bits": wish.bits, "color_space": _SPACES[name]}
        shown = array
        if name == "normal":
            entry["convention"] = wish.normal
            if wish.normal == "directx":
                shown = array * np.array([1, -1, 1], np.float32)
        encoded = encode("roughness" if name == AMBIENT else name, shown)  # type: ignore[arg-type]
        entry |= {"low": encoded.low, "high": encoded.high}
        write_png(folder / entry["png"], quantize(encoded.pixels, wish.bits))
        if wish.exr:
            entry["exr"] = f"{name}.exr"
            write_exr(folder / entry["exr"], np.ascontiguousarray(shown))
        entries[name] = entry
    entries["height"]["unit"] = "m"
    return entries


def write_map_folder(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    """The maps and `maps.json` in the folder `path`; the messages hold the tiling verdict and what is lost."""
    baked = bake(graph, wish)
    lost = losses(graph, "a folder of maps", height=True)
    manifest = {
        "schema": {"name": "material-agent/maps", "version": 1},
        "name": wish.name,
        "resolution": wish.resolution,
        "patch_size_m": wish.patch_size_m,
        "maps": write_baked(baked, path, wish),
        "tiles": baked.tiling.tiles,
        "tiling": str(baked.tiling),
        "mismatch": dict(baked.tiling.mismatch),
        "losses": list(lost),
    }
    (path / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return (*baked.messages, *told(baked, lost))


def told(baked: Baked, lost: tuple[str, ...]) -> tuple[RenderMessage, ...]:
    """The tiling verdict and the losses as messages."""
    return (RenderMessage("info", str(baked.tiling)), *(RenderMessage("lost", text) for text in lost))
