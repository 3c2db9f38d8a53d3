"""Map Range, and splitting and joining of colors."""

from __future__ import annotations

from collections.abc import Callable

import drjit as dr
from drjit.auto.ad import Array3f, Float

from renderer.preview.colors import hsl_to_rgb, hsv_to_rgb, rgb_to_hsl, rgb_to_hsv
from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.nodes.math import clamp_range
from renderer.preview.ops import luminance, safe_divide, smootherstep, smoothstep


def _linear(factor: Float, _: Float) -> Float:
    return factor


def _stepped(factor: Float, steps: Float) -> Float:
    valid = steps > 0
    divisor = dr.select(valid, steps, 1.0)
    return dr.select(valid, dr.floor(factor * (steps + 1.0)) / divisor, 0.0)


INTERPOLATIONS: dict[str, Callable[[Float, Float], Float]] = {
    "LINEAR": _linear,
    "STEPPED": _stepped,
    "SMOOTHSTEP": lambda factor, _: smoothstep(factor),
    "SMOOTHERSTEP": lambda factor, _: smootherstep(factor),
}
# Smooth interpolations stay in range by themselves.
_CLAMPED = ("LINEAR", "STEPPED")


def _remap(i: Inputs, numbers: tuple[Float, ...], *, empty: Float) -> Float:
    value, low, high, to_low, to_high, steps = numbers
    name = i.option("interpolation_type")
    factor = INTERPOLATIONS[name](safe_divide(value - low, high - low), steps)
    result = to_low + factor * (to_high - to_low)
    if i.flag("clamp") and name in _CLAMPED:
        result = clamp_range(result, to_low, to_high)
    return dr.select(high != low, result, empty)


_FLOATS = ("Value", "From Min", "From Max", "To Min", "To Max")
_VECTORS = ("Vector", "From_Min_FLOAT3", "From_Max_FLOAT3", "To_Min_FLOAT3", "To_Max_FLOAT3")


def _map_float(i: Inputs) -> Outputs:
    steps = i["Steps"] if i.enabled("Steps") else Float(0.0)
    return {"Result": _remap(i, (*(i[name] for name in _FLOATS), steps), empty=Float(0.0))}


def _map_vector(i: Inputs) -> Outputs:
    values = [i[name] for name in _VECTORS]
    steps = i["Steps_FLOAT3"] if i.enabled("Steps_FLOAT3") else Array3f(0.0)
    axes = [_remap(i, (*(v[axis] for v in values), steps[axis]), empty=values[3][axis]) for axis in range(3)]
    return {"Vector": Array3f(*axes)}


DATA_TYPES: dict[str, Callable[[Inputs], Outputs]] = {"FLOAT": _map_float, "FLOAT_VECTOR": _map_vector}


def map_range(i: Inputs) -> Outputs:
    """One range brought to another."""
    return DATA_TYPES[i.option("data_type")](i)


def _same(color: Array3f) -> Array3f:
    return color


# To and from each color model.
MODES: dict[str, tuple[Callable[[Array3f], Array3f], Callable[[Array3f], Array3f]]] = {
    "RGB": (_same, _same),
    "HSV": (rgb_to_hsv, hsv_to_rgb),
    "HSL": (rgb_to_hsl, hsl_to_rgb),
}


def separate_color(i: Inputs) -> Outputs:
    """The three components in a color model."""
    color = MODES[i.option("mode")][0](i["Color"])
    return {"Red": color.x, "Green": color.y, "Blue": color.z}


def combine_color(i: Inputs) -> Outputs:
    """A color from three components in a color model."""
    return {"Color": MODES[i.option("mode")][1](Array3f(i["Red"], i["Green"], i["Blue"]))}


def rgb_to_bw(i: Inputs) -> Outputs:
    """Luminance."""
    return {"Val": luminance(i["Color"])}


TABLE = {
    "ShaderNodeMapRange": NodeSpec(
        map_range, {"interpolation_type": tuple(INTERPOLATIONS), "data_type": tuple(DATA_TYPES)}, smooth=False
    ),
    "ShaderNodeSeparateColor": NodeSpec(separate_color, {"mode": tuple(MODES)}, smooth=False),
    "ShaderNodeCombineColor": NodeSpec(combine_color, {"mode": tuple(MODES)}, smooth=False),
    "ShaderNodeRGBToBW": NodeSpec(rgb_to_bw),
}
