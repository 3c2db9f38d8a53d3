"""Derivatives against central differences, where the picture is smooth; finite everywhere, for every node."""

from __future__ import annotations

import numpy as np
import pytest
from preview_graphs import graph

from graph_api.model import Node
from renderer.preview import PreviewEngine, missing
from renderer.preview.parity import SUBJECT, cases
from renderer.preview.slopes import Slope, differentiable, slopes, tamed

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
# Constants, and what other nodes' cases cover at a quarter of the cost; the benchmark has all.
LEFT_OUT = ("ShaderNodeMixRGB", "ShaderNodeVectorCurve", "ShaderNodeUVMap")
# By feature and kind: one option each of the textures whose options are functions of their own.
OPTIONS = {
    "ShaderNodeTexVoronoi": [{"feature": "F1"}, {"feature": "DISTANCE_TO_EDGE"}],
    "ShaderNodeTexNoise": [{"noise_type": "FBM"}, {"noise_type": "RIDGED_MULTIFRACTAL"}],
    "ShaderNodeMath": [{"operation": name} for name in ("POWER", "SQRT", "LOGARITHM", "ARCSINE", "MODULO", "DIVIDE")],
}


@pytest.fixture(scope="module")
def engine() -> PreviewEngine:
    return PreviewEngine()


def drawn_types() -> list[str]:
    if missing() is not None:
        return []
    from renderer.preview.nodes import NODES

    return sorted(set(NODES) - set(LEFT_OUT))


def measured(engine: PreviewEngine, node_type: str) -> list[Slope]:
    from renderer.preview.nodes import NODES

    spec = NODES[node_type]
    rng = np.random.default_rng(5)
    found = list(cases([node_type], {node_type: spec.options}, outputs={node_type: spec.outputs}, rng=rng, settings=1))
    wanted = OPTIONS.get(node_type)
    chosen = found[:1]
    if wanted is not None:
        chosen = [next(c for c in found if option.items() <= dict(c.options).items()) for option in wanted]
    result = []
    for case in chosen:
        kernel = engine.compile(tamed(case.requests[0].graph, SUBJECT))
        keys = differentiable(kernel, SUBJECT)
        result += slopes(kernel, keys, rng, 8) if keys else []
    return result


@pytest.mark.parametrize("node_type", drawn_types())
def test_derivatives_equal_central_differences(node_type: str, engine: PreviewEngine) -> None:
    for slope in measured(engine, node_type):
        assert slope.finite, slope
        if slope.smooth >= 0.5:
            assert slope.error < 0.01, slope


def test_derivatives_of_light_equal_central_differences(engine: PreviewEngine) -> None:
    """Through shading and bump, by shader, bump and texture."""
    nodes = [
        Node("noise", "ShaderNodeTexNoise", {"Scale": 3.0, "Detail": 0.5}),
        Node("bump", "ShaderNodeBump", {"Distance": 0.05}),
        # Clamped inputs lie inside their range: at its ends, as tint 1 is, light bends.
        Node("shader", "ShaderNodeBsdfPrincipled", {"Metallic": 0.4, "Roughness": 0.6, "IOR": 1.6,
                                                    "Specular Tint": (0.6, 0.7, 0.8, 1.0)}),
    ]  # fmt: skip
    wires = [
        ("uv", "UV", "noise", "Vector"),
        ("noise", "Fac", "bump", "Height"),
        ("bump", "Normal", "shader", "Normal"),
    ]
    kernel = engine.compile(graph(nodes, wires))
    keys = [("shader", name) for name in ("Metallic", "Roughness", "IOR", "Base Color", "Specular Tint")]
    keys += [("bump", "Distance"), ("bump", "Strength"), ("noise", "Scale"), ("noise", "Roughness")]
    for slope in slopes(kernel, keys, np.random.default_rng(1), 12, "beauty"):
        assert slope.finite, slope
        assert slope.smooth > 0.5, slope
        assert slope.error < 0.01, slope


def test_a_wrong_derivative_is_noticed(engine: PreviewEngine) -> None:
    """The comparison can fail: half of the derivative is not the derivative."""
    slope = next(s for s in measured(engine, "ShaderNodeGamma") if s.smooth > 0.5 and abs(s.found) > 1.0)
    wrong = Slope(slope.key, slope.expected, slope.found / 2, slope.size, slope.floor, slope.smooth, slope.finite)
    assert wrong.error > 0.1
