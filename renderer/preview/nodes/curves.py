"""RGB Curves, Vector Curves and Float Curve."""

from __future__ import annotations

import drjit as dr
from drjit.auto.ad import Array3f, Float, UInt32

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs, padded
from renderer.preview.ops import saturate
from renderer.preview.structure import CURVE_TABLE

_LAST = 256


def _read(i: Inputs, first: int, x: Float) -> Float:
    """A curve's table at `x`; beyond its ends it goes on in a straight line."""
    number = i.evaluation.number
    low, span = number(first + _LAST + 1), number(first + _LAST + 2)
    place = (x - low) / span * float(_LAST)
    inside = saturate(place / float(_LAST)) * float(_LAST)
    below = UInt32(dr.detach(inside))
    below = dr.select(below < _LAST, below, _LAST - 1)
    low_value, high_value = (_entry(i, below + (first + step)) for step in (0, 1))
    value = dr.fma(inside - Float(below), high_value - low_value, low_value)
    before, after = number(first + _LAST + 3) * place, number(first + _LAST + 4) * (place - float(_LAST))
    return value + dr.select(place < 0, before, dr.select(place > float(_LAST), after, 0.0))


def _entry(i: Inputs, row: UInt32) -> Float:
    evaluation = i.evaluation
    return dr.gather(Float, evaluation.theta, i.setting * padded(evaluation.structure.rows) + row)


def _three(i: Inputs, value: Array3f) -> Array3f:
    first = i.curve("mapping").row
    return Array3f(*(_read(i, first + axis * CURVE_TABLE, value[axis]) for axis in range(3)))


def rgb_curves(i: Inputs) -> Outputs:
    """The combined curve, then one for each channel; mixed in by Factor."""
    color, t = i["Color"], i["Fac"]
    return {"Color": color * (1.0 - t) + _three(i, color) * t}


def vector_curves(i: Inputs) -> Outputs:
    """One curve for each axis; mixed in by Factor."""
    vector, t = i["Vector"], i["Fac"]
    return {"Vector": vector * (1.0 - t) + _three(i, vector) * t}


def float_curve(i: Inputs) -> Outputs:
    """One curve; mixed in by Factor."""
    value, t = i["Value"], i["Factor"]
    return {"Value": value * (1.0 - t) + _read(i, i.curve("mapping").row, value) * t}


TABLE = {
    "ShaderNodeRGBCurve": NodeSpec(rgb_curves),
    "ShaderNodeVectorCurve": NodeSpec(vector_curves),
    "ShaderNodeFloatCurve": NodeSpec(float_curve),
}
