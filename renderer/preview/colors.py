"""RGB, HSV and HSL as Blender converts them."""

from __future__ import annotations

import drjit as dr
from drjit.auto.ad import Array3f, Float

from renderer.preview.ops import absolute, maximum, minimum, saturate


def _extremes(color: Array3f) -> tuple[Float, Float]:
    low = minimum(color.x, minimum(color.y, color.z))
    high = maximum(color.x, maximum(color.y, color.z))
    return low, high


def _hue(color: Array3f, high: Float, spread: Float) -> Float:
    """Hue in [0, 1); 0 for greys."""
    divisor = dr.select(spread != 0, spread, 1.0)
    c = (Array3f(high, high, high) - color) / divisor
    sector = dr.select(color.x == high, c.z - c.y, dr.select(color.y == high, 2.0 + c.x - c.z, 4.0 + c.y - c.x))
    hue = sector / 6.0
    hue = dr.select(hue < 0, hue + 1.0, hue)
    return dr.select(spread != 0, hue, 0.0)


def rgb_to_hsv(color: Array3f) -> Array3f:
    """Hue, saturation and value."""
    low, high = _extremes(color)
    spread = high - low
    saturation = dr.select(high != 0, spread / dr.select(high != 0, high, 1.0), 0.0)
    hue = dr.select(saturation != 0, _hue(color, high, spread), 0.0)
    return Array3f(hue, saturation, high)


def hsv_to_rgb(hsv: Array3f) -> Array3f:
    """Color of a hue of any value, saturation and value."""
    hue, saturation, value = hsv.x, hsv.y, hsv.z
    hue = dr.select(hue == 1.0, 0.0, hue) * 6.0
    sector = dr.floor(hue)
    rest = hue - sector
    p, q, t = value * (1.0 - saturation), value * (1.0 - saturation * rest), value * (1.0 - saturation * (1.0 - rest))
    red = _choose(sector, (value, q, p, p, t), value)
    green = _choose(sector, (t, value, value, q, p), p)
    blue = _choose(sector, (p, p, t, value, value), q)
    grey = saturation == 0
    return Array3f(dr.select(grey, value, red), dr.select(grey, value, green), dr.select(grey, value, blue))


def _choose(sector: Float, values: tuple[Float, ...], last: Float) -> Float:
    chosen = last
    for index in range(len(values) - 1, -1, -1):
        chosen = dr.select(sector == float(index), values[index], chosen)
    return chosen


def rgb_to_hsl(color: Array3f) -> Array3f:
    """Hue, saturation and lightness."""
    low, high = _extremes(color)
    spread, lightness = high - low, minimum(1.0, (low + high) / 2.0)
    bright = lightness > 0.5
    divisor = dr.select(bright, 2.0 - high - low, high + low)
    valid = (spread != 0) & (divisor != 0)
    saturation = dr.select(valid, spread / dr.select(valid, divisor, 1.0), 0.0)
    return Array3f(_hue(color, high, spread), saturation, lightness)


def hsl_to_rgb(hsl: Array3f) -> Array3f:
    """Color of hue, saturation and lightness."""
    red = absolute(hsl.x * 6.0 - 3.0) - 1.0
    green = 2.0 - absolute(hsl.x * 6.0 - 2.0)
    blue = 2.0 - absolute(hsl.x * 6.0 - 4.0)
    pure = Array3f(saturate(red), saturate(green), saturate(blue))
    chroma = (1.0 - absolute(2.0 * hsl.z - 1.0)) * hsl.y
    return (pure - 0.5) * chroma + hsl.z
