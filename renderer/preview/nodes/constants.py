"""Value and RGB: their number is the default of their output."""

from __future__ import annotations

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs


def value(i: Inputs) -> Outputs:
    """A number."""
    return {"Value": i["Value"]}


def rgb(i: Inputs) -> Outputs:
    """A color."""
    return {"Color": i["Color"]}


TABLE = {"ShaderNodeValue": NodeSpec(value), "ShaderNodeRGB": NodeSpec(rgb)}
