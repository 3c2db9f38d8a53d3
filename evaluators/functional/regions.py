"""A picture split in two: figure and ground, such as stone and mortar, vein and body.

Source of the threshold: Otsu, "A threshold selection method from gray-level histograms", IEEE SMC 1979.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage

Array = npt.NDArray[np.floating[Any]]
Mask = npt.NDArray[np.bool_]

UNIMODAL_SEPARATION, CLEAR_SEPARATION = 0.66, 0.88
"""Otsu's ratio is 0.64 for one Gaussian; two plateaus with 12 % of variance within them reach 0.88."""


class Split(NamedTuple):
    """Two regions of a field.

    `minority` (H, W): mask of the smaller one; `share` its area in (0, 0.5]; `is_dark` whether it has the lower
    values; `threshold` in the field's units; `separation` = between-class over total variance in [0, 1];
    `confidence` in [0, 1] that there are two regions at all; `width` of the minority and of the majority as shares of
    the shorter side (mean of twice the distance to the border along the regions' middle lines).
    """

    minority: Mask
    share: float
    is_dark: bool
    threshold: float
    separation: float
    confidence: float
    minority_width: float
    majority_width: float


def otsu(field: Array, bins: int = 256) -> tuple[float, float]:
    """Otsu's threshold and its separation (between-class over total variance); (value, 0) for a constant field."""
    low, high = np.quantile(field, [0.001, 0.999])
    if high - low <= 1e-9:
        return float(low), 0.0
    # In single precision the histogram of a field that is all but constant runs out of its bins.
    clipped = np.clip(np.asarray(field, dtype=np.float64), low, high)
    counts, edges = np.histogram(clipped, bins=bins, range=(float(low), float(high)))
    middle = (edges[:-1] + edges[1:]) / 2
    share = counts / counts.sum()
    weight, moment = np.cumsum(share), np.cumsum(share * middle)
    total = moment[-1]
    variance = float(np.sum(share * (middle - total) ** 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (total * weight - moment) ** 2 / (weight * (1 - weight))
    between = np.where((weight > 0.002) & (weight < 0.998), between, 0.0)
    # A gap between the classes makes a plateau of equal maxima: take its middle.
    best = np.flatnonzero(between >= between.max() * (1 - 1e-9))
    split = int(best[len(best) // 2])
    return float(edges[split + 1]), float(between.max() / max(variance, 1e-12))


def region_width(mask: Mask) -> float:
    """Mean width of a region in pixels: twice the distance to the border, averaged over its middle lines."""
    if not mask.any():
        return 0.0
    distance = ndimage.distance_transform_edt(mask)
    middle = mask & (distance >= ndimage.maximum_filter(distance, size=3) - 1e-6)
    # The distance is to the nearest outside pixel's centre, half a pixel beyond the border.
    return float(2 * distance[middle].mean() - 1)


def two_regions(field: Array) -> Split:
    """Split a field (H, W) (luma, or the position along the main colour axis) into two regions."""
    field = np.asarray(field, dtype=np.float32)
    side = min(field.shape)
    smooth = ndimage.gaussian_filter(field, side / 320, mode="nearest")
    threshold, separation = otsu(smooth)
    dark = smooth <= threshold
    is_dark = bool(dark.mean() <= 0.5)
    minority = dark if is_dark else ~dark
    confidence = (separation - UNIMODAL_SEPARATION) / (CLEAR_SEPARATION - UNIMODAL_SEPARATION)
    return Split(
        minority=minority,
        share=float(minority.mean()),
        is_dark=is_dark,
        threshold=threshold,
        separation=separation,
        confidence=float(min(max(confidence, 0.0), 1.0)),
        minority_width=region_width(minority) / side,
        majority_width=region_width(~minority) / side,
    )
