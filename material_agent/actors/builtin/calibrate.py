"""How the light of the flat view answers to a base color: measured for each attempt, with two to six tiny renders."""

from __future__ import annotations

import numpy as np

from graph_api.actions import Edit, SetParam
from material_agent.actors.builtin.color import Light, srgb_to_linear
from material_agent.actors.builtin.proposal import Surface
from material_agent.context import Context
from material_agent.observation import Bench

_GREYS = (0.2, 0.7)
_ROUGH, _POLISHED = 0.75, 0.35
_SPECULAR, _LEAST_SPECULAR = 0.3, 0.02
_POLISHED_RELIEF = 0.0008
"""Patches, from low to high."""
_DARKEST_SHARE = 0.05


def measure_surface(context: Context, bench: Bench) -> Surface:
    """The surface of this attempt; without an answer from the bench the light is taken as ideal.

    A rough surface scatters some light of the sun's own colour towards the camera. A picture with colours darker than
    that cannot be of a surface so rough: it is then taken as polished, whose highlight misses the camera, and as one
    of less reflectance where what remains is still brighter than the picture: a scan without reflections.
    """
    rough = _measured(context, bench, _ROUGH, _SPECULAR)
    if "palette" not in context.parts:
        return rough
    darkest = np.quantile(srgb_to_linear(context.task.image_srgb).min(axis=2), _DARKEST_SHARE)
    if rough.light.offset < darkest:
        return rough
    polished = _measured(context, bench, _POLISHED, _SPECULAR)
    if polished.light.offset <= darkest:
        return polished
    less = max(_SPECULAR * darkest / polished.light.offset, _LEAST_SPECULAR)
    return _measured(context, bench, _POLISHED, float(less))


def _measured(context: Context, bench: Bench, roughness: float, specular: float) -> Surface:
    shader = next(n.id for n in context.state.graph.nodes.values() if n.type == "ShaderNodeBsdfPrincipled")
    candidates: list[list[Edit]] = [
        [
            SetParam(shader, "Base Color", (grey, grey, grey, 1.0)),
            SetParam(shader, "Roughness", roughness),
            SetParam(shader, "Specular IOR Level", specular),
        ]
        for grey in _GREYS
    ]
    trials = bench.try_many(candidates, resolution=32, channels=("beauty",), judge="none")
    light = Light()
    if len(trials) == len(_GREYS) and all(trial.ok for trial in trials):
        low, high = (float(np.mean(trial.channels["beauty"])) for trial in trials)
        gain = (high - low) / (_GREYS[1] - _GREYS[0])
        light = Light(gain, low - gain * _GREYS[0]) if gain > 0.05 else light
    limit = _POLISHED_RELIEF if roughness == _POLISHED else 1.0
    return Surface(light, context.task.patch_size_m, roughness, 0.0, specular, limit)
