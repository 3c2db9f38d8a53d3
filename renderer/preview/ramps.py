"""Color ramps: tabulated at 257 places as Cycles does, then read with linear interpolation.

The table is made by the same kernels as everything else, so that stops are parameters with gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import drjit as dr
from drjit.auto.ad import Array3f, Array4f, Bool, Float, UInt32

from renderer.preview.colors import hsl_to_rgb, hsv_to_rgb, rgb_to_hsl, rgb_to_hsv
from renderer.preview.ops import saturate
from renderer.preview.structure import RampShape

ENTRIES = 257
_CARDINAL_TENSION = 0.71


def _linear(t: Float) -> Float:
    return t


def _ease(t: Float) -> Float:
    return t * t * (3.0 - 2.0 * t)


def _cardinal(t: Float) -> tuple[Float, ...]:
    c, t2, t3 = _CARDINAL_TENSION, t * t, t * t * t
    return (
        -c * t3 + 2 * c * t2 - c * t,
        (2 - c) * t3 + (c - 3) * t2 + 1.0,
        (c - 2) * t3 + (3 - 2 * c) * t2 + c * t,
        c * t3 - c * t2,
    )


def _b_spline(t: Float) -> tuple[Float, ...]:
    t2, t3 = t * t, t * t * t
    return (
        -t3 / 6 + 0.5 * t2 - 0.5 * t + 1 / 6,
        0.5 * t3 - t2 + 2 / 3,
        -0.5 * t3 + 0.5 * t2 + 0.5 * t + 1 / 6,
        t3 / 6,
    )


SPLINES: dict[str, Callable[[Float], tuple[Float, ...]]] = {"CARDINAL": _cardinal, "B_SPLINE": _b_spline}
BLENDS: dict[str, Callable[[Float], Float]] = {"LINEAR": _linear, "EASE": _ease}
INTERPOLATIONS = ("CONSTANT", *BLENDS, *SPLINES)


def _near(a: Float, b: Float) -> tuple[Bool, Bool]:
    return (a < b) & (b - a > 0.5), (a > b) & (b - a < -0.5)


def _far(a: Float, b: Float) -> tuple[Bool, Bool]:
    return (a == b) | ((a < b) & (b - a < 0.5)), (a > b) & (b - a > -0.5)


def _clockwise(a: Float, b: Float) -> tuple[Bool, Bool]:
    return a < b, Bool(False)


def _counterclockwise(a: Float, b: Float) -> tuple[Bool, Bool]:
    return Bool(False), a > b


# Which of the two hues is raised by a full turn before they are mixed.
HUES: dict[str, Callable[[Float, Float], tuple[Bool, Bool]]] = {
    "NEAR": _near,
    "FAR": _far,
    "CW": _clockwise,
    "CCW": _counterclockwise,
}
SPACES: dict[str, tuple[Callable[[Array3f], Array3f], Callable[[Array3f], Array3f]]] = {
    "HSV": (rgb_to_hsv, hsv_to_rgb),
    "HSL": (rgb_to_hsl, hsl_to_rgb),
}
COLOR_MODES = ("RGB", *SPACES)


def _turn(hue: Float) -> Float:
    return dr.select(hue < 1.0, hue, hue - 1.0)


def _mix_hue(mode: str, t: Float, a: Float, b: Float) -> Float:
    a, b = _turn(a), _turn(b)
    raise_a, raise_b = HUES[mode](a, b)
    a = dr.select(raise_a, a + 1.0, a)
    b = dr.select(raise_b, b + 1.0, b)
    return _turn((1.0 - t) * a + t * b)


def tabulate(shape: RampShape, number: Callable[[int], Float], x: Float) -> Array4f:
    """The ramp's RGBA at places `x` in [0, 1]; `number(row)` gives a parameter by lane."""
    positions = [number(shape.row + index) for index in range(shape.stops)]
    first = shape.row + shape.stops
    colors = [Array4f(*(number(first + 4 * index + c) for c in range(4))) for index in range(shape.stops)]
    if shape.stops == 1:
        return colors[0]
    interpolation = shape.interpolation if shape.color_mode == "RGB" else "LINEAR"
    color = _last(shape, interpolation, positions, colors, x)
    # From the right to the left, so that the first stop beyond `x` decides.
    for index in range(shape.stops - 1, 0, -1):
        segment = _segment(shape, interpolation, positions, colors, index, x)
        color = dr.select(positions[index] > x, segment, color)
    before = _before(interpolation, positions, colors, x)
    inside = positions[0] > x if interpolation in SPLINES else positions[0] >= x
    return dr.select(inside, before, color)


