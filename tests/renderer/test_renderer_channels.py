"""Every channel against values that are known without a renderer."""

from __future__ import annotations

import numpy as np
import pytest
from renderer_graphs import emission, graph, principled, request, textured

from renderer import CHANNELS, BlenderPool

SLOPE = {
    "place": "TexCoord",
    "axes": "SeparateXYZ",
    "bump": ("Bump", {"Distance": 0.3}),
    "shader": "BsdfPrincipled",
    "out": "OutputMaterial",
}
WIRES = "place.UV>axes.Vector; bump.Normal>shader.Normal; shader.BSDF>out.Surface"


def one(pool: BlenderPool, material, **settings):
    result = pool.render(request(material, **settings))
    assert result.ok, result.messages
    return result.channels


def assert_uniform(array, value, tolerance=1e-6) -> None:
    np.testing.assert_allclose(array, np.broadcast_to(np.asarray(value, np.float32), array.shape), atol=tolerance)


@pytest.mark.parametrize("patch_size_m", [1.0, 0.2, 5.0])
def test_a_white_lambertian_patch_renders_to_one(pool, patch_size_m) -> None:
    white = graph(
        {"d": ("BsdfDiffuse", {"Color": (1.0, 1.0, 1.0, 1.0)}), "out": "OutputMaterial"}, "d.BSDF>out.Surface"
    )
    assert_uniform(one(pool, white, patch_size_m=patch_size_m)["beauty"], 1.0, 1e-6)


def test_shapes_and_types_are_the_protocols(pool) -> None:
    for name, array in one(pool, textured()).items():
        assert array.dtype == np.float32
        assert array.shape == (16, 16, 1 if name in ("roughness", "metallic", "height") else 3)


def test_uv_is_at_pixel_centres_and_row_zero_is_the_top(pool) -> None:
    nodes = {"place": "TexCoord", "light": "Emission", "out": "OutputMaterial"}
    beauty = one(pool, graph(nodes, "place.UV>light.Color; light.Emission>out.Surface"))["beauty"]
    centres = (np.arange(16) + 0.5) / 16
    assert_uniform(beauty[..., 0] - centres[None, :], 0.0)
    assert_uniform(beauty[..., 1] - centres[::-1, None], 0.0)


def test_object_coordinates_are_metres_and_generated_ones_span_the_patch(pool) -> None:
    nodes = {"place": "TexCoord", "light": "Emission", "out": "OutputMaterial"}
    centres = (np.arange(16) + 0.5) / 16
    for output, expected in (("Object", (centres - 0.5) * 0.5), ("Generated", centres)):
        material = graph(nodes, f"place.{output}>light.Color; light.Emission>out.Surface")
        beauty = one(pool, material, patch_size_m=0.5)["beauty"]
        np.testing.assert_allclose(beauty[..., 0], np.tile(expected, (16, 1)), atol=1e-6)


def test_constants_of_a_principled_material(pool) -> None:
    channels = one(pool, principled({"Base Color": (0.8, 0.4, 0.1, 1.0), "Roughness": 0.35, "Metallic": 1.0}))
    assert_uniform(channels["base_color"], (0.8, 0.4, 0.1))
    assert_uniform(channels["roughness"], 0.35)
    assert_uniform(channels["metallic"], 1.0)
    assert_uniform(channels["normal"], (0.0, 0.0, 1.0))
    assert_uniform(channels["height"], 0.0)


def test_channels_show_the_range_that_the_shader_uses(pool) -> None:
    channels = one(pool, principled({"Roughness": 1.0}))
    assert_uniform(channels["roughness"], 1.0)
    nodes = {"v": ("Value", {}, {}, {"Value": 3.0}), "shader": "BsdfPrincipled", "out": "OutputMaterial"}
    assert_uniform(one(pool, graph(nodes, "v.Value>shader.Roughness; shader.BSDF>out.Surface"))["roughness"], 1.0)


