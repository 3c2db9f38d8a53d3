"""Whole graphs against Cycles: thirty at random, ramps in every mode, and all six channels of a bumped material."""

from __future__ import annotations

import numpy as np
import pytest
from preview_graphs import graph, ramp, request

from graph_api.model import ColorRamp, Node
from renderer import CHANNELS, BlenderPool
from renderer.preview import PreviewRenderer, missing
from renderer.preview.parity import difference, random_ramp
from renderer.preview.random_graphs import random_graph

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


@pytest.fixture(scope="module")
def previews() -> PreviewRenderer:
    return PreviewRenderer()


def test_random_graphs_equal_blender(pool: BlenderPool, previews: PreviewRenderer) -> None:
    rng = np.random.default_rng(30)
    requests = [request(random_graph(rng, int(rng.integers(5, 21))), size=64) for _ in range(30)]
    expected, drawn = pool.render_many(requests), previews.render_many(requests)
    for index, (blender, preview) in enumerate(zip(expected, drawn, strict=True)):
        assert blender.ok, (index, blender.messages)
        assert preview.ok, (index, preview.messages)
        apart = difference(blender.channels["base_color"], preview.channels["base_color"])
        assert apart.mean < 1e-4, (index, apart)
    assert np.mean([picture.channels["base_color"].std() > 1e-3 for picture in drawn]) > 0.7


def ramps() -> list[ColorRamp]:
    rng = np.random.default_rng(4)
    made = [random_ramp(rng, name, stops=n) for name in ("LINEAR", "EASE", "CONSTANT", "CARDINAL", "B_SPLINE")
            for n in (1, 2, 5)]  # fmt: skip
    return made + [
        random_ramp(rng, "LINEAR", mode, hue)
        for mode in ("HSV", "HSL")
        for hue in ("NEAR", "FAR", "CW", "CCW")
        for _ in range(2)
    ]


def test_ramps_equal_blender(pool: BlenderPool, previews: PreviewRenderer) -> None:
    wires = [("uv", "UV", "ramp", "Fac"), ("ramp", "Color", "shader", "Base Color"),
             ("ramp", "Alpha", "shader", "Roughness")]  # fmt: skip
    made = ramps()
    requests = [
        request(graph([Node("ramp", "ShaderNodeValToRGB", properties={"color_ramp": r})], wires), "base_color",
                "roughness", size=64)
        for r in made
    ]  # fmt: skip
    for r, blender, preview in zip(made, pool.render_many(requests), previews.render_many(requests), strict=True):
        for channel in ("base_color", "roughness"):
            apart = difference(blender.channels[channel], preview.channels[channel])
            # A constant ramp jumps, and a pixel may lie on the jump.
            assert apart.flipped <= (0.005 if r.interpolation == "CONSTANT" else 0.0), (r, channel, apart)


def bumped(shader: Node, distance: float, patch: float) -> tuple[list[Node], list[tuple[str, str, str, str]]]:
    nodes = [
        Node("noise", "ShaderNodeTexNoise", {"Scale": 6.0, "Detail": 1.0}),
        Node("color", "ShaderNodeValToRGB",
             properties={"color_ramp": ramp((0.2, (0.1, 0.2, 0.4)), (0.8, (0.9, 0.7, 0.5)))}),
        Node("bump", "ShaderNodeBump", {"Distance": distance * patch}),
        shader,
    ]  # fmt: skip
    wires = [("uv", "UV", "noise", "Vector"), ("noise", "Fac", "color", "Fac"), ("noise", "Fac", "bump", "Height")]
    wires += [("color", "Color", "shader", "Base Color" if "Principled" in shader.type else "Color")]
    return nodes, [*wires, ("bump", "Normal", "shader", "Normal")]


