"""Wave Texture."""

from __future__ import annotations

import math
from collections.abc import Callable

import drjit as dr
from drjit.auto.ad import Array3f, Float

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.fractal import Fractal, Octaves, fbm
from renderer.preview.nodes.patterns import avoid_borders
from renderer.preview.ops import TWO_PI, absolute, fraction, length, splat

BANDS: dict[str, Callable[[Array3f], Float]] = {
    "X": lambda p: p.x * 20.0,
    "Y": lambda p: p.y * 20.0,
    "Z": lambda p: p.z * 20.0,
    "DIAGONAL": lambda p: (p.x + p.y + p.z) * 10.0,
}
RINGS: dict[str, Callable[[Array3f], Float]] = {
    "X": lambda p: length(Array3f(0.0, p.y, p.z)) * 20.0,
    "Y": lambda p: length(Array3f(p.x, 0.0, p.z)) * 20.0,
    "Z": lambda p: length(Array3f(p.x, p.y, 0.0)) * 20.0,
    "SPHERICAL": lambda p: length(p) * 20.0,
}
TYPES = {"BANDS": (BANDS, "bands_direction"), "RINGS": (RINGS, "rings_direction")}


def _sine(n: Float) -> Float:
    return 0.5 + 0.5 * dr.sin(n - 0.5 * math.pi)


def _saw(n: Float) -> Float:
    return fraction(n / TWO_PI)


def _triangle(n: Float) -> Float:
    turns = n / TWO_PI
    return absolute(turns - dr.floor(turns + 0.5)) * 2.0


PROFILES: dict[str, Callable[[Float], Float]] = {"SIN": _sine, "SAW": _saw, "TRI": _triangle}


def wave_texture(i: Inputs) -> Outputs:
    """Bands or rings of a profile, bent by noise where Distortion is not zero."""
    point = avoid_borders(i["Vector"] * i["Scale"])
    directions, option = TYPES[i.option("wave_type")]
    phase = directions[i.option(option)](point) + i["Phase Offset"]
    distortion = i["Distortion"]
    settings = Fractal(
        octaves=Octaves.of(i["Detail"], i.octave_limit, active=distortion != 0),
        roughness=i["Detail Roughness"],
        lacunarity=Float(2.0),
        offset=Float(0.0),
        gain=Float(0.0),
        normalize=True,
    )
    scale = i["Detail Scale"]
    bend = fbm([point[axis] * scale for axis in range(3)], settings) * 2.0 - 1.0
    phase = phase + dr.select(distortion != 0, distortion * bend, 0.0)
    value = PROFILES[i.option("wave_profile")](phase)
    return {"Color": splat(value), "Fac": value}


TABLE = {
    "ShaderNodeTexWave": NodeSpec(
        wave_texture,
        {
            "wave_type": tuple(TYPES),
            "bands_direction": tuple(BANDS),
            "rings_direction": tuple(RINGS),
            "wave_profile": tuple(PROFILES),
        },
        smooth=False,
        warped=True,
    )
}
