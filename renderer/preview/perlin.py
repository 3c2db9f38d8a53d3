"""Perlin gradient noise in one to four dimensions, in the lattice, gradients and scale of Cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import drjit as dr
from drjit.auto.ad import Bool, Float, Int32, UInt32

from renderer.preview.bundle import repair
from renderer.preview.hashes import jenkins
from renderer.preview.ops import absolute, floor_fraction, lerp

# Brings each dimension's noise to about [-1, 1].
SCALE = {1: 0.2500, 2: 0.6616, 3: 0.9820, 4: 0.8344}
# Far from the origin the lattice repeats, before float32 runs out of fraction bits.
PERIOD = 100000.0
_FAR = 1000000.0

Point = Sequence[Float]


def _sign(word: UInt32, bit: int) -> Float:
    """-1 where the bit is set, else 1, put together from the bits of a float: cheaper than a choice of two values."""
    return dr.reinterpret_array(Float, ((word << (31 - bit)) & 0x80000000) | 0x3F800000)


def _set(word: UInt32, bits: int) -> Bool:
    return (word & bits) != 0


def _gradient1(word: UInt32, x: Float) -> Float:
    size = Float(Int32(1 + (word & 7)))
    return size * _sign(word, 3) * x


def _gradient2(word: UInt32, x: Float, y: Float) -> Float:
    swapped = _set(word, 4)
    u, v = dr.select(swapped, y, x), dr.select(swapped, x, y)
    return dr.fma(u, _sign(word, 0), 2.0 * v * _sign(word, 1))


def _gradient3(word: UInt32, x: Float, y: Float, z: Float) -> Float:
    # Twelve edges of a cube from four bits; four of them come twice.
    u = dr.select(_set(word, 8), y, x)
    v = dr.select(_set(word, 12), dr.select((word & 13) == 12, x, z), y)
    return dr.fma(u, _sign(word, 0), v * _sign(word, 1))


def _gradient4(word: UInt32, x: Float, y: Float, z: Float, w: Float) -> Float:
    u = dr.select((word & 24) == 24, y, x)
    v = dr.select(_set(word, 16), z, y)
    s = dr.select(_set(word, 24), w, z)
    return dr.fma(u, _sign(word, 0), dr.fma(v, _sign(word, 1), s * _sign(word, 2)))


_GRADIENTS: dict[int, Callable[..., Float]] = {1: _gradient1, 2: _gradient2, 3: _gradient3, 4: _gradient4}


def _corners(cells: Sequence[Int32]) -> list[UInt32]:
    """Hashes of the cell's corners, the first coordinate changing fastest."""
    return [
        jenkins(*(UInt32(cell + step) for cell, step in zip(cells, corner[::-1], strict=True)))
        for corner in product((0, 1), repeat=len(cells))
    ]


def _interpolate(words: Sequence[UInt32], rests: Sequence[Float]) -> Float:
    """Noise at `rests` from the corner of a cell whose corners have these hashes."""
    gradient = _GRADIENTS[len(rests)]
    corners = [
        gradient(word, *(rest - float(step) for rest, step in zip(rests, corner[::-1], strict=True)))
        for word, corner in zip(words, product((0, 1), repeat=len(rests)), strict=True)
    ]
    for rest in rests:
        weight = (rest * rest) * (rest * dr.fma(rest, dr.fma(rest, 6.0, -15.0), 10.0))
        corners = [lerp(a, b, weight) for a, b in zip(corners[::2], corners[1::2], strict=True)]
    return corners[0]


def perlin(point: Point) -> Float:
    """Unscaled noise at `point`, whose length is the dimension."""
    cells, rests = zip(*(floor_fraction(x) for x in point), strict=True)
    return _interpolate(_corners(cells), rests)


def signed_noise_at(points: Sequence[Point]) -> list[Float]:
    """`signed_noise` at several places close together."""
    folded = [[_fold(x) for x in point] for point in points]
    cells, _ = zip(*(floor_fraction(x) for x in folded[0]), strict=True)
    words = _corners(cells)
    below = [dr.floor(x) for x in folded[0]]
    values = [(_interpolate(words, [x - b for x, b in zip(point, below, strict=True)]),) for point in folded]
    return [value * SCALE[len(points[0])] for (value,) in repair(folded, values, lambda point: (perlin(point),))]


def _fold(x: Float) -> Float:
    """C's fmod by the period, and half a cell away from integers very far out, as Cycles has it."""
    folded = x - PERIOD * dr.trunc(x * (1.0 / PERIOD))
    return folded + dr.select(absolute(x) >= _FAR, Float(0.5), Float(0.0))


def signed_noise(point: Point) -> Float:
    """Noise at `point`, about [-1, 1]."""
    return perlin([_fold(x) for x in point]) * SCALE[len(point)]


def raised_noise(point: Point, offset: Float) -> Float:
    """Noise plus `offset`, fused as Cycles' compiler does it."""
    return dr.fma(perlin([_fold(x) for x in point]), SCALE[len(point)], offset)