@pytest.mark.parametrize(
    ("kind", "inputs", "output", "expected"),
    [
        ("BsdfDiffuse", {"Color": (0.2, 0.3, 0.4, 1.0)}, "BSDF", ((0.2, 0.3, 0.4), 1.0, 0.0)),
        ("BsdfAnisotropic", {"Color": (0.9, 0.7, 0.3, 1.0), "Roughness": 0.2}, "BSDF", ((0.9, 0.7, 0.3), 0.2, 1.0)),
        ("BsdfMetallic", {"Base Color": (0.9, 0.7, 0.3, 1.0), "Roughness": 0.3}, "BSDF", ((0.9, 0.7, 0.3), 0.3, 1.0)),
        ("BsdfGlass", {"Color": (1.0, 1.0, 1.0, 1.0), "Roughness": 0.1}, "BSDF", ((1.0, 1.0, 1.0), 0.1, 0.0)),
        ("Emission", {"Color": (1.0, 1.0, 1.0, 1.0)}, "Emission", ((0.0, 0.0, 0.0), 0.0, 0.0)),
    ],
)
def test_other_surface_shaders(pool, kind, inputs, output, expected) -> None:
    channels = one(pool, graph({"s": (kind, inputs), "out": "OutputMaterial"}, f"s.{output}>out.Surface"))
    for name, value in zip(("base_color", "roughness", "metallic"), expected, strict=True):
        assert_uniform(channels[name], value)


MIXED = {
    "a": ("BsdfPrincipled", {"Base Color": (1.0, 0.0, 0.0, 1.0), "Roughness": 0.2, "Metallic": 1.0}),
    "b": ("BsdfPrincipled", {"Base Color": (0.0, 0.0, 1.0, 1.0), "Roughness": 0.6}),
    "mix": ("MixShader", {"Fac": 0.25}),
    "out": "OutputMaterial",
}
MIX = "a.BSDF>mix.Shader; b.BSDF>mix.Shader_001; mix.Shader>out.Surface"


def test_mixed_shaders_mix_their_channels_by_the_same_factor(pool) -> None:
    channels = one(pool, graph(MIXED, MIX))
    assert_uniform(channels["base_color"], (0.75, 0.0, 0.25))
    assert_uniform(channels["roughness"], 0.3)
    assert_uniform(channels["metallic"], 0.75)


def test_a_linked_factor_mixes_pixel_by_pixel(pool) -> None:
    nodes = {"place": "TexCoord", "axes": "SeparateXYZ", **MIXED}
    channels = one(pool, graph(nodes, f"place.UV>axes.Vector; axes.X>mix.Fac; {MIX}"))
    factor = (np.arange(16) + 0.5) / 16
    assert_uniform(channels["roughness"][..., 0] - (0.2 + 0.4 * factor), 0.0)
    assert_uniform(channels["base_color"][..., 2] - factor, 0.0)


def test_added_shaders_add_albedo_and_an_emission_adds_none(pool) -> None:
    nodes = {
        "a": ("BsdfDiffuse", {"Color": (0.2, 0.3, 0.4, 1.0)}),
        "b": ("Emission", {"Color": (0.5, 0.0, 0.0, 1.0)}),
        "add": "AddShader",
        "out": "OutputMaterial",
    }
    channels = one(pool, graph(nodes, "a.BSDF>add.Shader; b.Emission>add.Shader_001; add.Shader>out.Surface"))
    assert_uniform(channels["base_color"], (0.2, 0.3, 0.4))
    assert_uniform(channels["roughness"], 1.0)
    assert_uniform(channels["beauty"], (0.7, 0.3, 0.4), 1e-5)


@pytest.mark.parametrize(("axis", "component"), [("X", 0), ("Y", 1)])
@pytest.mark.parametrize("invert", [False, True])
def test_bump_normals_are_opengl_and_follow_the_slope(pool, axis, component, invert) -> None:
    nodes = {**SLOPE, "bump": ("Bump", {"Distance": 0.3}, {"invert": invert})}
    channels = one(pool, graph(nodes, f"{WIRES}; axes.{axis}>bump.Height"))
    expected = np.array([0.0, 0.0, 1.0])
    expected[component] = 0.3 if invert else -0.3
    inner = channels["normal"][2:-2, 2:-2]
    np.testing.assert_allclose(inner, np.broadcast_to(expected / np.linalg.norm(expected), inner.shape), atol=2e-4)
    ramp = (np.arange(16) + 0.5) / 16 * (-0.3 if invert else 0.3)
    height = channels["height"][..., 0]
    np.testing.assert_allclose(
        height, np.tile(ramp, (16, 1)) if axis == "X" else np.tile(ramp[::-1, None], 16), atol=1e-6
    )


def test_the_heights_of_chained_bumps_add_up(pool) -> None:
    nodes = {**SLOPE, "fine": ("Bump", {"Distance": 0.1})}
    wires = f"{WIRES}; axes.X>bump.Height; axes.X>fine.Height; fine.Normal>bump.Normal"
    height = one(pool, graph(nodes, wires))["height"][..., 0]
    np.testing.assert_allclose(height, np.tile((np.arange(16) + 0.5) / 16 * 0.4, (16, 1)), atol=1e-6)


