"""From the table to the answers of a plan's tests."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from material_agent.experiments.outcomes import OUTCOMES, outcomes_of
from material_agent.experiments.plan import Arm, Plan, Statistics, Test
from material_agent.experiments.statistics import Comparison, compare, holm, interval

Place = tuple[str, int]
"""A reference and a seed: what a pair has in common."""
Scores = Mapping[str, Mapping[Place, Mapping[str, float | None]]]
"""Arm → reference and seed → measure → value."""


@dataclass(frozen=True)
class Answer:
    """One test with what it came to; `p_adjusted` by Holm within its family."""

    test: Test
    found: Comparison | None
    p_adjusted: float

    def verdict(self, alpha: float) -> str:
        """In words: "higher", "lower", "no difference found", or "cannot be said" where nothing was comparable."""
        if self.found is None:
            return "cannot be said"
        if self.p_adjusted > alpha:
            return "no difference found"
        return "higher" if self.found.difference > 0 else "lower"


def scores_of(rows: Sequence[Mapping[str, Any]]) -> Scores:
    """The outcomes of every unit."""
    units: dict[tuple[str, Place], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        units[row["arm"], (row["reference"], row["seed"])].append(row)
    scores: dict[str, dict[Place, Mapping[str, float | None]]] = defaultdict(dict)
    for (arm, place), found in units.items():
        scores[arm][place] = outcomes_of(found)
    return scores


def answers_of(plan: Plan, scores: Scores) -> list[Answer]:
    """Every test of the plan, those of a family adjusted together."""
    statistics, tests = plan.file.statistics, plan.file.tests
    found = [_answer(plan, test, scores, statistics) for test in tests]
    adjusted = [1.0] * len(tests)
    for primary in (True, False):
        family = [k for k, test in enumerate(tests) if test.primary is primary and found[k] is not None]
        p_values = [comparison.p for k in family if (comparison := found[k]) is not None]
        for k, value in zip(family, holm(p_values), strict=True):
            adjusted[k] = value
    return [Answer(test, one, p) for test, one, p in zip(tests, found, adjusted, strict=True)]


def arm_summary(plan: Plan, scores: Scores, measures: Sequence[str]) -> list[dict[str, Any]]:
    """Mean and bootstrap interval over references of each measure, by arm."""
    statistics = plan.file.statistics
    table = []
    for arm in plan.arms:
        row: dict[str, Any] = {"arm": arm.id, "label": arm.label, "units": len(scores.get(arm.id, {}))}
        for name in measures:
            row[name] = _mean(scores.get(arm.id, {}), name, statistics, plan.file.seed)
        table.append(row)
    return table


def pooled(rows: Sequence[Mapping[str, Any]], arms: Sequence[Arm]) -> dict[str, dict[str, float | None]]:
    """Ratios of sums by arm.

    `renders_per_success`: renders of all units over successes; `false_share`: of the accepted attempts, those that the
    oracle does not accept. None where there is nothing to divide by.
    """
    found: dict[str, dict[str, float | None]] = {}
    for arm in arms:
        own = [row for row in rows if row["arm"] == arm.id]
        accepted = [row for row in own if row["accepted"] and row["truth_accepted"] is not None]
        successes = sum(row["accepted"] for row in own)
        found[arm.id] = {
            "renders_per_success": sum(row["renders"] for row in own) / successes if successes else None,
            "false_share": sum(not row["truth_accepted"] for row in accepted) / len(accepted) if accepted else None,
        }
    return found


def by_reference(scores: Scores, measure: str) -> dict[str, dict[str, float]]:
    """Mean of `measure` over seeds, by reference and arm."""
    table: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for arm, places in scores.items():
        for (reference, _), values in places.items():
            if (value := values[measure]) is not None:
                table[reference][arm].append(value)
    return {name: {arm: sum(v) / len(v) for arm, v in arms.items()} for name, arms in sorted(table.items())}


def _mean(
    places: Mapping[Place, Mapping[str, float | None]], name: str, statistics: Statistics, seed: int
) -> dict[str, float] | None:
    import numpy as np  # noqa: PLC0415 - with the statistics only

    by_reference: dict[str, list[float]] = defaultdict(list)
    for (reference, _), values in places.items():
        if (value := values[name]) is not None:
            by_reference[reference].append(value)
    if not by_reference:
        return None
    means = np.array([np.mean(found) for found in by_reference.values()])
    low, high = interval(means, alpha=statistics.alpha, resamples=statistics.resamples, seed=seed)
    return {"mean": float(means.mean()), "low": low, "high": high}


def _answer(plan: Plan, test: Test, scores: Scores, statistics: Statistics) -> Comparison | None:
    assert test.measure in OUTCOMES, "checked when the plan was read"
    pairs: dict[str, list[float | None]] = defaultdict(list)
    for signs in _combinations(plan, test):
        places = sorted(set.intersection(*(set(scores.get(arm, {})) for arm in signs)))
        for place in places:
            values = [(sign, scores[arm][place][test.measure]) for arm, sign in signs.items()]
            known = [sign * value for sign, value in values if value is not None]
            pairs[place[0]].append(sum(known) if len(known) == len(values) else None)
    return compare(pairs, alpha=statistics.alpha, resamples=statistics.resamples, seed=plan.file.seed)


def _combinations(plan: Plan, test: Test) -> list[dict[str, int]]:
    """Arms with their signs, one set for each combination of the other factors' levels."""
    factor = test.factor or "arm"
    groups: dict[tuple[tuple[str, str], ...], dict[str, int]] = defaultdict(dict)
    for arm in plan.arms:
        if any(arm.levels.get(name) != level for name, level in test.within.items()):
            continue
        sign = _sign(plan, arm, test, factor)
        if sign:
            rest = [item for item in arm.levels.items() if item[0] not in (factor, test.moderator, "actor")]
            groups[("group", arm.group), *rest][arm.id] = sign
    wanted = 4 if test.moderator else 2
    return [signs for signs in groups.values() if len(signs) == wanted]


def _sign(plan: Plan, arm: Arm, test: Test, factor: str) -> int:
    side = {test.to: 1, test.versus: -1}.get(arm.levels.get(factor, ""), 0)
    if not test.moderator:
        return side
    levels = list(plan.file.factors[test.moderator])
    return side * (1 if arm.levels[test.moderator] == levels[1] else -1)


def interactions(plan: Plan) -> list[tuple[str, str]]:
    """Pairs of factors of two levels each, for the plots."""
    two = [name for name, levels in plan.file.factors.items() if len(levels) == 2]
    return list(itertools.combinations(two, 2))
