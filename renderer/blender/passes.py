"""Channels of a material in the same render as its beauty: arbitrary output variables (AOVs) added to the tree.

The surface shader is found from the output that Cycles uses. Every channel is the value that reaches the shader's
socket, or the socket's own constant; where shaders are mixed, channels are mixed by the same factor. Only which socket
of a shader carries which channel is data (`data/shaders.json`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from renderer.blender.types import Bpy
from renderer.protocol import RenderMessage

AOV_TYPES = {"base_color": "COLOR", "roughness": "VALUE", "metallic": "VALUE", "normal": "COLOR", "height": "VALUE"}


@dataclass(frozen=True)
class _Output:
    """The output socket of a node."""

    socket: Bpy


@dataclass(frozen=True)
class _Copy:
    """The constant of an unlinked input; copied again whenever the graph's values change."""

    socket: Bpy


_Source = _Output | _Copy | float


@cache
def shader_channels() -> dict[str, dict[str, str | float]]:
    """For each shader node type: the input that carries a channel, or the channel's constant."""
    text = resources.files("renderer.blender").joinpath("data/shaders.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, str | float]] = json.loads(text)
    return table


class Instrument:
    """Adds channel outputs to one built tree. The tree is the worker's own copy, never the user's material."""

    def __init__(self, tree: Bpy, *, sphere: bool) -> None:
        self.tree = tree
        self.sphere = sphere
        self.messages: list[RenderMessage] = []
        self._copies: list[tuple[Any, Any]] = []

    def add(self, channels: tuple[str, ...]) -> list[RenderMessage]:
        """Add one AOV for each channel; a material without a surface is an error."""
        output = self.tree.get_output_node("CYCLES")
        if output is None:
            return [RenderMessage("error", "expected a Material Output node, got none")]
        surface = output.inputs["Surface"]
        if _origin(surface) is None:
            return [RenderMessage("error", "nothing is linked to the surface of the output", output.name, "Surface")]
        for channel in channels:
            source = self._height(output, surface) if channel == "height" else self._channel(surface, channel)
            if channel == "normal" and self.sphere:
                source = self._tangent_space(self._geometry() if source is None else source)
            self._aov(channel, source)
        return self.messages

    def refresh(self) -> None:
        """Copy the constants again, after values of the tree have changed."""
        for source, target in self._copies:
            _copy_default(source, target)

    def _aov(self, channel: str, source: _Source | None) -> None:
        node = self._new("ShaderNodeOutputAOV")
        node.aov_name = channel
        target = node.inputs["Value" if AOV_TYPES[channel] == "VALUE" else "Color"]
        if source is None and channel == "normal":
            target.default_value = (0.0, 0.0, 1.0, 1.0)
            return
        self._feed(target, 0.0 if source is None else source)

    def _new(self, kind: str) -> Bpy:
        node = self.tree.nodes.new(kind)
        node.name = f"channel:{kind}"
        return node

    def _feed(self, target: Bpy, source: _Source) -> None:
        if isinstance(source, _Output):
            self.tree.links.new(target, source.socket)
        elif isinstance(source, _Copy):
            self._copies.append((source.socket, target))
            _copy_default(source.socket, target)
        else:
            _fill(target, source)

    def _channel(self, shader: Bpy, channel: str) -> _Source | None:
        """The channel of whatever feeds the shader input `shader`; None where the shader does not have it."""
        origin = _origin(shader)
        black = 0.0 if channel == "base_color" else None
        if origin is None:
            return black
        node = origin.node
        if node.bl_idname == "ShaderNodeMixShader":
            factor, first, second = node.inputs
            return self._mix(channel, _source(factor), self._channel(first, channel), self._channel(second, channel))
        if node.bl_idname == "ShaderNodeAddShader":
            first, second = node.inputs
            return self._add(channel, self._channel(first, channel), self._channel(second, channel))
        socket = shader_channels().get(node.bl_idname, {}).get(channel, black)
        if not isinstance(socket, str):
            return socket
        source = _source(node.inputs[socket])
        return self._geometry() if channel == "normal" and isinstance(source, _Copy) else source

    def _geometry(self) -> _Output:
        """The shading normal, which carries the bump that Cycles makes of a displacement."""
        return _Output(self._new("ShaderNodeNewGeometry").outputs["Normal"])

    def _mix(self, channel: str, factor: _Source, first: _Source | None, second: _Source | None) -> _Source | None:
        if first is None or second is None or first == second:
            return second if first is None else first
        color = AOV_TYPES[channel] == "COLOR"
        node = self._new("ShaderNodeMix")
        node.data_type = "RGBA" if color else "FLOAT"
        suffix = "Color" if color else "Float"
        inputs = {socket.identifier: socket for socket in node.inputs}
        self._feed(inputs["Factor_Float"], factor)
        self._feed(inputs[f"A_{suffix}"], first)
        self._feed(inputs[f"B_{suffix}"], second)
        return _Output(next(s for s in node.outputs if s.identifier == f"Result_{suffix}"))

    def _add(self, channel: str, first: _Source | None, second: _Source | None) -> _Source | None:
        """Albedo adds up; any other channel of a sum of shaders is the mean of its parts."""
        if channel != "base_color":
            return self._mix(channel, 0.5, first, second)
        if first == 0.0 or second == 0.0 or first is None or second is None:
            return second if first == 0.0 or first is None else first
        return self._vector("ADD", first, second)

    def _math(self, operation: str, first: _Source, second: _Source) -> _Output:
        node = self._new("ShaderNodeMath")
        node.operation = operation
        self._feed(node.inputs[0], first)
        self._feed(node.inputs[1], second)
        return _Output(node.outputs[0])

    def _vector(self, operation: str, first: _Source, second: _Source = 0.0, output: str = "Vector") -> _Output:
        node = self._new("ShaderNodeVectorMath")
        node.operation = operation
        self._feed(node.inputs[0], first)
        if operation != "NORMALIZE":
            self._feed(node.inputs[1], second)
        return _Output(node.outputs[output])

    def _height(self, output: Bpy, surface: Bpy) -> _Source | None:
        origin = _origin(output.inputs["Displacement"])
        if origin is None:
            return self._bump_of_shader(surface)
        node = origin.node
        if node.bl_idname == "ShaderNodeDisplacement":
            raised = self._math("SUBTRACT", _source(node.inputs["Height"]), _source(node.inputs["Midlevel"]))
            return self._math("MULTIPLY", raised, _source(node.inputs["Scale"]))
        normal = _Output(self._new("ShaderNodeNewGeometry").outputs["True Normal"])
        return self._vector("DOT_PRODUCT", _Output(origin), normal, "Value")

    def _bump_of_shader(self, shader: Bpy) -> _Source | None:
        origin = _origin(shader)
        if origin is None:
            return None
        node = origin.node
        if node.bl_idname in ("ShaderNodeMixShader", "ShaderNodeAddShader"):
            first, second = (self._bump_of_shader(socket) for socket in list(node.inputs)[-2:])
            if first is None and second is None:
                return None
            factor = _source(node.inputs[0]) if node.bl_idname == "ShaderNodeMixShader" else 0.5
            return self._mix("height", factor, 0.0 if first is None else first, 0.0 if second is None else second)
        socket = shader_channels().get(node.bl_idname, {}).get("normal")
        return self._bump(node.inputs[socket]) if isinstance(socket, str) else None

    def _bump(self, normal: Bpy) -> _Source | None:
        """Height times Distance of the Bump nodes behind a normal input, chained bumps added."""
        origin = _origin(normal)
        if origin is None or origin.node.bl_idname != "ShaderNodeBump":
            return None
        node = origin.node
        height: _Source = self._math("MULTIPLY", _source(node.inputs["Height"]), _source(node.inputs["Distance"]))
        if node.invert:
            height = self._math("MULTIPLY", height, -1.0)
        below = self._bump(node.inputs["Normal"])
        return height if below is None else self._math("ADD", height, below)

    def _tangent_space(self, normal: _Source) -> _Output:
        """World to tangent space on the sphere, whose frame follows from the object position alone."""
        position = _Output(self._new("ShaderNodeTexCoord").outputs["Object"])
        up = self._vector("NORMALIZE", position)
        pole = self._new("ShaderNodeCombineXYZ")
        pole.inputs["Z"].default_value = 1.0
        east = self._vector("NORMALIZE", self._vector("CROSS_PRODUCT", _Output(pole.outputs[0]), position))
        north = self._vector("CROSS_PRODUCT", up, east)
        joined = self._new("ShaderNodeCombineXYZ")
        for target, axis in zip(joined.inputs, (east, north, up), strict=True):
            self._feed(target, self._vector("DOT_PRODUCT", normal, axis, "Value"))
        return _Output(joined.outputs[0])


def _origin(socket: Bpy) -> Bpy | None:
    """The output socket that feeds `socket`, reroutes skipped; None when unlinked."""
    while socket.is_linked:
        origin = socket.links[0].from_socket
        if origin.node.bl_idname != "NodeReroute":
            return origin
        socket = origin.node.inputs[0]
    return None


def _source(socket: Bpy) -> _Source:
    origin = _origin(socket)
    return _Copy(socket) if origin is None else _Output(origin)


def _fill(target: Bpy, value: float) -> None:
    if target.type == "RGBA":
        target.default_value = (value, value, value, 1.0)
    elif target.type == "VECTOR":
        target.default_value = (value, value, value)
    else:
        target.default_value = value


def _copy_default(source: Bpy, target: Bpy) -> None:
    """Copy a constant between sockets that may differ in kind, converting as Cycles converts."""
    value = source.default_value
    if isinstance(value, (int, float)):
        _fill(target, float(value))
    elif target.type == "VALUE":
        # Rec. 709 luminance for a color, the mean for a vector: what Cycles does at such a link.
        weights = (0.2126, 0.7152, 0.0722) if source.type == "RGBA" else (1 / 3, 1 / 3, 1 / 3)
        target.default_value = sum(w * v for w, v in zip(weights, list(value)[:3], strict=True))
    else:
        target.default_value = tuple(value)[: len(target.default_value)]