def test_displacement_gives_height_in_metres_and_its_slope_as_normal(pool) -> None:
    nodes = {**SLOPE, "lift": ("Displacement", {"Midlevel": 0.5, "Scale": 0.2})}
    del nodes["bump"]
    wires = "place.UV>axes.Vector; axes.X>lift.Height; lift.Displacement>out.Displacement; shader.BSDF>out.Surface"
    channels = one(pool, graph(nodes, wires))
    expected = ((np.arange(16) + 0.5) / 16 - 0.5) * 0.2
    np.testing.assert_allclose(channels["height"][..., 0], np.tile(expected, (16, 1)), atol=1e-6)
    inner = channels["normal"][2:-2, 2:-2]
    np.testing.assert_allclose(
        inner, np.broadcast_to(np.array([-0.2, 0, 1]) / np.hypot(0.2, 1), inner.shape), atol=2e-3
    )


def test_f1_the_output_for_cycles_wins(pool) -> None:
    nodes = {
        "grey": ("BsdfDiffuse", {"Color": (0.5, 0.5, 0.5, 1.0)}),
        "red": ("BsdfDiffuse", {"Color": (1.0, 0.0, 0.0, 1.0)}),
        "a": ("OutputMaterial", {}, {"is_active_output": True}),
        "b": ("OutputMaterial", {}, {"target": "CYCLES"}),
    }
    channels = one(pool, graph(nodes, "grey.BSDF>a.Surface; red.BSDF>b.Surface"))
    assert_uniform(channels["base_color"], (1.0, 0.0, 0.0))
    assert_uniform(channels["beauty"], (1.0, 0.0, 0.0), 1e-5)


@pytest.mark.parametrize("view", ["tilt", "sphere"])
def test_normals_are_in_tangent_space_in_every_view(pool, view) -> None:
    channels = one(pool, principled({"Base Color": (0.5, 0.5, 0.5, 1.0)}), view=view, size=48, samples=4)
    inside = channels["base_color"][..., 0] > 0.49
    assert 0.15 < inside.mean() < 0.9
    np.testing.assert_allclose(channels["normal"][inside], [[0.0, 0.0, 1.0]] * inside.sum(), atol=2e-2)
    lengths = np.linalg.norm(channels["normal"], axis=-1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-5)


def test_the_tilted_patch_shows_the_same_slope_as_the_flat_one(pool) -> None:
    channels = one(pool, graph(SLOPE, f"{WIRES}; axes.Y>bump.Height"), view="tilt", size=64, samples=4)
    centre = channels["normal"][28:36, 28:36].reshape(-1, 3).mean(axis=0)
    np.testing.assert_allclose(centre, np.array([0, -0.3, 1]) / np.hypot(0.3, 1), atol=1e-2)


def test_emission_reaches_the_beauty_in_linear_light(pool) -> None:
    assert_uniform(one(pool, emission((0.6, 0.05, 2.0, 1.0)))["beauty"], (0.6, 0.05, 2.0), 1e-5)


def test_many_samples_average_over_the_pixel(pool) -> None:
    nodes = {
        "place": "TexCoord",
        "check": ("TexChecker", {"Scale": 15.0}),
        "light": "Emission",
        "out": "OutputMaterial",
    }
    material = graph(nodes, "place.UV>check.Vector; check.Fac>light.Color; light.Emission>out.Surface")
    sharp, smooth = (one(pool, material, samples=samples)["beauty"] for samples in (1, 64))
    assert set(np.unique(sharp)) <= {0.0, 1.0}
    assert ((smooth > 0.1) & (smooth < 0.9)).mean() > 0.1


def test_one_render_gives_the_same_channels_as_asking_for_each_alone(pool) -> None:
    from dataclasses import replace

    whole = request(textured())
    together = pool.render(whole).channels
    for name in CHANNELS:
        alone = pool.render(replace(whole, channels=(name,))).channels
        assert list(alone) == [name]
        np.testing.assert_array_equal(alone[name], together[name])


def test_an_update_of_values_equals_a_fresh_build(pool) -> None:
    rng = np.random.default_rng(5)
    with BlenderPool(1, threads=1) as warm:
        for _ in range(6):
            material = textured(*(float(value) for value in rng.uniform((2.0, 0.1, 0.05), (20.0, 0.9, 0.4))))
            updated = warm.render(request(material))
            warm.render(request(principled()))
            rebuilt = warm.render(request(material))
            warm.render(request(textured()))
            again = warm.render(request(material))
            for name in CHANNELS:
                np.testing.assert_array_equal(updated.channels[name], rebuilt.channels[name])
                np.testing.assert_array_equal(updated.channels[name], again.channels[name])
