"""Curves of the curve nodes: from control points to the table that Blender makes of them, on the host.

The steps are Blender's, since each leaves its mark: Bézier handles from the neighbouring points, 32 places on each
segment, 257 places at equal distances along x, and for shaders a second table of 257 between the outermost points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_api.model import CurveMapping
from renderer.preview.structure import CURVE_TABLE

Array = npt.NDArray[np.float64]
FloatArray = npt.NDArray[np.float32]
_STEPS, _TABLE = 32, 256
# Scales a tangent to the handle length that makes a circle of four segments.
_HANDLE = 2.5614
_FAR = 10000.0
_EPSILON = 1.1920929e-7


@dataclass(frozen=True)
class _Table:
    """One curve at 257 places from `low` to `high`, and the directions in which it goes on."""

    values: Array
    low: float
    high: float
    into: Array
    out: Array
    extend: bool

    def __call__(self, x: Array) -> Array:
        place = (x - self.low) * (_TABLE / (self.high - self.low))
        below = np.clip(place.astype(int), 0, _TABLE - 1)
        rest = np.clip(place - below, 0.0, 1.0)
        inside = (1.0 - rest) * self.values[below] + rest * self.values[below + 1]
        before = self._beyond(x, self.low, self.values[0], self.into, -1.0)
        after = self._beyond(x, self.high, self.values[-1], self.out, 1.0)
        return np.where(place < 0, before, np.where(place > _TABLE, after, inside))

    def _beyond(self, x: Array, end: float, value: float, direction: Array, side: float) -> Array:
        if not self.extend:
            return np.full_like(x, value)
        if direction[0] == 0:
            return np.full_like(x, value - side * direction[1] * _FAR)
        line: Array = value + direction[1] * (x - end) / direction[0]
        return line


def curve_rows(curve: CurveMapping, points: FloatArray) -> FloatArray:
    """Tables for control points (settings, 2 × points of all curves): (settings, curves × `CURVE_TABLE`).

    Each curve's table has its values, then the lower end, the span, and the slopes below and above the range. With
    four curves the first three go through the fourth (the combined curve of RGB Curves) before. Shaders do not apply
    the clipping rectangle to values, only to the range of x.
    """
    return np.stack([_rows(curve, row.astype(np.float64)) for row in points]).astype(np.float32)


def curve_slopes(curve: CurveMapping, points: FloatArray) -> Array:
    """Derivatives of `curve_rows` by the control points: (settings, 2 × points, rows).

    By central differences, in double precision: the table is made on the host, by an algorithm with branches.
    """
    found = []
    for row in points.astype(np.float64):
        moves = _SLOPE_STEP * np.eye(row.size)
        found.append([(_rows(curve, row + m) - _rows(curve, row - m)) / (2 * _SLOPE_STEP) for m in moves])
    return np.array(found)


_SLOPE_STEP = 1e-3


def _rows(curve: CurveMapping, flat: Array) -> Array:
    counts = [len(points) for points in curve.curves]
    pairs = np.split(flat.reshape(-1, 2), np.cumsum(counts)[:-1])
    handles = [[point.handle for point in points] for points in curve.curves]
    tables = [_tabulate(p, h, curve) for p, h in zip(pairs, handles, strict=True)]
    low = min(0.0 if len(pairs) == 0 else float(p[:, 0].min()) for p in pairs)
    high = max(float(p[:, 0].max()) for p in pairs)
    x = low + np.arange(_TABLE + 1) / _TABLE * (high - low)
    rows = []
    for index, table in enumerate(tables):
        through = tables[3](x) if len(tables) == 4 and index < 3 else x
        values = table(through)
        # Cycles takes the slopes from its table, which is in single precision.
        values = values.astype(np.float32).astype(np.float64)
        slope_below = (values[1] - values[0]) if curve.extend == "EXTRAPOLATED" else 0.0
        slope_above = (values[-1] - values[-2]) if curve.extend == "EXTRAPOLATED" else 0.0
        rows.append(np.concatenate([values, [low, high - low, slope_below, slope_above]]))
    assert all(len(row) == CURVE_TABLE for row in rows)
    return np.concatenate(rows)


def _tabulate(points: Array, handles: list[str], curve: CurveMapping) -> _Table:
    order = np.argsort(points[:, 0], kind="stable")
    points, handles = points[order], [handles[index] for index in order]
    left, right = _handles(points, handles)
    low = min(curve.clip[0], float(points[0, 0]))
    high = max(curve.clip[2], float(points[-1, 0]))
    dense = np.concatenate([_bezier(points[k], right[k], left[k + 1], points[k + 1]) for k in range(len(points) - 1)])
    extend = curve.extend == "EXTRAPOLATED"
    into, out = _unit(left[0] - points[0]), _unit(points[-1] - right[-1])
    x = low + np.arange(_TABLE + 1) * ((high - low) / _TABLE)
    ends = _Table(np.array([dense[0, 1], dense[-1, 1]]), 0.0, 1.0, into, out, extend)
    return _Table(_sample(dense, x, ends), low, high, into, out, extend)


def _sample(dense: Array, x: Array, ends: _Table) -> Array:
    """The dense curve at equal distances: linear between the points around each place."""
    after = np.searchsorted(dense[:, 0], x, side="right")
    last = len(dense) - 1
    inner = np.clip(after, 1, last)
    ahead, behind = dense[inner], dense[inner - 1]
    span = ahead[:, 0] - behind[:, 0]
    share = np.where(span > _EPSILON, (ahead[:, 0] - x) / np.where(span > _EPSILON, span, 1.0), 0.0)
    values = share * behind[:, 1] + (1.0 - share) * ahead[:, 1]
    before = ends._beyond(x, dense[0, 0], dense[0, 1], ends.into, -1.0)
    beyond = ends._beyond(x, dense[last, 0], dense[last, 1], ends.out, 1.0)
    values = np.where(after == 0, np.where(np.abs(x - dense[0, 0]) < 1e-6, dense[0, 1], before), values)
    end = np.where(np.abs(x - dense[last, 0]) < 1e-6, dense[last, 1], beyond)
    result: Array = np.where(after > last, end, values)
    return result


def _unit(v: Array) -> Array:
    size = float(np.hypot(v[0], v[1]))
    return v / size if size > 0 else v


def _handles(points: Array, kinds: list[str]) -> tuple[Array, Array]:
    """Left and right handle of every point."""
    left, right = points.copy(), points.copy()
    count = len(points)
    for k, (point, kind) in enumerate(zip(points, kinds, strict=True)):
        before = points[k - 1] if k > 0 else 2 * point - points[k + 1]
        after = points[k + 1] if k < count - 1 else 2 * point - before
        a, b = point - before, after - point
        if kind == "VECTOR":
            left[k], right[k] = point - a / 3, point + b / 3
            continue
        len_a, len_b = (float(np.hypot(*v)) or 1.0 for v in (a, b))
        tangent = b / len_b + a / len_a
        size = float(np.hypot(*tangent)) * _HANDLE
        if size == 0:
            continue
        left[k], right[k] = point - tangent * (len_a / size), point + tangent * (len_b / size)
        if kind == "AUTO_CLAMPED" and 0 < k < count - 1:
            _clamp(k, points, left, right)
    if count > 2:
        if kinds[0] == "AUTO":
            right[0], left[0] = _aim(points[0], right[0], np.array([max(left[1, 0], points[0, 0]), left[1, 1]]))
        if kinds[-1] == "AUTO":
            target = np.array([min(right[-2, 0], points[-1, 0]), right[-2, 1]])
            left[-1], right[-1] = _aim(points[-1], left[-1], target)
    return left, right


def _aim(point: Array, handle: Array, target: Array) -> tuple[Array, Array]:
    """An end's handle turned to the neighbour's, and its opposite."""
    reach, toward = float(np.hypot(*(handle - point))), target - point
    size = float(np.hypot(*toward))
    if size <= _EPSILON:
        return handle, 2 * point - handle
    step = toward * (reach / size)
    return point + step, point - step


def _clamp(k: int, points: Array, left: Array, right: Array) -> None:
    """No handle beyond its neighbours' heights; level at a peak or a valley."""
    rise_before, rise_after = points[k - 1, 1] - points[k, 1], points[k + 1, 1] - points[k, 1]
    if (rise_before <= 0 and rise_after <= 0) or (rise_before >= 0 and rise_after >= 0):
        left[k, 1] = right[k, 1] = points[k, 1]
        return
    for side, other, rise in ((left, points[k - 1], rise_before), (right, points[k + 1], rise_after)):
        past = other[1] > side[k, 1] if rise <= 0 else other[1] < side[k, 1]
        if past:
            side[k, 1] = other[1]


def _bezier(start: Array, out: Array, into: Array, end: Array) -> Array:
    """One segment at 32 places, handles cut so that x never turns back."""
    first, second = np.abs(start - out), np.abs(end - into)
    span = end[0] - start[0]
    total = first[0] + second[0]
    if total != 0 and total > span:
        scale = span / total
        out = start + (out - start) * scale
        into = end + (into - end) * scale
    t = np.linspace(0.0, 1.0, _STEPS)[:, None]
    s = 1.0 - t
    result: Array = s**3 * start + 3 * s * s * t * out + 3 * s * t * t * into + t**3 * end
    return result
