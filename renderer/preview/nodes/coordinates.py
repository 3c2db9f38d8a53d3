"""Texture Coordinate, UV Map, Geometry and Mapping."""

from __future__ import annotations

import math
from collections.abc import Callable

import drjit as dr
from drjit.auto.ad import Array3f, Float, Float64, Int32

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.ops import safe_divide, safe_normalize
from renderer.preview.scene import Geometry

COORDINATES: dict[str, Callable[[Geometry], Array3f]] = {
    "Generated": lambda g: g.generated,
    "Normal": lambda g: g.up,
    "UV": lambda g: g.uv,
    "Object": lambda g: g.position,
    "Camera": lambda g: g.camera,
    "Window": lambda g: g.uv,
    "Reflection": lambda g: g.up,
}
GEOMETRY: dict[str, Callable[[Geometry], Array3f]] = {
    "Position": lambda g: g.position,
    "Normal": lambda g: g.up,
    "True Normal": lambda g: g.up,
    "Incoming": lambda g: g.up,
}


def texture_coordinate(i: Inputs) -> Outputs:
    """Coordinates of the patch as Blender gives them."""
    return {name: COORDINATES[name](i.geometry) for name in i.wanted}


def geometry(i: Inputs) -> Outputs:
    """Position and directions, world space."""
    return {name: GEOMETRY[name](i.geometry) for name in i.wanted}


def uv_map(i: Inputs) -> Outputs:
    """The patch's only UV map."""
    return {"UV": i.geometry.uv}


Matrix = list[Float]


# Double-precision polynomials of the C library's single-precision sine and cosine (from ARM's optimized routines):
# another one rounds a few percent of all angles differently, and a rotated texture shows it.
_SINE = (-0.16666654943701084, 0.008332178146138854, -0.00019517298981385725)
_COSINE = (-0.49999999725108224, 0.041666623324344516, -0.001388676379437604, 2.4390450703564542e-05)


def sine_cosine(angle: Float) -> tuple[Float, Float]:
    """Sine and cosine, rounded as the C library does it."""
    x = Float64(angle)
    quarter = dr.floor(dr.detach(x) * (2.0 / math.pi) + 0.5)
    x = x - quarter * (0.5 * math.pi)
    x2 = x * x
    x3, x4 = x * x2, x2 * x2
    sine = (x + x3 * _SINE[0]) + x3 * x2 * (_SINE[1] + x2 * _SINE[2])
    cosine = ((1.0 + x2 * _COSINE[0]) + x4 * _COSINE[1]) + x4 * x2 * (_COSINE[2] + x2 * _COSINE[3])
    turn = Int32(quarter) & 3
    odd, back = (turn & 1) == 1, turn >= 2
    first, second = dr.select(odd, cosine, sine), dr.select(odd, sine, cosine)
    return Float(dr.select(back, -first, first)), Float(dr.select(back ^ odd, -second, second))


def rotation_rows(i: Inputs) -> Matrix:
    """The nine numbers of the rotation matrix, by rows."""
    (sx, cx), (sy, cy), (sz, cz) = (sine_cosine(i["Rotation"][axis]) for axis in range(3))
    return [
        cy * cz, sy * sx * cz - cx * sz, sy * cx * cz + sx * sz,
        cy * sz, sy * sx * sz + cx * cz, sy * cx * sz - sx * cz,
        -sy, cy * sx, cy * cx,
    ]  # fmt: skip


def _turn(v: Array3f, m: Matrix) -> Array3f:
    """Summed from the last axis to the first, each product fused into the sum: the order of Cycles, to the last bit."""
    return Array3f(*(dr.fma(v.x, m[row], dr.fma(v.y, m[row + 1], v.z * m[row + 2])) for row in (0, 3, 6)))


def _turn_back(v: Array3f, m: Matrix) -> Array3f:
    return _turn(v, [m[column] for column in (0, 3, 6, 1, 4, 7, 2, 5, 8)])


def _point(i: Inputs) -> Array3f:
    return _turn(i["Vector"] * i["Scale"], i.prelude()) + i["Location"]


def _texture(i: Inputs) -> Array3f:
    return safe_divide(_turn_back(i["Vector"] - i["Location"], i.prelude()), i["Scale"])


def _vector(i: Inputs) -> Array3f:
    return _turn(i["Vector"] * i["Scale"], i.prelude())


def _normal(i: Inputs) -> Array3f:
    return safe_normalize(_turn(safe_divide(i["Vector"], i["Scale"]), i.prelude()))


MAPPINGS: dict[str, Callable[[Inputs], Array3f]] = {
    "POINT": _point,
    "TEXTURE": _texture,
    "VECTOR": _vector,
    "NORMAL": _normal,
}


def mapping(i: Inputs) -> Outputs:
    """Scale, rotate and move, in the order of the vector type."""
    return {"Vector": MAPPINGS[i.option("vector_type")](i)}


TABLE = {
    "ShaderNodeTexCoord": NodeSpec(texture_coordinate, outputs=tuple(COORDINATES)),
    "ShaderNodeNewGeometry": NodeSpec(geometry, outputs=tuple(GEOMETRY)),
    "ShaderNodeUVMap": NodeSpec(uv_map),
    "ShaderNodeMapping": NodeSpec(
        mapping, {"vector_type": tuple(MAPPINGS)}, prelude=rotation_rows, prelude_inputs=("Rotation",)
    ),
}
