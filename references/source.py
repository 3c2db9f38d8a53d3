"""A picture file, opened but not converted: its upright size, and parts of it as 8-bit sRGB without alpha."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

FloatArray = npt.NDArray[np.float32]

WORKING_SIDE = 1024
"""Longest side of a reference, in pixels."""

LARGEST_PIXELS = 100_000_000
"""Pictures above this are refused: at 4 bytes a pixel they would need more than 400 MB to decode."""

BACKGROUND = 128
"""sRGB grey that transparent pixels are put on: it takes the side of neither dark nor light."""


class Box(NamedTuple):
    """A rectangle in pixels of the upright picture; right and bottom excluded."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self.bottom - self.top


class PictureSource(Protocol):
    """What every decoder gives."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright picture."""

    def region(self, box: Box, side: int, notes: list[str]) -> Image.Image:
        """Cut out a part as 8-bit sRGB, averaged in whole blocks when it is much larger than `side` pixels.

        What was changed on the way is added to `notes`.
        """


def block_size(longest: int, side: int) -> int:
    """How many pixels a side to average before the exact size is made: at least twice `side` pixels stay."""
    return max(longest // (2 * side), 1)


def block_mean(rows: FloatArray, bad: npt.NDArray[np.bool_], factor: int) -> FloatArray:
    """Average blocks of `factor`² pixels of rows (H, W, C) without the `bad` ones (H, W); NaN where all are bad."""
    if factor == 1:
        return np.where(bad[..., None], np.float32(np.nan), rows)
    height, width = (-(-n // factor) for n in rows.shape[:2])
    pad = ((0, height * factor - rows.shape[0]), (0, width * factor - rows.shape[1]))
    good = np.pad(~bad, pad)
    values = np.pad(np.where(bad[..., None], 0.0, rows), (*pad, (0, 0)))
    count = good.reshape(height, factor, width, factor).sum(axis=(1, 3))
    total = values.reshape(height, factor, width, factor, -1).sum(axis=(1, 3), dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / np.where(count, count, np.nan)[..., None], np.float32)
