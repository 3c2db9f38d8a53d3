"""Bump, Normal Map and Displacement: from heights and colors to normals.

Cycles takes heights at three places: here and a tenth of a pixel (Filter Width) along two directions. It keeps only the
size of a pixel, not its orientation; on a patch facing +Z the two directions lie on the diagonals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import drjit as dr
from drjit.auto.ad import Array3f, Float

from renderer.preview.evaluation import Evaluation, Inputs, NodeSpec, Outputs
from renderer.preview.ops import absolute, cross, dot, length, lerp, maximum, safe_normalize, saturate
from renderer.preview.structure import Linked

_DIAGONAL = math.sqrt(0.5)
# Filter width of the bump that Cycles makes of a displacement, in pixels.
DISPLACEMENT_FILTER = 0.1


def sample_places(evaluation: Evaluation, name: Any, width: Float) -> tuple[Any, Any]:
    """The two places beside each pixel where heights are taken."""
    step = width * _DIAGONAL
    return (
        evaluation.place((name, "x"), (step, -step)),
        evaluation.place((name, "y"), (step, step)),
    )


def perturb(
    evaluation: Evaluation,
    normal: Array3f,
    heights: tuple[Float, Float, Float],
    width: Float,
    distance: Float,
    strength: Float,
) -> Array3f:
    """The normal tilted by the slope of heights here, at the first and at the second place; metres."""
    step = evaluation.geometry.pixel_m * width * _DIAGONAL
    dx, dy = Array3f(step, -step, 0.0), Array3f(step, step, 0.0)
    rx, ry = cross(dy, normal), cross(normal, dx)
    determinant = dot(dx, rx)
    here, at_x, at_y = heights
    gradient = rx * (at_x - here) + ry * (at_y - here)
    sign = dr.select(determinant < 0, Float(-1.0), Float(1.0))
    tilted = safe_normalize(absolute(determinant) * normal - distance * sign * gradient)
    strength = maximum(strength, 0.0)
    mixed = safe_normalize(tilted * strength + normal * (1.0 - strength))
    return dr.select(length(tilted) == 0, normal, mixed)


def bump(i: Inputs) -> Outputs:
    """The normal of a height field."""
    width = i["Filter Width"]
    place_x, place_y = sample_places(i.evaluation, i.index, width)
    heights = (i["Height"], i.at("Height", place_x), i.at("Height", place_y))
    distance = i["Distance"] * (-1.0 if i.flag("invert") else 1.0)
    normal = i["Normal"] if i.linked("Normal") is not None else i.geometry.up
    return {"Normal": perturb(i.evaluation, normal, heights, width, distance, i["Strength"])}


def displaced_normal(evaluation: Evaluation, displacement: Linked) -> Array3f:
    """The shading normal that Cycles makes of the Material Output's displacement."""
    width = Float(DISPLACEMENT_FILTER)
    up = evaluation.geometry.up
    places = (None, *sample_places(evaluation, "displacement", width))
    here, at_x, at_y = (evaluation.source(displacement, "VECTOR", place).z for place in places)
    return perturb(evaluation, up, (here, at_x, at_y), width, Float(1.0), Float(1.0))


def displacement(i: Inputs) -> Outputs:
    """Height above the middle level, along the normal."""
    normal = i["Normal"] if i.linked("Normal") is not None else i.geometry.up
    return {"Displacement": normal * ((i["Height"] - i["Midlevel"]) * i["Scale"])}


def _tangent(color: Array3f, strength: Float) -> Array3f:
    """UV tangents of the patch are its axes."""
    z = lerp(Float(1.0), color.z, saturate(strength))
    return safe_normalize(Array3f(color.x * strength, color.y * strength, z))


def _toward(color: Array3f, strength: Float) -> Array3f:
    up = Array3f(0.0, 0.0, 1.0)
    return safe_normalize(up + (safe_normalize(color) - up) * maximum(strength, 0.0))


def _blender(color: Array3f, strength: Float) -> Array3f:
    return _toward(Array3f(color.x, -color.y, -color.z), strength)


SPACES: dict[str, Callable[[Array3f, Float], Array3f]] = {
    "TANGENT": _tangent,
    "OBJECT": _toward,
    "WORLD": _toward,
    "BLENDER_OBJECT": _blender,
    "BLENDER_WORLD": _blender,
}


def normal_map(i: Inputs) -> Outputs:
    """A normal from a color."""
    normal = SPACES[i.option("space")](i["Color"] * 2.0 - 1.0, i["Strength"])
    return {"Normal": dr.select(length(normal) == 0, i.geometry.up, normal)}


TABLE = {
    "ShaderNodeBump": NodeSpec(bump, unlinkable=("Filter Width",)),
    "ShaderNodeDisplacement": NodeSpec(displacement, {"space": ("OBJECT", "WORLD")}),
    "ShaderNodeNormalMap": NodeSpec(
        # The last two are of Blender 5.1 and later.
        normal_map,
        {"space": tuple(SPACES), "convention": ("OPENGL",), "base": ("ORIGINAL",)},
    ),
}
