"""Perlin gradient noise in one to four dimensions, in the lattice, gradients and scale of Cycles.

Bump asks for a height here and a tenth of a pixel away; nearly always all three places lie in one cell of the lattice,
whose gradients are then found once. A packet of lanes in which a place has crossed a border goes through a loop that
takes the cell of one such place at a time and serves every place in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import drjit as dr
from drjit.auto.ad import Bool, Float, Int32, UInt32

from renderer.preview.hashes import jenkins_low
from renderer.preview.ops import absolute, lerp

# Brings each dimension's noise to about [-1, 1]; in three dimensions half of Cycles' .982, for gradients twice as long.
SCALE = {1: 0.2500, 2: 0.6616, 3: 0.4910, 4: 0.8344}
# Far from the origin the lattice repeats, before float32 runs out of fraction bits.
PERIOD = 100000.0
_FAR = 1000000.0
# The axes before this one span the plane of the patch.
_PLANE = 2

Point = Sequence[Float]
Corner = Sequence[Any]
"""What the hash of one lattice corner gives: all that its gradient needs."""


def _sign(word: UInt32, bit: int) -> Float:
    """-1 where the bit is set, else 1, put together from the bits of a float: cheaper than a choice of two values."""
    return dr.reinterpret_array(Float, ((word << (31 - bit)) & 0x80000000) | 0x3F800000)


def _set(word: UInt32, bits: int) -> Bool:
    return (word & bits) != 0


def _gradient1(word: UInt32) -> Corner:
    return (Float(Int32(1 + (word & 7))) * _sign(word, 3),)


def _slope1(g: Corner, x: Float) -> Float:
    return g[0] * x


def _gradient2(word: UInt32) -> Corner:
    return _set(word, 4), _sign(word, 0), 2.0 * _sign(word, 1)


def _slope2(g: Corner, x: Float, y: Float) -> Float:
    swapped, first, second = g
    u, v = dr.select(swapped, y, x), dr.select(swapped, x, y)
    return dr.fma(u, first, v * second)


def _edge_tables() -> tuple[int, ...]:
    """The twelve edges of a cube by four bits, four of them twice: for each axis sixteen codes of two bits.

    Read as the first two bits of a float, code 0 is 0, 1 is 2 and 3 is -2.
    """
    tables = [0, 0, 0]
    for word in range(16):
        u = 1 if word & 8 else 0
        v = (0 if word & 13 == 12 else 2) if word & 12 else 1
        for axis, negative in ((u, word & 1), (v, word & 2)):
            tables[axis] |= (3 if negative else 1) << (30 - 2 * word)
    return tuple(tables)


_EDGES = _edge_tables()


def _gradient3(word: UInt32) -> Corner:
    # Shifting the table by the code's place brings it to the front: two operations for each component.
    place = (word << 1) & 30
    return tuple(dr.reinterpret_array(Float, (UInt32(table) << place) & 0xC0000000) for table in _EDGES)


def _slope3(g: Corner, x: Float, y: Float, z: Float) -> Float:
    return dr.fma(x, g[0], dr.fma(y, g[1], z * g[2]))


def _gradient4(word: UInt32) -> Corner:
    return (word & 24) == 24, _set(word, 16), _set(word, 24), _sign(word, 0), _sign(word, 1), _sign(word, 2)


def _slope4(g: Corner, x: Float, y: Float, z: Float, w: Float) -> Float:
    u, v, s = dr.select(g[0], y, x), dr.select(g[1], z, y), dr.select(g[2], w, z)
    return dr.fma(u, g[3], dr.fma(v, g[4], s * g[5]))


_GRADIENTS: dict[int, tuple[Callable[[UInt32], Corner], Callable[..., Float]]] = {
    1: (_gradient1, _slope1),
    2: (_gradient2, _slope2),
    3: (_gradient3, _slope3),
    4: (_gradient4, _slope4),
}


def _weight(rest: Float) -> Float:
    return (rest * rest) * (rest * dr.fma(rest, dr.fma(rest, 6.0, -15.0), 10.0))


class _Cell:
    """One cell of the lattice, and the noise at places in or beside it."""

    def __init__(self, base: Point, points: Sequence[Point]) -> None:
        self.sides = [(UInt32(cell), UInt32(cell + 1)) for cell in (Int32(dr.detach(b)) for b in base)]
        rests = [[x - b for x, b in zip(point, base, strict=True)] for point in points]
        self.rests = [[(rest, rest - 1.0) for rest in place] for place in rests]
        # Further axes have theirs computed in the branch that needs them.
        self.weights = [[_weight(rest) for rest in place[:_PLANE]] for place in rests]
        self.gradient, self.slope = _GRADIENTS[len(base)]
        self.smooth = any(dr.grad_enabled(rest) for place in rests for rest in place)

    def noise(self) -> list[Float]:
        """The noise at all places."""
        return self._up_to(len(self.sides) - 1, ())

    def _up_to(self, axis: int, corner: tuple[int, ...]) -> list[Float]:
        """Interpolated along the axes up to `axis`, on the sides `corner` of the axes after it."""
        if axis < 0:
            word = jenkins_low(*(side[step] for side, step in zip(self.sides, corner, strict=True)))
            gradient = self.gradient(word)
            return [
                self.slope(gradient, *(rest[step] for rest, step in zip(place, corner, strict=True)))
                for place in self.rests
            ]
        low = self._up_to(axis - 1, (0, *corner))

        def between(*low: Float) -> tuple[Float, ...]:
            high = self._up_to(axis - 1, (1, *corner))
            weights = [
                w[axis] if axis < _PLANE else _weight(r[axis][0]) for w, r in zip(self.weights, self.rests, strict=True)
            ]
            return tuple(lerp(a, b, w) for a, b, w in zip(low, high, weights, strict=True))

        if axis < _PLANE or self.smooth:
            return list(between(*low))
        # A texture on a flat patch mostly has z = 0, where the upper half of the corners weighs nothing at all.
        inside = _any([place[axis][0] != 0.0 for place in self.rests])
        return list(dr.if_stmt(tuple(low), inside, between, lambda *low: low))


def perlin(point: Point) -> Float:
    """Noise at `point`, whose length is the dimension; `SCALE` brings it to Cycles' size."""
    folded = _folded([point])
    return _Cell([dr.floor(x) for x in folded[0]], folded).noise()[0]


