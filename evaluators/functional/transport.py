"""Colour distributions compared by sliced optimal transport."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
_STEPS, _LARGEST = 128, 255.0


@lru_cache(maxsize=8)
def unit_directions(count: int) -> FloatArray:
    """`count` unit vectors (count, 3) spread evenly over the half sphere (a Fibonacci lattice): always the same."""
    i = np.arange(count, dtype=np.float64) + 0.5
    z = i / count
    azimuth = np.pi * (1 + np.sqrt(5)) * i
    ring = np.sqrt(1 - z**2)
    return np.asarray(np.stack([ring * np.cos(azimuth), ring * np.sin(azimuth), z], axis=1), dtype=np.float32)


def sliced_quantiles(
    points: FloatArray, directions: int = 64, quantiles: int = 256, *, stepped: bool = False
) -> FloatArray:
    """Quantiles of the projections of `points` (…, N, 3) on fixed directions: (…, directions, quantiles).

    Quantile k is taken at probability (k + ½) / quantiles, between the two nearest samples. Two pictures' Lab
    quantiles, subtracted and averaged in absolute value, are their sliced Wasserstein-1 distance in ΔE. `stepped`
    rounds projections to 1/128, a hundredth of what can be seen in ΔE, for an eighth of the time.
    """
    projected = np.swapaxes(points @ unit_directions(directions).T, -1, -2)
    ordered = _sorted_in_steps(projected) if stepped else np.sort(np.ascontiguousarray(projected), axis=-1)
    position = (np.arange(quantiles) + 0.5) / quantiles * points.shape[-2] - 0.5
    position = np.clip(position, 0, points.shape[-2] - 1)
    low = np.floor(position).astype(np.intp)
    high = np.minimum(low + 1, points.shape[-2] - 1)
    share = (position - low).astype(np.float32)
    return np.asarray(ordered[..., low] * (1 - share) + ordered[..., high] * share, dtype=np.float32)


def _sorted_in_steps(values: FloatArray) -> FloatArray:
    """Sort the last axis in steps of 1/128: NumPy sorts 16-bit integers by their digits."""
    steps = np.rint(np.clip(values, -_LARGEST, _LARGEST) * _STEPS).astype(np.int16, order="C")
    steps.sort(axis=-1, kind="stable")
    return np.asarray(steps, dtype=np.float32) / np.float32(_STEPS)


def sliced_wasserstein(a: FloatArray, b: FloatArray, directions: int = 64, quantiles: int = 256) -> float:
    """Sliced Wasserstein-1 distance between two point clouds (N, 3) and (M, 3), in the unit of the points."""
    return float(np.abs(sliced_quantiles(a, directions, quantiles) - sliced_quantiles(b, directions, quantiles)).mean())