SHADERS = {
    "plastic": Node("shader", "ShaderNodeBsdfPrincipled", {"Roughness": 0.35}),
    "metal": Node("shader", "ShaderNodeBsdfPrincipled", {"Metallic": 1.0, "Specular Tint": (0.6, 0.8, 1.0, 1.0)}),
    "half metal": Node("shader", "ShaderNodeBsdfPrincipled", {"Metallic": 0.5, "IOR": 1.8, "Roughness": 0.8}),
    "level": Node("shader", "ShaderNodeBsdfPrincipled",
                  {"Specular IOR Level": 0.9, "Specular Tint": (1.0, 0.5, 0.2, 1.0)}),
    "one bounce": Node("shader", "ShaderNodeBsdfPrincipled", {"Roughness": 0.9}, {"distribution": "GGX"}),
    "diffuse": Node("shader", "ShaderNodeBsdfDiffuse"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHADERS)
@pytest.mark.parametrize("patch", [1.0, 0.25])
def test_six_channels_equal_blender(name: str, patch: float, pool: BlenderPool, previews: PreviewRenderer) -> None:
    made = graph(*bumped(SHADERS[name], 0.05, patch))
    item = request(made, *CHANNELS, size=64, patch=patch)
    blender, preview = pool.render(item), previews.render(item)
    assert blender.ok
    assert preview.ok, preview.messages
    for channel in ("base_color", "roughness", "metallic", "normal", "height"):
        assert difference(blender.channels[channel], preview.channels[channel]).largest < 1e-4, channel
    lit, drawn = blender.channels["beauty"], preview.channels["beauty"]
    assert np.abs(lit - drawn).mean() / lit.mean() < 1e-3


ROUGH = {
    "noise": Node("texture", "ShaderNodeTexNoise", {"Scale": 30.0, "Detail": 2.5}),
    "flat noise": Node("texture", "ShaderNodeTexNoise", {"Scale": 50.0}, {"noise_dimensions": "2D"}),
    "distorted": Node("texture", "ShaderNodeTexNoise", {"Scale": 20.0, "Distortion": 0.5}),
    "cells": Node("texture", "ShaderNodeTexVoronoi", {"Scale": 40.0}),
    "corners": Node("texture", "ShaderNodeTexVoronoi", {"Scale": 25.0}, {"distance": "CHEBYCHEV"}),
    "flat cells": Node("texture", "ShaderNodeTexVoronoi", {"Scale": 40.0, "Randomness": 0.7},
                       {"voronoi_dimensions": "2D", "distance": "MANHATTAN"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ROUGH)
@pytest.mark.parametrize("turned", [False, True])
def test_bump_across_cells_equals_blender(
    name: str, turned: bool, pool: BlenderPool, previews: PreviewRenderer
) -> None:
    """The three places of a bump lie in different cells in many pixels, flat on the lattice and turned out of it."""
    turn = (0.4, 0.7, 0.3) if turned else (0.0, 0.0, 0.3)
    nodes = [Node("map", "ShaderNodeMapping", {"Rotation": turn}), ROUGH[name],
             Node("bump", "ShaderNodeBump", {"Distance": 0.002})]  # fmt: skip
    out = "Distance" if "Voronoi" in ROUGH[name].type else "Fac"
    wires = [("uv", "UV", "map", "Vector"), ("map", "Vector", "texture", "Vector"),
             ("texture", out, "bump", "Height"), ("bump", "Normal", "shader", "Normal")]  # fmt: skip
    item = request(graph(nodes, wires), "normal", "height", size=64)
    blender, preview = pool.render(item), previews.render(item)
    assert blender.ok, blender.messages
    assert preview.ok, preview.messages
    assert blender.channels["normal"].std() > 0.05
    for channel in ("normal", "height"):
        assert difference(blender.channels[channel], preview.channels[channel]).largest < 1e-4, channel


def test_shaded_picture_equals_blender_at_64_samples(pool: BlenderPool, previews: PreviewRenderer) -> None:
    item = request(graph(*bumped(SHADERS["plastic"], 0.05, 1.0)), "beauty", "normal", size=48, samples=64)
    blender, preview = pool.render(item), previews.render(item)
    lit, drawn = blender.channels["beauty"], preview.channels["beauty"]
    assert np.abs(lit - drawn).mean() / lit.mean() < 0.01
    assert np.abs(blender.channels["normal"] - preview.channels["normal"]).mean() < 0.01


def test_white_patch_is_one(previews: PreviewRenderer) -> None:
    white = Node("shader", "ShaderNodeBsdfDiffuse", {"Color": (1.0, 1.0, 1.0, 1.0)})
    lit = previews.render(request(graph([white], []), "beauty", size=8)).channels["beauty"]
    np.testing.assert_allclose(lit, 1.0, atol=1e-6)


def test_mixed_shaders_and_displacement_equal_blender(pool: BlenderPool, previews: PreviewRenderer) -> None:
    nodes = [
        Node("noise", "ShaderNodeTexNoise", {"Scale": 5.0}),
        Node("metal", "ShaderNodeBsdfPrincipled", {"Metallic": 1.0, "Roughness": 0.3}),
        Node("paint", "ShaderNodeBsdfDiffuse", {"Color": (0.7, 0.1, 0.1, 1.0)}),
        Node("mix", "ShaderNodeMixShader"),
        Node("lift", "ShaderNodeDisplacement", {"Scale": 0.03}),
        Node("output", "ShaderNodeOutputMaterial"),
    ]
    wires = [
        ("uv", "UV", "noise", "Vector"), ("noise", "Fac", "mix", "Fac"), ("metal", "BSDF", "mix", "Shader"),
        ("paint", "BSDF", "mix", "Shader_001"), ("mix", "Shader", "output", "Surface"),
        ("noise", "Fac", "lift", "Height"), ("lift", "Displacement", "output", "Displacement"),
    ]  # fmt: skip
    item = request(graph(nodes, wires), *CHANNELS, size=64)
    blender, preview = pool.render(item), previews.render(item)
    assert blender.ok, blender.messages
    assert preview.ok, preview.messages
    for channel in ("base_color", "roughness", "metallic", "normal", "height"):
        assert difference(blender.channels[channel], preview.channels[channel]).largest < 2e-4, channel
    lit, drawn = blender.channels["beauty"], preview.channels["beauty"]
    assert np.abs(lit - drawn).mean() / lit.mean() < 2e-3
