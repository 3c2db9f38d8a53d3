"""The same texture at several places close together, for bump: what depends on the cell alone is computed once.

Bump asks for a height here and a tenth of a pixel away; nearly always all three places lie in one cell of the texture's
grid. The cell of the first place serves all; a lane whose other place has crossed a border is computed again by itself,
in a loop that most packets of lanes never enter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import drjit as dr
from drjit.auto.ad import Bool, Float, Int32

Point = Sequence[Float]
Values = tuple[Any, ...]


def crossed(first: Point, other: Point) -> Bool:
    """Whether `other` lies in another cell than `first`."""
    apart = Bool(False)
    for a, b in zip(first, other, strict=True):
        apart = apart | (dr.floor(a) != dr.floor(b))
    return apart


def repair(points: Sequence[Point], values: Sequence[Values], function: Callable[[Point], Values]) -> list[Values]:
    """`values` at `points`, with those of points beyond the first point's cell computed anew by `function`."""
    count, width = len(points), len(values[0])
    moved = [crossed(points[0], point) for point in points]

    def following(index: Int32) -> Int32:
        after = Int32(count)
        for place in range(count - 1, 0, -1):
            after = dr.select(moved[place] & (index < place), Int32(place), after)
        return after

    def body(index: Int32, *flat: Any) -> Values:
        point = [_pick(index, axis) for axis in zip(*points[1:], strict=True)]
        new = function(point)
        chosen = (
            dr.select(index == 1 + position // width, new[position % width], old) for position, old in enumerate(flat)
        )
        return (following(index), *chosen)

    flat = [item for value in values[1:] for item in value]
    result = dr.while_loop((following(Int32(0)), *flat), lambda index, *_: index < count, body)[1:]
    return [values[0], *(tuple(result[start : start + width]) for start in range(0, len(result), width))]


def _pick(index: Int32, axis: Sequence[Float]) -> Float:
    chosen = axis[-1]
    for position, value in enumerate(axis[:-1]):
        chosen = dr.select(index == position + 1, value, chosen)
    return chosen
