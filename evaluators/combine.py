"""The reward and the decision, from the terms."""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.diagnose import rank_gaps
from evaluators.result import Evaluation, TermResult

_COMPARED = ("structure", "appearance")
ALIEN = 0.1
"""Colours, or a lattice, of no more than this value are as far as those of another material: whatever the thresholds,
that is no success. A search that drives the mean up gives one component away for all others
(`benchmarks/adversarial.py`)."""
_NEVER_ALIEN = ("palette", "lattice")


def combine(
    terms: Mapping[str, TermResult], weights: Mapping[str, float], thresholds: Mapping[str, float]
) -> Evaluation:
    """R = Σ λ·term − λb·budget over the scored terms, and whether the candidate passes.

    Positive weights renormalise over the scored terms; R is 0 when the compile term is 0. Success: compiled, compared
    with the reference, and every scored positive term above its threshold. A threshold that bears the name of a
    component ("palette") is what this component's own value must be above where it is scored: a wrong colour or a wrong
    lattice is not made up for by all that is right; that of colours and lattice is at least `ALIEN`. Budget takes no
    part in the decision.
    """
    gains = {name: term for name, term in terms.items() if term.higher_is_better and term.scored}
    costs = {name: term for name, term in terms.items() if not term.higher_is_better and term.scored}
    total = sum(weights.get(name, 0.0) for name in gains)
    compiled = "compile" in gains and gains["compile"].value > 0
    reward = 0.0
    if compiled and total > 0:
        reward = sum(weights.get(name, 0.0) * term.value for name, term in gains.items()) / total
        reward -= sum(weights.get(name, 0.0) * term.value for name, term in costs.items())
    failures = _failures(gains, terms, thresholds)
    return Evaluation(
        reward=float(reward),
        terms=dict(terms),
        success=not failures,
        failures=failures,
        gaps=rank_gaps(terms, weights),
        thresholds=dict(thresholds),
        weights=dict(weights),
    )


def _failures(
    gains: Mapping[str, TermResult], terms: Mapping[str, TermResult], thresholds: Mapping[str, float]
) -> tuple[str, ...]:
    failures = []
    if "compile" not in gains or gains["compile"].value <= 0:
        reason = terms["compile"].reason if "compile" in terms else "not judged"
        failures.append(f"compile: {reason}")
    if not any(name in gains for name in _COMPARED):
        failures.append("nothing was compared with the reference: neither structure nor appearance is scored")
    failures.extend(
        f"{name}: {term.value:.3f} is not above {thresholds[name]:.3f}"
        for name, term in gains.items()
        if name != "compile" and name in thresholds and term.value <= thresholds[name]
    )
    leasts = {k: v for k, v in thresholds.items() if k not in terms}
    leasts |= {name: max(ALIEN, thresholds.get(name, ALIEN)) for name in _NEVER_ALIEN}
    failures.extend(
        f"{name}: {component}: {term.numbers[f'value_{component}']:.3f} is not above {least:.3f}"
        for name, term in gains.items()
        for component, least in leasts.items()
        if term.numbers.get(f"value_{component}", least + 1) <= least
    )
    return tuple(failures)
