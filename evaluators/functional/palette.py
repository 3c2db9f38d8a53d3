"""A picture's colours: clusters with shares, and its main colour axis with a closed-form colour ramp.

Images are sRGB display-referred (H, W, 3) in [0, 1].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluators.functional.color import linear_to_srgb, srgb_to_lab, srgb_to_linear

Array = npt.NDArray[np.floating[Any]]
FloatArray = npt.NDArray[np.float32]

QUANTILES = 257
"""One more than 256, like the table of Blender's color ramp."""

PALETTE_SAMPLES = 16384


class Palette(NamedTuple):
    """`colors` (N, 3) sRGB in [0, 1], most frequent first, and their `shares` (N,), which sum to 1."""

    colors: FloatArray
    shares: FloatArray


class ColorAxis(NamedTuple):
    """The first principal axis of a picture's colours in Lab, dark end first.

    `quantile_colors_linear` (257, 3): mean colour at the quantiles 0, 1/256, … 1 along the axis, scene-linear
    Rec. 709. `mean_lab` (3,), `axis_lab` (3,) of unit length with L ≥ 0, `explained` share of the colour variance in
    [0, 1]. The position of a colour is (Lab − mean)·axis, in Lab units.
    """

    quantile_colors_linear: FloatArray
    mean_lab: FloatArray
    axis_lab: FloatArray
    explained: float


class RampStop(NamedTuple):
    """A stop of a color ramp: `position` in [0, 1], `color` (R, G, B) scene-linear Rec. 709."""

    position: float
    color: tuple[float, float, float]


def _principal(lab: Array) -> tuple[Array, Array, float]:
    mean = lab.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(lab - mean, rowvar=False) if len(lab) > 1 else np.zeros((3, 3)))
    total = float(values.sum())
    axis = vectors[:, -1] if total > 1e-9 else np.array([1.0, 0.0, 0.0])
    # Dark to light where lightness takes part at all; otherwise the sign of the largest component decides.
    lead = axis[0] if abs(axis[0]) > 1e-3 else axis[np.argmax(np.abs(axis))]
    return mean, axis if lead >= 0 else -axis, float(values[-1]) / total if total > 1e-9 else 1.0


