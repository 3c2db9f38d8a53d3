"""What structure and appearance have in common: a weighted mean of component values, with its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from evaluators.comparison import Comparison
from evaluators.components import BY_NAME
from evaluators.gaps import gaps_of
from evaluators.result import UNSCORED, TermName, TermResult


def weighted_term(
    name: TermName, comparison: Comparison, components: Iterable[str], uses: tuple[str, ...]
) -> TermResult:
    """Average the scored components' values by calibrated weight; unscored components drop out."""
    scored = {
        key: comparison.values[key]
        for key in components
        if not np.isnan(comparison.values[key]) and comparison.weight(key) > 0
    }
    if not scored:
        return TermResult(name, UNSCORED, reason="no component of this term has a calibration and a value")
    return TermResult(
        name=name,
        value=_mean(scored, comparison),
        by_scale=_grouped(scored, comparison, "scale"),
        by_channel=_grouped(scored, comparison, "channel"),
        numbers={
            **{f"value_{key}": value for key, value in scored.items()},
            **{f"distance_{key}": comparison.distances[key] for key in scored},
        },
        gaps=tuple(gap for key in scored for gap in gaps_of(key, comparison, name)),
        uses=uses,
    )


def _mean(values: Mapping[str, float], comparison: Comparison) -> float:
    total = sum(comparison.weight(key) for key in values)
    return float(sum(comparison.weight(key) * value for key, value in values.items()) / total)


def _grouped(values: Mapping[str, float], comparison: Comparison, attribute: str) -> dict[str, float]:
    groups: dict[str, dict[str, float]] = {}
    for key, value in values.items():
        groups.setdefault(getattr(BY_NAME[key], attribute), {})[key] = value
    return {group: _mean(members, comparison) for group, members in groups.items()}
