"""How the light of the flat view answers to a base color: measured once for each attempt, with two renders."""

from __future__ import annotations

import numpy as np

from graph_api.actions import Edit, SetParam
from material_agent.actors.builtin.color import Light
from material_agent.actors.builtin.proposal import Surface
from material_agent.context import Context
from material_agent.observation import Bench

_GREYS = (0.2, 0.7)
_ROUGHNESS = 0.75
_SPECULAR = 0.3


def measure_surface(context: Context, bench: Bench) -> Surface:
    """The surface of this attempt; without an answer from the bench the light is taken as ideal."""
    shader = next(n.id for n in context.state.graph.nodes.values() if n.type == "ShaderNodeBsdfPrincipled")
    metallic = 0.0
    candidates: list[list[Edit]] = [
        [
            SetParam(shader, "Base Color", (grey, grey, grey, 1.0)),
            SetParam(shader, "Roughness", _ROUGHNESS),
            SetParam(shader, "Metallic", metallic),
            SetParam(shader, "Specular IOR Level", _SPECULAR),
        ]
        for grey in _GREYS
    ]
    trials = bench.try_many(candidates, resolution=32, channels=("beauty",), judge="none")
    light = Light()
    if len(trials) == len(_GREYS) and all(trial.ok for trial in trials):
        low, high = (float(np.mean(trial.channels["beauty"])) for trial in trials)
        gain = (high - low) / (_GREYS[1] - _GREYS[0])
        light = Light(gain, low - gain * _GREYS[0]) if gain > 0.05 else light
    return Surface(light, context.task.patch_size_m, _ROUGHNESS, metallic, _SPECULAR)
