"""Every node, option and output that the preview claims, against Cycles, from the catalog."""

from __future__ import annotations

import numpy as np
import pytest

from renderer import BlenderPool
from renderer.preview import PreviewRenderer, missing
from renderer.preview.parity import Case, cases, difference

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
SETTINGS, RESOLUTION = 6, 32
# A threshold, a cell border or a hash flips single pixels when its input differs in the last bit.
FLIPPED_SHARE = 2 / RESOLUTION**2


@pytest.fixture(scope="module")
def previews() -> PreviewRenderer:
    return PreviewRenderer()


def drawn_types() -> list[str]:
    if missing() is not None:
        return []
    from renderer.preview.nodes import NODES

    return sorted(NODES)


def node_cases(node_type: str) -> list[Case]:
    from renderer.preview.nodes import NODES

    spec = NODES[node_type]
    rng = np.random.default_rng(sum(map(ord, node_type)))
    return list(
        cases(
            [node_type],
            {node_type: spec.options},
            outputs={node_type: spec.outputs},
            rng=rng,
            settings=SETTINGS,
            resolution=RESOLUTION,
        )
    )


@pytest.mark.parametrize("node_type", drawn_types())
def test_node_equals_blender(node_type: str, pool: BlenderPool, previews: PreviewRenderer) -> None:
    from renderer.preview.nodes import NODES

    found = node_cases(node_type)
    requests = [request for case in found for request in case.requests]
    assert requests
    expected, drawn = pool.render_many(requests), previews.render_many(requests)
    labels = [case.label for case in found for _ in case.requests]
    tolerance = 2e-4 if NODES[node_type].warped else 1e-4
    wrong = []
    for label, blender, preview in zip(labels, expected, drawn, strict=True):
        assert blender.ok, (label, blender.messages)
        assert preview.ok, (label, preview.messages)
        apart = difference(blender.channels["base_color"], preview.channels["base_color"], tolerance)
        if apart.flipped > (0.0 if NODES[node_type].smooth else FLIPPED_SHARE):
            wrong.append(f"{label}: largest {apart.largest:.2g}, {apart.flipped:.2%} of the pixels")
    assert not wrong, "\n".join(wrong)
