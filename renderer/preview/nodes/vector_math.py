"""Vector Math, and splitting and joining of vectors."""

from __future__ import annotations

from collections.abc import Callable

import drjit as dr
from drjit.auto.ad import Array3f, Float

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.nodes.math import power, sign, snap
from renderer.preview.ops import (
    absolute,
    cross,
    dot,
    fraction,
    length,
    maximum,
    minimum,
    remainder,
    safe_divide,
    safe_normalize,
    safe_sqrt,
    wrap,
)


def each(function: Callable[..., Float]) -> Callable[..., Array3f]:
    """A scalar function on every axis."""
    return lambda *vectors: Array3f(*(function(*(v[axis] for v in vectors)) for axis in range(3)))


def project(a: Array3f, b: Array3f) -> Array3f:
    """The part of `a` along `b`."""
    size = dot(b, b)
    return b * safe_divide(dot(a, b), size)


def reflect(incident: Array3f, normal: Array3f) -> Array3f:
    """Mirror at the plane of `normal`."""
    unit = safe_normalize(normal)
    return incident - 2.0 * dot(incident, unit) * unit


def refract(incident: Array3f, normal: Array3f, ior: Float) -> Array3f:
    """Bend at the plane of `normal`; zero for total reflection."""
    unit = safe_normalize(normal)
    cosine = dot(unit, incident)
    k = 1.0 - ior * ior * (1.0 - cosine * cosine)
    bent = ior * incident - (ior * cosine + safe_sqrt(k)) * unit
    return dr.select(k < 0, Array3f(0.0), bent)


def face_forward(vector: Array3f, incident: Array3f, reference: Array3f) -> Array3f:
    """`vector`, turned to face against `incident`."""
    return dr.select(dot(reference, incident) < 0, vector, -vector)


# Every operation: its inputs by identifier, the output it fills, the function.
_A, _B, _C, _S = "Vector", "Vector_001", "Vector_002", "Scale"
OPERATIONS: dict[str, tuple[tuple[str, ...], str, Callable[..., Array3f]]] = {
    "ADD": ((_A, _B), "Vector", lambda a, b: a + b),
    "SUBTRACT": ((_A, _B), "Vector", lambda a, b: a - b),
    "MULTIPLY": ((_A, _B), "Vector", lambda a, b: a * b),
    "DIVIDE": ((_A, _B), "Vector", safe_divide),
    "MULTIPLY_ADD": ((_A, _B, _C), "Vector", lambda a, b, c: a * b + c),
    "CROSS_PRODUCT": ((_A, _B), "Vector", cross),
    "PROJECT": ((_A, _B), "Vector", project),
    "REFLECT": ((_A, _B), "Vector", reflect),
    "REFRACT": ((_A, _B, _S), "Vector", refract),
    "FACEFORWARD": ((_A, _B, _C), "Vector", face_forward),
    "DOT_PRODUCT": ((_A, _B), "Value", dot),
    "DISTANCE": ((_A, _B), "Value", lambda a, b: length(a - b)),
    "LENGTH": ((_A,), "Value", length),
    "SCALE": ((_A, _S), "Vector", lambda a, s: a * s),
    "NORMALIZE": ((_A,), "Vector", safe_normalize),
    "ABSOLUTE": ((_A,), "Vector", absolute),
    "POWER": ((_A, _B), "Vector", each(power)),
    "SIGN": ((_A,), "Vector", each(sign)),
    "MINIMUM": ((_A, _B), "Vector", minimum),
    "MAXIMUM": ((_A, _B), "Vector", maximum),
    "FLOOR": ((_A,), "Vector", dr.floor),
    "CEIL": ((_A,), "Vector", dr.ceil),
    "ROUND": ((_A,), "Vector", lambda a: dr.floor(a + 0.5)),
    "FRACTION": ((_A,), "Vector", fraction),
    "MODULO": ((_A, _B), "Vector", each(remainder)),
    "WRAP": ((_A, _B, _C), "Vector", each(wrap)),
    "SNAP": ((_A, _B), "Vector", each(snap)),
    "SINE": ((_A,), "Vector", dr.sin),
    "COSINE": ((_A,), "Vector", dr.cos),
    "TANGENT": ((_A,), "Vector", dr.tan),
}


def vector_math(i: Inputs) -> Outputs:
    """One operation on one to three vectors."""
    inputs, output, function = OPERATIONS[i.option("operation")]
    return {output: function(*(i[name] for name in inputs))}


def separate_xyz(i: Inputs) -> Outputs:
    """The three axes of a vector."""
    v = i["Vector"]
    return {"X": v.x, "Y": v.y, "Z": v.z}


def combine_xyz(i: Inputs) -> Outputs:
    """A vector of three numbers."""
    return {"Vector": Array3f(i["X"], i["Y"], i["Z"])}


TABLE = {
    "ShaderNodeVectorMath": NodeSpec(vector_math, {"operation": tuple(OPERATIONS)}, smooth=False),
    "ShaderNodeSeparateXYZ": NodeSpec(separate_xyz),
    "ShaderNodeCombineXYZ": NodeSpec(combine_xyz),
}
