"""Normals and heights: slopes, and whether a field of normals is that of a surface."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import fft

FloatArray = npt.NDArray[np.float32]
_SMALLEST_NZ = 1e-3
_BLIND = 1e-9
"""Squared gain of the central differences below which they see nothing: rounding alone leaves 1e-14."""


def slopes_of_normals(normal: FloatArray) -> FloatArray:
    """∂h/∂x and ∂h/∂y (H, W, 2), y up, of tangent-space OpenGL normals (H, W, 3); n_z is held above .001."""
    return np.asarray(-normal[..., :2] / np.maximum(normal[..., 2:], _SMALLEST_NZ), dtype=np.float32)


def slopes_of_height(height: FloatArray, pixel_m: float) -> FloatArray:
    """∂h/∂x and ∂h/∂y (H, W, 2), y up, by central differences of a height (H, W) in metres, row 0 at the top."""
    down, right = np.gradient(height, pixel_m)
    return np.asarray(np.stack([right, -down], axis=-1), dtype=np.float32)


def integrability_residual(slopes: FloatArray) -> float:
    """Share of slopes (H, W, 2) that no height field has, in [0, 1]; 0 for a flat one.

    The slopes are mirrored into a periodic field and projected on gradients in the frequency domain (Frankot and
    Chellappa, PAMI 1988); the residual is the norm of what is left over the norm of the slopes. Derivatives are those
    of central differences.
    """
    p = _mirrored(slopes[..., 0], odd_axis=1)
    q = _mirrored(slopes[..., 1], odd_axis=0)
    total = float(np.sqrt((p * p + q * q).sum(dtype=np.float64)))
    if total < 1e-9:
        return 0.0
    height, width = p.shape
    ramp_x = np.sin(2 * np.pi * fft.rfftfreq(width)).astype(np.float32)[None, :]
    ramp_y = -np.sin(2 * np.pi * fft.fftfreq(height)).astype(np.float32)[:, None]
    curl = ramp_y * fft.rfft2(p) - ramp_x * fft.rfft2(q)
    power = ramp_x**2 + ramp_y**2
    # Where a central difference is blind (the mean and Nyquist) nothing can be said, so nothing is held against it.
    seen = power > _BLIND
    rest = np.where(seen, (curl.real**2 + curl.imag**2) / np.where(seen, power, 1), 0)
    # The spectrum of real numbers is its own mirror image: columns between the first and the last count twice.
    whole = 2 * rest.sum(dtype=np.float64) - rest[:, 0].sum(dtype=np.float64) - rest[:, -1].sum(dtype=np.float64)
    return float(min(1.0, np.sqrt(max(whole, 0.0) / p.size) / total))


def _mirrored(field: FloatArray, odd_axis: int) -> FloatArray:
    """Mirror the slopes as a mirrored surface has them: even in one axis, odd in the one it is the derivative along."""
    out = field
    for axis in (0, 1):
        sign = -1 if axis == odd_axis else 1
        out = np.concatenate([out, sign * np.flip(out, axis)], axis=axis)
    return out
