"""Statistics of the power spectrum of a picture's luma: polar profile, slope, energy by scale, contrast.

All take luma of shape (H, W), any real dtype, display-referred in [0, 1]. Frequencies are in cycles per picture along
the shorter side unless said otherwise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import fft, sparse

Array = npt.NDArray[np.floating[Any]]

REFERENCE_PIXELS = 256 * 256
"""Power is scaled to what a picture of this many pixels would have, so that sizes compare."""

BANDS: dict[str, tuple[float, float]] = {"macro": (0.0, 8.0), "meso": (8.0, 32.0), "micro": (32.0, np.inf)}
"""Bands of `scale_energies` in cycles per picture, from (included) to (excluded)."""

POWER_FLOOR = 1e-3

FLAT = 1e-5
"""Contrast below which a picture is flat: what is left is rounding."""


class Slope(NamedTuple):
    """Power ∝ f^−`beta` (two-dimensional density); `r2` of the straight line through log power over log frequency."""

    beta: float
    r2: float

    @property
    def gain_per_octave(self) -> float:
        """Amplitude of each octave of a fractal noise relative to the one before it, 2^((2−β)/2), at most 1."""
        return float(min(2.0 ** ((2.0 - self.beta) / 2.0), 1.0))


class RadialPeak(NamedTuple):
    """Where the energy per octave is largest: `cycles` per picture, and its `prominence` over the median octave."""

    cycles: float
    prominence: float


def hann(height: int, width: int) -> npt.NDArray[np.float32]:
    """Window (H, W) that every spectrum here is taken through."""
    # The periodic window without its zero sample: pixels are at (i + 0.5)/N.
    row, column = (np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2 for n in (height, width))
    return np.outer(row, column).astype(np.float32)


@lru_cache(maxsize=16)
def _frequencies(height: int, width: int) -> tuple[Array, Array, Array]:
    """Radius (cycles per shorter side), angle in [0, π), and Hermitian weight on the half plane of `rfft2`."""
    side = min(height, width)
    v, u = fft.fftfreq(height)[:, None] * side, fft.rfftfreq(width)[None, :] * side
    weight = np.full((height, width // 2 + 1), 2.0)
    weight[:, 0] = 1.0
    if width % 2 == 0:
        weight[:, -1] = 1.0
    return np.hypot(u, v), np.arctan2(-v, u) % np.pi, weight


def power_spectrum(luma: Array) -> Array:
    """Hann-windowed power of the mean-free luma, (..., H, W) → (..., H, W // 2 + 1), scaled to 256² pixels."""
    luma = np.asarray(luma, dtype=np.float32)
    height, width = luma.shape[-2:]
    window = hann(height, width)
    mean = (luma * window).sum(axis=(-2, -1), keepdims=True) / window.sum()
    spectrum = fft.rfft2((luma - mean) * window)
    power: Array = (spectrum.real**2 + spectrum.imag**2) * (REFERENCE_PIXELS / (height * width))
    return power


@lru_cache(maxsize=16)
def polar_bins(height: int, width: int, radial: int, angular: int) -> sparse.csr_matrix:
    """Sparse (radial·angular, pixels) matrix of means; an empty sector of a ring takes the mean of the ring."""
    radius, angle, weight = _frequencies(height, width)
    top = min(height, width) / 2
    ring = np.floor(np.log(np.maximum(radius, 1e-9)) / np.log(top) * radial).astype(int)
    # Sector centres are at multiples of π/angular, so that horizontal and vertical fall into the middle of one.
    sector = np.floor(angle / np.pi * angular + 0.5).astype(int) % angular
    inside = (radius >= 1) & (radius < top)
    pixels = np.flatnonzero(inside)
    cells = (ring * angular + sector)[inside]
    filled = sparse.csr_matrix((weight[inside], (cells, pixels)), shape=(radial * angular, radius.size))
    totals = np.asarray(filled.sum(axis=1)).ravel()
    matrix = filled.tolil()
    rings = ring.ravel()
    for cell in np.flatnonzero(totals == 0):
        distance = np.abs(rings - cell // angular) + np.where(inside.ravel(), 0, radial)
        nearest = np.flatnonzero(distance == distance.min())
        matrix[cell, nearest] = weight.ravel()[nearest]
    scale = 1.0 / np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_matrix(sparse.diags(scale) @ matrix.tocsr(), dtype=np.float32)


def polar_log_power(luma: Array, radial: int = 16, angular: int = 8) -> npt.NDArray[np.float32]:
    """log(P + 1e-3), P the mean power in log-radial × angular bins: (..., H, W) → (..., radial, angular).

    Radii run from 1 cycle per picture to Nyquist; sector k is centred on the wave-vector angle k·π/angular,
    counter-clockwise as seen. Compare pictures of equal size by L1.
    """
    power = power_spectrum(luma)
    height, width = np.shape(luma)[-2:]
    flat = power.reshape(-1, power.shape[-2] * power.shape[-1])
    mean = (polar_bins(height, width, radial, angular) @ flat.T).T
    result: npt.NDArray[np.float32] = np.log(mean + POWER_FLOOR).astype(np.float32)
    return result.reshape(*np.shape(luma)[:-2], radial, angular)


def radial_power(luma: Array, per_octave: int = 4) -> tuple[Array, Array]:
    """Mean power in rings: frequencies (K,) in cycles per picture and power (K,); only rings that hold samples."""
    radius, _, weight = _frequencies(*np.shape(luma))
    power = power_spectrum(luma)
    top = min(np.shape(luma)) / 2
    ring = np.floor(np.log2(np.maximum(radius, 0.5)) * per_octave).astype(int)
    inside = (radius >= 1) & (radius < top)
    index, share = ring[inside], weight[inside]
    total = np.bincount(index, share)
    filled = total > 0
    frequency = np.exp(np.bincount(index, share * np.log(radius[inside]))[filled] / total[filled])
    return frequency, np.bincount(index, share * power[inside])[filled] / total[filled]


def spectral_slope(luma: Array, lowest: float = 3.0, highest_fraction: float = 0.7) -> Slope:
    """Slope of the radial power between `lowest` cycles per picture and a fraction of Nyquist.

    The lowest frequencies are left to the light, the highest to the camera's and the file format's filters. A picture
    without contrast has slope 0 and r² 0.
    """
    frequency, power = radial_power(luma)
    used = (frequency >= lowest) & (frequency <= highest_fraction * min(np.shape(luma)) / 2) & (power > 0)
    if used.sum() < 3 or contrast(luma) < FLAT:
        return Slope(0.0, 0.0)
    x, y = np.log(frequency[used]), np.log(power[used])
    slope, offset = np.polyfit(x, y, 1)
    spread = float(np.sum((y - y.mean()) ** 2))
    r2 = 1.0 - float(np.sum((y - slope * x - offset) ** 2)) / spread if spread > 0 else 0.0
    return Slope(float(-slope), r2)


def radial_peak(luma: Array) -> RadialPeak:
    """Find the scale of the dominant blob: the maximum over f ≥ 2 of f²·P(f), the energy per octave.

    A power law has its maximum at an end of the range and little prominence; cells and grains have a clear one.
    """
    frequency, power = radial_power(luma, per_octave=3)
    used = frequency >= 2
    if used.sum() < 3:
        return RadialPeak(float(frequency[-1]) if len(frequency) else 1.0, 1.0)
    frequency, energy = frequency[used], (frequency**2 * power)[used]
    best = int(np.argmax(energy))
    position = float(np.log(frequency[best]))
    if 0 < best < len(energy) - 1:
        low, middle, high = np.log(energy[best - 1 : best + 2] + 1e-12)
        bend = low - 2 * middle + high
        shift = 0.5 * (low - high) / bend if bend < 0 else 0.0
        position += float(shift) * float(np.log(frequency[best + 1] / frequency[best - 1])) / 2
    return RadialPeak(float(np.exp(position)), float(energy[best] / max(float(np.median(energy)), 1e-12)))


def scale_energies(luma: Array) -> dict[str, float]:
    """Shares of the variance in the bands macro (< 8 cycles per picture), meso (8–32) and micro (≥ 32).

    They sum to 1, or are all 0 for a picture without contrast.
    """
    if contrast(luma) < FLAT:
        return dict.fromkeys(BANDS, 0.0)
    radius, _, weight = _frequencies(*np.shape(luma))
    energy = power_spectrum(luma) * weight
    total = float(energy.sum())
    return {name: float(energy[(radius >= low) & (radius < high)].sum()) / total for name, (low, high) in BANDS.items()}


def contrast(luma: Array) -> float:
    """Measure the standard deviation of the luma (RMS contrast), in [0, 0.5]."""
    return float(np.std(luma))
