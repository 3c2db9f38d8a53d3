"""From the shader tree to channels: the same rules as Blender's channel outputs, node by node.

A channel is the value that reaches the shader's socket, or the socket's constant; where shaders are mixed, channels
are mixed by the same factor; a sum of shaders adds albedo and averages the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import drjit as dr
from drjit.auto.ad import Array3f, Float

from renderer.preview.evaluation import Evaluation, Inputs
from renderer.preview.ops import length, saturate
from renderer.preview.shading import RADIANCE, REQUIRED
from renderer.preview.structure import Linked

Channel = Any
# For each shader: the input that carries a channel, or the channel's constant.
SHADERS: Mapping[str, Mapping[str, str | float]] = {
    "ShaderNodeBsdfPrincipled": {
        "base_color": "Base Color",
        "roughness": "Roughness",
        "metallic": "Metallic",
        "normal": "Normal",
    },
    "ShaderNodeBsdfDiffuse": {"base_color": "Color", "roughness": 1.0, "metallic": 0.0, "normal": "Normal"},
    "ShaderNodeEmission": {"base_color": 0.0},
}
MIX_SHADER, ADD_SHADER = "ShaderNodeMixShader", "ShaderNodeAddShader"
SHADER_TREE = (*SHADERS, MIX_SHADER, ADD_SHADER)


def required_inputs(node_type: str) -> Mapping[str, float]:
    """Inputs that must hold a value for the shader's beauty to be drawn."""
    return REQUIRED.get(node_type, {})


class Surface:
    """The channels of one evaluation."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.output = self._inputs(len(evaluation.structure.steps) - 1)
        surface = self.output.linked("Surface")
        assert surface is not None, "checked before"
        self.root = surface
        self._geometry_normal: Array3f | None = None

    def prefetch(self) -> None:
        """Heights of all Bump nodes, here and beside, before anything asks for them here alone."""
        from renderer.preview.nodes.bump import sample_places  # noqa: PLC0415 - it imports this package

        for index, step in enumerate(self.evaluation.structure.steps):
            if step.type == "ShaderNodeBump":
                i = self._inputs(index)
                height = i.linked("Height")
                if height is not None:
                    places = sample_places(self.evaluation, index, i["Filter Width"])
                    self.evaluation.prefetch(height.step, (None, *places))

    def channel(self, name: str) -> Channel:
        """A channel by its name in the renderer's protocol: a number or a vector by lane."""
        return _CHANNELS[name](self)

    def _inputs(self, index: int) -> Inputs:
        return Inputs(self.evaluation, index, self.evaluation.structure.steps[index], None)

    def normal_of_geometry(self) -> Array3f:
        """The shading normal with the bump that Cycles makes of a displacement."""
        if self._geometry_normal is None:
            displacement = self.output.linked("Displacement")
            if displacement is None:
                self._geometry_normal = self.evaluation.geometry.up
            else:
                from renderer.preview.nodes.bump import displaced_normal  # noqa: PLC0415 - it imports this package

                self._geometry_normal = displaced_normal(self.evaluation, displacement)
        return self._geometry_normal

    def _find(self, link: Linked | None, name: str) -> Channel | None:
        """The channel of a shader; None where it does not have it."""
        missing = Float(0.0) if name == "base_color" else None
        if link is None:
            return missing
        step, i = self.evaluation.structure.steps[link.step], self._inputs(link.step)
        if step.type in (MIX_SHADER, ADD_SHADER):
            first, second = self._find(i.linked("Shader"), name), self._find(i.linked("Shader_001"), name)
            if step.type == ADD_SHADER and name == "base_color" and first is not None and second is not None:
                return first + second
            return self._mix(i["Fac"] if step.type == MIX_SHADER else Float(0.5), first, second)
        socket = SHADERS[step.type].get(name, missing)
        if not isinstance(socket, str):
            return socket if socket is None else Float(socket)
        if name == "normal" and i.linked(socket) is None:
            return self.normal_of_geometry()
        return i[socket]

    def _mix(self, factor: Float, first: Channel | None, second: Channel | None) -> Channel | None:
        if first is None or second is None:
            return second if first is None else first
        t = saturate(factor)
        return first * (1.0 - t) + second * t

    def _color(self) -> Channel:
        return self._as_color(self._find(self.root, "base_color"))

    def _as_color(self, value: Channel) -> Array3f:
        return Array3f(value) if not isinstance(value, Array3f) else value

    def _unit(self, name: str) -> Float:
        value = self._find(self.root, name)
        return saturate(Float(0.0) if value is None else value)

    def _normal(self) -> Array3f:
        value = self._find(self.root, "normal")
        if value is None:
            return self.evaluation.geometry.up
        size = length(value)
        valid = size > 0
        return dr.select(valid, value / dr.select(valid, size, 1.0), self.evaluation.geometry.up)

    def _height(self) -> Float:
        displacement = self.output.linked("Displacement")
        if displacement is not None:
            step, i = self.evaluation.structure.steps[displacement.step], self._inputs(displacement.step)
            if step.type == "ShaderNodeDisplacement":
                return (i["Height"] - i["Midlevel"]) * i["Scale"]
            return self.evaluation.source(displacement, "VECTOR", None).z
        found = self._bump_of_shader(self.root)
        return Float(0.0) if found is None else found

    def _bump_of_shader(self, link: Linked | None) -> Float | None:
        if link is None:
            return None
        step, i = self.evaluation.structure.steps[link.step], self._inputs(link.step)
        if step.type in (MIX_SHADER, ADD_SHADER):
            parts = [self._bump_of_shader(i.linked(name)) for name in ("Shader", "Shader_001")]
            if parts[0] is None and parts[1] is None:
                return None
            first, second = (Float(0.0) if part is None else part for part in parts)
            return self._mix(i["Fac"] if step.type == MIX_SHADER else Float(0.5), first, second)
        socket = SHADERS[step.type].get("normal")
        return self._bump(i.linked(socket)) if isinstance(socket, str) else None

    def _bump(self, link: Linked | None) -> Float | None:
        """Height times Distance of the Bump nodes behind a normal input, chained bumps added."""
        if link is None or self.evaluation.structure.steps[link.step].type != "ShaderNodeBump":
            return None
        i = self._inputs(link.step)
        height = i["Height"] * i["Distance"] * (-1.0 if i.flag("invert") else 1.0)
        below = self._bump(i.linked("Normal"))
        return height if below is None else height + below

    def _beauty(self) -> Array3f:
        return self._radiance(self.root)

    def _radiance(self, link: Linked | None) -> Array3f:
        """Light towards the camera."""
        if link is None:
            return Array3f(0.0)
        step, i = self.evaluation.structure.steps[link.step], self._inputs(link.step)
        if step.type in (MIX_SHADER, ADD_SHADER):
            first, second = self._radiance(i.linked("Shader")), self._radiance(i.linked("Shader_001"))
            if step.type == ADD_SHADER:
                return first + second
            t = saturate(i["Fac"])
            return first * (1.0 - t) + second * t
        normal = None
        if "Normal" in dict(SHADERS[step.type]).values():
            linked = i.linked("Normal")
            normal = self.normal_of_geometry() if linked is None else i["Normal"]
        return RADIANCE[step.type](i, normal)


_CHANNELS: dict[str, Callable[[Surface], Channel]] = {
    "base_color": Surface._color,
    "roughness": lambda s: s._unit("roughness"),
    "metallic": lambda s: s._unit("metallic"),
    "normal": Surface._normal,
    "height": Surface._height,
    "beauty": Surface._beauty,
}
