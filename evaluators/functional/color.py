"""Colour: CIE Lab, luma, and the renderer's sRGB transfer curve, on arrays whose last axis is RGB."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from renderer import images

FloatArray = npt.NDArray[np.float32]

# The primaries of IEC 61966-2-1 with the D65 white of the 2° observer.
RGB_TO_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]], dtype=np.float32
)
D65 = np.array([0.95047, 1.0, 1.08883], dtype=np.float32)
REC709_LUMA = np.array([0.2126, 0.7152, 0.0722], dtype=np.float32)


def linear_to_srgb(linear: npt.ArrayLike) -> FloatArray:
    """`renderer.images.linear_to_srgb` (the Standard transform) of anything like an array, as float32."""
    return np.asarray(images.linear_to_srgb(np.asarray(linear, dtype=np.float32)), dtype=np.float32)


def srgb_to_linear(srgb: npt.ArrayLike) -> FloatArray:
    """`renderer.images.srgb_to_linear` of anything like an array, as float32."""
    return np.asarray(images.srgb_to_linear(np.asarray(srgb, dtype=np.float32)), dtype=np.float32)


def srgb_to_lab(image: npt.ArrayLike) -> FloatArray:
    """SRGB (…, 3) in [0, 1] to CIE Lab (…, 3) under D65: L in [0, 100], a and b about [−128, 127] (CIE 15)."""
    xyz = srgb_to_linear(image) @ RGB_TO_XYZ.T / D65
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lab = np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)
    return np.asarray(lab, dtype=np.float32)


def luma(image: npt.ArrayLike) -> FloatArray:
    """Rec. 709 luma of display-referred sRGB (…, 3): (…), in [0, 1]."""
    return np.asarray(np.asarray(image, dtype=np.float32) @ REC709_LUMA, dtype=np.float32)
