"""The autocorrelation of a picture and its peaks.

Shifts are (dx, dy) in pixels, dx to the right and dy *down*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import fft, ndimage

Array = npt.NDArray[np.floating[Any]]

WORKING_SIDE = 256
HIGHPASS_SHARE = 16 / WORKING_SIDE
LONGEST_LAG = 0.5
"""Longest shift looked at, as a share of the shorter side: there a quarter of the picture still overlaps."""

PEAKS = 200
"""How many of the strongest peaks are looked at."""


def shrunk(luma: Array, side: int) -> npt.NDArray[np.float32]:
    """Scale luma (H, W) down, with a filter, so that its shorter side is `side`; unchanged when it is smaller."""
    luma = np.asarray(luma, dtype=np.float32)
    height, width = luma.shape
    factor = side / min(height, width)
    if factor >= 1:
        return luma
    size = (round(width * factor), round(height * factor))
    return np.asarray(Image.fromarray(luma).resize(size, Image.Resampling.BICUBIC), dtype=np.float32)


def autocorrelation(luma: Array, highpass_sigma_px: float = 16) -> npt.NDArray[np.float32]:
    """Normalised autocorrelation of the high-passed luma, (H, W) → (H, W) with shift 0 at [H // 2, W // 2].

    Zero-padded, divided by the overlap, 1 at shift 0; 0 everywhere for a flat picture.
    """
    luma = np.asarray(luma, dtype=np.float32)
    height, width = luma.shape
    detail = luma - ndimage.gaussian_filter(luma, highpass_sigma_px, mode="reflect")
    detail -= detail.mean()
    shape = [fft.next_fast_len(2 * n, real=True) for n in (height, width)]
    raw = fft.irfft2(np.abs(fft.rfft2(detail, shape)) ** 2, shape)
    rows, columns = ((np.arange(n) - n // 2) for n in (height, width))
    raw = raw[np.ix_(rows, columns)]
    overlap = np.outer(height - np.abs(rows), width - np.abs(columns))
    power = float(np.mean(detail.astype(np.float64) ** 2))
    if power <= 1e-10:
        return np.zeros((height, width), dtype=np.float32)
    return np.asarray(raw / overlap / power, dtype=np.float32)


@dataclass(frozen=True)
class Correlation:
    """An autocorrelation with its centre, and look-ups by shift."""

    values: npt.NDArray[np.float32]
    longest: float

    @property
    def centre(self) -> Array:
        """Column and row of shift 0."""
        return np.array([self.values.shape[1] // 2, self.values.shape[0] // 2], dtype=np.float64)

    def at(self, shifts: Array, reach: int = 1) -> Array:
        """Look up the maximum within `reach` pixels of each shift (N, 2), or interpolate when that is 0."""
        places = (shifts + self.centre).T[::-1]
        if reach == 0:
            return np.asarray(ndimage.map_coordinates(self.values, places, order=1), dtype=np.float64)
        grown = self._grown if reach == 1 else ndimage.maximum_filter(self.values, 2 * reach + 1)
        return np.asarray(ndimage.map_coordinates(grown, places, order=0), dtype=np.float64)

    @cached_property
    def _grown(self) -> npt.NDArray[np.float32]:
        return np.asarray(ndimage.maximum_filter(self.values, size=3), dtype=np.float32)

    def peak_near(self, shift: Array, reach: int) -> Array | None:
        """Sub-pixel position of the local maximum near a shift, if there is one."""
        column, row = np.round(shift + self.centre).astype(int)
        height, width = self.values.shape
        if not (reach < row < height - reach - 1 and reach < column < width - reach - 1):
            return None
        patch = self.values[row - reach : row + reach + 1, column - reach : column + reach + 1]
        j, i = np.unravel_index(int(np.argmax(patch)), patch.shape)
        row, column = row + int(j) - reach, column + int(i) - reach
        if not (0 < row < height - 1 and 0 < column < width - 1):
            return None
        box = self.values[row - 1 : row + 2, column - 1 : column + 2].astype(np.float64)
        if box[1, 1] < box.max():
            return None
        return np.array([column + _vertex(box[1]), row + _vertex(box[:, 1])]) - self.centre


def _vertex(three: Array) -> float:
    bend = three[0] - 2 * three[1] + three[2]
    return float(np.clip(0.5 * (three[0] - three[2]) / bend, -0.5, 0.5)) if bend < 0 else 0.0


def peaks(correlation: Correlation, limit: int) -> tuple[Array, Array]:
    """Local maxima of one half plane within the longest lag: shifts (N, 2) and values, near and strong first."""
    smooth = ndimage.gaussian_filter(correlation.values, 0.7)
    best = (smooth == ndimage.maximum_filter(smooth, size=5)) & (correlation.values > 0.05)
    rows, columns = np.nonzero(best)
    shifts = np.stack([columns, rows], axis=1) - correlation.centre
    upper = (shifts[:, 1] > 0) | ((shifts[:, 1] == 0) & (shifts[:, 0] > 0))
    near = np.hypot(*shifts.T) <= correlation.longest
    shifts, values = shifts[upper & near], smooth[rows, columns][upper & near]
    # A fine lattice has thousands of peaks as strong as each other: the near ones are measured best.
    order = np.argsort(-values * np.exp(-np.hypot(*shifts.T) / correlation.longest), kind="stable")[:limit]
    return shifts[order], values[order]


def peak_strength(correlation: Array) -> float:
    """Find the strongest peak beyond the first zero crossing, within half the shorter side.

    Beyond the crossing of the mean over all directions, and with a valley of at most half its height on the straight
    way from shift 0: grain, whose autocorrelation is a ridge, does not count as repetition along itself.
    """
    wrapped = Correlation(np.asarray(correlation, dtype=np.float32), LONGEST_LAG * min(np.shape(correlation)))
    crossing = _first_crossing(wrapped)
    return max(
        (
            float(value)
            for shift, value in zip(*peaks(wrapped, PEAKS), strict=True)
            if np.hypot(*shift) > crossing and valley(wrapped, shift) <= 0.5 * value
        ),
        default=0.0,
    )


def valley(correlation: Correlation, shift: Array) -> float:
    """Look up the lowest value on the straight way from shift 0."""
    return float(correlation.at(np.linspace(0.0, 1.0, 65)[1:-1, None] * shift, 0).min())


def _first_crossing(correlation: Correlation) -> float:
    """Radius at which the mean over all directions first falls to zero."""
    height, width = correlation.values.shape
    rows, columns = np.indices((height, width))
    radius = np.hypot(rows - correlation.centre[1], columns - correlation.centre[0]).astype(int).ravel()
    mean = np.bincount(radius, correlation.values.ravel()) / np.bincount(radius)
    below = np.flatnonzero(mean <= 0)
    return float(below[0]) if len(below) else correlation.longest
