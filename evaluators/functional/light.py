"""Uneven light: a smooth gain over the picture, found by its brightness and taken out again.

The light is modelled as exp(quadratic polynomial) in scene-linear values, the usual model of vignetting and of a lamp
at a distance; a material's own slow changes look the same, so that the evidence is the share of the coarse brightness
that so smooth a surface explains.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluators.functional.color import linear_to_srgb, srgb_to_linear

Array = npt.NDArray[np.floating[Any]]
FloatArray = npt.NDArray[np.float32]

GRID = 7
"""The brightness is taken in 7×7 parts of the picture."""

VISIBLE_STOPS = 0.4
"""Range of the light, brightest to darkest place, from which it is called uneven; about a third brighter."""

EXPLAINED = 0.6
"""Share of the coarse brightness that the model must explain; chance alone explains about 5 of 48."""

HUE_SHARE = 0.4
"""Where the colour changes by more than this share of the brightness, it is the material that changes."""

_REC709 = np.array([0.2126, 0.7152, 0.0722])
_FLOOR = 1e-4


class Light(NamedTuple):
    """The light over a picture.

    `range_stops`: brightest against darkest place, in stops (factors of two). `hue_stops`: how far one channel changes
    against the mean of the three, which light of one colour does not do. `explained` in [0, 1]: share of the coarse
    brightness that it explains. `brightest`: (x, y) in [0, 1], y down. `coefficients` of 1, x, y, x², xy, y² with x, y
    in [−1, 1], for the natural logarithm of the gain.
    """

    range_stops: float
    hue_stops: float
    explained: float
    brightest: tuple[float, float]
    coefficients: tuple[float, ...]

    @property
    def uneven(self) -> bool:
        """Whether the brightness changes visibly, smoothly enough to be light, and without the colour."""
        visible = self.range_stops >= VISIBLE_STOPS and self.explained >= EXPLAINED
        return visible and self.hue_stops <= HUE_SHARE * self.range_stops


def find_light(image_srgb: Array) -> Light:
    """Fit the light of a picture (H, W, 3), sRGB in [0, 1]."""
    linear = srgb_to_linear(np.asarray(image_srgb, np.float32)).astype(np.float64)
    rows, columns = (np.linspace(0, n, min(GRID, n) + 1).astype(int) for n in linear.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(linear, rows[:-1], axis=0), columns[:-1], axis=1)
    parts = sums / np.outer(np.diff(rows), np.diff(columns))[..., None]
    level = np.log(parts @ _REC709 + _FLOOR)
    y, x = ((edges[:-1] + edges[1:]) / edges[-1] - 1 for edges in (rows, columns))
    terms = _terms(x, y)
    # A few odd parts (a dark stone, a stain) must not bend the surface: two rounds with the outliers held down.
    weight = np.ones(level.size)
    coefficients = np.zeros(terms.shape[1])
    for _ in range(3):
        root = np.sqrt(weight)
        coefficients, *_ = np.linalg.lstsq(terms * root[:, None], level.ravel() * root, rcond=None)
        rest = np.abs(level.ravel() - terms @ coefficients)
        limit = max(2.0 * float(np.median(rest)), 1e-9)
        weight = np.minimum(1.0, limit / np.maximum(rest, 1e-12))
    total = float(level.var())
    left = float(np.mean((level.ravel() - terms @ coefficients) ** 2))
    fine = np.linspace(-1, 1, 33)
    surface = (_terms(fine, fine) @ coefficients).reshape(33, 33)
    top = np.unravel_index(int(surface.argmax()), surface.shape)
    channels = np.log(parts.reshape(-1, 3) + _FLOOR)
    hue = terms @ np.linalg.lstsq(terms, channels - channels.mean(axis=1, keepdims=True), rcond=None)[0]
    return Light(
        range_stops=float(np.ptp(surface) / np.log(2)),
        hue_stops=float(np.ptp(hue, axis=0).max() / np.log(2)),
        explained=max(0.0, 1 - left / total) if total > 1e-8 else 0.0,
        brightest=(float(top[1]) / 32, float(top[0]) / 32),
        coefficients=tuple(float(c) for c in coefficients),
    )


def light_gain(light: Light, shape: tuple[int, int]) -> FloatArray:
    """The gain (H, W) of the light, of mean logarithm 0."""
    y, x = ((np.arange(n) + 0.5) / n * 2 - 1 for n in shape)
    surface = (_terms(x, y) @ np.array(light.coefficients)).reshape(shape)
    return np.asarray(np.exp(surface - surface.mean()), np.float32)


def flattened(image_srgb: Array, light: Light) -> FloatArray:
    """The picture (H, W, 3) under even light, sRGB in [0, 1]; darkened as a whole where it would exceed 1."""
    image = np.asarray(image_srgb, np.float32)
    linear = srgb_to_linear(image) / light_gain(light, (image.shape[0], image.shape[1]))[..., None]
    # Half a per mille of highlights may clip.
    top = float(np.quantile(linear.max(axis=-1), 0.9995))
    return np.asarray(np.clip(linear_to_srgb(linear / max(top, 1.0)), 0, 1), np.float32)


def _terms(x: Array, y: Array) -> npt.NDArray[np.float64]:
    """Rows of 1, x, y, x², xy, y² for each point of the grid y × x."""
    v, u = (part.ravel() for part in np.meshgrid(y, x, indexing="ij"))
    return np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=1)
