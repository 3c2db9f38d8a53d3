"""Dominant direction of a picture by the structure tensor.

Source: Bigün and Granlund, "Optimal orientation detection of linear symmetry", ICCV 1987.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from evaluators.functional.correlation import shrunk

Array = npt.NDArray[np.floating[Any]]

TRUSTED_COHERENCE = 0.3
SCALES: dict[str, float] = {"micro": 1.0 / 256, "meso": 3.0 / 256, "macro": 9.0 / 256}
"""Width of the derivative filters of `anisotropy`, as a share of the shorter side."""


class Orientation(NamedTuple):
    """`angle_rad` in [0, π): direction *along* the lines, counter-clockwise as seen; `coherence` in [0, 1].

    Trust the angle where the coherence is above 0.3.
    """

    angle_rad: float
    coherence: float


def orientation(luma: Array, sigma_px: float = 1.5) -> Orientation:
    """Direction along the lines of luma (H, W), from Gaussian derivatives of width `sigma_px`.

    Coherence is (λ₁ − λ₂)/(λ₁ + λ₂) of the tensor averaged over the picture; a flat picture has coherence 0.
    """
    luma = np.asarray(luma, dtype=np.float32)
    margin = int(np.ceil(2 * sigma_px))
    dx = ndimage.gaussian_filter(luma, sigma_px, order=(0, 1), mode="nearest")
    dy = -ndimage.gaussian_filter(luma, sigma_px, order=(1, 0), mode="nearest")
    if min(luma.shape) > 4 * margin:
        dx, dy = dx[margin:-margin, margin:-margin], dy[margin:-margin, margin:-margin]
    xx, yy, xy = (float(np.mean(p, dtype=np.float64)) for p in (dx * dx, dy * dy, dx * dy))
    total = xx + yy
    if total <= 1e-14:
        return Orientation(0.0, 0.0)
    across = 0.5 * np.arctan2(2 * xy, xx - yy)
    coherence = float(np.hypot(xx - yy, 2 * xy) / total)
    return Orientation(float((across + np.pi / 2) % np.pi), coherence)


def anisotropy(luma: Array) -> dict[str, Orientation]:
    """Orientation at the scales `SCALES`: micro, meso, macro."""
    # At a quarter of a filter's width nothing is lost by sampling coarser.
    sizes = {name: (shrunk(luma, max(round(2 / share), 16)), share) for name, share in SCALES.items()}
    return {name: orientation(part, max(share * min(part.shape), 0.7)) for name, (part, share) in sizes.items()}
