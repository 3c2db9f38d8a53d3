"""Color Ramp."""

from __future__ import annotations

from drjit.auto.ad import Array3f

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.ramps import read


def color_ramp(i: Inputs) -> Outputs:
    """Color and alpha of the ramp at Factor."""
    shape, table = i.ramp("color_ramp")
    rgba = read(table, i.setting, i["Fac"], interpolate=shape.interpolation != "CONSTANT")
    return {"Color": Array3f(rgba.x, rgba.y, rgba.z), "Alpha": rgba.w}


TABLE = {"ShaderNodeValToRGB": NodeSpec(color_ramp)}
