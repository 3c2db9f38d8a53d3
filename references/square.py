"""Which square of a picture is material: the most homogeneous one, when the whole holds more than one thing.

The picture is taken in blocks, each described by its mean colour and its contrast. A square is homogeneous when its
parts have the same descriptions, up to how much the blocks of a part differ among themselves: bricks and mortar differ,
but every part of a wall has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage

from evaluators.functional.color import srgb_to_lab
from references.source import Box

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Steps = npt.NDArray[np.int_]

WORKING_SIDE = 192
"""Shorter side of the picture that is judged, in pixels."""

BLOCK = 6
PARTS = 4
"""A square is compared in 4×4 parts."""

SMALLEST_SHARE = 0.3
"""Smallest square that is proposed, of the picture's shorter side."""

MIXED = 1.0
"""Unevenness from which a picture holds more than material; pictures of one material stay below."""

CALM_SHARE = 0.5
"""The proposed square must have at most this share of the centre square's unevenness."""

SIZE_PRICE = 0.35
"""How much more unevenness a square may have that is twice as wide."""

_CONTRAST_FLOOR = 0.5
_FAINT = float(np.log(1.2))
_BLANK_PRICE = 2.0
_SIZE_PRICE_IN_MASK = 2.0
_TOLERANCE = np.array([4.0, 3.0, 3.0, 0.5])
"""Differences that do not matter: lightness, a, b (CIE Lab), and contrast as a natural logarithm."""


class Proposal(NamedTuple):
    """A square in shares of the picture's width and height, and what speaks for it.

    `unevenness` of that square and `whole_unevenness` of the centre square, in units of what one material has.
    `mixed`: whether the picture holds more than material, so that the square is worth taking.
    """

    left: float
    top: float
    width: float
    height: float
    unevenness: float
    whole_unevenness: float
    mixed: bool

    def box(self, size: tuple[int, int]) -> Box:
        """The square in pixels of a picture of a size."""
        side = max(round(min(self.width * size[0], self.height * size[1])), 1)
        side = min(side, *size)
        left = min(round(self.left * size[0]), size[0] - side)
        top = min(round(self.top * size[1]), size[1] - side)
        return Box(left, top, left + side, top + side)


@dataclass(frozen=True)
class _Blocks:
    """Integral images, (rows + 1, columns + 1, features), of block descriptions, their squares, and the mask."""

    total: Array
    squares: Array
    allowed: Array

    def unevenness(self, tops: Steps, lefts: Steps, side: int) -> Array:
        """How much the parts of each square differ, in units of their own variety and of what does not matter."""
        edges = np.round(np.linspace(0, side, PARTS + 1)).astype(int)
        area = np.outer(np.diff(edges), np.diff(edges)).reshape(1, 1, -1, 1)
        mean, square = (_sums(table, tops, lefts, edges) / area for table in (self.total, self.squares))
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        unit = _TOLERANCE + np.median(deviation, axis=2)
        distance = np.abs(mean - np.median(mean, axis=2, keepdims=True)) / unit[:, :, None]
        # The worst part and the spread: one corner of something else counts, and so does a slow change.
        return np.asarray((0.5 * distance.max(axis=2) + distance.mean(axis=2)).max(axis=-1))

    def blankness(self, tops: Steps, lefts: Steps, side: int) -> Array:
        """From 0 to 1: how far each square lacks the faintest texture, as a sky or a page does."""
        contrast = _sums(self.total, tops, lefts, np.array([0, side]))[:, :, 0, 3] / side**2
        return np.asarray(np.clip((_FAINT - contrast) / (_FAINT - np.log(_CONTRAST_FLOOR)), 0, 1))

    def inside(self, tops: Steps, lefts: Steps, side: int) -> npt.NDArray[np.bool_]:
        """Whether each square lies in the mask."""
        return np.asarray(_sums(self.allowed, tops, lefts, np.array([0, side]))[:, :, 0, 0] >= 0.999 * side * side)


