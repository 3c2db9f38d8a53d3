"""A contact sheet: columns of pictures under their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

FloatArray = npt.NDArray[np.float32]
GAP, LABEL = 4, 18


def read_picture(path: Path) -> FloatArray:
    """A picture file as sRGB (H, W, 3) in [0, 1]."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=np.float32) / 255


def sheet(rows: Sequence[tuple[str, Sequence[FloatArray]]], path: Path, columns: int, tile: int = 192) -> None:
    """Write pictures, sRGB in [0, 1], below each other under their name, at most `columns` such stacks in a line."""
    across = min(columns, len(rows))
    lines = -(-len(rows) // across)
    height = len(rows[0][1]) * (tile + 2) + LABEL + GAP
    canvas = Image.new("RGB", (across * (tile + GAP) - GAP, lines * height - GAP), "white")
    draw, font = ImageDraw.Draw(canvas), ImageFont.load_default(12)
    for index, (name, images) in enumerate(rows):
        x, y = index % across * (tile + GAP), index // across * height
        draw.text((x + 2, y + 1), name, fill="black", font=font)
        for line, image in enumerate(images):
            small = Image.fromarray((np.clip(image, 0, 1) * 255 + 0.5).astype(np.uint8))
            canvas.paste(small.resize((tile, tile), Image.Resampling.LANCZOS), (x, y + LABEL + line * (tile + 2)))
    canvas.save(path, quality=88)