def _weight(right: Float, left: Float, x: Float) -> Float:
    """0 at the right stop, 1 at the left one."""
    span = left - right
    return dr.select(span != 0, (x - right) / dr.select(span != 0, span, 1.0), 0.0)


def _spline(name: str, t: Float, stops: Sequence[Array4f]) -> Array4f:
    """Four stops from right to left."""
    t0, t1, t2, t3 = SPLINES[name](saturate(t))
    total = stops[0] * t0 + stops[1] * t1 + stops[2] * t2 + stops[3] * t3
    return Array4f(*(saturate(total[c]) for c in range(4)))


def _segment(
    shape: RampShape, interpolation: str, positions: list[Float], colors: list[Array4f], index: int, x: Float
) -> Array4f:
    """Between stops `index - 1` and `index`."""
    left, right = colors[index - 1], colors[index]
    if interpolation == "CONSTANT":
        return left
    t = _weight(positions[index], positions[index - 1], x)
    if interpolation in SPLINES:
        beyond = colors[min(index + 1, shape.stops - 1)]
        return _spline(interpolation, t, (beyond, right, left, colors[max(index - 2, 0)]))
    t = BLENDS[interpolation](t)
    if shape.color_mode == "RGB":
        return right * (1.0 - t) + left * t
    into, back = SPACES[shape.color_mode]
    a, b = into(Array3f(right.x, right.y, right.z)), into(Array3f(left.x, left.y, left.z))
    mixed = a * (1.0 - t) + b * t
    color = back(Array3f(_mix_hue(shape.hue_interpolation, t, a.x, b.x), mixed.y, mixed.z))
    return Array4f(color.x, color.y, color.z, right.w * (1.0 - t) + left.w * t)


def _last(shape: RampShape, interpolation: str, positions: list[Float], colors: list[Array4f], x: Float) -> Array4f:
    """At and beyond the last stop; a spline goes on to a copy of it at 1."""
    last = colors[-1]
    if interpolation not in SPLINES:
        return last
    span = positions[-1] - 1.0
    t = dr.select(span != 0, (x - 1.0) / dr.select(span != 0, span, 1.0), 1.0)
    return _spline(interpolation, t, (last, last, last, colors[max(shape.stops - 2, 0)]))


def _before(interpolation: str, positions: list[Float], colors: list[Array4f], x: Float) -> Array4f:
    """Before the first stop; a spline starts from a copy of it at 0."""
    if interpolation not in SPLINES:
        return colors[0]
    t = _weight(positions[0], Float(0.0), x)
    return _spline(interpolation, t, (colors[min(1, len(colors) - 1)], colors[0], colors[0], colors[0]))


def read(table: Float, setting: UInt32, factor: Float, *, interpolate: bool) -> Array4f:
    """The table, flat (settings × 257 × 4), at `factor`, which is clamped to [0, 1]."""
    place = saturate(factor) * float(ENTRIES - 1)
    below = UInt32(dr.detach(place))
    index = setting * ENTRIES + below
    low = dr.gather(Array4f, table, index)
    if not interpolate:
        return low
    above = dr.select(below < ENTRIES - 1, index + 1, index)
    return dr.fma(place - Float(below), dr.gather(Array4f, table, above) - low, low)
