"""Small arithmetic on Dr.Jit arrays, with the conventions of Cycles and with derivatives that are never NaN.

Minimum and maximum are selects: on LLVM 15 Dr.Jit's own abort the process. A square root or power whose derivative is
infinite at zero has derivative zero there: the argument is replaced before the call, not only the result after it.
"""

from __future__ import annotations

import math

import drjit as dr
from drjit.auto.ad import Array3f, Bool, Float, Int32

FLOAT_EPSILON = 1.1920929e-7
FLOAT_MAX = 3.4028235e38


def minimum(a: Float, b: Float) -> Float:
    """The smaller of two, by component."""
    return dr.select(a < b, a, b)


def maximum(a: Float, b: Float) -> Float:
    """The larger of two, by component."""
    return dr.select(a > b, a, b)


def clamp(x: Float, low: Float, high: Float) -> Float:
    """`x` within [low, high]."""
    return minimum(maximum(x, low), high)


def saturate(x: Float) -> Float:
    """`x` within [0, 1]."""
    return clamp(x, 0.0, 1.0)


def absolute(x: Float) -> Float:
    """The magnitude, by component; its derivative at zero is that of `x`."""
    return dr.select(x < 0, -x, x)


def lerp(a: Float, b: Float, t: Float) -> Float:
    """`a` at t = 0, `b` at t = 1."""
    return dr.fma(t, b - a, a)


def safe_sqrt(x: Float) -> Float:
    """Square root of the positive part."""
    positive = x > 0
    return dr.select(positive, dr.sqrt(dr.select(positive, x, 1.0)), 0.0)


def safe_divide(a: Float, b: Float) -> Float:
    """`a / b`, zero where `b` is zero."""
    valid = b != 0
    return dr.select(valid, a / dr.select(valid, b, 1.0), 0.0)


def power_positive(base: Float, exponent: Float) -> Float:
    """`base ** exponent` for base >= 0: 0 ** positive is 0, x ** 0 is 1."""
    positive = base > 0
    value = dr.power(dr.select(positive, base, 1.0), exponent)
    return dr.select(positive, value, dr.select(exponent == 0, Float(1.0), Float(0.0)))


def fraction(x: Float) -> Float:
    """`x - floor(x)`."""
    return x - dr.floor(x)


def floor_fraction(x: Float) -> tuple[Int32, Float]:
    """The integer below `x` and the rest in [0, 1)."""
    below = dr.floor(x)
    return Int32(dr.detach(below)), x - below


def remainder(a: Float, b: Float) -> Float:
    """C's `fmod`, zero where `b` is zero: the sign is that of `a`."""
    valid = b != 0
    divisor = dr.select(valid, b, 1.0)
    return dr.select(valid, a - divisor * dr.trunc(a / divisor), 0.0)


def wrap(value: Float, high: Float, low: Float) -> Float:
    """`value` brought into [low, high) by whole periods; `low` where the range is empty."""
    span = high - low
    valid = span != 0
    divisor = dr.select(valid, span, 1.0)
    return dr.select(valid, value - span * dr.floor((value - low) / divisor), low)


def smoothstep(x: Float) -> Float:
    """3x² − 2x³ of `x` within [0, 1]."""
    t = saturate(x)
    return t * t * (3.0 - 2.0 * t)


def smootherstep(x: Float) -> Float:
    """6x⁵ − 15x⁴ + 10x³ of `x` within [0, 1]."""
    t = saturate(x)
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


def dot(a: Array3f, b: Array3f) -> Float:
    """Scalar product of two vectors of any one dimension."""
    total = a[0] * b[0]
    for index in range(1, len(a)):
        total = dr.fma(a[index], b[index], total)
    return total


def length(v: Array3f) -> Float:
    """Euclidean length, any dimension."""
    return safe_sqrt(dot(v, v))


def cross(a: Array3f, b: Array3f) -> Array3f:
    """Vector product."""
    return Array3f(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


def safe_normalize(v: Array3f) -> Array3f:
    """`v` at length one; the zero vector stays."""
    size = length(v)
    return v / dr.select(size != 0, size, 1.0)


def splat(x: Float) -> Array3f:
    """A vector or color with three equal components."""
    return Array3f(x, x, x)


def luminance(color: Array3f) -> Float:
    """Rec. 709 luminance, what Cycles makes of a color at a float input; weights measured in Blender 5.0."""
    return 0.21263912 * color.x + 0.71516913 * color.y + 0.07219276 * color.z


def mean(v: Array3f) -> Float:
    """What Cycles makes of a vector at a float input."""
    return (v.x + v.y + v.z) * (1.0 / 3.0)


def truth(condition: Bool) -> Float:
    """1 where true, else 0."""
    return dr.select(condition, Float(1.0), Float(0.0))


# Dr.Jit's own arctangents use a maximum inside, which LLVM cannot select on some processors and then aborts. These are
# the single-precision coefficients of Moshier's Cephes library, good to one unit of rounding.
_ARCTANGENT = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)
_TAN_EIGHTH, _TAN_THREE_EIGHTHS = 0.4142135623730950, 2.414213562373095


def arctangent(x: Float) -> Float:
    """Inverse tangent in (-π/2, π/2)."""
    size = absolute(x)
    steep, middle = size > _TAN_THREE_EIGHTHS, size > _TAN_EIGHTH
    reduced = dr.select(steep, -1.0 / dr.select(steep, size, 1.0), dr.select(middle, (size - 1.0) / (size + 1.0), size))
    start = dr.select(steep, Float(0.5 * math.pi), dr.select(middle, Float(0.25 * math.pi), Float(0.0)))
    z = reduced * reduced
    series = Float(_ARCTANGENT[0])
    for coefficient in _ARCTANGENT[1:]:
        series = dr.fma(series, z, coefficient)
    angle = start + dr.fma(series * z, reduced, reduced)
    return dr.select(x < 0, -angle, angle)


def arctangent2(y: Float, x: Float) -> Float:
    """The angle of (x, y) in [-π, π], 0 at the origin."""
    valid = x != 0
    angle = arctangent(y / dr.select(valid, x, 1.0))
    turned = angle + dr.select(x < 0, dr.select(y < 0, Float(-math.pi), Float(math.pi)), Float(0.0))
    upright = dr.select(y > 0, Float(0.5 * math.pi), dr.select(y < 0, Float(-0.5 * math.pi), Float(0.0)))
    return dr.select(valid, turned, upright)


TWO_PI = 2.0 * math.pi
