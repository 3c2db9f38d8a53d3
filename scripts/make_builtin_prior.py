"""Write what the built-in actor knows of its structures before it has seen a render: values and light.

For each structure, joint samples of pattern, figure, mask and height over draws of its parameters, as thousandths; and
how the flat view's light answers to a base color. Run it after changing a structure.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from graph_api import SetParam, apply, start_graph
from graph_api.actions import Edit
from graph_api.catalog import nearest_version
from graph_api.model import Graph
from material_agent.actors.builtin.calibrate import _GREYS, _ROUGH, _SPECULAR
from material_agent.actors.builtin.lattices import LATTICES
from material_agent.actors.builtin.measurements import HARMONICS, Measurements
from material_agent.actors.builtin.proposal import Builder, Proposal, Surface
from material_agent.actors.builtin.search import draw, start_values
from material_agent.actors.builtin.structure import Structure, structures
from renderer import BlenderPool, RenderRequest, RenderSettings

TARGET = Path(__file__).resolve().parent.parent / "material_agent/actors/builtin/prior.json"
DRAWS, SAMPLES, SPREAD, SIDE = 6, 32, 0.15, 64
LATTICE = {"columns": 5.0, "rows": 9.0, "offset": 0.5, "lattice_angle": 0.0}


def measured() -> Measurements:
    """A picture of which everything is known that a structure may need, at middling values."""
    numbers = {"blob_scale": 8.0, "centre_x": 0.5, "centre_y": 0.5, "joint": 0.06}
    for k in range(HARMONICS):
        u, v = (k % 4 + 1, k // 4)
        numbers |= {f"u{k}": 5.0 * u, f"v{k}": 5.0 * v, f"phase{k}": float(k), f"amplitude{k}": 1.4 / (1 + k)}
    return Measurements(numbers, {}, (LATTICE,), np.full((8, 8, 3), 0.5))


def built(edits: list[Edit], start: Graph) -> Graph:
    """The start graph after these edits."""
    for edit in edits:
        start = apply(start, edit).graph
    return start


def samples_of(structure: Structure, start: Graph, pool: BlenderPool) -> list[list[int]]:
    """SAMPLES of [pattern, figure, mask, height] from each of DRAWS draws, in thousandths."""
    rng = np.random.default_rng(list(structure.name.encode()))
    known = measured()
    builder = Builder(start, known, Surface())
    lattice = LATTICE if structure.needs in LATTICES else None
    first = Proposal(structure, {**start_values(structure, known, lattice), **structure.starts[0]})
    drawn = [first, *(draw(first, rng, SPREAD) for _ in range(DRAWS - 1))]
    settings = RenderSettings(resolution=SIDE)
    requests = [
        RenderRequest(built(builder.probe(one), start), "flat", ("base_color", "height"), settings) for one in drawn
    ]
    rows: list[list[int]] = []
    for result in pool.render_many(requests):
        assert result.ok, (structure.name, result.messages)
        values = np.concatenate([result.channels["base_color"][..., :3], result.channels["height"]], axis=-1)
        chosen = rng.choice(SIDE * SIDE, SAMPLES, replace=False)
        rows += np.round(values.reshape(-1, 4)[chosen] * 1000).astype(int).tolist()
    return rows


def light(start: Graph, pool: BlenderPool) -> dict[str, float]:
    """Gain and offset of the flat view for a rough dielectric surface."""
    shader = next(node.id for node in start.nodes.values() if node.type == "ShaderNodeBsdfPrincipled")
    means = []
    for grey in _GREYS:
        edits: list[Edit] = [
            SetParam(shader, "Base Color", (grey, grey, grey, 1.0)),
            SetParam(shader, "Roughness", _ROUGH),
            SetParam(shader, "Specular IOR Level", _SPECULAR),
        ]
        result = pool.render(RenderRequest(built(edits, start), "flat", ("beauty",), RenderSettings(resolution=32)))
        means.append(float(result.channels["beauty"].mean()))
    gain = (means[1] - means[0]) / (_GREYS[1] - _GREYS[0])
    return {
        "gain": round(gain, 4),
        "offset": round(means[0] - gain * _GREYS[0], 4),
        "roughness": _ROUGH,
        "specular": _SPECULAR,
    }


def main() -> None:
    """Render everything and write the file."""
    with BlenderPool(jobs=1) as pool:
        start = start_graph(nearest_version(pool.warm_up()))
        data = {
            "made_by": "scripts/make_builtin_prior.py",
            "light": light(start, pool),
            "samples": {name: samples_of(one, start, pool) for name, one in structures().items()},
        }
    TARGET.write_text(json.dumps(data, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
