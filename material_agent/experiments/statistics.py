"""Paired comparisons that count references, not runs: runs on one reference are no independent evidence.

Differences are averaged within a reference; the references are what is resampled and whose signs are flipped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """What a paired comparison came to.

    `difference`: mean over references. `low`, `high`: BCa bootstrap interval at 1 − alpha. `effect`: Hedges' g of the
    paired differences (0 without spread). `p`: two-sided sign-flip test over references. `better`, `same`, `worse`:
    pairs of runs. `references`, `pairs`: how many; `missing`: pairs that a side could not say.
    """

    difference: float
    low: float
    high: float
    effect: float
    p: float
    better: int
    same: int
    worse: int
    references: int
    pairs: int
    missing: int


def compare(
    pairs: Mapping[str, Sequence[float | None]], *, alpha: float, resamples: int, seed: int
) -> Comparison | None:
    """Compare by the differences of each reference's pairs (None: missing); None where no pair is left.

    The bootstrap is Efron's BCa over references (scipy), the test the exact one where the references are few enough.
    """
    kept = {name: [d for d in found if d is not None] for name, found in pairs.items()}
    missing = sum(len(found) for found in pairs.values()) - sum(len(found) for found in kept.values())
    means = np.array([np.mean(found) for found in kept.values() if found])
    if not len(means):
        return None
    flat = np.array([d for found in kept.values() for d in found])
    low, high = interval(means, alpha=alpha, resamples=resamples, seed=seed)
    return Comparison(
        difference=float(means.mean()),
        low=low,
        high=high,
        effect=_hedges(means),
        p=sign_flip(means, resamples=resamples, seed=seed),
        better=int((flat > 0).sum()),
        same=int((flat == 0).sum()),
        worse=int((flat < 0).sum()),
        references=len(means),
        pairs=len(flat),
        missing=missing,
    )


def interval(values: Values, *, alpha: float, resamples: int, seed: int) -> tuple[float, float]:
    """Bootstrap interval of the mean; the mean itself where nothing varies."""
    if len(values) < 2 or np.ptp(values) < 1e-12:
        return float(values.mean()), float(values.mean())
    found = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=1 - alpha,
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(seed),
    )
    low, high = float(found.confidence_interval.low), float(found.confidence_interval.high)
    return (low, high) if math.isfinite(low + high) else (float(values.min()), float(values.max()))


def sign_flip(values: Values, *, resamples: int, seed: int) -> float:
    """Two-sided p of the mean under exchangeable signs; 1 where all differences are 0."""
    if np.abs(values).max() < 1e-12:
        return 1.0
    if len(values) < 2:
        return 1.0
    found = stats.permutation_test(
        (values,),
        np.mean,
        permutation_type="samples",
        n_resamples=max(resamples, 2**12),
        alternative="two-sided",
        rng=np.random.default_rng(seed),
    )
    return min(float(np.asarray(found.pvalue)), 1.0)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given (Scandinavian Journal of Statistics 1979)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for rank, index in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = worst
    return adjusted


def _hedges(values: Values) -> float:
    """Mean over standard deviation of paired differences, corrected for few references (Hedges 1981)."""
    count = len(values)
    spread = float(values.std(ddof=1)) if count > 1 else 0.0
    if spread < 1e-12:
        return 0.0
    return float(values.mean() / spread * (1 - 3 / (4 * (count - 1) - 1)))