def perlin_at(points: Sequence[Point]) -> list[Float]:
    """`perlin` at several places close together."""
    folded = _folded(points)
    below = [[dr.floor(x) for x in point] for point in folded]
    values = _Cell(below[0], folded).noise()
    waiting = [_apart(below[0], base) for base in below[1:]]

    def body(*state: Any) -> tuple[Any, ...]:
        count = len(points) - 1
        wanting, found = state[:count], state[count:]
        base = below[-1]
        for wants, other in zip(wanting[-2::-1], below[-2:0:-1], strict=True):
            base = [dr.select(wants, a, b) for a, b in zip(other, base, strict=True)]
        served = _Cell(base, folded[1:]).noise()
        now, before = [], Bool(False)
        for wants, other in zip(wanting, below[1:], strict=True):
            # The first that waits is served whatever its cell is: one that is not a number equals no cell, not its own.
            now.append(wants & (~before | ~_apart(base, other)))
            before = before | wants
        return (
            *(wants & ~hit for wants, hit in zip(wanting, now, strict=True)),
            *(dr.select(hit, new, old) for hit, new, old in zip(now, served, found, strict=True)),
        )

    def some(*state: Any) -> Bool:
        return _any(state[: len(points) - 1])

    result = dr.while_loop((*waiting, *values[1:]), some, body)
    return [values[0], *result[len(points) - 1 :]]


def _any(flags: Sequence[Bool]) -> Bool:
    total = flags[0]
    for flag in flags[1:]:
        total = total | flag
    return total


def _apart(a: Point, b: Point) -> Bool:
    return _any([x != y for x, y in zip(a, b, strict=True)])


def _fold(x: Float) -> Float:
    """C's fmod by the period, and half a cell away from integers very far out, as Cycles has it."""
    folded = x - PERIOD * dr.trunc(x * (1.0 / PERIOD))
    return folded + dr.select(absolute(x) >= _FAR, Float(0.5), Float(0.0))


def _folded(points: Sequence[Point]) -> list[list[Float]]:
    """All coordinates folded; where derivatives are not wanted, in a branch that hardly a packet ever takes.

    The first place decides for all, within one cell of the period.
    """
    flat = tuple(x for point in points for x in point)
    if any(dr.grad_enabled(x) for x in flat):
        folded = tuple(_fold(x) for x in flat)
    else:
        far = _any([absolute(x) >= PERIOD - 1.0 for x in points[0]])
        folded = dr.if_stmt(flat, far, lambda *all_: tuple(_fold(x) for x in all_), lambda *all_: all_)
    width = len(points[0])
    return [list(folded[start : start + width]) for start in range(0, len(folded), width)]


def signed_noise_at(points: Sequence[Point]) -> list[Float]:
    """`signed_noise` at several places close together."""
    return [value * SCALE[len(points[0])] for value in perlin_at(points)]


def signed_noise(point: Point) -> Float:
    """Noise at `point`, about [-1, 1]."""
    return perlin(point) * SCALE[len(point)]


def raised_noise(point: Point, offset: Float) -> Float:
    """Noise plus `offset`, fused as Cycles' compiler does it."""
    return dr.fma(perlin(point), SCALE[len(point)], offset)
