"""Noise Texture."""

from __future__ import annotations

from collections.abc import Sequence

import drjit as dr
import numpy as np
from drjit.auto.ad import Array3f, Float, Int32

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.fractal import KINDS, Fractal, Octaves, fbm_at
from renderer.preview.hashes import host_float_hash
from renderer.preview.ops import maximum
from renderer.preview.perlin import signed_noise

DIMENSIONS = {"1D": 1, "2D": 2, "3D": 3, "4D": 4}


def offset(seed: int, dimensions: int) -> tuple[float, ...]:
    """Where in the endless noise a further, independent field is taken: between 100 and 200 on each axis."""
    if dimensions == 1:
        return (_place(host_float_hash(float(seed))),)
    return tuple(_place(host_float_hash(float(seed), float(axis))) for axis in range(dimensions))


def _place(unit: np.float32) -> float:
    """Times 100, plus 100, rounded to float32 after each as Cycles does it: one unit of rounding shows as 1e-5."""
    return float(unit * np.float32(100.0) + np.float32(100.0))


def scaled_point(i: Inputs, dimensions: int) -> list[Float]:
    """Vector and W, times Scale, as many as the dimension takes."""
    scale = i["Scale"]
    axes = [] if dimensions == 1 else [i["Vector"][axis] * scale for axis in range(min(dimensions, 3))]
    return axes if dimensions in (2, 3) else [*axes, i["W"] * scale]


def distorted(points: list[list[Float]], distortion: Float, limit: int | None) -> list[list[Float]]:
    """The points, each moved by one noise for each axis; costs nothing where Distortion is zero."""
    count = len(points[0])
    places = [offset(seed, count) for seed in range(count)]

    def added(noise: Float, x: Float) -> Float:
        # Cycles keeps three and four coordinates in vectors, where its compiler fuses nothing.
        return dr.fma(noise, distortion, x) if count < 3 else x + noise * distortion

    def moved(point: list[Float], seed: int) -> Float:
        return added(signed_noise([x + o for x, o in zip(point, places[seed], strict=True)]), point[seed])

    if limit is not None:
        return [[moved(point, seed) for seed in range(count)] for point in points]
    last = dr.select(distortion != 0, Int32(count * len(points)), Int32(0))

    def step(index: Int32, *found: Float) -> tuple[Float, ...]:
        which, axis = index // count, index - index // count * count
        point = [_pick(which, [p[a] for p in points]) for a in range(count)]
        shift = [_pick(axis, [Float(place[a]) for place in places]) for a in range(count)]
        noise = signed_noise([x + o for x, o in zip(point, shift, strict=True)])
        after = (dr.select(index == position, added(noise, f), f) for position, f in enumerate(found))
        return (index + 1, *after)

    flat = [x for point in points for x in point]
    result = dr.while_loop((Int32(0), *flat), lambda index, *_: index < last, step)[1:]
    return [list(result[start : start + count]) for start in range(0, len(result), count)]


def _pick(index: Int32, values: Sequence[Float]) -> Float:
    chosen = values[-1]
    for position, value in enumerate(values[:-1]):
        chosen = dr.select(index == position, value, chosen)
    return chosen


def _settings(i: Inputs) -> Fractal:
    return Fractal(
        octaves=Octaves.of(i["Detail"], i.octave_limit),
        roughness=maximum(i["Roughness"], 0.0),
        lacunarity=i["Lacunarity"],
        offset=i["Offset"] if i.enabled("Offset") else Float(0.0),
        gain=i["Gain"] if i.enabled("Gain") else Float(0.0),
        normalize=i.flag("normalize"),
    )


def _points(places: Sequence[Inputs]) -> list[list[Float]]:
    first = places[0]
    dimensions = DIMENSIONS[first.option("noise_dimensions")]
    return distorted([scaled_point(i, dimensions) for i in places], first["Distortion"], first.octave_limit)


def _outputs(i: Inputs, point: list[Float], value: Float, settings: Fractal) -> Outputs:
    if "Color" not in i.wanted:
        return {"Fac": value}
    kind, dimensions = KINDS[i.option("noise_type")], len(point)
    fields = (
        kind([x + o for x, o in zip(point, offset(seed, dimensions), strict=True)], settings)
        for seed in (dimensions, dimensions + 1)
    )
    return {"Fac": value, "Color": Array3f(value, *fields)}


def noise_texture(i: Inputs) -> Outputs:
    """Fractal noise; Color is three fields, of which the first is Factor."""
    point, settings = _points([i])[0], _settings(i)
    return _outputs(i, point, KINDS[i.option("noise_type")](point, settings), settings)


def noise_texture_at(places: Sequence[Inputs]) -> list[Outputs] | None:
    """Noise at places close together; only the plain sum of octaves is worth it."""
    if places[0].option("noise_type") != "FBM":
        return None
    points, settings = _points(places), _settings(places[0])
    values = fbm_at(points, settings)
    return [_outputs(i, p, value, settings) for i, p, value in zip(places, points, values, strict=True)]


TABLE = {
    "ShaderNodeTexNoise": NodeSpec(
        noise_texture,
        {"noise_dimensions": tuple(DIMENSIONS), "noise_type": tuple(KINDS)},
        warped=True,
        together=noise_texture_at,
    )
}
