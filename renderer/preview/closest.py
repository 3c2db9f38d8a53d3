"""The closest point of a Voronoi texture without looking into every cell around.

Of the cells within one step those on the nearer side of each axis are always looked into. The others are at least as
far as the border that separates them, and a group of them is skipped by a packet of lanes in which no lane has a border
closer than its closest point so far. The result is that of the whole scan to the last bit: the bounds are rounded like
the distances themselves, and of equally close points the first of the scan wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import drjit as dr
from drjit.auto.ad import Bool, Float, Int32

from renderer.preview.cells import METRICS, Cells
from renderer.preview.hashes import PCG_UNIT, pcg
from renderer.preview.ops import FLOAT_MAX, maximum, minimum

# Bits for each axis in the code of an offset; codes order like the scan.
_BITS = 2
# The power of the Minkowski metric is not rounded monotonically.
_MARGIN = 1.0 - 1e-5
Found = tuple[Any, ...]


def decode(code: Int32, count: int) -> list[Int32]:
    """The offset of a code, axis by axis."""
    return [((code >> (_BITS * axis)) & (2**_BITS - 1)) - 1 for axis in range(count)]


def closest(places: Sequence[Cells], *, indexed: bool = False) -> tuple[list[Float], Int32 | None]:
    """Rank of the closest point at places close together, and with `indexed` its cell's code for the first place.

    All places share the cells around the first. A place just outside the first one's cell has the same neighbours but
    for a layer about a whole cell away. Lanes whose closest point may lie that far search again from their own cell, in
    a branch that hardly a packet ever takes.
    """
    search = _Search(places, indexed=indexed)
    axes = range(len(places[0].cell))
    state: Found = (Float(FLOAT_MAX),) * len(places) + ((Int32(0),) if indexed else ())
    state = search.look(product((0, 1), repeat=len(axes)), state)
    for far in axes:
        group = [sides for sides in product((0, 1, 2), repeat=len(axes)) if _far(sides) == (far,)]
        state = search.look_if_near([(far,)], group, state)
    pairs = list(combinations(axes, 2))
    rest = [sides for sides in product((0, 1, 2), repeat=len(axes)) if len(_far(sides)) > 1]
    state = search.look_if_near(pairs, rest, state)
    if len(places) > 1:
        again = [search.beyond(place, state[place]) for place in range(1, len(places))]
        state = (state[0], *_search_again(places[1:], again, state[1 : len(places)]), *state[len(places) :])
    return list(state[: len(places)]), state[len(places)] if indexed else None


def _search_again(places: Sequence[Cells], again: Sequence[Bool], ranks: Found) -> Found:
    """`ranks` of places, searched for one by one in the lanes that ask for it."""

    def body(index: Int32, *found: Float) -> Found:
        chosen = places[-1]
        for position, place in enumerate(places[:-1]):
            chosen = _select(index == position, place, chosen)
        (rank,), _ = closest([chosen])
        after = (
            dr.select((index == position) & wanted, rank, old)
            for position, (wanted, old) in enumerate(zip(again, found, strict=True))
        )
        return (index + 1, *after)

    start = dr.select(_any(again), Int32(0), Int32(len(places)))
    result: Found = dr.while_loop((start, *ranks), lambda index, *_: index < len(places), body)
    return result[1:]


def _any(flags: Sequence[Bool]) -> Bool:
    total = flags[0]
    for flag in flags[1:]:
        total = total | flag
    return total


def _select(condition: Bool, a: Cells, b: Cells) -> Cells:
    def pick(x: Sequence[Any], y: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(dr.select(condition, left, right) for left, right in zip(x, y, strict=True))

    return replace(b, cell=pick(a.cell, b.cell), below=pick(a.below, b.below), local=pick(a.local, b.local))


def _far(sides: Sequence[int]) -> tuple[int, ...]:
    return tuple(axis for axis, side in enumerate(sides) if side == 2)


class _Search:
    """The cells around the first place, by sides: for each axis 0 is the middle, 1 the nearer side, 2 the other."""

    def __init__(self, places: Sequence[Cells], *, indexed: bool) -> None:
        first = places[0]
        self.first, self.indexed = first, indexed
        self.rank = METRICS[first.metric][0]
        # The unit is a power of two: where it is multiplied in makes no difference.
        self.spread = first.randomness * PCG_UNIT
        self.locals = [
            [p + (b - c) for p, b, c in zip(place.local, place.below, first.below, strict=True)] for place in places
        ]
        self.locals[0] = list(first.local)
        above = [x >= 0.5 for x in first.local]
        near = [dr.select(up, Int32(1), Int32(-1)) for up in above]
        offsets = [(Int32(0), step, -step) for step in near]
        self.cells = [[cell + o for o in offset] for cell, offset in zip(first.cell, offsets, strict=True)]
        self.reach = [
            [[Float(o) - x for o in offset] for x, offset in zip(local, offsets, strict=True)] for local in self.locals
        ]
        self.codes = [[(o + 1) << (_BITS * axis) for o in offset] for axis, offset in enumerate(offsets)]
        # How far the border to the other side is on each axis, for each place.
        self.borders = [
            [dr.select(up, x, 1.0 - x) for up, x in zip(above, local, strict=True)] for local in self.locals
        ]

    def beyond(self, place: int, best: Float) -> Bool:
        """Whether a place outside the first one's cell may have a closer point in the layer that is not looked into."""
        found = Bool(False)
        for axis, x in enumerate(self.locals[place]):
            outside = (x < 0.0) | (x >= 1.0)
            gap = maximum(dr.select(x < 0.0, 1.0 + x, 2.0 - x), 0.0)
            layer = [gap if other == axis else Float(0.0) for other in range(len(self.locals[place]))]
            found = found | (outside & (self.rank(layer, self.first.exponent) * _MARGIN <= best))
        return found

    def look(self, group: Any, state: Found) -> Found:
        """Look into the cells of a group."""
        for sides in group:
            state = self._cell(sides, state)
        return state

    def look_if_near(self, borders: Sequence[tuple[int, ...]], group: Sequence[tuple[int, ...]], state: Found) -> Found:
        """The same, unless every lane has a closer point than any of the `borders`, each a set of axes to cross."""
        if not group:
            return state
        wanted = Bool(False)
        for best, place in zip(state, self.borders, strict=False):
            for axes in borders:
                crossed = [place[axis] if axis in axes else Float(0.0) for axis in range(len(place))]
                wanted = wanted | (self.rank(crossed, self.first.exponent) * _MARGIN <= best)
        found: Found = dr.if_stmt(state, wanted, lambda *s: self.look(group, s), lambda *s: s)
        return found

    def _cell(self, sides: Sequence[int], state: Found) -> Found:
        words = pcg(tuple(cell[side] for cell, side in zip(self.cells, sides, strict=True)))
        jitter = [Float(word) for word in words]
        ranks = [
            self.rank(
                [dr.fma(h, self.spread, axis[side]) for h, axis, side in zip(jitter, reach, sides, strict=True)],
                self.first.exponent,
            )
            for reach in self.reach
        ]
        if not self.indexed:
            return tuple(minimum(rank, best) for rank, best in zip(ranks, state, strict=True))
        code = sum((c[side] for c, side in zip(self.codes[1:], sides[1:], strict=True)), self.codes[0][sides[0]])
        closer = (ranks[0] < state[0]) | ((ranks[0] == state[0]) & (code < state[-1]))
        bests = [minimum(rank, best) for rank, best in zip(ranks, state[:-1], strict=True)]
        return (*bests, dr.select(closer, code, state[-1]))
