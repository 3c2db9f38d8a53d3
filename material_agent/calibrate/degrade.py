"""Damage done to a picture: colour, contrast, blur, phase and layout, each by a stated amount.

Pictures are square sRGB arrays (S, S, 3) in [0, 1], row 0 at the top. Every function is a pure one; where chance comes
in, it comes from the generator that is passed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from skimage import color

FloatArray = npt.NDArray[np.float32]
Degradation = Callable[[FloatArray, float, np.random.Generator], FloatArray]
"""(picture, amount, generator) → picture of the same size."""
_QUANTILES = 64
_LUMA = np.array([0.2126, 0.7152, 0.0722])


def _picture(values: npt.NDArray[Any]) -> FloatArray:
    return np.clip(values, 0, 1).astype(np.float32)


def about_centre(image: FloatArray, matrix: npt.NDArray[np.float64]) -> FloatArray:
    """Map the coordinates of a picture linearly about its centre; what falls outside is mirrored."""
    side = image.shape[0]
    centre = np.full(2, (side - 1) / 2)
    offset = centre - matrix @ centre
    channels = [
        ndimage.affine_transform(image[..., c], matrix, offset, (side, side), order=1, mode="mirror") for c in range(3)
    ]
    return _picture(np.stack(channels, axis=-1))


def zoomed(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Enlarge everything `amount` times."""
    del rng
    return about_centre(image, np.eye(2) / amount)


def rotated(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Turn by `amount` degrees."""
    del rng
    c, s = np.cos(np.radians(amount)), np.sin(np.radians(amount))
    return about_centre(image, np.array([[c, -s], [s, c]]))


def tinted(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Shift all colours by `amount` ΔE (CIE76) in a random direction of Lab, before they are clipped to sRGB."""
    direction = rng.standard_normal(3)
    direction /= np.linalg.norm(direction)
    # Away from the nearer end of lightness, where a shift would be clipped.
    lab = color.rgb2lab(image)
    direction[0] = abs(direction[0]) * (1 if lab[..., 0].mean() < 50 else -1)
    with warnings.catch_warnings():
        # Colours beyond sRGB are clipped, which is meant.
        warnings.simplefilter("ignore", UserWarning)
        return _picture(color.lab2rgb(lab + amount * direction))


def washed(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Take away the share `amount` of the contrast about the mean colour."""
    del rng
    mean = image.mean(axis=(0, 1))
    return _picture(mean + (1 - amount) * (image - mean))


def blurred(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Blur with a Gaussian whose deviation is `amount` thousandths of the side."""
    del rng
    sigma = amount * image.shape[0] / 1000
    return _picture(ndimage.gaussian_filter(image, (sigma, sigma, 0), mode="reflect"))


def phase_scrambled(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Add `amount` times a random phase; the same one in all channels keeps spectrum and correlation of the colours."""
    noise = np.angle(np.fft.fft2(rng.standard_normal(image.shape[:2])))[..., None]
    spectrum = np.fft.fft2(image, axes=(0, 1))
    turned = np.fft.ifft2(spectrum * np.exp(1j * amount * noise), axes=(0, 1)).real
    return _picture(turned - turned.mean(axis=(0, 1)) + image.mean(axis=(0, 1)))


def blocks_shuffled(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Put `amount` × `amount` blocks in random order; what does not divide is left out."""
    count = round(amount)
    block = image.shape[0] // count
    cut = image[: count * block, : count * block].reshape(count, block, count, block, 3).swapaxes(1, 2)
    mixed = rng.permutation(cut.reshape(-1, block, block, 3)).reshape(count, count, block, block, 3).swapaxes(1, 2)
    return np.ascontiguousarray(mixed.reshape(count * block, count * block, 3))


def pixels_shuffled(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Put a share `amount` of the pixels in random order."""
    flat = image.reshape(-1, 3).copy()
    chosen = np.flatnonzero(rng.random(len(flat)) < amount)
    flat[chosen] = flat[rng.permutation(chosen)]
    return flat.reshape(image.shape)


def flattened(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Leave the mean colour alone; `amount` 1 is a flat picture."""
    return washed(image, amount, rng)


def channels_scaled(image: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Multiply red by 1 + `amount` and blue by 1 − `amount`: a wrong white balance."""
    del rng
    return _picture(image * np.array([1 + amount, 1, 1 - amount], dtype=np.float32))


def recoloured(image: FloatArray, wanted: FloatArray) -> FloatArray:
    """Give a picture the colours of another by the ranks of luma: what a search with a fitted color ramp reaches."""
    grey, target = (picture.reshape(-1, 3) @ _LUMA for picture in (image, wanted))
    ordered = wanted.reshape(-1, 3)[np.argsort(target, kind="stable")]
    ramp = np.stack([part.mean(axis=0) for part in np.array_split(ordered, _QUANTILES)])
    rank = np.empty(len(grey))
    rank[np.argsort(grey, kind="stable")] = (np.arange(len(grey)) + 0.5) / len(grey)
    stops = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    return _picture(np.stack([np.interp(rank, stops, ramp[:, c]) for c in range(3)], axis=-1).reshape(image.shape))


DEGRADATIONS: dict[str, Degradation] = {
    "zoom": zoomed,
    "rotation": rotated,
    "tint": tinted,
    "washed": washed,
    "blur": blurred,
    "phase_scramble": phase_scrambled,
    "block_shuffle": blocks_shuffled,
    "pixel_shuffle": pixels_shuffled,
    "white_balance": channels_scaled,
}
