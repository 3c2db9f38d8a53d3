"""The pictures of an experiment, all of one side: a bundled reference is drawn anew, a photograph is averaged down.

Point samples of a small render are no averages of a larger one, so that a picture made smaller would ask for grain that
no render of its size has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.pictures import centre_square, resize_srgb
from graph_api.catalog import nearest_version
from material_agent.batch.store import write_whole
from material_agent.errors import BadInput
from material_agent.fit.judging import truth_graph
from references import load_reference
from references.bundled import bundled
from references.sets import item_id
from renderer import BlenderPool, RenderRequest, RenderSettings, linear_to_srgb, quantize, write_png

FOLDER = "references"


@dataclass(frozen=True)
class Picture:
    """One reference of an experiment: `truth` names the graph behind it, empty when nobody knows it."""

    id: str
    path: Path
    family: str
    truth: str


def prepare(names: Sequence[str], side: int, folder: Path, base: Path) -> list[Picture]:
    """The pictures of `names` (bundled, or files, relative to `base`) at `side` px in `folder`; what is there is kept.

    Raises `ReferenceFault` and `BadInput` for what cannot be read, and the renderer's errors.
    """
    known = {entry.id: entry for entry in bundled()}
    made = []
    for name in names:
        entry = known.get(name)
        chosen = name if entry else item_id(name)
        path = folder / FOLDER / f"{chosen}_{side}.png"
        made.append(Picture(chosen, path, entry.family if entry else chosen, name if entry else ""))
    if len({one.id for one in made}) != len(made):
        raise BadInput("expected each reference once in a plan")
    missing = [(name, one) for name, one in zip(names, made, strict=True) if not one.path.is_file()]
    _draw([one for _, one in missing if one.truth], side)
    for name, one in missing:
        if not one.truth:
            source = base / name if (base / name).is_file() else Path(name)
            image = resize_srgb(centre_square(load_reference(str(source)).image_srgb), side)
            _write(one.path, image)
    return made


def _draw(pictures: Sequence[Picture], side: int) -> None:
    if not pictures:
        return
    with BlenderPool(1) as pool:
        version = nearest_version(pool.warm_up())
        settings = RenderSettings(resolution=side)
        requests = [RenderRequest(truth_graph(one.truth, version), "flat", ("beauty",), settings) for one in pictures]
        for one, result in zip(pictures, pool.render_many(requests), strict=True):
            if not result.ok:
                raise BadInput(f"expected a reference that renders, got {one.id}: {result.status}")
            _write(one.path, np.clip(linear_to_srgb(result.channels["beauty"]), 0, 1))


def _write(path: Path, image: npt.NDArray[np.floating[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.stem}.partial.png")
    write_png(partial, quantize(image.astype(np.float32)).astype(np.uint8))
    write_whole(path, partial.read_bytes())
    partial.unlink()
