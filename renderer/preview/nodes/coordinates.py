"""Texture Coordinate, UV Map, Geometry and Mapping."""

from __future__ import annotations

from collections.abc import Callable

import drjit as dr
from drjit.auto.ad import Array3f, Float, Float64

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


def rotation_rows(i: Inputs) -> Matrix:
    """The nine numbers of the rotation matrix, by rows; sines rounded from double, as Cycles' library has them."""
    euler = i["Rotation"]
    sines, cosines = zip(*(dr.sincos(Float64(euler[axis])) for axis in range(3)), strict=True)
    sx, sy, sz = (Float(value) for value in sines)
    cx, cy, cz = (Float(value) for value in cosines)
    return [
        cy * cz, sy * sx * cz - cx * sz, sy * cx * cz + sx * sz,
        cy * sz, sy * sx * sz + cx * cz, sy * cx * sz - sx * cz,
        -sy, cy * sx, cy * cx,
    ]  # fmt: skip


def _turn(v: Array3f, m: Matrix) -> Array3f:
    """Summed from the last axis to the first, each product fused into the sum: the order of Cycles, to the last bit."""
    return Array3f(
        *(dr.fma(v.x, m[row], dr.fma(v.y, m[row + 1], v.z * m[row + 2])) for row in (0, 3, 6))
    )


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
