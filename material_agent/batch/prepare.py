"""How the pictures of a batch are prepared: each as its manifest says, otherwise as all are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from material_agent.batch.store import sha256_of
from material_agent.config import RunConfig
from references import Preparation, Scale, SetItem
from references.bundled import bundled_path
from references.errors import ReferenceFault


def prepared(item: SetItem, run: RunConfig) -> SetItem:
    """The item with the batch's crop, scale and flattening where it has none, and paths that hold in every folder.

    Raises `ReferenceFault` for a crop or scale of the batch that cannot be read.
    """
    common, own = Preparation.parse(crop=run.crop, scale=run.scale, flatten=run.flatten), item.preparation
    path = Path(item.source).expanduser()
    return replace(
        item,
        source=str(path.absolute()) if path.is_file() else item.source,
        preparation=Preparation(
            crop=own.crop or common.crop,
            scale=own.scale or common.scale,
            mask=None if own.mask is None else own.mask.expanduser().absolute(),
            flatten=own.flatten or common.flatten,
        ),
    )


def choices(item: SetItem) -> dict[str, Any]:
    """The item's preparation as fields of a `RunConfig`, so that a run's record says what was done."""
    chosen = item.preparation
    return {
        "crop": None if chosen.crop is None else str(chosen.crop),
        "scale": None if chosen.scale is None else _size(chosen.scale),
        "mask": chosen.mask,
        "flatten": chosen.flatten,
    }


def contents(item: SetItem) -> dict[str, Any]:
    """What a task's result depends on, of its picture: the files by content, the choices as they are."""
    return {**choices(item), "picture": picture_sha256(item), "mask": _digest(item.preparation.mask)}


def picture_sha256(item: SetItem) -> str:
    """sha256 of the item's file, empty when it cannot be read."""
    try:
        path = Path(item.source)
        return _digest(path if path.is_file() else bundled_path(item.source))
    except (OSError, ReferenceFault):
        return ""


def _digest(path: Path | None) -> str:
    try:
        return "" if path is None else sha256_of(path)
    except OSError:
        return ""


def _size(scale: Scale) -> str:
    return f"{scale.pixels_per_m!r}px/m" if scale.side_m is None else f"{scale.side_m!r}m"
