"""The integer hashes under Blender's textures, as published: Jenkins' lookup3 and the PCG family in signed integers.

They work alike on Dr.Jit and on numpy unsigned arrays, which is how constants are made on the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import drjit as dr
import numpy as np
from drjit.auto.ad import Float, Int32, UInt32

Word = Any
_SEED = 0xDEADBEEF
_ROUNDS = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))
_MIX_ROUNDS = ((0, 2, 1, 4), (1, 0, 2, 6), (2, 1, 0, 8), (0, 2, 1, 16), (1, 0, 2, 19), (2, 1, 0, 4))
_PCG_MULTIPLIER, _PCG_INCREMENT, _PCG_MASK = 1664525, 1013904223, 0x7FFFFFFF


def _rotate(x: Word, bits: int) -> Word:
    return (x << bits) | (x >> (32 - bits))


def _final(words: list[Word], rounds: tuple[tuple[int, int, int], ...] = _ROUNDS) -> Word:
    for target, source, bits in rounds:
        words[target] = (words[target] ^ words[source]) - _rotate(words[source], bits)
    return words[2]


def _final_low(words: list[Word]) -> Word:
    """`_final` of which only the lowest six bits count: for them the last two rotations are plain shifts."""
    _final(words, _ROUNDS[:-2])
    for target, source, bits in _ROUNDS[-2:]:
        words[target] = (words[target] ^ words[source]) - (words[source] >> (32 - bits))
    return words[2]


def _mix(words: list[Word]) -> None:
    for target, source, third, bits in _MIX_ROUNDS:
        words[target] = (words[target] - words[source]) ^ _rotate(words[source], bits)
        words[source] = words[source] + words[third]


def jenkins(*keys: Word) -> Word:
    """lookup3 of one to four 32-bit words of one type (Dr.Jit `UInt32` or a numpy array of `uint32`)."""
    return _final(_mixed(keys))


def jenkins_low(*keys: Word) -> Word:
    """`jenkins` of which only the lowest six bits are right; a fifth cheaper."""
    return _final_low(_mixed(keys))


def _mixed(keys: Sequence[Word]) -> list[Word]:
    first = (_SEED + (len(keys) << 2) + 13) & 0xFFFFFFFF
    # An array, not a numpy scalar: shifted scalars silently widen to 64 bits.
    start = np.array([first], np.uint32) if isinstance(keys[0], np.ndarray) else UInt32(first)
    words: list[Word] = [start, start, start]
    for index, key in enumerate(keys[:3]):
        words[index] = words[index] + key
    if len(keys) == 4:
        _mix(words)
        words[0] = words[0] + keys[3]
    return words


def unit_float(word: UInt32) -> Float:
    """A 32-bit word as a float in [0, 1]."""
    return Float(word) * np.float32(1.0 / 4294967295.0)


def float_hash(*keys: Float) -> Float:
    """Hash of the bit patterns of one to four floats, in [0, 1]."""
    words = [dr.reinterpret_array(UInt32, dr.detach(Float(key))) for key in keys]
    return unit_float(jenkins(*words))


@cache
def host_float_hash(*keys: float) -> np.float32:
    """The same on the host, in float32 throughout: in double the offsets made of it are ten times further off."""
    words = [np.array([key], np.float32).view(np.uint32) for key in keys]
    return np.float32(jenkins(*words)[0]) * np.float32(1.0 / 4294967295.0)


def pcg(cell: tuple[Int32, ...]) -> tuple[Int32, ...]:
    """PCG hash of two, three or four integers to as many in [0, 2³¹)."""
    rounds = _PCG_ROUNDS[len(cell)]
    v = [c * _PCG_MULTIPLIER + _PCG_INCREMENT for c in cell]
    _pcg_round(v, rounds)
    v = [c ^ (c >> 16) for c in v]
    _pcg_round(v, rounds)
    return tuple(c & _PCG_MASK for c in v)


# (target, factor, factor); a factor of None is the multiplier itself.
_PCG_ROUNDS: dict[int, tuple[tuple[int, int, int | None], ...]] = {
    2: ((0, 1, None), (1, 0, None)),
    3: ((0, 1, 2), (1, 2, 0), (2, 0, 1)),
    4: ((0, 1, 3), (1, 2, 0), (2, 0, 1), (3, 1, 2)),
}


def _pcg_round(v: list[Int32], rounds: tuple[tuple[int, int, int | None], ...]) -> None:
    for target, first, second in rounds:
        v[target] = v[target] + v[first] * (_PCG_MULTIPLIER if second is None else v[second])


def pcg_unit(cell: tuple[Int32, ...]) -> tuple[Float, ...]:
    """PCG hash to floats in [0, 1]."""
    return tuple(Float(h) * PCG_UNIT for h in pcg(cell))


PCG_UNIT = float(np.float32(1.0 / 2147483647.0))
"""What brings a PCG word to [0, 1]; as a float32 it is 2⁻³¹."""
