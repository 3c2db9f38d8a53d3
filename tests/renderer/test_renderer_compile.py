"""What Blender refuses is a result with node and socket, and the worker goes on."""

from __future__ import annotations

import pytest
from renderer_graphs import emission, graph, principled, request, textured

BAD = {
    "unknown type": (graph({"x": "TexMusgrave9", "out": "OutputMaterial"}), "x", None),
    "unknown socket": (principled({"Specular": 0.5}), "shader", "Specular"),
    "not a number": (principled({"Roughness": float("nan")}), "shader", "Roughness"),
    "infinite component": (principled({"Base Color": (float("inf"), 0.0, 0.0, 1.0)}), "shader", "Base Color"),
    "three components": (principled({"Base Color": (1.0, 0.0, 0.0)}), "shader", "Base Color"),
    "text for a number": (principled({"Roughness": "rough"}), "shader", "Roughness"),
    "unknown enum": (
        graph({"w": ("TexWave", {}, {"wave_type": "SPIRAL"}), "out": "OutputMaterial"}, "w.Color>out.Surface"),
        "w",
        "wave_type",
    ),
    "link from nowhere": (graph({"out": "OutputMaterial"}, "ghost.Color>out.Surface"), "out", "Surface"),
    "unknown output": (graph({"n": "TexNoise", "out": "OutputMaterial"}, "n.Height>out.Surface"), "n", "Height"),
    "disabled input": (
        graph({"n": "TexNoise", "m": "Math", "out": "OutputMaterial"}, "n.Fac>m.Value_002; m.Value>out.Surface"),
        "m",
        "Value_002",
    ),
    "cycle": (
        graph(
            {"a": "Math", "b": "Math", "out": "OutputMaterial"}, "a.Value>b.Value; b.Value>a.Value; b.Value>out.Surface"
        ),
        None,
        "Value",
    ),
    "no output": (graph({"shader": "BsdfPrincipled"}), None, None),
    "nothing linked": (graph({"shader": "BsdfPrincipled", "out": "OutputMaterial"}), "out", "Surface"),
    "missing picture": (
        graph(
            {"i": ("TexImage", {}, {"image": "/nowhere/missing.png"}), "out": "OutputMaterial"}, "i.Color>out.Surface"
        ),
        "i",
        "image",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_graph_that_blender_refuses(pool, name) -> None:
    material, node, socket = BAD[name]
    result = pool.render(request(material))
    assert result.status == "compile_error"
    assert not result.channels
    first = next(message for message in result.messages if message.level == "error")
    assert (node is None or first.node == node) and (socket is None or first.socket == socket), result.messages
    assert pool.render(request(principled())).ok


def test_a_color_on_the_surface_renders_as_emission(pool) -> None:
    result = pool.render(request(graph({"n": "TexNoise", "out": "OutputMaterial"}, "n.Color>out.Surface")))
    assert result.ok
    assert result.channels["beauty"].std() > 0
    assert result.channels["base_color"].max() == 0


@pytest.mark.parametrize("device", ["CUDA", "optix", "Abacus"])
def test_b3_an_absent_device_is_reported_and_demanded_ones_fail(pool, device) -> None:
    result = pool.render(request(principled(), device=device))
    if result.device != "CPU":
        pytest.skip(f"this machine has {device}")
    assert result.ok
    assert any(message.level == "warning" and device.upper() in message.text for message in result.messages)
    demanded = pool.render(request(principled(), device=device, require_device=True))
    assert demanded.status == "error"
    assert device.upper() in demanded.messages[0].text


def test_b5_three_hundred_graphs_leave_nothing_behind() -> None:
    from renderer import BlenderPool

    makers = (lambda i: textured(2.0 + i % 17), lambda i: principled({"Roughness": (i % 90) / 100}),
              lambda i: emission((0.1, 0.2, 0.3, 1.0)))  # fmt: skip
    with BlenderPool(1) as alone:

        def burst(count: int):
            results = alone.render_many([request(makers[i % 3](i), size=64) for i in range(count)])
            assert all(result.ok for result in results)
            return results[-1].info["data_blocks"], alone.memory_mb()

        counts_before, memory_before = burst(60)
        counts_after, memory_after = burst(300)
    assert counts_after == counts_before
    assert counts_after["materials"] == 1
    assert memory_after - memory_before < 12
