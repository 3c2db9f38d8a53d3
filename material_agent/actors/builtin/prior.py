"""What the built-in policy knows of its structures without having seen a render; written by a script, see the data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from material_agent.actors.builtin.color import Light
from material_agent.actors.builtin.plan import ALWAYS
from material_agent.actors.builtin.proposal import Builder, Proposal, Surface

_PACKAGE = "material_agent.actors.builtin"
_THOUSANDTHS = 1000.0


@cache
def _data() -> Mapping[str, Any]:
    text = resources.files(_PACKAGE).joinpath("prior.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


@cache
def samples(structure: str) -> npt.NDArray[np.float32]:
    """Joint samples (N, 4) of pattern, figure, mask and height over draws of the structure's parameters.

    A structure that the script has not met yet is taken for plain noise.
    """
    known = _data()["samples"]
    return np.asarray(known.get(structure, known[ALWAYS]), np.float32) / _THOUSANDTHS


def usual_surface(patch_m: float) -> Surface:
    """A rough dielectric surface under the light of the flat view, as it usually answers to a base color."""
    light = _data()["light"]
    return Surface(Light(light["gain"], light["offset"]), patch_m, light["roughness"], 0.0, light["specular"])


def fitted(builder: Builder, proposal: Proposal) -> Proposal:
    """The proposal with colours and ranges for the values that its structure usually takes."""
    usual = samples(proposal.structure.name)[:, None, :]
    return builder.fit(proposal, usual[..., :3], usual[..., 3:])
