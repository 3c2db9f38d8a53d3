"""Adjustments of one color: Invert, Hue/Saturation/Value, Brightness/Contrast, Gamma."""

from __future__ import annotations

import drjit as dr
from drjit.auto.ad import Array3f

from renderer.preview.colors import hsv_to_rgb, rgb_to_hsv
from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.ops import fraction, maximum, power_positive, saturate


def invert(i: Inputs) -> Outputs:
    """Towards the complement by Factor."""
    t, color = i["Fac"], i["Color"]
    return {"Color": (1.0 - color) * t + color * (1.0 - t)}


def hue_saturation(i: Inputs) -> Outputs:
    """Turned hue, scaled saturation and value; negative results are cut."""
    color, t = i["Color"], i["Fac"]
    hsv = rgb_to_hsv(color)
    hue = fraction(hsv.x + i["Hue"] + 0.5)
    changed = hsv_to_rgb(Array3f(hue, saturate(hsv.y * i["Saturation"]), hsv.z * i["Value"]))
    return {"Color": maximum(changed * t + color * (1.0 - t), 0.0)}


def bright_contrast(i: Inputs) -> Outputs:
    """Contrast about the middle, then brightness; negative results are cut."""
    contrast = i["Contrast"]
    return {"Color": maximum((1.0 + contrast) * i["Color"] + (i["Bright"] - contrast * 0.5), 0.0)}


def gamma(i: Inputs) -> Outputs:
    """A power of every positive channel."""
    color, exponent = i["Color"], i["Gamma"]
    channels = (dr.select(color[c] > 0, power_positive(color[c], exponent), color[c]) for c in range(3))
    return {"Color": dr.select(exponent == 0, Array3f(1.0), Array3f(*channels))}


TABLE = {
    "ShaderNodeInvert": NodeSpec(invert),
    "ShaderNodeHueSaturation": NodeSpec(hue_saturation, smooth=False),
    "ShaderNodeBrightContrast": NodeSpec(bright_contrast),
    "ShaderNodeGamma": NodeSpec(gamma),
}
