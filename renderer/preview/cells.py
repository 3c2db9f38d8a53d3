"""The cells of Voronoi textures: one random point in each, and the metrics that tell how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import drjit as dr
from drjit.auto.ad import Array3f, Float, Int32

from renderer.preview.hashes import float_hash, pcg_unit
from renderer.preview.ops import (
    absolute,
    dot,
    floor_fraction,
    maximum,
    power_positive,
    safe_divide,
    safe_sqrt,
)

Axes = Sequence[Float]
# Cells are unrolled up to this many: three times faster than a symbolic loop, but code grows with each.
_UNROLLED = 27


def _euclidean(d: Axes, _: Float) -> Float:
    return dot(d, d)


def _manhattan(d: Axes, _: Float) -> Float:
    return sum((absolute(x) for x in d[1:]), absolute(d[0]))


def _chebychev(d: Axes, _: Float) -> Float:
    largest = absolute(d[0])
    for x in d[1:]:
        largest = maximum(largest, absolute(x))
    return largest


def _minkowski(d: Axes, exponent: Float) -> Float:
    return sum((power_positive(absolute(x), exponent) for x in d[1:]), power_positive(absolute(d[0]), exponent))


def _identity(value: Float, _: Float) -> Float:
    return value


# A quantity that orders points as their distance does, and how the distance follows from it.
METRICS: dict[str, tuple[Callable[[Axes, Float], Float], Callable[[Float, Float], Float]]] = {
    "EUCLIDEAN": (_euclidean, lambda value, _: safe_sqrt(value)),
    "MANHATTAN": (_manhattan, _identity),
    "CHEBYCHEV": (_chebychev, _identity),
    "MINKOWSKI": (_minkowski, lambda value, exponent: power_positive(value, safe_divide(Float(1.0), exponent))),
}


@dataclass(frozen=True)
class Cells:
    """One point's cell and its place in it, and how the points of cells are found."""

    cell: tuple[Int32, ...]
    below: tuple[Float, ...]
    local: tuple[Float, ...]
    randomness: Float
    exponent: Float
    metric: str
    unroll: bool

    @classmethod
    def at(cls, point: Axes, randomness: Float, exponent: Float, metric: str, *, unroll: bool) -> Cells:
        """The cell of a point."""
        cell, local = zip(*(floor_fraction(x) for x in point), strict=True)
        below = tuple(dr.floor(x) for x in point)
        # In one dimension every metric is the plain distance.
        return cls(cell, below, local, randomness, exponent, metric if len(cell) > 1 else "MANHATTAN", unroll)

    @property
    def culls(self) -> bool:
        """Whether the search for the closest point may leave out cells that are too far: see `closest`."""
        return not self.unroll and len(self.cell) in (2, 3)

    def jitter(self, offset: Sequence[Int32]) -> tuple[Float, ...]:
        """Random place of the point of the cell `offset` away, on each axis."""
        if len(self.cell) == 1:
            return (float_hash(self.below[0] + Float(offset[0])),)
        return pcg_unit(tuple(c + o for c, o in zip(self.cell, offset, strict=True)))

    def point(self, offset: Sequence[Int32]) -> tuple[Float, ...]:
        """That point, relative to this cell."""
        return tuple(Float(o) + h * self.randomness for o, h in zip(offset, self.jitter(offset), strict=True))

    def color(self, offset: Sequence[Int32]) -> Array3f:
        """Random color of the cell `offset` away."""
        count = len(self.cell)
        if count == 1:
            key = self.below[0] + Float(offset[0])
            return Array3f(float_hash(key), float_hash(key, Float(1.0)), float_hash(key, Float(2.0)))
        cell = tuple(c + o for c, o in zip(self.cell, offset, strict=True))
        return Array3f(*pcg_unit(cell if count > 2 else (*cell, Int32(0)))[:3])

    def reach(self, offset: Sequence[Int32]) -> tuple[Float, ...]:
        """From the place in the cell to the point of the cell `offset` away."""
        return tuple(
            dr.fma(h, self.randomness, Float(o) - x)
            for o, h, x in zip(offset, self.jitter(offset), self.local, strict=True)
        )

    def rank_of(self, offset: Sequence[Int32]) -> Float:
        """The rank of the point of the cell `offset` away."""
        return METRICS[self.metric][0](self.reach(offset), self.exponent)

    def rank(self, point: Axes) -> Float:
        """A quantity that orders points by distance from the place in the cell."""
        return METRICS[self.metric][0]([p - x for p, x in zip(point, self.local, strict=True)], self.exponent)

    def distance(self, rank: Float) -> Float:
        """The distance that a rank stands for."""
        return METRICS[self.metric][1](rank, self.exponent)

    def scan(self, radius: int, body: Callable[..., tuple[Any, ...]], state: tuple[Any, ...]) -> tuple[Any, ...]:
        """Fold `body(index, offset, *state)` over all cells within `radius`, the first axis fastest."""
        side, count = 2 * radius + 1, len(self.cell)
        total = side**count
        if total <= _UNROLLED or self.unroll:
            for index, corner in enumerate(product(range(-radius, radius + 1), repeat=count)):
                state = body(Int32(index), [Int32(o) for o in corner[::-1]], *state)
            return state
        result = dr.while_loop(
            (Int32(0), *state),
            lambda index, *_: index < total,
            lambda index, *inner: (index + 1, *body(index, self.decode(index, radius), *inner)),
        )
        return tuple(result[1:])

    def decode(self, index: Int32, radius: int) -> list[Int32]:
        """The offset of the cell with this index in a scan."""
        side, rest, offset = 2 * radius + 1, index, []
        for _ in self.cell:
            above = rest // side
            offset.append(rest - above * side - radius)
            rest = above
        return offset
