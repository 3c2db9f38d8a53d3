"""Colour: the sRGB transfer curve, CIE Lab and luma, on arrays whose last axis is RGB."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

# IEC 61966-2-1, and its primaries with the D65 white of the 2° observer.
_RGB_TO_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]], dtype=np.float32
)
_D65 = np.array([0.95047, 1.0, 1.08883], dtype=np.float32)
_REC709_LUMA = np.array([0.2126, 0.7152, 0.0722], dtype=np.float32)


def linear_to_srgb(linear: npt.ArrayLike) -> FloatArray:
    """Scene-linear Rec. 709 to display-referred sRGB in [0, 1], any shape; values outside [0, 1] are clipped.

    This is Blender's Standard view transform for a camera exposure of 0 (IEC 61966-2-1).
    """
    x = np.clip(np.asarray(linear, dtype=np.float32), 0.0, 1.0)
    return np.where(x <= 0.0031308, x * 12.92, 1.055 * np.power(x, 1 / 2.4) - 0.055).astype(np.float32)


def srgb_to_linear(srgb: npt.ArrayLike) -> FloatArray:
    """Display-referred sRGB in [0, 1] to scene-linear Rec. 709 in [0, 1], any shape (IEC 61966-2-1)."""
    x = np.clip(np.asarray(srgb, dtype=np.float32), 0.0, 1.0)
    return np.where(x <= 0.04045, x / 12.92, np.power((x + 0.055) / 1.055, 2.4)).astype(np.float32)


def srgb_to_lab(image: npt.ArrayLike) -> FloatArray:
    """SRGB (…, 3) in [0, 1] to CIE Lab (…, 3) under D65: L in [0, 100], a and b about [−128, 127] (CIE 15)."""
    xyz = srgb_to_linear(image) @ _RGB_TO_XYZ.T / _D65
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lab = np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)
    return np.asarray(lab, dtype=np.float32)


def luma(image: npt.ArrayLike) -> FloatArray:
    """Rec. 709 luma of display-referred sRGB (…, 3): (…), in [0, 1]."""
    return np.asarray(np.asarray(image, dtype=np.float32) @ _REC709_LUMA, dtype=np.float32)
