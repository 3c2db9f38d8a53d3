"""Kinds of lattice that structures need, and the other ways to read a measured one as rows of elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

_STAGGERED, _EQUAL = 0.1, 0.05
_HEXAGON = math.sqrt(3) / 2
"""Height of a row over the width of an element in a lattice of regular hexagons."""
_MOST = 2
LATTICES: Mapping[str, Callable[[float], bool]] = {
    "lattice": lambda offset: True,
    "staggered": lambda offset: abs(offset - 0.5) < _STAGGERED,
}
"""Kinds of lattice that a structure may need, by the offset from row to row, in elements."""


def staggered_readings(vectors: npt.ArrayLike) -> tuple[dict[str, float], ...]:
    """Each way to read a lattice as rows that are shifted by half an element: columns, rows, offset and angle.

    `vectors` (2, 2): a basis in units of the picture's side, rows counted downward. A rhombic lattice has one such
    reading for each pair of opposite directions, a hexagonal one three equal ones, of which one is kept, and a
    rectangular or oblique one none. The rows run along a vector of the reduced basis (Lagrange and Gauss).
    """
    one, other = _reduced(np.asarray(vectors, dtype=np.float64))
    if abs(float(one @ other)) < _EQUAL * float(np.hypot(*one) * np.hypot(*other)):
        return ()
    found: list[dict[str, float]] = []
    for along, across in ((one, other), (other, one), (one - other, one), (one + other, one)):
        length = float(np.hypot(*along))
        offset = float(across @ along) / length**2 % 1.0
        height = abs(float(np.linalg.det(np.stack([along, across])))) / length
        if not LATTICES["staggered"](offset) or height <= 0:
            continue
        angle = math.atan2(-along[1], along[0])
        angle = (angle + math.pi / 2) % math.pi - math.pi / 2
        reading = {"columns": 1 / length, "rows": 1 / height, "offset": offset, "lattice_angle": angle}
        hexagonal = abs(height / length / _HEXAGON - 1) < _EQUAL
        found.append(reading)
        if hexagonal:
            return (reading,)
    return tuple(found)


def _reduced(vectors: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The basis of the two shortest vectors."""
    one, other = sorted(vectors, key=lambda v: float(v @ v))
    for _ in range(64):
        other = other - round(float(one @ other) / max(float(one @ one), 1e-12)) * one
        if float(other @ other) >= float(one @ one) * (1 - 1e-9):
            break
        one, other = other, one
    return one, other


def readings(
    known: Sequence[Mapping[str, float]], staggered: Sequence[Mapping[str, float]], need: str
) -> tuple[Mapping[str, float], ...]:
    """The lattices worth trying for a structure with this need, best first; none where it needs no lattice.

    Among staggered ones those are better whose elements are about as wide as high.
    """
    if need not in LATTICES:
        return ()
    if need == "lattice":
        return tuple(known)
    chosen = [one for one in (*known, *staggered) if LATTICES[need](one["offset"])]
    return tuple(sorted(chosen, key=lambda one: abs(math.log(one["rows"] / one["columns"] * _HEXAGON)))[:_MOST])
