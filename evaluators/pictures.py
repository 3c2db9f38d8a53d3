"""From whatever a picture is to what is compared: square sRGB arrays of one size."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from evaluators.errors import EvaluatorError
from evaluators.functional.color import linear_to_srgb, srgb_to_linear

FloatArray = npt.NDArray[np.float32]
SIZES = (64, 128, 256)
"""Sides at which pictures are compared, px: score normalisations do not carry over from one size to another."""
SMALLEST_SIDE = 32
_RANGE_TOLERANCE = 1e-3


def as_rgb(image: npt.ArrayLike, what: str) -> FloatArray:
    """Any (H, W), (H, W, 1) or (H, W, 3) picture as float32 (H, W, 3); unsigned integers are scaled to [0, 1].

    Raises `EvaluatorError` for other shapes, sides under 32 px, or non-finite values. `what` names it in errors.
    """
    array: npt.NDArray[Any] = np.asarray(image)
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[2] not in (1, 3):
        raise EvaluatorError(f"{what} of shape (H, W), (H, W, 1) or (H, W, 3)", f"shape {np.shape(image)}")
    if min(array.shape[:2]) < SMALLEST_SIDE:
        raise EvaluatorError(
            f"{what} of at least {SMALLEST_SIDE} px a side", f"{array.shape[1]}×{array.shape[0]} px (width × height)"
        )
    if array.dtype.kind == "u":
        array = array / np.float32(np.iinfo(array.dtype).max)
    if array.dtype.kind != "f":
        raise EvaluatorError(f"{what} of float or unsigned integer type", f"{array.dtype}")
    if not np.isfinite(array).all():
        raise EvaluatorError(f"{what} with finite values", f"{int((~np.isfinite(array)).sum())} non-finite values")
    return np.broadcast_to(array, (*array.shape[:2], 3)).astype(np.float32)


def as_srgb(image: npt.ArrayLike, what: str) -> FloatArray:
    """As `as_rgb`, and refused where display-referred values leave [0, 1]."""
    array = as_rgb(image, what)
    if array.min() < -_RANGE_TOLERANCE or array.max() > 1 + _RANGE_TOLERANCE:
        raise EvaluatorError(f"{what} as sRGB in [0, 1]", f"values in [{array.min():.4g}, {array.max():.4g}]")
    return np.clip(array, 0, 1)


def centre_square(image: FloatArray) -> FloatArray:
    """Cut the largest square out of the middle of (H, W, C): a patch is square, and extents must agree."""
    height, width = image.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return image[top : top + side, left : left + side]


def comparison_size(*sides: int) -> int:
    """Return the side to compare at, for pictures of these sides: the largest of `SIZES` that none falls short of.

    Pictures between 32 and 64 px are enlarged to 64.
    """
    return max((size for size in SIZES if size <= min(sides)), default=SIZES[0])


@lru_cache(maxsize=64)
def _area_matrix(source: int, target: int) -> Any:
    """Sparse (target, source) weights of an area average when shrinking, of linear interpolation when enlarging."""
    if target <= source:
        edges = np.arange(target + 1) * source / target
        overlap = np.minimum(edges[1:, None], np.arange(1, source + 1)) - np.maximum(
            edges[:-1, None], np.arange(source)
        )
        weights = np.clip(overlap, 0, None)
    else:
        position = np.clip((np.arange(target) + 0.5) * source / target - 0.5, 0, source - 1)
        weights = np.clip(1 - np.abs(position[:, None] - np.arange(source)), 0, None)
    return csr_array((weights / weights.sum(axis=1, keepdims=True)).astype(np.float32))


def resize_linear(image: FloatArray, size: int) -> FloatArray:
    """(…, H, W, C) to (…, size, size, C) by averaging areas; values are averaged as they are given."""
    height, width = image.shape[-3:-1]
    if (height, width) == (size, size):
        return image
    rows, columns = _area_matrix(height, size), _area_matrix(width, size)
    pictures = [_averaged(picture, rows, columns) for picture in image.reshape(-1, *image.shape[-3:])]
    return np.stack(pictures).reshape(*image.shape[:-3], size, size, image.shape[-1])


def _averaged(picture: FloatArray, rows: Any, columns: Any) -> FloatArray:
    height, width, channels = picture.shape
    down = (rows @ picture.reshape(height, -1)).reshape(-1, width, channels).transpose(1, 0, 2)
    across = (columns @ down.reshape(width, -1)).reshape(columns.shape[0], -1, channels)
    return np.asarray(across.transpose(1, 0, 2), dtype=np.float32)


def resize_srgb(image: FloatArray, size: int) -> FloatArray:
    """SRGB (…, H, W, 3) in [0, 1] resized in linear light, as a camera or a renderer with more samples would."""
    if image.shape[-3:-1] == (size, size):
        return image
    return linear_to_srgb(resize_linear(srgb_to_linear(image), size))


def grain_crop(image: FloatArray, size: int) -> FloatArray | None:
    """Middle (size, size, 3) of a square picture brought to 2·`size` px: what averaging to `size` px hides.

    None for a picture of fewer pixels, which does not show it.
    """
    if image.shape[0] < 2 * size:
        return None
    edge = size // 2
    return resize_srgb(image, 2 * size)[edge : edge + size, edge : edge + size]


def middle(images: FloatArray, side: int) -> FloatArray:
    """Cut the middle (…, side, side, C) out of square pictures (…, S, S, C); smaller ones stay as they are."""
    edge = max(images.shape[-2] - side, 0) // 2
    return images[..., edge : edge + side, edge : edge + side, :]


def quadrants(image: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Cut the four disjoint quarters out of a square picture: top left, bottom right, top right, bottom left."""
    half = image.shape[0] // 2
    return image[:half, :half], image[-half:, -half:], image[:half, -half:], image[-half:, :half]


def largest_square(mask: npt.NDArray[np.bool_]) -> tuple[int, int, int]:
    """Top, left and side of the largest square of True in a mask (H, W); side 0 when nothing is True."""
    height, width = mask.shape
    reach = np.zeros((height + 1, width + 1), dtype=np.int64)
    best = (0, 0, 0)
    for y in range(height):
        for x in range(width):
            if mask[y, x]:
                side = 1 + min(reach[y, x], reach[y, x + 1], reach[y + 1, x])
                reach[y + 1, x + 1] = side
                if side > best[2]:
                    best = (y + 1 - side, x + 1 - side, side)
    return best
