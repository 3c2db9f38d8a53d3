"""Where a candidate differs, by scale: bands of both pictures, and how far the candidate's local contrast is off.

A fitted material does not line up with its reference, so places are compared with what the reference shows anywhere,
not with the same pixel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage, spatial

from evaluators.functional.color import luma, srgb_to_lab
from evaluators.functional.spectrum import BANDS
from evaluators.pictures import as_srgb, centre_square, comparison_size, resize_srgb
from evaluators.result import SCALES

FloatArray = npt.NDArray[np.float32]
CEILING_DB = 12.0
"""Deviations are cut off here: four times the contrast, or a quarter of it."""
_FLOOR = 1e-3


class Band(NamedTuple):
    """One scale: `reference` and `candidate` (S, S) are luma between the scale's frequencies, mean-free.

    `deviation_db` (S, S): how far the candidate's local contrast lies outside what the reference has from its 5th to
    its 95th percentile, in decibels; positive is too strong.
    """

    reference: FloatArray
    candidate: FloatArray
    deviation_db: FloatArray


class Differences(NamedTuple):
    """Two pictures (S, S, 3) at the `size` compared at, their `bands` by scale, and where colours are strange.

    `colour_delta_e` (S, S): from each place's mean colour to the nearest that the reference has anywhere.
    """

    size: int
    reference: FloatArray
    candidate: FloatArray
    bands: Mapping[str, Band]
    colour_delta_e: FloatArray


def where_it_differs(candidate_srgb: npt.ArrayLike, reference_srgb: npt.ArrayLike) -> Differences:
    """Compare two sRGB pictures (H, W, 3) in [0, 1], by their central squares at the evaluator's size."""
    squares = [
        centre_square(as_srgb(image, what))
        for image, what in ((reference_srgb, "a reference picture"), (candidate_srgb, "a picture"))
    ]
    size = comparison_size(*(square.shape[0] for square in squares))
    reference, candidate = (resize_srgb(square, size) for square in squares)
    bands: dict[str, Band] = {scale: _band(luma(reference), luma(candidate), scale) for scale in SCALES}
    return Differences(size, reference, candidate, bands, _colour_delta_e(candidate, reference))


def _band(reference: FloatArray, candidate: FloatArray, scale: str) -> Band:
    size = reference.shape[0]
    low, high = BANDS[scale]
    parts = [_between(image, low, min(high, size / 2)) for image in (reference, candidate)]
    # Local contrast over about a period of the band's lower edge.
    reach = size / max(low, 4.0) / 2
    levels = [
        20 * np.log10(np.sqrt(ndimage.gaussian_filter(part**2, reach, mode="reflect")) + _FLOOR) for part in parts
    ]
    bottom, top = np.quantile(levels[0], [0.05, 0.95])
    over = np.maximum(levels[1] - top, 0) + np.minimum(levels[1] - bottom, 0)
    return Band(parts[0], parts[1], np.clip(over, -CEILING_DB, CEILING_DB).astype(np.float32))


def _between(grey: FloatArray, low: float, high: float) -> FloatArray:
    """Luma between two frequencies in cycles per picture, by Gaussians of half power at the edges."""
    size = grey.shape[0]
    half = np.sqrt(np.log(2) / 2) * size / np.pi
    smooth = grey if high >= size / 2 else ndimage.gaussian_filter(grey, half / high / np.sqrt(2), mode="reflect")
    coarse = np.full_like(grey, grey.mean())
    if low > 0:
        coarse = ndimage.gaussian_filter(grey, half / low / np.sqrt(2), mode="reflect")
    return np.asarray(smooth - coarse, dtype=np.float32)


def _colour_delta_e(candidate: FloatArray, reference: FloatArray) -> FloatArray:
    sigma = candidate.shape[0] / 64
    labs = [srgb_to_lab(ndimage.gaussian_filter(image, (sigma, sigma, 0))) for image in (candidate, reference)]
    tree = spatial.cKDTree(labs[1].reshape(-1, 3))
    found = np.asarray(tree.query(labs[0].reshape(-1, 3))[0])
    return found.reshape(candidate.shape[:2]).astype(np.float32)
