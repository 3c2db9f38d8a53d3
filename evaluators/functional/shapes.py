"""Lines and blobs: what the details of a picture are, and whether they are lighter or darker than the rest.

Sources: Frangi et al., "Multiscale vessel enhancement filtering", MICCAI 1998 (lines by Hessian eigenvalues);
Serra, "Image Analysis and Mathematical Morphology", 1982 (circularity by area and perimeter).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from skimage import measure

Array = npt.NDArray[np.floating[Any]]


class Lines(NamedTuple):
    """Evidence of thin lines.

    `light` and `dark`: energy of line-like second derivatives of that sign as a share of all second-derivative
    energy, in [0, 1]. `skewness` and `kurtosis` (excess) of the band-passed luma: sparse light lines are positive in
    both, a Gaussian field has 0 in both.
    """

    light: float
    dark: float
    skewness: float
    kurtosis: float


class Blobs(NamedTuple):
    """Evidence of blobs in a mask: the `number` of parts that do not touch the border, and medians over them.

    `roundness` (4π·area/perimeter²), `solidity` (area over convex hull) and `rectangularity` (area over the rectangle
    along its axes) are in [0, 1]; `diameter` is a share of the shorter side, `elongation` long over short axis.
    """

    number: int
    roundness: float
    solidity: float
    rectangularity: float
    diameter: float
    elongation: float


def lines(luma: Array, sigma_share: float = 1.2 / 256) -> Lines:
    """Evidence of lines about 3·`sigma_share` of the shorter side wide, in luma (H, W)."""
    luma = np.asarray(luma, dtype=np.float32)
    sigma = max(sigma_share * min(luma.shape), 0.8)
    xx, yy, xy = (ndimage.gaussian_filter(luma, sigma, order=o, mode="nearest") for o in ((0, 2), (2, 0), (1, 1)))
    middle, half = (xx + yy) / 2, np.sqrt(((xx - yy) / 2) ** 2 + xy**2)
    first, second = middle + half, middle - half
    swap = np.abs(second) > np.abs(first)
    strong, weak = np.where(swap, second, first), np.where(swap, first, second)
    energy = strong.astype(np.float64) ** 2 + weak.astype(np.float64) ** 2
    line = np.where(np.abs(weak) < 0.5 * np.abs(strong), energy, 0.0)
    total = float(energy.sum())
    band = ndimage.gaussian_filter(luma, sigma, mode="nearest") - ndimage.gaussian_filter(
        luma, 4 * sigma, mode="nearest"
    )
    spread = float(band.std())
    if total <= 1e-12 or spread <= 1e-6:
        return Lines(0.0, 0.0, 0.0, 0.0)
    normal = (band - band.mean()) / spread
    return Lines(
        light=float(line[strong < 0].sum()) / total,
        dark=float(line[strong > 0].sum()) / total,
        skewness=float(np.mean(normal**3)),
        kurtosis=float(np.mean(normal**4)) - 3.0,
    )


def blobs(mask: npt.NDArray[np.bool_], smallest_share: float = 0.0005) -> Blobs:
    """Evidence of blobs among the connected parts of a mask that do not touch the border."""
    labels = measure.label(mask, connectivity=1)  # type: ignore[no-untyped-call]
    smallest = smallest_share * mask.size
    height, width = mask.shape
    parts = [
        part
        for part in measure.regionprops(labels)  # type: ignore[no-untyped-call]
        if part.area >= smallest
        and part.bbox[0] > 0
        and part.bbox[1] > 0
        and part.bbox[2] < height
        and part.bbox[3] < width
    ]
    if not parts:
        return Blobs(0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return Blobs(
        number=len(parts),
        roundness=float(np.median([min(4 * np.pi * p.area / max(p.perimeter, 1.0) ** 2, 1.0) for p in parts])),
        solidity=float(np.median([p.solidity for p in parts])),
        rectangularity=float(np.median([_rectangularity(p) for p in parts])),
        diameter=float(np.median([p.equivalent_diameter_area for p in parts])) / min(mask.shape),
        elongation=float(np.median([p.axis_major_length / max(p.axis_minor_length, 1.0) for p in parts])),
    )


def _rectangularity(part: Any) -> float:
    # skimage measures the orientation from the row axis, counter-clockwise.
    along = np.array([np.cos(part.orientation), np.sin(part.orientation)])
    across = np.array([-along[1], along[0]])
    sides = [float(np.ptp(part.coords @ axis)) + 1.0 for axis in (along, across)]
    return min(float(part.area) / (sides[0] * sides[1]), 1.0)
