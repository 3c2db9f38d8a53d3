"""Statistics of a steerable pyramid, after STSIM (Zujovic, Pappas, Neuhoff, IEEE TIP 2013) with 82 numbers.

The pyramid is Portilla and Simoncelli's complex one, built in the frequency domain: raised-cosine octaves, four
orientations, bands cropped to their octave. It needs no weights and does not move when a texture is shifted.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import fft

FloatArray = npt.NDArray[np.float32]
ComplexArray = npt.NDArray[np.complex64]
LEVELS = 3
ORIENTATIONS = 4
# Below this standard deviation (2/255 of full luma) a picture is flat: noise must not be blown up to full contrast.
FLAT_STD = 2 / 255
# Energy floor, as a share of the picture's variance, so that an empty band has a finite logarithm.
ENERGY_FLOOR = 1e-6


class SteerableStatistics(NamedTuple):
    """Statistics of B pictures of contrast-normalised luma.

    `log_energy` (B, 14): log of each band's power: high residual, 3 levels × 4 orientations from fine to coarse, low
    residual. `autocorrelation` (B, 28): of neighbours along x, then y, in [−1, 1]. `cross` (B, 26): correlation of
    band magnitudes between orientations of a level and between neighbouring levels of an orientation, in [−1, 1].
    """

    log_energy: FloatArray
    autocorrelation: FloatArray
    cross: FloatArray

    def vector(self) -> FloatArray:
        """Everything but the 14 constant means of band-pass bands, as (B, 68)."""
        return np.concatenate([self.log_energy, self.autocorrelation, self.cross], axis=-1)


class Masks(NamedTuple):
    """Filters on shifted spectra (n, n): high-pass, the bands of each level, low-pass."""

    high: FloatArray
    bands: tuple[FloatArray, ...]  # one (ORIENTATIONS, n, n) per level
    low: FloatArray


def _raised_cosine(radius: npt.NDArray[np.float64], edge: float) -> npt.NDArray[np.float64]:
    """High-pass amplitude rising from 0 at edge/2 to 1 at edge, in log-frequency, with high² + low² = 1."""
    octave = np.clip(np.log2(np.maximum(radius, 1e-12) / edge), -1, 0)
    return np.asarray(np.cos(np.pi / 2 * octave), dtype=np.float64)


def _polar_grid(size: int, crop: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Radius (cycles per pixel of the full picture) and angle of the centre `crop`² of a size² spectrum."""
    frequency = np.fft.fftshift(np.fft.fftfreq(size))
    start = (size - crop) // 2
    frequency = frequency[start : start + crop]
    return np.hypot(frequency[:, None], frequency[None, :]), np.arctan2(frequency[:, None], frequency[None, :])


@lru_cache(maxsize=8)
def masks(size: int) -> Masks:
    """Filters of the pyramid for pictures of a side in px, on shifted spectra."""
    radius, _ = _polar_grid(size, size)
    high = _raised_cosine(radius, 0.5)
    bands = []
    gain = 2 ** (ORIENTATIONS - 1) * 6 / np.sqrt(ORIENTATIONS * 720)  # (n−1)! / √(n (2n−2)!), n = 4: tight frame
    for level in range(LEVELS):
        crop = size >> level
        radius, angle = _polar_grid(size, crop)
        edge = 0.5 / 2**level
        below = np.sqrt(np.clip(1 - _raised_cosine(radius, edge) ** 2, 0, 1))
        radial = below * _raised_cosine(radius, edge / 2)
        steered = []
        for k in range(ORIENTATIONS):
            turned = np.mod(angle - np.pi * k / ORIENTATIONS + np.pi, 2 * np.pi) - np.pi
            lobe = np.where(np.abs(turned) < np.pi / 2, 2 * gain * np.cos(turned) ** (ORIENTATIONS - 1), 0.0)
            steered.append(radial * lobe)
        bands.append(np.stack(steered).astype(np.float32))
    radius, _ = _polar_grid(size, size >> LEVELS)
    low = np.sqrt(np.clip(1 - _raised_cosine(radius, 0.5 / 2**LEVELS) ** 2, 0, 1))
    return Masks(high.astype(np.float32), tuple(bands), low.astype(np.float32))


def _correlation(a: FloatArray, b: FloatArray) -> FloatArray:
    """Correlation over the last two axes, 0 where either side does not vary."""
    a = a - a.mean(axis=(-2, -1), keepdims=True)
    b = b - b.mean(axis=(-2, -1), keepdims=True)
    power = (a * a).mean(axis=(-2, -1)) * (b * b).mean(axis=(-2, -1))
    covariance = (a * b).mean(axis=(-2, -1))
    return np.asarray(np.where(power > 1e-16, covariance / np.sqrt(np.maximum(power, 1e-16)), 0.0), dtype=np.float32)


def _halved(x: FloatArray) -> FloatArray:
    """Means of 2×2 blocks over the last two axes."""
    return np.asarray((x[..., ::2, ::2] + x[..., 1::2, ::2] + x[..., ::2, 1::2] + x[..., 1::2, 1::2]) / 4, np.float32)


def steerable_statistics(luma: FloatArray) -> SteerableStatistics:
    """Statistics of `luma` (B, S, S) in [0, 1], S a multiple of 16 and at least 32."""
    size = luma.shape[-1]
    if luma.ndim != 3 or luma.shape[-2] != size or size < 32 or size % 16:
        raise ValueError(f"expected luma (B, S, S) with S a multiple of 16 and at least 32, got shape {luma.shape}")
    centred = luma - luma.mean(axis=(-2, -1), keepdims=True)
    deviation = centred.std(axis=(-2, -1), keepdims=True)
    spectrum = fft.fftshift(fft.fft2(centred / np.maximum(deviation, FLAT_STD)), axes=(-2, -1))
    spectrum = spectrum.astype(np.complex64)
    filters = masks(size)
    high = _to_picture(spectrum, filters.high, size)[:, None].real
    low = _to_picture(spectrum, filters.low, size)[:, None].real
    levels = [_to_picture(spectrum[:, None], mask, size) for mask in filters.bands]
    reals = [high, *(level.real for level in levels), low]
    energy = np.concatenate([(band * band).mean(axis=(-2, -1)) for band in reals], axis=1)
    along_x = np.concatenate([_correlation(band, np.roll(band, 1, axis=-1)) for band in reals], axis=1)
    along_y = np.concatenate([_correlation(band, np.roll(band, 1, axis=-2)) for band in reals], axis=1)
    magnitudes = [np.abs(level) for level in levels]
    pairs = list(itertools.combinations(range(ORIENTATIONS), 2))
    cross = [_correlation(m[:, i], m[:, j]) for m in magnitudes for i, j in pairs]
    for fine, coarse in itertools.pairwise(magnitudes):
        between = _correlation(_halved(fine), coarse)
        cross.extend(between[:, k] for k in range(ORIENTATIONS))
    return SteerableStatistics(
        np.log(energy + ENERGY_FLOOR).astype(np.float32),
        np.concatenate([along_x, along_y], axis=1),
        np.stack(cross, axis=1),
    )


def _to_picture(spectrum: ComplexArray, mask: FloatArray, size: int) -> ComplexArray:
    """Inverse transform of the masked centre of a shifted spectrum; amplitudes as at full size."""
    crop = mask.shape[-1]
    start = (size - crop) // 2
    part = spectrum[..., start : start + crop, start : start + crop] * mask
    picture = fft.ifft2(fft.ifftshift(part, axes=(-2, -1)))
    return np.asarray(picture * (crop / size) ** 2, dtype=np.complex64)
