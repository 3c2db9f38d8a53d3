"""Voronoi Texture: every feature, metric and dimension, and its fractal sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import drjit as dr
from drjit.auto.ad import Array3f, Bool, Float, Int32

from renderer.preview.cells import METRICS, Cells
from renderer.preview.closest import closest, decode
from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.nodes.noise import DIMENSIONS
from renderer.preview.ops import (
    FLOAT_MAX,
    absolute,
    clamp,
    dot,
    lerp,
    minimum,
    safe_divide,
    safe_sqrt,
    saturate,
    smoothstep,
)

Axes = Sequence[Float]
_EDGE_EPSILON = 1e-4
_FAR_EDGE = 8.0
Octave = tuple[Float, Array3f, tuple[Float, ...]]


def _result(cells: Cells, rank: Float, offset: Sequence[Int32]) -> Octave:
    """Distance, color and position of the cell `offset` away; the cell is looked up again, not carried along."""
    place = tuple(b + p for b, p in zip(cells.below, cells.point(offset), strict=True))
    return cells.distance(rank), cells.color(offset), place


def f1(cells: Cells, _: Float) -> Octave:
    """The closest point."""
    if cells.culls:
        (rank,), code = closest([cells], indexed=True)
        assert code is not None
        return _result(cells, rank, decode(code, len(cells.cell)))

    def body(index: Int32, offset: Sequence[Int32], best: Float, chosen: Int32) -> tuple[Any, ...]:
        rank = cells.rank_of(offset)
        closer = rank < best
        return dr.select(closer, rank, best), dr.select(closer, index, chosen)

    rank, chosen = cells.scan(1, body, (Float(FLOAT_MAX), Int32(0)))
    return _result(cells, rank, cells.decode(chosen, 1))


def f2(cells: Cells, _: Float) -> Octave:
    """The second closest point."""

    def body(
        index: Int32, offset: Sequence[Int32], first: Float, second: Float, i1: Int32, i2: Int32
    ) -> tuple[Any, ...]:
        rank = cells.rank_of(offset)
        closest, closer = rank < first, rank < second
        return (
            dr.select(closest, rank, first),
            dr.select(closest, first, dr.select(closer, rank, second)),
            dr.select(closest, index, i1),
            dr.select(closest, i1, dr.select(closer, index, i2)),
        )

    far = Float(FLOAT_MAX)
    _, second, _, chosen = cells.scan(1, body, (far, far, Int32(0), Int32(0)))
    return _result(cells, second, cells.decode(chosen, 1))


def smooth_f1(cells: Cells, smoothness: Float) -> Octave:
    """The closest point with a soft minimum over 5 cells on each axis; without smoothness a plain minimum."""
    # Where it is zero the transition is a step: an infinitely steep one stands for it.
    width = dr.select(smoothness > 0, smoothness, 1e-20)
    count = len(cells.cell)

    def body(index: Int32, offset: Sequence[Int32], distance: Float, *rest: Float) -> tuple[Any, ...]:
        point = cells.point(offset)
        reach = cells.distance(cells.rank(point))
        h = dr.select(index == 0, Float(1.0), smoothstep(0.5 + 0.5 * (distance - reach) / width))
        correction = smoothness * h * (1.0 - h)
        distance = lerp(distance, reach, h) - correction
        correction = correction / (1.0 + 3.0 * smoothness)
        color = cells.color(offset)
        values = (color.x, color.y, color.z, *point)
        return (distance, *(lerp(old, new, h) - correction for old, new in zip(rest, values, strict=True)))

    zero = Float(0.0)
    distance, *rest = cells.scan(2, body, (zero,) * (4 + count))
    place = tuple(b + p for b, p in zip(cells.below, rest[3:], strict=True))
    return distance, Array3f(*rest[:3]), place


def distance_to_edge(cells: Cells) -> Float:
    """Distance to the border between the two closest cells."""
    if len(cells.cell) == 1:
        return _edge_1d(cells)
    count = len(cells.cell)

    def nearest(_: Int32, offset: Sequence[Int32], best: Float, *closest: Float) -> tuple[Any, ...]:
        to_point = cells.reach(offset)
        rank = dot(to_point, to_point)
        closer = rank < best
        return dr.select(closer, rank, best), *(
            dr.select(closer, new, old) for new, old in zip(to_point, closest, strict=True)
        )

    _, *closest = cells.scan(1, nearest, (Float(FLOAT_MAX), *(Float(0.0),) * count))

    def border(_: Int32, offset: Sequence[Int32], best: Float) -> tuple[Float]:
        to_point = cells.reach(offset)
        across = [p - c for p, c in zip(to_point, closest, strict=True)]
        size = dot(across, across)
        other = size > _EDGE_EPSILON
        middle = [(p + c) / 2.0 for p, c in zip(to_point, closest, strict=True)]
        edge = dot(middle, across) / dr.sqrt(dr.select(other, size, 1.0))
        return (dr.select(other & (edge < best), edge, best),)

    found: Float = cells.scan(1, border, (Float(FLOAT_MAX),))[0]
    return found


def _edge_1d(cells: Cells) -> Float:
    left, middle, right = (cells.point([Int32(offset)])[0] for offset in (-1, 0, 1))
    local = cells.local[0]
    return minimum(absolute((middle + left) / 2.0 - local), absolute((middle + right) / 2.0 - local))


def n_sphere_radius(cells: Cells) -> Float:
    """Half the distance from the closest point to the point closest to it."""
    by_length = cells if len(cells.cell) == 1 else _with_metric(cells, "EUCLIDEAN")

    def nearest(index: Int32, offset: Sequence[Int32], best: Float, chosen: Int32) -> tuple[Any, ...]:
        rank = by_length.rank(by_length.point(offset))
        closer = rank < best
        return dr.select(closer, rank, best), dr.select(closer, index, chosen)

    _, chosen = by_length.scan(1, nearest, (Float(FLOAT_MAX), Int32(0)))
    home = by_length.decode(chosen, 1)
    closest = by_length.point(home)
    middle = (3 ** len(home) - 1) // 2

    def neighbour(index: Int32, offset: Sequence[Int32], best: Float) -> tuple[Float]:
        point = by_length.point([o + h for o, h in zip(offset, home, strict=True)])
        apart = [p - c for p, c in zip(point, closest, strict=True)]
        rank = dot(apart, apart)
        return (dr.select((index != middle) & (rank < best), rank, best),)

    return safe_sqrt(by_length.scan(1, neighbour, (Float(FLOAT_MAX),))[0]) / 2.0


def _with_metric(cells: Cells, metric: str) -> Cells:
    return Cells(cells.cell, cells.below, cells.local, cells.randomness, cells.exponent, metric, cells.unroll)


POINT_FEATURES: dict[str, Callable[[Cells, Float], Octave]] = {"F1": f1, "F2": f2, "SMOOTH_F1": smooth_f1}
FEATURES = (*POINT_FEATURES, "DISTANCE_TO_EDGE", "N_SPHERE_RADIUS")


class _Voronoi:
    """The node's inputs, read once."""

    def __init__(self, i: Inputs) -> None:
        self.i = i
        self.dimensions = DIMENSIONS[i.option("voronoi_dimensions")]
        self.scale = i["Scale"]
        vector = [i["Vector"][axis] for axis in range(min(self.dimensions, 3))] if self.dimensions != 1 else []
        self.point = [x * self.scale for x in (vector if self.dimensions in (2, 3) else [*vector, i["W"]])]
        self.randomness = clamp(i["Randomness"], 0.0, 1.0)
        self.exponent = i["Exponent"] if i.enabled("Exponent") else Float(1.0)
        self.metric = i.option("distance") if i.option("feature") in POINT_FEATURES else "EUCLIDEAN"
        self.limit = i.octave_limit

    def cells(self, scale: Float) -> Cells:
        """The cells at one octave."""
        point = [x * scale for x in self.point]
        return Cells.at(point, self.randomness, self.exponent, self.metric, unroll=self.limit is not None)

    def octaves(self, step: Callable[..., tuple[Any, ...]], state: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run `step(weight, amplitude, scale, *state)`; the last octave of a fractional Detail has weight below 1."""
        i = self.i
        detail, roughness = clamp(i["Detail"], 0.0, 15.0), saturate(i["Roughness"])
        lacunarity = i["Lacunarity"]
        single = (detail == 0) | (roughness == 0)
        count = dr.select(single, Int32(1), Int32(dr.ceil(dr.detach(detail))) + 1)
        part = detail - dr.floor(detail)

        def body(index: Int32, amplitude: Float, scale: Float, *inner: Any) -> tuple[Any, ...]:
            weight = dr.select(single | (Float(index) <= detail), Float(1.0), part)
            stepped = step(weight, amplitude, scale, *inner)
            return (index + 1, amplitude * roughness, scale * lacunarity, *stepped)

        start = (Int32(0), Float(1.0), Float(1.0), *state)
        if self.limit is None:
            return tuple(dr.while_loop(start, lambda index, *_: index < count, body)[3:])
        for index in range(self.limit):
            active: Bool = Int32(index) < count
            start = tuple(dr.select(active, new, old) for new, old in zip(body(*start), start, strict=True))
        return start[3:]


def _points(v: _Voronoi) -> Outputs:
    feature = v.i.option("feature")
    smoothness = clamp(v.i["Smoothness"] / 2.0, 0.0, 0.5) if feature == "SMOOTH_F1" else Float(0.0)

    def step(weight: Float, amplitude: Float, scale: Float, total: Float, peak: Float, *rest: Float) -> tuple[Any, ...]:
        distance, color, place = POINT_FEATURES[feature](v.cells(scale), smoothness)
        colors = [c + weight * amplitude * color[axis] for axis, c in enumerate(rest[:3])]
        places = [lerp(p, lerp(p, new / scale, amplitude), weight) for p, new in zip(rest[3:], place, strict=True)]
        return (total + weight * amplitude * distance, peak + weight * amplitude, *colors, *places)

    zero = Float(0.0)
    total, peak, *rest = v.octaves(step, (zero,) * (5 + v.dimensions))
    color, places = Array3f(*rest[:3]), [safe_divide(p, v.scale) for p in rest[3:]]
    if v.i.flag("normalize"):
        half = 0.5 + 0.5 * v.randomness
        cells = v.cells(Float(1.0))
        reach = cells.distance(METRICS[cells.metric][0]([half] * v.dimensions, cells.exponent))
        total = total / (peak * reach * (2.0 if feature == "F2" else 1.0))
        color = color / peak
    outputs: dict[str, Any] = {"Distance": total, "Color": color}
    if v.dimensions in (1, 4):
        outputs["W"] = places[-1]
    if v.dimensions > 1:
        outputs["Position"] = Array3f(*[*places[:3], Float(0.0)][:3])
    return outputs


def _edges(v: _Voronoi) -> Outputs:
    reach = 0.5 + 0.5 * v.randomness

    def step(weight: Float, amplitude: Float, scale: Float, distance: Float, peak: Float) -> tuple[Float, Float]:
        found = distance_to_edge(v.cells(scale)) / scale
        mixed = lerp(distance, minimum(distance, found), amplitude)
        whole = weight == 1.0
        return (
            dr.select(whole, mixed, lerp(distance, minimum(distance, mixed), weight)),
            lerp(peak, lerp(peak, reach / scale, amplitude), weight),
        )

    distance, peak = v.octaves(step, (Float(_FAR_EDGE), reach))
    return {"Distance": distance / peak if v.i.flag("normalize") else distance}


def _radius(v: _Voronoi) -> Outputs:
    return {"Radius": n_sphere_radius(v.cells(Float(1.0)))}


def voronoi_texture_at(places: Sequence[Inputs]) -> list[Outputs] | None:
    """The closest point's distance at places close together; only the plain case is worth it."""
    i = places[0]
    plain = i.option("feature") == "F1" and not i.flag("normalize") and i.wanted == {"Distance"}
    if not plain or i.option("voronoi_dimensions") not in ("2D", "3D"):
        return None
    nodes = [_Voronoi(place) for place in places]

    def step(weight: Float, amplitude: Float, scale: Float, *totals: Float) -> tuple[Any, ...]:
        cells = [v.cells(scale) for v in nodes]
        found = [cells[0].distance(rank) for rank in closest(cells)[0]]
        return tuple(total + weight * amplitude * d for total, d in zip(totals, found, strict=True))

    totals = nodes[0].octaves(step, (Float(0.0),) * len(nodes))
    return [{"Distance": total} for total in totals]


_BY_FEATURE: dict[str, Callable[[_Voronoi], Outputs]] = {"DISTANCE_TO_EDGE": _edges, "N_SPHERE_RADIUS": _radius}


def voronoi_texture(i: Inputs) -> Outputs:
    """Distances, colors and places of random points, one in each cell of a grid."""
    return _BY_FEATURE.get(i.option("feature"), _points)(_Voronoi(i))


TABLE = {
    "ShaderNodeTexVoronoi": NodeSpec(
        voronoi_texture,
        {"voronoi_dimensions": tuple(DIMENSIONS), "distance": tuple(METRICS), "feature": FEATURES},
        smooth=False,
        together=voronoi_texture_at,
    )
}