def palette(image_srgb: Array, n: int = 6, iterations: int = 25) -> Palette:
    """At most `n` colours by k-means in Lab; deterministic: it starts at the quantiles of the main colour axis."""
    pixels = np.asarray(image_srgb, dtype=np.float32).reshape(-1, 3)
    pixels = pixels[:: max(1, len(pixels) // PALETTE_SAMPLES)]
    lab = np.asarray(srgb_to_lab(pixels[None])[0], dtype=np.float64)
    mean, axis, _ = _principal(lab)
    position = (lab - mean) @ axis
    order = np.argsort(position, kind="stable")
    starts = order[((np.arange(n) + 0.5) / n * len(order)).astype(int)]
    centres = np.unique(lab[starts].round(3), axis=0)
    owner = np.zeros(len(lab), dtype=int)
    for _ in range(iterations):
        distance = (centres**2).sum(axis=1)[None] - 2 * lab @ centres.T
        owner = distance.argmin(axis=1)
        counts = np.bincount(owner, minlength=len(centres))
        sums = np.stack([np.bincount(owner, lab[:, c], minlength=len(centres)) for c in range(3)], axis=1)
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
        if np.abs(moved - centres).max() < 0.05:
            break
        centres = moved
    counts = np.bincount(owner, minlength=len(centres))
    linear = srgb_to_linear(pixels)
    means = np.stack([np.bincount(owner, linear[:, c], minlength=len(centres)) for c in range(3)], axis=1)
    ranked = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
    colors = linear_to_srgb((means[ranked] / counts[ranked][:, None]).astype(np.float32))
    return Palette(np.asarray(colors, dtype=np.float32), (counts[ranked] / len(lab)).astype(np.float32))


def color_axis(image_srgb: Array) -> ColorAxis:
    """Find the main colour axis of a picture, and the mean colours along it by quantile."""
    image = np.asarray(image_srgb, dtype=np.float32)
    lab = np.asarray(srgb_to_lab(image), dtype=np.float64).reshape(-1, 3)
    mean, axis, explained = _principal(lab)
    order = np.argsort((lab - mean) @ axis, kind="stable")
    linear = np.asarray(srgb_to_linear(image), dtype=np.float64).reshape(-1, 3)[order]
    total = np.concatenate([np.zeros((1, 3)), np.cumsum(linear, axis=0)])
    # The window of a quantile is four steps wide, because colours of one position differ; narrower towards the ends,
    # so that the extremes stay.
    centre, step = np.linspace(0, len(linear), QUANTILES), len(linear) / (QUANTILES - 1)
    half = np.maximum(np.minimum(2 * step, np.minimum(centre, len(linear) - centre) + step / 2), 0.5)
    low = np.floor(np.clip(centre - half, 0, len(linear) - 1)).astype(int)
    high = np.maximum(np.ceil(np.clip(centre + half, 1, len(linear))).astype(int), low + 1)
    colors = (total[high] - total[low]) / (high - low)[:, None]
    return ColorAxis(colors.astype(np.float32), mean.astype(np.float32), axis.astype(np.float32), explained)


def axis_position(image_srgb: Array, axis: ColorAxis) -> FloatArray:
    """Where each pixel lies along the axis, (H, W, 3) → (H, W), in Lab units from the mean."""
    lab = srgb_to_lab(np.asarray(image_srgb, dtype=np.float32))
    return np.asarray((lab - axis.mean_lab) @ axis.axis_lab, dtype=np.float32)


def quantile_ramp(field: Array, axis: ColorAxis, stops: int = 8, reverse: bool = False) -> tuple[RampStop, ...]:
    """Build the color ramp that gives a scalar node output the colours of the reference, quantile by quantile.

    `field` (H, W): the node output over the patch, any range; what lies outside [0, 1] is clamped as the ramp does.
    `stops` from 2 to 32. `reverse` maps high values to the dark end. Stops are placed where the piecewise linear ramp
    is furthest from the exact one. A constant field gives one stop at the median colour.
    """
    if not 2 <= stops <= 32:
        raise ValueError(f"expected 2 to 32 stops, got {stops}")
    levels = np.linspace(0, 1, QUANTILES)
    position = np.clip(np.quantile(np.asarray(field, dtype=np.float64), levels), 0, 1)
    colors = np.asarray(axis.quantile_colors_linear[::-1] if reverse else axis.quantile_colors_linear, dtype=np.float64)
    unique, inverse = np.unique(position.round(5), return_inverse=True)
    if len(unique) == 1:
        return (RampStop(float(unique[0]), _rgb(colors[QUANTILES // 2])),)
    counts = np.bincount(inverse)
    # Quantiles that share a value (a plateau of the field) get their mean colour.
    table = np.stack([np.bincount(inverse, colors[:, c]) for c in range(3)], axis=1) / counts[:, None]
    chosen = [0, len(unique) - 1]
    shown = np.asarray(linear_to_srgb(np.clip(table, 0, None).astype(np.float32)), dtype=np.float64)
    while len(chosen) < min(stops, len(unique)):
        error = np.zeros(len(unique))
        for c in range(3):
            fitted = np.interp(unique, unique[chosen], table[chosen, c])
            fitted = np.asarray(linear_to_srgb(np.clip(fitted, 0, None).astype(np.float32)), dtype=np.float64)
            error += (fitted - shown[:, c]) ** 2
        error *= counts
        error[chosen] = -1
        if error.max() < 1e-6:
            break
        chosen = sorted([*chosen, int(error.argmax())])
    return tuple(RampStop(float(unique[k]), _rgb(table[k])) for k in chosen)


def _rgb(color: Array) -> tuple[float, float, float]:
    red, green, blue = (float(min(max(c, 0.0), 1.0)) for c in color)
    return red, green, blue
