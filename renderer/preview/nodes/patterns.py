"""Checker, Gradient, Magic and White Noise textures."""

from __future__ import annotations

from collections.abc import Callable

import drjit as dr
from drjit.auto.ad import Array3f, Float

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.hashes import float_hash
from renderer.preview.ops import (
    TWO_PI,
    arctangent2,
    floor_fraction,
    length,
    maximum,
    remainder,
    saturate,
    splat,
)


def avoid_borders(point: Array3f) -> Array3f:
    """Cycles moves points off the integers, where rounding would decide."""
    return (point + 0.000001) * 0.999999


def checker_texture(i: Inputs) -> Outputs:
    """Cubes of two colors."""
    point = avoid_borders(i["Vector"] * i["Scale"])
    odd = [(floor_fraction(point[axis])[0] & 1) == 1 for axis in range(3)]
    first = (odd[0] == odd[1]) == odd[2]
    return {
        "Color": dr.select(first, i["Color1"], i["Color2"]),
        "Fac": dr.select(first, Float(1.0), Float(0.0)),
    }


def _sphere(p: Array3f) -> Float:
    return maximum(0.999999 - length(p), 0.0)


def _easing(p: Array3f) -> Float:
    r = saturate(p.x)
    return r * r * (3.0 - 2.0 * r)


def _square(x: Float) -> Float:
    return x * x


GRADIENTS: dict[str, Callable[[Array3f], Float]] = {
    "LINEAR": lambda p: p.x,
    "QUADRATIC": lambda p: _square(maximum(p.x, 0.0)),
    "EASING": _easing,
    "DIAGONAL": lambda p: (p.x + p.y) * 0.5,
    "RADIAL": lambda p: arctangent2(p.y, p.x) / TWO_PI + 0.5,
    "SPHERICAL": _sphere,
    "QUADRATIC_SPHERE": lambda p: _square(_sphere(p)),
}


def gradient_texture(i: Inputs) -> Outputs:
    """A ramp along an axis, around one or from the origin."""
    value = saturate(GRADIENTS[i.option("gradient_type")](i["Vector"]))
    return {"Color": splat(value), "Fac": value}


# Each level of turbulence replaces one of x, y, z by the sine or cosine of a signed sum of all three, times a sign.
_SIN, _COS = "sin", "cos"
_TURBULENCE: tuple[tuple[int, str, tuple[int, int, int], int], ...] = (
    (1, _COS, (1, -1, 1), -1),
    (0, _COS, (1, -1, -1), 1),
    (2, _SIN, (-1, -1, -1), 1),
    (0, _COS, (-1, 1, -1), -1),
    (1, _SIN, (-1, 1, 1), -1),
    (1, _COS, (-1, 1, 1), -1),
    (0, _COS, (1, 1, 1), 1),
    (2, _SIN, (1, 1, -1), 1),
    (0, _COS, (-1, -1, 1), -1),
    (1, _SIN, (1, -1, 1), -1),
)
_FUNCTIONS: dict[str, Callable[[Float], Float]] = {_SIN: dr.sin, _COS: dr.cos}


def magic_texture(i: Inputs) -> Outputs:
    """Sines of sums of sines."""
    point, scale, distortion, depth = i["Vector"], i["Scale"], i["Distortion"], i.number("turbulence_depth")
    p = [remainder(point[axis], Float(TWO_PI)) for axis in range(3)]
    v = [
        dr.sin((p[0] + p[1] + p[2]) * 5.0 * scale),
        dr.cos((-p[0] + p[1] - p[2]) * 5.0 * scale),
        -dr.cos((-p[0] - p[1] + p[2]) * 5.0 * scale),
    ]
    v = [dr.select(depth > 0, x * distortion, x) for x in v]
    for level, (axis, function, signs, sign) in enumerate(_TURBULENCE):
        total = v[0] * float(signs[0]) + v[1] * float(signs[1]) + v[2] * float(signs[2])
        value = _FUNCTIONS[function](total) * float(sign) * distortion
        v[axis] = dr.select(depth > float(level), value, v[axis])
    doubled = distortion * 2.0
    valid = doubled != 0
    v = [dr.select(valid, x / dr.select(valid, doubled, 1.0), x) for x in v]
    color = Array3f(0.5 - v[0], 0.5 - v[1], 0.5 - v[2])
    return {"Color": color, "Fac": (color.x + color.y + color.z) * (1.0 / 3.0)}


def _white_1d(v: Array3f, w: Float) -> tuple[Float, ...]:
    return float_hash(w), float_hash(w, Float(1.0)), float_hash(w, Float(2.0))


def _white_2d(v: Array3f, w: Float) -> tuple[Float, ...]:
    return float_hash(v.x, v.y), float_hash(v.x, v.y, Float(1.0)), float_hash(v.x, v.y, Float(2.0))


def _white_3d(v: Array3f, w: Float) -> tuple[Float, ...]:
    return float_hash(v.x, v.y, v.z), float_hash(v.x, v.y, v.z, Float(1.0)), float_hash(v.x, v.y, v.z, Float(2.0))


def _white_4d(v: Array3f, w: Float) -> tuple[Float, ...]:
    return float_hash(v.x, v.y, v.z, w), float_hash(v.z, v.x, w, v.y), float_hash(w, v.z, v.y, v.x)


WHITE: dict[str, Callable[[Array3f, Float], tuple[Float, ...]]] = {
    "1D": _white_1d,
    "2D": _white_2d,
    "3D": _white_3d,
    "4D": _white_4d,
}


def white_noise_texture(i: Inputs) -> Outputs:
    """A hash of the bits of the coordinates."""
    dimensions = i.option("noise_dimensions")
    vector = Array3f(0.0) if dimensions == "1D" else i["Vector"]
    color = WHITE[dimensions](vector, i["W"] if dimensions in ("1D", "4D") else Float(0.0))
    return {"Value": color[0], "Color": Array3f(*color)}


TABLE = {
    "ShaderNodeTexChecker": NodeSpec(checker_texture, smooth=False),
    "ShaderNodeTexGradient": NodeSpec(gradient_texture, {"gradient_type": tuple(GRADIENTS)}, smooth=False),
    "ShaderNodeTexMagic": NodeSpec(magic_texture),
    "ShaderNodeTexWhiteNoise": NodeSpec(white_noise_texture, {"noise_dimensions": tuple(WHITE)}, smooth=False),
}
