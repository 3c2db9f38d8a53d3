"""By how much a texture is coarser or finer than another: the shift between their energies by log frequency.

Enlarging a picture s times moves its energy per octave, f²·P(f), by log s along the axis of log frequency and leaves
its shape; so the shift at which two profiles agree best is the ratio of their scales, whatever the pattern.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from evaluators.functional.spectrum import REFERENCE_PIXELS, power_spectrum

Array = npt.NDArray[np.floating[Any]]
FloatArray = npt.NDArray[np.float32]

BINS = 64
LOWEST, HIGHEST = 1.5, 64.0
"""Cycles per picture. Above the second there is grain, and the filters of cameras and files."""
WIDEST = 16
"""Bins by which profiles are shifted at most: a factor of about 2.6 at 128 px."""
CLEAR_NEPERS = 0.4
"""A scale off by a factor of 1.5 is off whatever else is."""
_FLOOR = 1e-7
"""Added to the energies, as shares of the square of full contrast: below what 8 bits show."""
_SMOOTHING_BINS = 1.5


class Rescaling(NamedTuple):
    """`factor` by which the first picture is finer than the second, and the share of their difference it explains."""

    factor: float
    explained: float


def highest(size: int) -> float:
    """Upper end of the profile of a picture of `size` px, cycles per picture."""
    return min(size / 2, HIGHEST)


@lru_cache(maxsize=8)
def _to_profile(size: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], FloatArray, FloatArray]:
    """Where the half plane's samples are, the bin below each, its share of the bin above, and bins → profile."""
    row, column = np.fft.fftfreq(size)[:, None] * size, np.fft.rfftfreq(size)[None] * size
    radius = np.hypot(row, column).ravel()
    inside = np.flatnonzero((radius >= LOWEST) & (radius <= highest(size)))
    span = np.log(highest(size) / LOWEST)
    position = np.clip(np.log(radius[inside] / LOWEST) / span * BINS - 0.5, 0, BINS - 1.001)
    below = position.astype(np.intp)
    share = position - below
    counts = np.bincount(below, 1 - share, BINS) + np.bincount(below + 1, share, BINS)
    held = np.flatnonzero(counts > 0.3)
    # Bins between the few lowest frequencies are filled from their neighbours.
    filled = np.stack([np.interp(np.arange(BINS), held, unit) for unit in np.eye(len(held))], axis=1)
    means = np.zeros((BINS, BINS))
    means[:, held] = filled / counts[held]
    middle = LOWEST * np.exp(span * (np.arange(BINS) + 0.5) / BINS)
    profile = ndimage.gaussian_filter1d(middle[:, None] ** 2 * means, _SMOOTHING_BINS, axis=0)
    return inside, below, share.astype(np.float32), profile.astype(np.float32) / (REFERENCE_PIXELS * size**2)


def octave_energies(luma: Array) -> FloatArray:
    """Log energy per octave of square luma (S, S) at 64 frequencies, log-spaced from 1.5 cycles per picture: (64,)."""
    size = luma.shape[0]
    inside, below, share, profile = _to_profile(size)
    power = power_spectrum(luma).ravel()[inside]
    binned = np.bincount(below, power * (1 - share), BINS) + np.bincount(below + 1, power * share, BINS)
    return np.asarray(np.log(profile @ binned + _FLOOR), dtype=np.float32)


def rescaling(candidate: FloatArray, reference: FloatArray, size: int) -> Rescaling:
    """Compare two profiles of pictures of `size` px.

    Differences count half by the reference's energies and half evenly, over what overlaps at a shift. `explained` is
    the share of the difference that goes away when the candidate is brought to the reference's scale.
    """
    differences = np.array([_difference(candidate, reference, shift) for shift in range(-WIDEST, WIDEST + 1)])
    now = differences[WIDEST]
    best = int(np.argmin(differences)) if differences.min() < now else WIDEST
    step = np.log(highest(size) / LOWEST) / BINS
    explained = 1 - differences[best] / now if now > 0 else 0.0
    return Rescaling(float(np.exp((best - WIDEST) * step)), float(explained))


def _difference(candidate: FloatArray, reference: FloatArray, shift: int) -> float:
    ours = candidate[max(0, shift) : BINS + min(0, shift)]
    theirs = reference[max(0, -shift) : BINS + min(0, -shift)]
    weight = np.exp(theirs - theirs.max())
    weight = weight / weight.sum() + 1 / len(weight)
    return float(weight @ np.abs(ours - theirs)) / 2
