"""Run every estimator on one picture."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.functional.cell import mean_cell, tone_exchange
from evaluators.functional.color import luma as luma_of
from evaluators.functional.lattice import find_bands, find_lattice, harmonics
from evaluators.functional.light import find_light
from evaluators.functional.orientation import anisotropy, orientation
from evaluators.functional.palette import ColorAxis, Palette, axis_position, color_axis, palette
from evaluators.functional.regions import Split, two_regions
from evaluators.functional.rings import find_rings
from evaluators.functional.shapes import blobs, lines
from evaluators.functional.spectrum import contrast, polar_log_power, radial_peak, scale_energies, spectral_slope
from references.analysis.model import LumaStatistics, Measured, Regions

FloatArray = npt.NDArray[np.float32]

MEASURED_SIDE = 512
HISTOGRAM_BINS = 64
HARMONICS = 16


def measure(image_srgb: FloatArray, patch_size_m: float) -> Measured:
    """Measure an sRGB picture (N, N, 3) in [0, 1]."""
    with ThreadPoolExecutor(1) as beside:
        return _measure(image_srgb, patch_size_m, beside)


def _measure(image_srgb: FloatArray, patch_size_m: float, beside: Executor) -> Measured:
    """The estimators know nothing of each other: those of colour and regions run on a second core."""
    luma = luma_of(image_srgb)
    coloured = beside.submit(_colours, image_srgb, luma)
    lattice = find_lattice(luma)
    line, light = lines(luma), find_light(image_srgb)
    axis, position, colors, regions = coloured.result()
    low, high = np.quantile(position, [0.01, 0.99])
    field = (position - low) / max(float(high - low), 1e-6)
    return Measured(
        size_px=min(luma.shape),
        patch_size_m=patch_size_m,
        palette=colors,
        color_axis=axis,
        luma=_luma_statistics(luma),
        lattice=lattice,
        bands=find_bands(luma) if lattice is None else None,
        cell=mean_cell(luma, lattice) if lattice is not None else None,
        orientation=orientation(luma),
        anisotropy=anisotropy(luma),
        polar_log_power=polar_log_power(luma),
        slope=spectral_slope(luma),
        energies=scale_energies(luma),
        dominant=radial_peak(luma),
        harmonics=harmonics(field, lattice, HARMONICS),
        regions=regions,
        lines=line,
        rings=find_rings(luma),
        light=light,
        tone_exchange=tone_exchange(luma, lattice) if lattice is not None else 0.0,
    )


def _colours(image_srgb: FloatArray, luma: FloatArray) -> tuple[ColorAxis, FloatArray, Palette, Regions]:
    axis = color_axis(image_srgb)
    position = axis_position(image_srgb, axis)
    return axis, position, palette(image_srgb), _regions(image_srgb, luma, two_regions(position))


def _luma_statistics(luma: FloatArray) -> LumaStatistics:
    counts, _ = np.histogram(luma, bins=HISTOGRAM_BINS, range=(0.0, 1.0))
    spread = contrast(luma)
    skewness = float(np.mean(((luma - luma.mean()) / spread) ** 3)) if spread > 1e-6 else 0.0
    return LumaStatistics(float(luma.mean()), spread, skewness, tuple(float(c) for c in counts / luma.size))


def _regions(image_srgb: FloatArray, luma: FloatArray, split: Split) -> Regions:
    inside = split.minority
    return Regions(
        split=split,
        minority_color=_mean_color(image_srgb, inside),
        majority_color=_mean_color(image_srgb, ~inside),
        minority_contrast=float(luma[inside].std()) if inside.any() else 0.0,
        majority_contrast=float(luma[~inside].std()) if not inside.all() else 0.0,
        minority_blobs=blobs(inside),
        majority_blobs=blobs(~inside),
    )


def _mean_color(image_srgb: FloatArray, mask: npt.NDArray[Any]) -> tuple[float, float, float]:
    chosen = image_srgb[mask] if mask.any() else image_srgb.reshape(-1, 3)
    red, green, blue = (float(c) for c in chosen.mean(axis=0))
    return red, green, blue
