"""What a calibration is worth on materials that it has not seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from material_agent.calibrate.fit import (
    Array,
    Data,
    above,
    family_folds,
    fit_size,
    judged_by,
    logistic,
)

CONFIDENCE = 0.95
BASE_RATES = (0.5, 0.9)
"""Shares of wrong ones among the candidates that are put to the decision, for P(wrong | pass)."""
SHARES_RIDGE = 2e-3
"""Ridge of the weights of the two terms, which two numbers hardly feel."""
_TIE = 1e-6


@dataclass(frozen=True)
class Judged:
    """Rows with the values of the two terms and the decision, made by fits that have not seen their material."""

    data: Data
    structure: Array
    appearance: Array
    passed: npt.NDArray[np.bool_]


def upper_limit(count: int, total: int, confidence: float = CONFIDENCE) -> float:
    """One-sided upper limit of a share by Clopper and Pearson (Biometrika 1934); 1 without any trial."""
    if count >= total:
        return 1.0
    return float(stats.beta.ppf(confidence, count + 1, total - count))


def lower_limit(count: int, total: int, confidence: float = CONFIDENCE) -> float:
    """One-sided lower limit of a share by Clopper and Pearson; 0 without any trial."""
    return 0.0 if count <= 0 else float(stats.beta.ppf(1 - confidence, count, total - count + 1))


def held_out(data: Data, folds: int, allowed: float) -> Judged:
    """Judge every row by a fit on the other folds; a fold holds whole families, so no texture is on both sides."""
    fold_of = family_folds(data, folds)
    structure, appearance = np.full(len(fold_of), math.nan), np.full(len(fold_of), math.nan)
    passed = np.zeros(len(fold_of), dtype=bool)
    for fold in np.unique(fold_of):
        mask = fold_of == fold
        fit = fit_size(data.chosen(~mask), allowed)
        values = judged_by(data.chosen(mask), fit.components)
        structure[mask], appearance[mask] = values["structure"], values["appearance"]
        passed[mask] = above(values, fit.thresholds)
    return Judged(data, structure, appearance, passed)


def term_shares(data: Data, structure: Array, appearance: Array, left: float, least: float) -> dict[str, float]:
    """Weights λ of structure and appearance: logistic, in proportion, sharing `left`, each at least `least` of it."""
    used = (data.right | data.wrong) & ~np.isnan(structure) & ~np.isnan(appearance)
    losses = 1 - np.stack([structure, appearance], axis=1)[used]
    weights = data.balanced[used]
    raw = logistic(losses, data.wrong[used], weights / weights.sum(), SHARES_RIDGE)
    share = float(np.clip(raw[0] / raw.sum(), least, 1 - least))
    return {"structure": left * share, "appearance": left * (1 - share)}


def decision(judged: Judged) -> dict[str, Any]:
    """Rates of the decision with their limits, and by kind.

    Wrong candidates are all the hard ones and as many of the others, evenly chosen; `by_kind` counts every one.
    """
    data, passed = judged.data, judged.passed
    right, hard = data.right, data.hard & data.wrong
    wrong = hard | _evenly(data.wrong & ~hard, int(hard.sum()))
    counts = {"wrong": wrong, "hard": hard, "right": right}
    found: dict[str, Any] = {f"{name}_{what}": int(v) for name, m in counts.items() for what, v in _count(passed, m)}
    false_pass = found["wrong_passed"] / max(found["wrong_count"], 1)
    true_pass = found["right_passed"] / max(found["right_count"], 1)
    found |= {
        "pass_given_wrong": false_pass,
        "pass_given_wrong_upper95": upper_limit(found["wrong_passed"], found["wrong_count"]),
        "pass_given_hard": found["hard_passed"] / max(found["hard_count"], 1),
        "pass_given_hard_upper95": upper_limit(found["hard_passed"], found["hard_count"]),
        "fail_given_right": 1 - true_pass,
        "fail_given_right_upper95": 1 - lower_limit(found["right_passed"], found["right_count"]),
        "materials": len({row.material for row in data.rows}),
    }
    for rate in BASE_RATES:
        passing = rate * false_pass + (1 - rate) * true_pass
        found[f"wrong_given_pass_at_{rate:g}"] = rate * false_pass / passing if passing else math.nan
    found["by_kind"] = {
        f"{label}:{kind}": {"count": int(mask.sum()), "passed": int(passed[mask].sum())}
        for label, kind in sorted({(row.label, row.kind) for row in data.rows if row.label != "graded"})
        for mask in [np.array([row.label == label and row.kind == kind for row in data.rows])]
    }
    return found


def _evenly(mask: npt.NDArray[np.bool_], most: int) -> npt.NDArray[np.bool_]:
    """At most so many of the chosen rows, spread over all of them."""
    rows = np.flatnonzero(mask)
    kept = np.zeros(len(mask), dtype=bool)
    if len(rows):
        kept[rows[np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int))]] = True
    return kept


def _count(passed: npt.NDArray[np.bool_], mask: npt.NDArray[np.bool_]) -> Iterator[tuple[str, int]]:
    yield "count", int(mask.sum())
    yield "passed", int((passed & mask).sum())


def order(judged: Judged, shares: Mapping[str, float]) -> dict[str, Any]:
    """Share of pairs in a series of damage in which the more severe one scores lower; ties count half."""
    score = shares["structure"] * judged.structure + shares["appearance"] * judged.appearance
    chains: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row, value in zip(judged.data.rows, score, strict=True):
        if row.chain and not math.isnan(value):
            chains.setdefault((row.chain, row.material), []).append((row.severity, float(value)))
    by_chain: dict[str, list[float]] = {}
    for (chain, _), members in chains.items():
        by_chain.setdefault(chain, []).extend(_agreements(members))
    every = [value for values in by_chain.values() for value in values]
    return {
        "pairs": len(every),
        "agreement": float(np.mean(every)) if every else None,
        "by_chain": {k: {"pairs": len(v), "agreement": float(np.mean(v))} for k, v in sorted(by_chain.items()) if v},
    }


def _agreements(members: Sequence[tuple[int, float]]) -> Iterator[float]:
    for (one, high), (other, low) in itertools.combinations(sorted(members), 2):
        if one != other:
            yield 0.5 if abs(high - low) < _TIE else float(high > low)
