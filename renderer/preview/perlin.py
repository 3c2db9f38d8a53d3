"""Perlin gradient noise in one to four dimensions, in the lattice, gradients and scale of Cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import drjit as dr
from drjit.auto.ad import Float, UInt32

from renderer.preview.hashes import jenkins
from renderer.preview.ops import absolute, floor_fraction, lerp

# Brings each dimension's noise to about [-1, 1].
SCALE = {1: 0.2500, 2: 0.6616, 3: 0.9820, 4: 0.8344}
# Far from the origin the lattice repeats, before float32 runs out of fraction bits.
PERIOD = 100000.0
_FAR = 1000000.0

Point = Sequence[Float]


def _signed(value: Float, word: UInt32, bit: int) -> Float:
    return dr.select((word & (1 << bit)) != 0, -value, value)


def _gradient1(word: UInt32, x: Float) -> Float:
    size = Float(1 + (word & 7))
    return _signed(size, word, 3) * x


def _gradient2(word: UInt32, x: Float, y: Float) -> Float:
    low = (word & 7) < 4
    return _signed(dr.select(low, x, y), word, 0) + _signed(2.0 * dr.select(low, y, x), word, 1)


def _gradient3(word: UInt32, x: Float, y: Float, z: Float) -> Float:
    h = word & 15
    u = dr.select(h < 8, x, y)
    v = dr.select(h < 4, y, dr.select((h == 12) | (h == 14), x, z))
    return _signed(u, word, 0) + _signed(v, word, 1)


def _gradient4(word: UInt32, x: Float, y: Float, z: Float, w: Float) -> Float:
    h = word & 31
    u, v, s = dr.select(h < 24, x, y), dr.select(h < 16, y, z), dr.select(h < 8, z, w)
    return _signed(u, word, 0) + _signed(v, word, 1) + _signed(s, word, 2)


_GRADIENTS: dict[int, Callable[..., Float]] = {1: _gradient1, 2: _gradient2, 3: _gradient3, 4: _gradient4}


def perlin(point: Point) -> Float:
    """Unscaled noise at `point`, whose length is the dimension."""
    gradient = _GRADIENTS[len(point)]
    cells, rests = zip(*(floor_fraction(x) for x in point), strict=True)
    corners = []
    # The first coordinate changes fastest, and is interpolated first.
    for corner in product((0, 1), repeat=len(point)):
        steps = corner[::-1]
        word = jenkins(*(UInt32(cell + step) for cell, step in zip(cells, steps, strict=True)))
        corners.append(gradient(word, *(rest - float(step) for rest, step in zip(rests, steps, strict=True))))
    for rest in rests:
        weight = (rest * rest) * (rest * dr.fma(rest, dr.fma(rest, 6.0, -15.0), 10.0))
        corners = [lerp(a, b, weight) for a, b in zip(corners[::2], corners[1::2], strict=True)]
    return corners[0]


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
