"""Mix, for numbers, vectors and colors, and the older Mix Color."""

from __future__ import annotations

from collections.abc import Callable

import drjit as dr
from drjit.auto.ad import Array3f, Float

from renderer.preview.colors import hsv_to_rgb, rgb_to_hsv
from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.ops import absolute, clamp, maximum, minimum, saturate

ByChannel = Callable[[Float, Float, Float], Float]


def _screen(t: Float, a: Float, b: Float) -> Float:
    return 1.0 - ((1.0 - t) + t * (1.0 - b)) * (1.0 - a)


def _overlay(t: Float, a: Float, b: Float) -> Float:
    dark = a * ((1.0 - t) + 2.0 * t * b)
    bright = 1.0 - ((1.0 - t) + 2.0 * t * (1.0 - b)) * (1.0 - a)
    return dr.select(a < 0.5, dark, bright)


def _divide(t: Float, a: Float, b: Float) -> Float:
    valid = b != 0
    return dr.select(valid, (1.0 - t) * a + t * a / dr.select(valid, b, 1.0), a)


def _dodge(t: Float, a: Float, b: Float) -> Float:
    rest = 1.0 - t * b
    valid = rest > 0
    value = minimum(a / dr.select(valid, rest, 1.0), 1.0)
    return dr.select(a != 0, dr.select(valid, value, 1.0), a)


def _burn(t: Float, a: Float, b: Float) -> Float:
    rest = (1.0 - t) + t * b
    valid = rest > 0
    value = clamp(1.0 - (1.0 - a) / dr.select(valid, rest, 1.0), 0.0, 1.0)
    return dr.select(valid, value, 0.0)


def _soft_light(t: Float, a: Float, b: Float) -> Float:
    screen = 1.0 - (1.0 - b) * (1.0 - a)
    return (1.0 - t) * a + t * ((1.0 - a) * b * a + a * screen)


def _exclusion(t: Float, a: Float, b: Float) -> Float:
    return maximum((1.0 - t) * a + t * (a + b - 2.0 * a * b), 0.0)


def _toward(function: Callable[[Float, Float], Float]) -> ByChannel:
    return lambda t, a, b: (1.0 - t) * a + t * function(a, b)


CHANNEL_BLENDS: dict[str, ByChannel] = {
    "MIX": _toward(lambda _, b: b),
    "DARKEN": _toward(minimum),
    "MULTIPLY": _toward(lambda a, b: a * b),
    "BURN": _burn,
    "LIGHTEN": _toward(maximum),
    "SCREEN": _screen,
    "DODGE": _dodge,
    "ADD": _toward(lambda a, b: a + b),
    "OVERLAY": _overlay,
    "SOFT_LIGHT": _soft_light,
    "LINEAR_LIGHT": lambda t, a, b: a + t * (2.0 * b - 1.0),
    "DIFFERENCE": _toward(lambda a, b: absolute(a - b)),
    "EXCLUSION": _exclusion,
    "SUBTRACT": _toward(lambda a, b: a - b),
    "DIVIDE": _divide,
}


def _hue(t: Float, a: Array3f, b: Array3f) -> Array3f:
    hsv_a, hsv_b = rgb_to_hsv(a), rgb_to_hsv(b)
    mixed = hsv_to_rgb(Array3f(hsv_b.x, hsv_a.y, hsv_a.z))
    return dr.select(hsv_b.y != 0, a * (1.0 - t) + mixed * t, a)


def _saturation(t: Float, a: Array3f, b: Array3f) -> Array3f:
    hsv_a, hsv_b = rgb_to_hsv(a), rgb_to_hsv(b)
    mixed = hsv_to_rgb(Array3f(hsv_a.x, (1.0 - t) * hsv_a.y + t * hsv_b.y, hsv_a.z))
    return dr.select(hsv_a.y != 0, mixed, a)


def _value(t: Float, a: Array3f, b: Array3f) -> Array3f:
    hsv_a, hsv_b = rgb_to_hsv(a), rgb_to_hsv(b)
    return hsv_to_rgb(Array3f(hsv_a.x, hsv_a.y, (1.0 - t) * hsv_a.z + t * hsv_b.z))


def _color(t: Float, a: Array3f, b: Array3f) -> Array3f:
    hsv_a, hsv_b = rgb_to_hsv(a), rgb_to_hsv(b)
    mixed = hsv_to_rgb(Array3f(hsv_b.x, hsv_b.y, hsv_a.z))
    return dr.select(hsv_b.y != 0, a * (1.0 - t) + mixed * t, a)


HSV_BLENDS: dict[str, Callable[[Float, Array3f, Array3f], Array3f]] = {
    "HUE": _hue,
    "SATURATION": _saturation,
    "COLOR": _color,
    "VALUE": _value,
}
BLENDS = (*CHANNEL_BLENDS, *HSV_BLENDS)


def blend(name: str, t: Float, a: Array3f, b: Array3f) -> Array3f:
    """Two colors blended in mode `name`."""
    if name in HSV_BLENDS:
        return HSV_BLENDS[name](t, a, b)
    function = CHANNEL_BLENDS[name]
    return Array3f(*(function(t, a[channel], b[channel]) for channel in range(3)))


def saturate_color(color: Array3f) -> Array3f:
    """Every channel within [0, 1]."""
    return Array3f(*(saturate(color[channel]) for channel in range(3)))


def _factor(i: Inputs, name: str) -> Float:
    factor = i[name]
    if not i.flag("clamp_factor"):
        return factor
    return saturate_color(factor) if name == "Factor_Vector" else saturate(factor)


def _mix_float(i: Inputs) -> Outputs:
    t = _factor(i, "Factor_Float")
    return {"Result_Float": i["A_Float"] * (1.0 - t) + i["B_Float"] * t}


def _mix_vector(i: Inputs) -> Outputs:
    t = _factor(i, "Factor_Float" if i.option("factor_mode") == "UNIFORM" else "Factor_Vector")
    return {"Result_Vector": i["A_Vector"] * (1.0 - t) + i["B_Vector"] * t}


def _mix_color(i: Inputs) -> Outputs:
    color = blend(i.option("blend_type"), _factor(i, "Factor_Float"), i["A_Color"], i["B_Color"])
    return {"Result_Color": saturate_color(color) if i.flag("clamp_result") else color}


DATA_TYPES: dict[str, Callable[[Inputs], Outputs]] = {"FLOAT": _mix_float, "VECTOR": _mix_vector, "RGBA": _mix_color}


def mix(i: Inputs) -> Outputs:
    """Two values of the chosen kind, mixed or blended."""
    return DATA_TYPES[i.option("data_type")](i)


def mix_rgb(i: Inputs) -> Outputs:
    """The older color mix: its factor is always clamped."""
    color = blend(i.option("blend_type"), saturate(i["Fac"]), i["Color1"], i["Color2"])
    return {"Color": saturate_color(color) if i.flag("use_clamp") else color}


TABLE = {
    "ShaderNodeMix": NodeSpec(
        mix,
        {"data_type": tuple(DATA_TYPES), "factor_mode": ("UNIFORM", "NON_UNIFORM"), "blend_type": BLENDS},
        smooth=False,
    ),
    "ShaderNodeMixRGB": NodeSpec(mix_rgb, {"blend_type": BLENDS}, smooth=False),
}
