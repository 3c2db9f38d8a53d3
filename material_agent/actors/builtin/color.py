"""Colours in closed form: a scalar node output gets the reference's colours, quantile by quantile.

So colours are not searched. Reference pixels are ordered along the first principal axis of their Lab colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from skimage.color import rgb2lab

from graph_api.model import ColorRamp, ColorStop

Array = npt.NDArray[np.floating[Any]]
LEVELS = 65
_STOPS = np.array([0.0, 0.03, 0.1, 0.22, 0.36, 0.5, 0.64, 0.78, 0.9, 0.97, 1.0])
DARKEST, BRIGHTEST = 0.001, 0.89
"""Scene-linear. The upper end is sRGB 242, the most that a dielectric has; the lower only keeps the light's offset from
driving a channel below zero: dark woods and stones are darker than the rule of thumb for dielectrics, and stay so."""


@dataclass(frozen=True)
class Light:
    """How a flat surface of base color b looks: beauty = gain·b + offset, scene-linear (measured, not assumed)."""

    gain: float = 1.0
    offset: float = 0.0

    def times(self, exposure: float) -> Light:
        """The light with its gain multiplied, for relief that darkens or brightens on average."""
        return Light(self.gain * exposure, self.offset)

    def base_color(self, seen: Array) -> Array:
        """The base color that looks like `seen`, scene-linear."""
        return (seen - self.offset) / self.gain


@dataclass(frozen=True)
class Span:
    """The range [low, high] of a scalar that its ramp covers, and its values at `LEVELS` quantiles."""

    low: float
    high: float
    quantiles: Array


def srgb_to_linear(image: Array) -> Array:
    """IEC 61966-2-1 decoding, [0, 1] to [0, 1]."""
    return np.where(image <= 0.04045, image / 12.92, ((image + 0.055) / 1.055) ** 2.4)


def ordered_colors(pixels_srgb: Array) -> Array:
    """Mean colours (LEVELS, 3), scene-linear, along the first Lab axis of `pixels_srgb` (N, 3), dark to light."""
    linear = _in_order(pixels_srgb)
    edges = np.linspace(0, len(linear), LEVELS + 1).astype(int)
    total = np.concatenate([np.zeros((1, 3)), np.cumsum(linear, axis=0)])
    low, high = np.minimum(edges[:-1], len(linear) - 1), np.maximum(edges[1:], 1)
    high = np.maximum(high, low + 1)
    return np.asarray((total[high] - total[low]) / (high - low)[:, None])


def _in_order(pixels_srgb: Array) -> Array:
    """The pixels (N, 3), scene-linear, along the first axis of their Lab colours, dark to light."""
    pixels = np.asarray(pixels_srgb, dtype=np.float64)
    lab = rgb2lab(pixels[None])[0]
    values, vectors = np.linalg.eigh(np.cov(lab, rowvar=False))
    axis = vectors[:, -1] if values[-1] > 1e-9 else np.array([1.0, 0.0, 0.0])
    axis = axis if axis[0] >= 0 else -axis
    return srgb_to_linear(pixels[np.argsort(lab @ axis, kind="stable")])


def second_axis(pixels_srgb: Array) -> Array:
    """What one ramp cannot show: the main axis (3,) of colours about the ordered ones, scene-linear.

    It is one standard deviation long: zero for colours on one line.
    """
    parts = np.array_split(_in_order(pixels_srgb), LEVELS)
    rest = np.concatenate([part - part.mean(axis=0) for part in parts])
    values, vectors = np.linalg.eigh(np.cov(rest, rowvar=False))
    direction = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
    return np.asarray(np.sqrt(max(values[-1], 0.0)) * direction)


def hue_ramp(axis: Array) -> ColorRamp:
    """For a Mix in LINEAR_LIGHT, A + 2·B − 1: from −2.5 to 2.5 times `axis` over a noise's range about one half."""
    reach = np.clip(2.5 * axis / 2, -0.5, 0.5)
    ends = ((0.22, 0.5 - reach), (0.78, 0.5 + reach))
    return ColorRamp(tuple(ColorStop(at, (float(c[0]), float(c[1]), float(c[2]), 1.0)) for at, c in ends))


def span(values: Array, weights: Array | None = None) -> Span:
    """The range and quantiles of a scalar field, optionally of the part where `weights` (a mask in [0, 1]) is high."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    if weights is not None:
        chosen = flat[np.asarray(weights).ravel() > 0.5]
        flat = chosen if len(chosen) >= 16 else flat
    levels = (np.arange(LEVELS) + 0.5) / LEVELS
    quantiles = np.quantile(flat, levels)
    low, high = (float(v) for v in np.quantile(flat, [0.002, 0.998]))
    return Span(low, max(high, low + 1e-4), quantiles)


def ramp(scalar: Span, colors: Array, light: Light, contrast: float = 1.0) -> ColorRamp:
    """The ramp that carries `scalar`'s quantiles to `colors` (LEVELS, 3), scaled about their mean by `contrast`."""
    wanted = colors.mean(axis=0) + contrast * (colors - colors.mean(axis=0))
    wanted = np.clip(light.base_color(wanted), DARKEST, BRIGHTEST)
    positions = np.clip((scalar.quantiles - scalar.low) / (scalar.high - scalar.low), 0, 1)
    levels = np.linspace(0, 1, LEVELS)
    at = np.interp(_STOPS, levels, positions)
    color_at = np.stack([np.interp(_STOPS, levels, wanted[:, c]) for c in range(3)], axis=1)
    stops: list[ColorStop] = []
    groups: list[list[int]] = []
    for index, place in enumerate(at):
        # Stops closer than two entries of Blender's 257-entry table are one plateau: its mean colour.
        if groups and place - at[groups[-1][0]] < 2 / 256:
            groups[-1].append(index)
        else:
            groups.append([index])
    for group in groups:
        red, green, blue = (float(v) for v in color_at[group].mean(axis=0))
        stops.append(ColorStop(float(at[group].mean()), (red, green, blue, 1.0)))
    return ColorRamp(tuple(stops))
