"""Texture Coordinate, UV Map, Geometry and Mapping."""

from __future__ import annotations

from collections.abc import Callable

from drjit.auto.ad import Array3f

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.ops import dot, rotation, safe_divide, safe_normalize
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


def _rotate(v: Array3f, euler: Array3f) -> Array3f:
    rows = rotation(euler)
    return Array3f(*(dot(row, v) for row in rows))


def _rotate_back(v: Array3f, euler: Array3f) -> Array3f:
    x, y, z = rotation(euler)
    return x * v.x + y * v.y + z * v.z


def _point(i: Inputs) -> Array3f:
    return _rotate(i["Vector"] * i["Scale"], i["Rotation"]) + i["Location"]


def _texture(i: Inputs) -> Array3f:
    return safe_divide(_rotate_back(i["Vector"] - i["Location"], i["Rotation"]), i["Scale"])


def _vector(i: Inputs) -> Array3f:
    return _rotate(i["Vector"] * i["Scale"], i["Rotation"])


def _normal(i: Inputs) -> Array3f:
    return safe_normalize(_rotate(safe_divide(i["Vector"], i["Scale"]), i["Rotation"]))


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
    "ShaderNodeMapping": NodeSpec(mapping, {"vector_type": tuple(MAPPINGS)}),
}
