"""The comparison picture: reference, material and, when wanted, maps, side by side with labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

_PAPER = (251, 250, 247)
_INK = (29, 28, 26)
_MARGIN = 24
_LABEL = 44


class Panel(NamedTuple):
    """One picture and its label; `image_srgb` is display-referred sRGB, (H, W, 3), float in [0, 1] or uint8."""

    label: str
    image_srgb: npt.NDArray[np.floating[Any]] | npt.NDArray[np.uint8]


def compose(panels: Sequence[Panel], side: int = 512) -> Image.Image:
    """The panels in one row on paper, each scaled to `side` pixels, its label below. Raises ValueError without any."""
    if not panels:
        raise ValueError("expected at least one panel, got none")
    width = _MARGIN + len(panels) * (side + _MARGIN)
    sheet = Image.new("RGB", (width, _MARGIN + side + _LABEL), _PAPER)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=18)
    for index, panel in enumerate(panels):
        left = _MARGIN + index * (side + _MARGIN)
        sheet.paste(_scaled(panel.image_srgb, side), (left, _MARGIN))
        draw.text((left, _MARGIN + side + 12), _fitted(draw, panel.label, font, side), fill=_INK, font=font)
    return sheet


def write_comparison(path: Path, panels: Sequence[Panel], side: int = 512) -> Path:
    """Write the row of panels as PNG and return its path; an older file is replaced at once, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    compose(panels, side).save(partial, "PNG")
    partial.replace(path)
    return path


def _scaled(image: npt.NDArray[np.floating[Any]] | npt.NDArray[np.uint8], side: int) -> Image.Image:
    if image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"expected a picture of shape (H, W, 3), got {image.shape}")
    pixels = image if image.dtype == np.uint8 else np.round(np.clip(image, 0.0, 1.0) * 255)
    # Enlarging is by whole pixels, so that nothing shows that was not rendered.
    grows = max(image.shape[:2]) < side
    return Image.fromarray(pixels.astype(np.uint8)).resize(
        (side, side), Image.Resampling.NEAREST if grows else Image.Resampling.LANCZOS
    )


def _fitted(
    draw: ImageDraw.ImageDraw, text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int
) -> str:
    line = " ".join(text.split())
    if draw.textlength(line, font=font) <= width:
        return line
    while line and draw.textlength(line + "…", font=font) > width:
        line = line[:-1]
    return line + "…"