def propose_square(image_srgb: npt.NDArray[np.float32], mask: Mask | None = None) -> Proposal | None:
    """Find the most homogeneous square of a picture (H, W, 3), sRGB in [0, 1], any size.

    With `mask` (H, W), True where the material is, only squares inside it; None when not even a square of two blocks a
    side fits. Larger squares are preferred to slightly calmer ones, inside a mask to much calmer ones.
    """
    blocks, (rows, columns) = _described(image_srgb, mask)
    short = min(rows, columns)
    smallest = min(max(PARTS, round(SMALLEST_SHARE * short)) if mask is None else 2, short)
    best: tuple[float, int, int, int, float] | None = None
    for side in sorted({max(smallest, round(short * 0.87**k)) for k in range(20)}, reverse=True):
        tops, lefts = (_starts(room - side, max(1, side // 8)) for room in (rows, columns))
        found = blocks.unevenness(tops, lefts, side) if side >= PARTS else np.zeros((len(tops), len(lefts)))
        octaves = float(np.log2(short / side))
        price = found + (SIZE_PRICE if mask is None else _SIZE_PRICE_IN_MASK) * octaves
        price = price + _BLANK_PRICE * blocks.blankness(tops, lefts, side)
        price = np.where(blocks.inside(tops, lefts, side), price, np.inf)
        row, column = np.unravel_index(int(price.argmin()), price.shape)
        if np.isfinite(price[row, column]) and (best is None or price[row, column] < best[0]):
            best = (float(price[row, column]), int(tops[row]), int(lefts[column]), side, float(found[row, column]))
    if best is None:
        return None
    _, top, left, side, calm = best
    middle = np.array([(rows - short) // 2]), np.array([(columns - short) // 2])
    centre = float(blocks.unevenness(*middle, short)[0, 0]) if short >= PARTS else 0.0
    mixed = centre > MIXED and calm <= CALM_SHARE * centre
    return Proposal(left / columns, top / rows, side / columns, side / rows, calm, centre, mixed)


def _starts(room: int, step: int) -> Steps:
    return np.array(sorted({*range(0, room + 1, step), room}))


def _described(image_srgb: npt.NDArray[np.float32], mask: Mask | None) -> tuple[_Blocks, tuple[int, int]]:
    height, width = image_srgb.shape[:2]
    factor = min(WORKING_SIDE / min(height, width), 1.0)
    size = (max(round(width * factor), 1), max(round(height * factor), 1))
    planes = [
        Image.fromarray(np.ascontiguousarray(image_srgb[..., c], np.float32)).resize(size, Image.Resampling.BOX)
        for c in range(3)
    ]
    lab = np.asarray(srgb_to_lab(np.stack([np.asarray(p) for p in planes], axis=-1)), np.float64)
    block = max(min(BLOCK, min(size) // (2 * PARTS)), 1)
    rows, columns = size[1] // block, size[0] // block
    cut = lab[: rows * block, : columns * block].reshape(rows, block, columns, block, 3)
    mean = cut.mean(axis=(1, 3))
    # Contrast against the blocks around as well as inside: a coarse texture is not flat between its edges.
    around = np.abs(lab[..., 0] - ndimage.uniform_filter(lab[..., 0], size=3 * block, mode="nearest"))
    contrast = around[: rows * block, : columns * block].reshape(rows, block, columns, block).mean(axis=(1, 3))
    features = np.concatenate([mean, np.log(contrast + _CONTRAST_FLOOR)[..., None]], axis=-1)
    allowed = np.ones((rows, columns, 1))
    if mask is not None:
        shown = np.asarray(Image.fromarray(mask).convert("L").resize(size, Image.Resampling.BOX), np.float64) / 255
        inside = shown[: rows * block, : columns * block].reshape(rows, block, columns, block).min(axis=(1, 3)) > 0.98
        allowed = inside[..., None].astype(np.float64)
    return _Blocks(_integral(features), _integral(features**2), _integral(allowed)), (rows, columns)


def _integral(field: Array) -> Array:
    return np.pad(field.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0), (0, 0)))


def _sums(table: Array, tops: Steps, lefts: Steps, edges: Steps) -> Array:
    """Sums over the parts that `edges` cut each square into: (tops, lefts, parts, features)."""
    rows, columns = tops[:, None] + edges, lefts[:, None] + edges
    corners = table[rows[:, None, :, None], columns[None, :, None, :]]
    cut = np.diff(np.diff(corners, axis=2), axis=3)
    return np.asarray(cut.reshape(len(tops), len(lefts), -1, table.shape[-1]))
