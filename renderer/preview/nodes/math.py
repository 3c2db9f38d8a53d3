"""Math: every operation of Blender's Math node, with its treatment of undefined arguments."""

from __future__ import annotations

import math
from collections.abc import Callable

import drjit as dr
from drjit.auto.ad import Float

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.ops import (
    FLOAT_EPSILON,
    absolute,
    arctangent,
    arctangent2,
    clamp,
    fraction,
    maximum,
    minimum,
    power_positive,
    remainder,
    safe_divide,
    safe_sqrt,
    saturate,
    truth,
    wrap,
)


def power(base: Float, exponent: Float) -> Float:
    """`base ** exponent`; a negative base has a value only with an integer exponent, otherwise 0."""
    whole = exponent == dr.floor(exponent)
    odd = remainder(absolute(exponent), 2.0) == 1.0
    positive = power_positive(absolute(base), exponent)
    return dr.select(base < 0, dr.select(whole, dr.select(odd, -positive, positive), 0.0), positive)


def logarithm(value: Float, base: Float) -> Float:
    """Logarithm to a base; 0 where it is undefined."""
    valid = (value > 0) & (base > 0)
    divisor = dr.log(dr.select(base > 0, base, 2.0))
    return dr.select(valid, safe_divide(dr.log(dr.select(valid, value, 1.0)), divisor), 0.0)


def inverse_sqrt(value: Float) -> Float:
    """1 / √value; 0 for what has none."""
    positive = value > 0
    return dr.select(positive, 1.0 / dr.sqrt(dr.select(positive, value, 1.0)), 0.0)


def sign(value: Float) -> Float:
    """-1, 0 or 1."""
    return truth(value > 0) - truth(value < 0)


def compare(a: Float, b: Float, epsilon: Float) -> Float:
    """1 where two numbers are within `epsilon`."""
    return truth((a == b) | (absolute(a - b) <= maximum(epsilon, FLOAT_EPSILON)))


def smooth_minimum(a: Float, b: Float, distance: Float) -> Float:
    """The smaller of two with a cubic transition."""
    soft = distance != 0
    divisor = dr.select(soft, distance, 1.0)
    h = maximum(distance - absolute(a - b), 0.0) / divisor
    return minimum(a, b) - dr.select(soft, h * h * h * distance * (1.0 / 6.0), 0.0)


def snap(value: Float, increment: Float) -> Float:
    """The multiple of `increment` below."""
    return dr.floor(safe_divide(value, increment)) * increment


def pingpong(value: Float, scale: Float) -> Float:
    """Up and down between 0 and `scale`."""
    valid = scale != 0
    size = dr.select(valid, scale, 1.0)
    return dr.select(valid, absolute(fraction((value - size) / (size * 2.0)) * size * 2.0 - size), 0.0)


def floored_modulo(a: Float, b: Float) -> Float:
    """Remainder with the sign of `b`."""
    valid = b != 0
    divisor = dr.select(valid, b, 1.0)
    return dr.select(valid, a - dr.floor(a / divisor) * b, 0.0)


_ONE = 1.0 - 1e-7


def arcsine(value: Float) -> Float:
    """Inverse sine of the argument within [-1, 1]; its derivative stays finite at the ends."""
    inside = absolute(value) < _ONE
    return dr.select(inside, dr.asin(dr.select(inside, value, 0.0)), 0.5 * math.pi * sign(value))


def arccosine(value: Float) -> Float:
    """Inverse cosine of the argument within [-1, 1]."""
    return 0.5 * math.pi - arcsine(value)


UNARY: dict[str, Callable[[Float], Float]] = {
    "SQRT": safe_sqrt,
    "INVERSE_SQRT": inverse_sqrt,
    "ABSOLUTE": absolute,
    "EXPONENT": dr.exp,
    "SIGN": sign,
    "ROUND": lambda a: dr.floor(a + 0.5),
    "FLOOR": dr.floor,
    "CEIL": dr.ceil,
    "TRUNC": dr.trunc,
    "FRACT": fraction,
    "SINE": dr.sin,
    "COSINE": dr.cos,
    "TANGENT": dr.tan,
    "ARCSINE": arcsine,
    "ARCCOSINE": arccosine,
    "ARCTANGENT": arctangent,
    "SINH": dr.sinh,
    "COSH": dr.cosh,
    "TANH": dr.tanh,
    "RADIANS": lambda a: a * (math.pi / 180.0),
    "DEGREES": lambda a: a * (180.0 / math.pi),
}
BINARY: dict[str, Callable[[Float, Float], Float]] = {
    "ADD": lambda a, b: a + b,
    "SUBTRACT": lambda a, b: a - b,
    "MULTIPLY": lambda a, b: a * b,
    "DIVIDE": safe_divide,
    "POWER": power,
    "LOGARITHM": logarithm,
    "MINIMUM": minimum,
    "MAXIMUM": maximum,
    "LESS_THAN": lambda a, b: truth(a < b),
    "GREATER_THAN": lambda a, b: truth(a > b),
    "MODULO": remainder,
    "FLOORED_MODULO": floored_modulo,
    "SNAP": snap,
    "PINGPONG": pingpong,
    "ARCTAN2": arctangent2,
}
TERNARY: dict[str, Callable[[Float, Float, Float], Float]] = {
    "MULTIPLY_ADD": lambda a, b, c: a * b + c,
    "COMPARE": compare,
    "SMOOTH_MIN": smooth_minimum,
    "SMOOTH_MAX": lambda a, b, c: -smooth_minimum(-a, -b, c),
    "WRAP": wrap,
}
# Every operation with the number of inputs it takes.
OPERATIONS: dict[str, tuple[int, Callable[..., Float]]] = {
    **{name: (1, function) for name, function in UNARY.items()},
    **{name: (2, function) for name, function in BINARY.items()},
    **{name: (3, function) for name, function in TERNARY.items()},
}
_INPUTS = ("Value", "Value_001", "Value_002")


def math_node(i: Inputs) -> Outputs:
    """One operation on one to three numbers, clamped to [0, 1] on request."""
    count, function = OPERATIONS[i.option("operation")]
    value = function(*(i[name] for name in _INPUTS[:count]))
    return {"Value": saturate(value) if i.flag("use_clamp") else value}


def clamp_minmax(value: Float, low: Float, high: Float) -> Float:
    """Within [low, high]; `high` wins where they cross."""
    return clamp(value, low, high)


def clamp_range(value: Float, low: Float, high: Float) -> Float:
    """Within the range that the two limits span in either order."""
    return dr.select(low > high, clamp(value, high, low), clamp(value, low, high))


CLAMPS: dict[str, Callable[[Float, Float, Float], Float]] = {"MINMAX": clamp_minmax, "RANGE": clamp_range}


def clamp_node(i: Inputs) -> Outputs:
    """A number within limits."""
    return {"Result": CLAMPS[i.option("clamp_type")](i["Value"], i["Min"], i["Max"])}


TABLE = {
    "ShaderNodeMath": NodeSpec(math_node, {"operation": tuple(OPERATIONS)}, smooth=False),
    "ShaderNodeClamp": NodeSpec(clamp_node, {"clamp_type": tuple(CLAMPS)}),
}
