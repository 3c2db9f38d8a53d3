"""Everything that is measured on a picture before two are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluators.functional.color import luma as to_luma
from evaluators.functional.color import srgb_to_lab
from evaluators.functional.lattice import REGULAR, Lattice, find_lattice
from evaluators.functional.orientation import Orientation, anisotropy
from evaluators.functional.regions import CLEAR_SEPARATION, UNIMODAL_SEPARATION, otsu
from evaluators.functional.scaling import octave_energies
from evaluators.functional.spectrum import BANDS, Slope, contrast, polar_log_power, scale_energies, spectral_slope
from evaluators.functional.steerable import steerable_statistics
from evaluators.functional.texture import DeepTexture, TextureStatistics
from evaluators.functional.transport import sliced_quantiles
from evaluators.pictures import resize_srgb

FloatArray = npt.NDArray[np.float32]
GRAIN = "grain"
"""Key of the deep statistics of what is finer than the compared picture."""
DEEP_HALVINGS: dict[str, int] = {"micro": 1, "meso": 2, "macro": 4}
"""By how much a picture is shrunk before deep statistics are taken: what is fine is gone from the smaller ones."""
COLOUR_SAMPLES = 64 * 64
RADIAL_BINS, ANGULAR_BINS = 16, 8


class Tones(NamedTuple):
    """Two regions of a picture by lightness: mean Lab of the smaller and of the larger one, and the smaller's share.

    `sure` in [0, 1]: whether there are two at all.
    """

    smaller: FloatArray
    larger: FloatArray
    share: float
    sure: float


@dataclass(frozen=True)
class Measurement:
    """Statistics of one square sRGB picture of `size` px.

    `polar` (16, 8): log power; `octaves` (64,): log energy per octave; `steerable` (68,); `slope`; `energies`: share of
    the variance by scale; `orientations` by scale; `lattice` (looked for on demand only); `lab_quantiles` (64, 256),
    ΔE; `lab_mean` and `lab_std` (3,); `tones`: its two regions; `contrast`: standard deviation of luma; `grain`: the
    same of what averaging twice as many pixels a side takes away, NaN where there are not so many; `deep`: texture
    statistics by scale, if there is a network.
    """

    size: int
    polar: FloatArray
    octaves: FloatArray
    steerable: FloatArray
    slope: Slope
    energies: Mapping[str, float]
    orientations: Mapping[str, Orientation]
    lattice: Lattice | None
    lab_quantiles: FloatArray
    lab_mean: FloatArray
    lab_std: FloatArray
    tones: Tones
    contrast: float
    grain: float
    deep: Mapping[str, TextureStatistics]


def measure(
    image: FloatArray, network: DeepTexture | None, *, look_for_lattice: bool, grain: FloatArray | None = None
) -> Measurement:
    """Measure a square sRGB picture (S, S, 3) in [0, 1] with S one of `pictures.SIZES`.

    `grain` (S, S, 3): a part of it at twice the resolution (`pictures.grain_crop`), where there is one.
    """
    size = image.shape[0]
    grey = to_luma(image)
    lab = colour_points(image)
    lattice = find_lattice(grey) if look_for_lattice else None
    return Measurement(
        size=size,
        polar=polar_log_power(grey, RADIAL_BINS, ANGULAR_BINS),
        octaves=octave_energies(grey),
        steerable=steerable_statistics(grey[None]).vector()[0],
        slope=spectral_slope(grey),
        energies=scale_energies(grey),
        orientations=anisotropy(grey),
        lattice=lattice if lattice is not None and lattice.strength >= REGULAR else None,
        lab_quantiles=sliced_quantiles(lab, stepped=True),
        lab_mean=lab.mean(axis=0),
        lab_std=lab.std(axis=0),
        tones=two_tones(lab),
        contrast=contrast(grey),
        grain=float("nan") if grain is None else fine_contrast(to_luma(grain)),
        deep={} if network is None else _deep(image, grain, network),
    )


def two_tones(lab: FloatArray) -> Tones:
    """Split Lab colours (N, 3) by Otsu's threshold of lightness."""
    threshold, separation = otsu(lab[:, 0])
    dark = lab[:, 0] <= threshold
    smaller = dark if dark.mean() <= 0.5 else ~dark
    sure = (separation - UNIMODAL_SEPARATION) / (CLEAR_SEPARATION - UNIMODAL_SEPARATION)
    whole = lab.mean(axis=0)
    return Tones(
        smaller=lab[smaller].mean(axis=0) if smaller.any() else whole,
        larger=lab[~smaller].mean(axis=0) if not smaller.all() else whole,
        share=float(smaller.mean()),
        sure=float(min(max(sure, 0.0), 1.0)),
    )


def _deep(image: FloatArray, grain: FloatArray | None, network: DeepTexture) -> dict[str, TextureStatistics]:
    found = deep_statistics(image[None], network)
    return found if grain is None else found | {GRAIN: network.statistics(grain[None])}


def fine_contrast(grey: FloatArray) -> float:
    """Standard deviation of luma (S, S), S even, within blocks of 2 × 2 pixels."""
    half = grey.shape[0] // 2
    blocks = grey.reshape(half, 2, half, 2)
    return float(np.sqrt(np.square(blocks - blocks.mean(axis=(1, 3), keepdims=True), dtype=np.float64).mean()))


def deep_statistics(images: FloatArray, network: DeepTexture) -> dict[str, TextureStatistics]:
    """Texture statistics by scale of sRGB images (B, S, S, 3); the smallest picture has 32 px a side."""
    return {scale: network.statistics(resize_srgb(images, side)) for scale, side in deep_sides(images.shape[1]).items()}


def deep_sides(size: int) -> dict[str, int]:
    """Side of the picture, px, in which the features of a scale are seen."""
    return {scale: max(size // halving, 32) for scale, halving in DEEP_HALVINGS.items()}


def colour_points(images: FloatArray, samples: int = COLOUR_SAMPLES) -> FloatArray:
    """Lab colours (…, N, 3) of a regular grid of at most `samples` pixels of (…, S, S, 3)."""
    size = images.shape[-2]
    step = max(1, int(np.ceil(size / np.sqrt(samples))))
    chosen = images[..., step // 2 :: step, step // 2 :: step, :]
    return srgb_to_lab(chosen.reshape(*images.shape[:-3], chosen.shape[-3] * chosen.shape[-2], 3))


def ring_scale(size: int) -> dict[str, npt.NDArray[np.intp]]:
    """Which of the 16 rings of `polar` belong to macro, meso and micro, by their middle frequency."""
    middle = (size / 2) ** ((np.arange(RADIAL_BINS) + 0.5) / RADIAL_BINS)
    return {name: np.flatnonzero((middle >= low) & (middle < high)) for name, (low, high) in BANDS.items()}
