"""Small charts as inline SVG. Colours come from the page's style sheet, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple


class Point(NamedTuple):
    """One judged picture: the group it belongs to, its name, its value."""

    group: int
    name: str
    value: float


class _Frame(NamedTuple):
    width: float
    height: float
    left: float
    top: float
    low: float
    high: float
    steps: int

    def x(self, index: int) -> float:
        span = max(1, self.steps - 1)
        return self.left + (self.width - self.left - 12) * index / span

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.top + (self.height - self.top - 22) * (1 - share)


def reward_chart(points: Sequence[Point], width: int = 760, height: int = 220) -> str:
    """Every verdict as a dot, the best so far as a line, a rule where an attempt begins; empty without points."""
    if not points:
        return ""
    values = [point.value for point in points]
    frame = _Frame(width, height, 44, 12, min(0.0, *values), max(1.0, *values), len(points))
    parts = [_grid(frame), _attempt_rules(frame, points), _best_line(frame, values)]
    best = values.index(max(values))
    for index, point in enumerate(points):
        kind, radius = ("dot best", 5) if index == best else ("dot", 3.5)
        parts.append(
            f'<circle class="{kind}" cx="{frame.x(index):.1f}" cy="{frame.y(point.value):.1f}" r="{radius}">'
            f"<title>{escape(point.name)}: {point.value:.3f}</title></circle>"
        )
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Reward of every judged render; best {max(values):.3f}">{"".join(parts)}</svg>'
    )


def _grid(frame: _Frame) -> str:
    lines = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = frame.y(tick)
        lines.append(f'<line class="grid" x1="{frame.left}" x2="{frame.width - 8}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text class="tick" x="{frame.left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    return "".join(lines)


def _attempt_rules(frame: _Frame, points: Sequence[Point]) -> str:
    parts = []
    for index, point in enumerate(points):
        if index and points[index - 1].group == point.group:
            continue
        x = (frame.x(index - 1) + frame.x(index)) / 2 if index else frame.left
        if index:
            parts.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="{frame.top}" y2="{frame.height - 22}"/>')
        parts.append(f'<text class="tick" x="{x + 4:.1f}" y="{frame.height - 6}">attempt {point.group}</text>')
    return "".join(parts)


def _best_line(frame: _Frame, values: Sequence[float]) -> str:
    path: list[str] = []
    best = float("-inf")
    for index, value in enumerate(values):
        x = f"{frame.x(index):.1f}"
        if value > best:
            # A step, not a slope: between two verdicts nothing was known.
            path.append(
                f"{'M' if not path else 'L'}{x},{frame.y(best if path else value):.1f}L{x},{frame.y(value):.1f}"
            )
            best = value
        else:
            path.append(f"L{x},{frame.y(best):.1f}")
    return f'<path class="line" d="{"".join(path)}"/>'


def bar(value: float | None, threshold: float | None = None) -> str:
    """A value in [0, 1] as a bar, with a mark at the threshold; an empty track when there is no value."""
    track = '<rect class="track" width="100" height="8"/>'
    if value is None:
        return _bar("unscored", track)
    width = 100 * min(1.0, max(0.0, value))
    kind = "fill below" if threshold is not None and value < threshold else "fill"
    fill = f'<rect class="{kind}" width="{width:.1f}" height="8"/>'
    mark = "" if threshold is None else f'<rect class="mark" x="{100 * threshold:.1f}" y="-2" width="1" height="12"/>'
    return _bar(f"{value:.3f}", track + fill + mark)


def _bar(label: str, content: str) -> str:
    opening = '<svg class="bar" viewBox="0 -2 100 12" preserveAspectRatio="none" role="img"'
    return f'{opening} aria-label="{label}">{content}</svg>'
