"""The engine: batches, one compilation for each structure, buffers without copies, derivatives, refusals, routing."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from preview_graphs import graph, ramp, request

from graph_api.catalog import load_catalog
from graph_api.model import Graph, Node
from renderer import BlenderPool, RenderRequest
from renderer.preview import PreviewEngine, PreviewRenderer, PreviewUnsupported, missing, unsupported
from renderer.router import Router

needs_preview = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def textured(**noise: float) -> Graph:
    """Smooth everywhere, so that differences are derivatives."""
    nodes = [
        Node("map", "ShaderNodeMapping"),
        Node("noise", "ShaderNodeTexNoise", {"Detail": 2.4, **noise}),
        Node("ramp", "ShaderNodeValToRGB",
             properties={"color_ramp": ramp((0.0, (0.1, 0.0, 0.2)), (1.0, (1.0, 0.9, 0.8)))}),
    ]  # fmt: skip
    wires = [("uv", "UV", "map", "Vector"), ("map", "Vector", "noise", "Vector"), ("noise", "Fac", "ramp", "Fac")]
    return graph(nodes, [*wires, ("ramp", "Color", "shader", "Base Color"), ("noise", "Fac", "shader", "Roughness")])


@pytest.fixture(scope="module")
def engine() -> PreviewEngine:
    return PreviewEngine()


@needs_preview
def test_numbers_compile_nothing(engine: PreviewEngine) -> None:
    import drjit as dr

    kernel = engine.compile(textured(Scale=3.0))
    kernel.evaluate({}, 32)["base_color"].sum()
    made = engine.compiled
    with dr.scoped_set_flag(dr.JitFlag.KernelHistory, True):
        dr.kernel_history_clear()
        for index in range(5):
            other = engine.compile(textured(Scale=3.5 + index, Roughness=0.1 * index, Distortion=0.2 * index))
            other.evaluate({("noise", "Detail"): [float(index)]}, 32)["base_color"].sum()
        history = dr.kernel_history()
    assert engine.compiled == made
    kernels = [entry for entry in history if "cache_hit" in entry]
    assert len(kernels) >= 5
    assert all(entry["cache_hit"] for entry in kernels)


@needs_preview
def test_batch_equals_its_members(engine: PreviewEngine) -> None:
    kernel = engine.compile(textured())
    scales, places = np.array([2.0, 5.0, 9.0]), np.random.default_rng(1).uniform(0, 1, (3, 2))
    many = kernel.evaluate(
        {("noise", "Scale"): scales, ("ramp", "color_ramp.positions"): places}, 16, ("base_color", "roughness")
    )
    assert many["base_color"].shape == (3, 16, 16, 3)
    assert many["roughness"].shape == (3, 16, 16, 1)
    for index in range(3):
        one = kernel.evaluate(
            {("noise", "Scale"): scales[index : index + 1], ("ramp", "color_ramp.positions"): places[index]}, 16
        )
        np.testing.assert_array_equal(one["base_color"][0], many["base_color"][index])


@needs_preview
def test_settings_and_sides_with_equal_lanes_do_not_meet(engine: PreviewEngine) -> None:
    """4 settings of 32² and 16 of 16² have as many lanes, but not as many ramps."""
    kernel = engine.compile(textured())
    many = np.linspace(2.0, 9.0, 16)
    for _ in range(3):
        wide = kernel.evaluate({("noise", "Scale"): many[:4]}, 32)["base_color"].copy()
        small = kernel.evaluate({("noise", "Scale"): many}, 16)["base_color"].copy()
    for index in (0, 3, 15):
        one = kernel.evaluate({("noise", "Scale"): many[index : index + 1]}, 16)["base_color"][0]
        np.testing.assert_array_equal(one, small[index])
    one = kernel.evaluate({("noise", "Scale"): many[3:4]}, 32)["base_color"][0]
    np.testing.assert_array_equal(one, wide[3])


@needs_preview
@pytest.mark.parametrize("texture", ["ShaderNodeTexNoise", "ShaderNodeTexVoronoi"])
def test_coordinates_that_are_no_numbers_end(texture: str, engine: PreviewEngine) -> None:
    """Infinity minus infinity as a coordinate of a bumped texture."""
    huge = {"Value": 3e38, "Value_001": 3e38}
    nodes = [
        Node("one", "ShaderNodeMath", huge, {"operation": "MULTIPLY"}),
        Node("other", "ShaderNodeMath", huge, {"operation": "MULTIPLY"}),
        Node("none", "ShaderNodeMath", {}, {"operation": "SUBTRACT"}),
        Node("place", "ShaderNodeCombineXYZ"), Node("texture", texture), Node("bump", "ShaderNodeBump"),
    ]  # fmt: skip
    wires = [("one", "Value", "none", "Value"), ("other", "Value", "none", "Value_001"),
             ("none", "Value", "place", "X"), ("place", "Vector", "texture", "Vector"),
             ("bump", "Normal", "shader", "Normal"),
             ("texture", "Distance" if "Voronoi" in texture else "Fac", "bump", "Height")]  # fmt: skip
    drawn = engine.compile(graph(nodes, wires)).evaluate({}, 16, ("normal", "beauty"))
    assert drawn["normal"].shape == (1, 16, 16, 3)


@needs_preview
def test_renderer_groups_and_keeps_order(engine: PreviewEngine) -> None:
    previews = PreviewRenderer(engine)
    requests = [request(textured(Scale=float(s)), size=n) for s, n in ((2, 16), (7, 32), (4, 16), (9, 32))]
    together = previews.render_many(requests)
    for item, result in zip(requests, together, strict=True):
        assert result.engine == "preview"
        assert result.channels["base_color"].shape[0] == item.settings.resolution
        np.testing.assert_array_equal(previews.render(item).channels["base_color"], result.channels["base_color"])


@needs_preview
def test_parameters_have_names_shapes_and_errors(engine: PreviewEngine) -> None:
    kernel = engine.compile(textured())
    assert ("noise", "Scale") in kernel.parameters
    assert kernel.parameter("ramp", "color_ramp.colors").shape == (2, 4)
    with pytest.raises(KeyError, match=r"known: .*noise\.Scale"):
        kernel.evaluate({("noise", "Size"): [1.0]}, 8)
    with pytest.raises(ValueError, match="expected shape"):
        kernel.evaluate({("map", "Location"): [[1.0, 2.0]]}, 8)
    with pytest.raises(ValueError, match="expected channels of"):
        kernel.evaluate({}, 8, ("albedo",))


@needs_preview
def test_torch_shares_memory_and_gradients(engine: PreviewEngine) -> None:
    torch = pytest.importorskip("torch")
    kernel = engine.compile(textured())
    pictures = kernel.evaluate({}, 16)
    tensor = pictures.torch()["base_color"]
    assert tensor.data_ptr() == pictures["base_color"].ctypes.data
    weight = np.random.default_rng(2).normal(size=(2, 16, 16, 3)).astype(np.float32)
    scale = torch.tensor([3.0, 5.0], requires_grad=True)
    drawn = kernel.torch({("noise", "Scale"): scale}, 16)["base_color"]
    np.testing.assert_allclose(
        drawn.detach().numpy(), kernel.evaluate({("noise", "Scale"): [3.0, 5.0]}, 16)["base_color"], atol=1e-6
    )
    (drawn * torch.tensor(weight)).sum().backward()
    mine = kernel.gradient({("noise", "Scale"): [3.0, 5.0]}, {"base_color": weight}, 16)[("noise", "Scale")]
    np.testing.assert_allclose(scale.grad.numpy(), mine, rtol=1e-4)


SMOOTH = {
    ("noise", "Scale"): [4.0], ("noise", "Roughness"): [0.6], ("noise", "Lacunarity"): [1.9],
    ("noise", "Detail"): [2.4], ("noise", "Distortion"): [0.3], ("map", "Location"): [[0.2, 0.3, 0.1]],
    ("map", "Rotation"): [[0.1, 0.2, 0.3]], ("map", "Scale"): [[1.0, 1.2, 0.9]],
    ("ramp", "color_ramp.positions"): [[0.1, 0.9]],
    ("ramp", "color_ramp.colors"): [[[0.1, 0.0, 0.2, 1], [1, 0.9, 0.8, 1]]],
}  # fmt: skip


@needs_preview
def test_derivatives_equal_central_differences(engine: PreviewEngine) -> None:
    kernel = engine.compile(textured())
    weight = np.random.default_rng(3).uniform(0, 1, (1, 24, 24, 3)).astype(np.float32)
    base = {key: np.array(value, np.float64) for key, value in SMOOTH.items()}
    found = kernel.gradient(base, {"base_color": weight}, 24)

    def total(key: tuple[str, str], moved: np.ndarray) -> float:
        return float((kernel.evaluate({**base, key: moved}, 24)["base_color"].astype(np.float64) * weight).sum())

    for key, value in base.items():
        largest = float(np.abs(found[key]).max())
        for index in range(min(value.size, 3)):
            step = np.zeros(value.size)
            step[index] = 1e-3
            step = step.reshape(value.shape)
            numeric = (total(key, value + step) - total(key, value - step)) / 2e-3
            assert found[key].ravel()[index] == pytest.approx(numeric, rel=0.01, abs=0.01 * largest), (key, index)


@needs_preview
@pytest.mark.parametrize("node_type", ["ShaderNodeTexVoronoi", "ShaderNodeTexBrick", "ShaderNodeTexChecker",
                                       "ShaderNodeTexWave", "ShaderNodeTexGradient", "ShaderNodeMath"])  # fmt: skip
def test_derivatives_are_finite_where_nothing_is_smooth(node_type: str, engine: PreviewEngine) -> None:
    kind = load_catalog("5.0").node(node_type)
    assert kind is not None
    options = [{}] if node_type != "ShaderNodeMath" else [{"operation": o} for o in ("POWER", "SQRT", "LOGARITHM",
                                                                                     "ARCSINE", "MODULO")]  # fmt: skip
    for option in options:
        state = kind.state(option)
        assert state is not None
        vector = "Vector" if "Vector" in state.inputs else "Value"
        made = graph([Node("n", node_type, {}, option)], [("uv", "UV", "n", vector),
                     ("n", next(iter(state.outputs)), "shader", "Base Color")])  # fmt: skip
        kernel = engine.compile(made)
        params = {key: [kernel.parameter(*key).default] for key in kernel.parameters
                  if key[0] == "n" and kernel.parameter(*key).shape == ()}  # fmt: skip
        params = {key: np.array(value[0]) for key, value in params.items()}
        found = kernel.gradient(params, {"base_color": np.ones((1, 16, 16, 3), np.float32)}, 16)
        assert all(np.isfinite(value).all() for value in found.values()), option


@needs_preview
def test_every_obstacle_is_named() -> None:
    made = graph(
        [Node("image", "ShaderNodeTexImage"), Node("glass", "ShaderNodeBsdfGlass"), Node("mix", "ShaderNodeMixShader"),
         Node("output", "ShaderNodeOutputMaterial"), Node("stray", "ShaderNodeTexSky")],
        [("image", "Color", "shader", "Base Color"), ("shader", "BSDF", "mix", "Shader"),
         ("glass", "BSDF", "mix", "Shader_001"), ("mix", "Shader", "output", "Surface")],
    )  # fmt: skip
    reasons = unsupported(made)
    assert {node for node, _, _ in reasons} == {"image", "glass"}
    with pytest.raises(PreviewUnsupported, match=r"image \(ShaderNodeTexImage"):
        PreviewEngine().compile(made)
    coated = graph([Node("shader", "ShaderNodeBsdfPrincipled", {"Coat Weight": 0.5})], [])
    assert unsupported(coated, ("base_color",)) == ()
    assert "Coat Weight" in unsupported(coated, ("beauty",))[0][2]
    with pytest.raises(PreviewUnsupported, match="Coat Weight"):
        PreviewEngine().compile(coated).evaluate({}, 8, ("beauty",))
    assert unsupported(coated, ("base_color",), "tilt")


@needs_preview
def test_router_tells_who_answered(pool: BlenderPool) -> None:
    plain = request(textured(), size=16)
    image = request(
        graph([Node("magic", "ShaderNodeTexGabor")], [("uv", "UV", "magic", "Vector"),
              ("magic", "Value", "shader", "Base Color")]), size=16)  # fmt: skip
    tilted: RenderRequest = replace(plain, view="tilt")
    router = Router(pool)
    results = router.render_many([plain, image, tilted, plain])
    assert [result.engine for result in results] == ["preview", "cycles", "cycles", "preview"]
    assert all(result.ok for result in results)
    assert any("TexGabor" in m.text or "magic" in m.text for m in results[1].messages)
    np.testing.assert_allclose(pool.render(plain).channels["base_color"], results[0].channels["base_color"], atol=1e-5)


def test_import_needs_neither_drjit_nor_torch() -> None:
    code = (
        "import sys\nimport renderer.preview, renderer.router\n"
        "assert not {'drjit', 'torch', 'bpy'} & set(sys.modules), sorted(sys.modules)\n"
        "sys.modules['drjit'] = None\nimport importlib.util as u\n"
        "from renderer.preview import backend, PreviewEngine, PreviewUnavailable\n"
        "find = u.find_spec\nu.find_spec = lambda name, *a: None if name == 'drjit' else find(name, *a)\n"
        "assert 'pip install' in backend.missing()\n"
        "try:\n    PreviewEngine()\nexcept PreviewUnavailable as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "pip install 'material-agent[preview]'" in run.stdout
