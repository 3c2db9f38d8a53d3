"""The plots of a report: learning curves, interactions, cost against quality, and the tests with their intervals."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from material_agent.errors import MissingExtra
from material_agent.experiments.contrasts import Answer, Scores, interactions
from material_agent.experiments.plan import Arm, Plan

COLORS = ("#3b6ea5", "#c0562f", "#4f8f4f", "#8a5aa8", "#b08a1e", "#5f6b76", "#c24f7f", "#2f8f8f")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DPI = 110


def learning_curves(plan: Plan, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Best reward so far and share of successes by attempt, a line for each arm, as PNG."""
    figure, (left, right) = _figure(1, 2, (9.5, 3.6))
    for style, arm in _styled(plan):
        own = [row for row in rows if row["arm"] == arm.id]
        numbers = sorted({row["attempt"] for row in own})
        for axis, name in ((left, "selected_reward"), (right, "cum_success")):
            means = [np.mean([float(row[name]) for row in own if row["attempt"] == number]) for number in numbers]
            axis.plot(numbers, means, label=arm.id, **style)
    for axis, title in ((left, "best reward so far"), (right, "share of units with a success")):
        axis.set_xlabel("attempt")
        axis.set_title(title, fontsize=9)
        axis.set_xticks(range(1, plan.attempts + 1))
    right.set_ylim(-0.03, 1.03)
    return _png(figure, right)


def cost_against_quality(plan: Plan, scores: Scores) -> bytes:
    """Mean renders of a unit and its best reward, a point for each arm, as PNG."""
    figure, (axis,) = _figure(1, 1, (6.2, 3.8))
    for style, arm in _styled(plan):
        values = list(scores.get(arm.id, {}).values())
        cost = np.mean([value["renders"] or 0.0 for value in values]) if values else 0.0
        gained = np.mean([value["reward"] or 0.0 for value in values]) if values else 0.0
        axis.plot([cost], [gained], label=arm.id, **{**style, "linestyle": "none"})
    axis.set_xlabel("renders of the actor in a unit")
    axis.set_ylabel("best reward")
    return _png(figure, axis)


def interaction_plots(plan: Plan, scores: Scores, measure: str) -> bytes | None:
    """Means of `measure` over the levels of each pair of factors, as PNG; None without two factors."""
    pairs = interactions(plan)
    if not pairs:
        return None
    figure, axes = _figure(1, len(pairs), (3.3 * len(pairs), 3.1))
    for axis, (first, second) in zip(axes, pairs, strict=True):
        names = list(plan.file.factors[first])
        for k, level in enumerate(plan.file.factors[second]):
            means = [_mean_over(plan, scores, measure, {first: name, second: level}) for name in names]
            axis.plot(names, means, label=f"{second}: {level}", color=COLORS[k], marker=MARKS[k])
        axis.set_title(f"{first} × {second}", fontsize=9)
        axis.legend(fontsize=7, frameon=False)
    axes[0].set_ylabel(measure)
    return _png(figure, None)


def forest(answers: Sequence[Answer], alpha: float) -> bytes | None:
    """Each test's difference with its interval, primary ones above, as PNG; None without tests."""
    shown = [answer for answer in answers if answer.found is not None]
    if not shown:
        return None
    shown = sorted(shown, key=lambda answer: not answer.test.primary)
    figure, (axis,) = _figure(1, 1, (8.2, 0.8 + 0.34 * len(shown)))
    for place, answer in enumerate(reversed(shown)):
        found = answer.found
        assert found is not None, "left out above"
        sure = answer.p_adjusted <= alpha
        color = COLORS[1] if sure else COLORS[5]
        axis.plot([found.low, found.high], [place, place], color=color, linewidth=2.2)
        axis.plot([found.difference], [place], marker="o" if answer.test.primary else "s", color=color)
    names = [f"{answer.test.id}: {answer.test.measure}" for answer in reversed(shown)]
    axis.set_yticks(range(len(shown)), names, fontsize=7)
    axis.axvline(0, color="#999999", linewidth=0.8)
    axis.set_xlabel("difference with interval; coloured where it counts after correction", fontsize=8)
    return _png(figure, None)


def _mean_over(plan: Plan, scores: Scores, measure: str, levels: Mapping[str, str]) -> float:
    by_reference: dict[str, list[float]] = defaultdict(list)
    for arm in plan.arms:
        if all(arm.levels.get(name) == level for name, level in levels.items()):
            for (reference, _), values in scores.get(arm.id, {}).items():
                if (value := values[measure]) is not None:
                    by_reference[reference].append(value)
    return float(np.mean([np.mean(found) for found in by_reference.values()])) if by_reference else float("nan")


def _styled(plan: Plan) -> list[tuple[dict[str, Any], Arm]]:
    count = len(COLORS)
    return [
        (
            {
                "color": COLORS[k % count],
                "marker": MARKS[k % count],
                "linestyle": "-" if k % 2 else "--",
                "markersize": 5,
            },
            arm,
        )
        for k, arm in enumerate(plan.arms)
    ]


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional extra, and slow to load
    except ImportError as error:
        raise MissingExtra("experiments", "the plots of a report") from error
    figure = Figure(figsize=size, layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel().tolist()
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    return figure, axes


def _png(figure: Any, legend: Any) -> bytes:
    if legend is not None:
        legend.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    buffer = io.BytesIO()
    # Without the library's version in the file the same numbers give the same bytes.
    figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    return buffer.getvalue()
