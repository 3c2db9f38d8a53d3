"""Pictures for a model that sees: the reference, and each render beside it."""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from material_agent.observation import FloatArray, Observation

REFERENCE_PX = 512
PANEL_PX = 256
GUTTER_PX = 8
MOST_PANELS = 4
QUALITY = 95
"""Of a JPEG without chroma subsampling: a quarter of a PNG's time and bytes, and no texture is lost."""

Bits = npt.NDArray[np.uint8]


class Drawn(NamedTuple):
    """A JPEG, and the names of its panels from left to right."""

    jpeg: bytes
    panels: tuple[str, ...]


def reference_png(image_srgb: FloatArray) -> bytes:
    """The reference, (H, W, 3) sRGB in [0, 1], as a PNG of at most `REFERENCE_PX` a side."""
    return _png(_fitted(_bits(image_srgb), REFERENCE_PX))


def comparison(image_srgb: FloatArray, seen: Observation) -> Drawn | None:
    """Reference and rendered channels side by side.

    None when nothing was rendered. Only a flat view is put beside the reference: the other views show another scene.
    """
    if not seen.images:
        return None
    panels: list[tuple[str, Bits]] = [(name, seen.picture(name)) for name in seen.images]
    if seen.view == "flat":
        side = min(image_srgb.shape[:2])
        top, left = ((size - side) // 2 for size in image_srgb.shape[:2])
        panels.insert(0, ("reference", _bits(image_srgb[top : top + side, left : left + side])))
    panels = panels[:MOST_PANELS]
    gutter = np.full((PANEL_PX, GUTTER_PX, 3), 255, np.uint8)
    strips = [strip for _, picture in panels for strip in (_square(picture), gutter)][:-1]
    stream = io.BytesIO()
    Image.fromarray(np.concatenate(strips, axis=1)).save(stream, "JPEG", quality=QUALITY, subsampling=0)
    return Drawn(stream.getvalue(), tuple(name for name, _ in panels))


def _bits(image_srgb: FloatArray) -> Bits:
    return (np.clip(image_srgb, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)


def _square(picture: Bits) -> Bits:
    coloured = picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)
    sized = Image.fromarray(coloured[..., :3]).resize((PANEL_PX, PANEL_PX), Image.Resampling.BICUBIC)
    return np.asarray(sized, np.uint8)


def _fitted(picture: Bits, side: int) -> Image.Image:
    image = Image.fromarray(picture)
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    return image


def _png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
