"""Normalisations, weights and thresholds from a table of distances, at one side of comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize

from evaluators.components import BY_NAME
from evaluators.terms.appearance import FALLBACK
from material_agent.calibrate.table import Row, Table

Array = npt.NDArray[np.float64]
TERMS: dict[str, tuple[str, ...]] = {
    "structure": tuple(c.name for c in BY_NAME.values() if c.term == "structure"),
    "appearance": tuple(c.name for c in BY_NAME.values() if c.term == "appearance"),
    "appearance_without_network": FALLBACK,
}
COLOUR_ONLY = ("tint", "washed")
"""Damage that a judgement of layout must not be asked to see."""
KNEE = 0.1
_FLOOR = 0.1
"""Quantile of right candidates' distances that is worth 1. A floor that follows the reference's own quarters was tried:
they differ by more than two samples of the whole, so that near misses of cells and plaster reached 1 as well."""
_LEAST = 0.25
"""Least weight of a component in the logistic fit: what it shows is still told, and no fold forgets it."""
_RIDGE = 2e-3


@dataclass(frozen=True)
class Data:
    """Rows of one size as arrays: `distances` and `own` (N, C) in the order of `BY_NAME`."""

    rows: Sequence[Row]
    distances: Array
    own: Array

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """Which rows are right candidates."""
        return np.array([row.label == "right" for row in self.rows])

    @property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """Which rows are wrong ones."""
        return np.array([row.label == "wrong" for row in self.rows])

    @property
    def hard(self) -> npt.NDArray[np.bool_]:
        """Which rows are wrong ones that are near."""
        return np.array([row.hard for row in self.rows])

    def kinds(self, *names: str) -> npt.NDArray[np.bool_]:
        """Which rows are of these kinds."""
        return np.array([row.kind in names for row in self.rows])

    def chosen(self, mask: npt.NDArray[np.bool_]) -> Data:
        """Only some of the rows."""
        rows = [row for row, keep in zip(self.rows, mask, strict=True) if keep]
        return Data(rows, self.distances[mask], self.own[mask])


def data_at(table: Table, size: int) -> Data:
    """Rows of the table at one size."""
    rows = [row for row in table.rows if row.size == size]
    names = list(BY_NAME)
    distances = np.array([[row.distances.get(n, math.nan) for n in names] for row in rows])
    own = np.array([[table.own[row.material, size].get(n, math.nan) for n in names] for row in rows])
    return Data(rows, distances, own)


def balanced(data: Data) -> Array:
    """Weights that give each material the same say, right and wrong half of it each, hard ones half of the wrong."""
    weights = np.zeros(len(data.rows))
    groups: dict[tuple[str, str, bool], list[int]] = {}
    for index, row in enumerate(data.rows):
        if row.label != "graded":
            groups.setdefault((row.material, row.label, row.hard), []).append(index)
    for (_, label, _), members in groups.items():
        weights[members] = (1.0 if label == "right" else 0.5) / len(members)
    return np.asarray(weights / max(float(weights.sum()), 1e-12))


@dataclass(frozen=True)
class SizeFit:
    """What is fitted at one size: normalisations and thresholds, as the weights file has them."""

    components: Mapping[str, Mapping[str, float]]
    thresholds: Mapping[str, float]


def fit_size(data: Data, allowed: float) -> SizeFit:
    """Fit everything on these rows; `allowed` is the share of wrong materials that may pass on them."""
    components = normalisations(data)
    values = component_values(data, components)
    for term, names in (("structure", TERMS["structure"]), ("appearance", TERMS["appearance"])):
        learnt = component_weights(data, values, names, without=COLOUR_ONLY if term == "structure" else ())
        components |= {name: components[name] | {"weight": weight} for name, weight in learnt.items()}
    judged = term_values(values, components)
    thresholds = fit_thresholds(data, judged["structure"], judged["appearance"], allowed)
    return SizeFit(
        components, thresholds | {"appearance_without_network": _fallback(data, judged, thresholds, allowed)}
    )


def normalisations(data: Data) -> dict[str, dict[str, float]]:
    """The floor is a low quantile of the distances of right candidates, the ceiling the median of other materials'."""
    found = {}
    other = data.kinds("other")
    for column, name in enumerate(BY_NAME):
        within, between = (data.distances[mask, column] for mask in (data.right, other))
        within, between = within[~np.isnan(within)], between[~np.isnan(between)]
        if len(within) < 8 or len(between) < 8:
            continue
        floor, ceiling = float(np.quantile(within, _FLOOR)), float(np.median(between))
        if ceiling > float(np.median(within)):
            found[name] = {"floor_low": floor, "floor_high": floor, "ceiling": ceiling, "weight": 0.0}
    return found


def component_values(data: Data, components: Mapping[str, Mapping[str, float]]) -> Array:
    """`components.value_of` for every row and component: (N, C), NaN where unscored."""
    values = np.full(data.distances.shape, math.nan)
    for column, name in enumerate(BY_NAME):
        if name not in components:
            continue
        rule = components[name]
        own = data.own[:, column]
        middle = (rule["floor_low"] + rule["floor_high"]) / 2
        floor = np.where(np.isnan(own), middle, np.clip(own, rule["floor_low"], rule["floor_high"]))
        closed = 1 - (data.distances[:, column] - floor) / np.maximum(rule["ceiling"] - floor, 1e-9)
        far = KNEE * np.exp((np.minimum(closed, KNEE) - KNEE) / KNEE)
        values[:, column] = np.where(closed >= KNEE, np.minimum(closed, 1.0), far)
    return values


def component_weights(data: Data, values: Array, names: Sequence[str], without: Sequence[str]) -> dict[str, float]:
    """Non-negative logistic weights that tell right from wrong, the largest scaled to 1.

    A loss is 1 − value; an unscored one takes the mean of the row's scored ones, as dropping out does.
    """
    known = [name for name in names if not np.isnan(values[:, _column(name)]).all()]
    used = (data.right | data.wrong) & ~data.kinds(*without)
    losses = 1 - values[used][:, [_column(name) for name in known]]
    filled = np.where(np.isnan(losses), np.nanmean(losses, axis=1, keepdims=True), losses)
    weights = balanced(data)[used]
    raw = logistic(filled, data.wrong[used], weights / weights.sum())
    # What is rarely scored (grain, which only large pictures show) must not outweigh what always is.
    rare = np.isnan(losses).mean(axis=0) > 0.5
    raw = np.where(rare, np.minimum(raw, np.median(raw)), raw)
    return {name: float(w) for name, w in zip(known, raw / raw.max(), strict=True)}


def logistic(losses: Array, wrong: npt.NDArray[np.bool_], weights: Array) -> Array:
    """Weights (C,), each at least `_LEAST`, of a ridge-regularised logistic regression with non-negative weights."""
    signs = np.where(wrong, 1.0, -1.0)
    count = losses.shape[1]

    def cost(parameters: Array) -> tuple[float, Array]:
        w, bias = parameters[:-1], parameters[-1]
        margin = signs * (losses @ w - bias)
        slack = np.logaddexp(0, -margin)
        pull = -signs * weights / (1 + np.exp(np.clip(margin, -50, 50)))
        spread = w - w.mean()
        gradient = np.append(losses.T @ pull + 2 * _RIDGE * spread, -pull.sum())
        return float(weights @ slack + _RIDGE * spread @ spread), gradient

    start = np.append(np.full(count, 3.0), 1.0)
    bounds = [(_LEAST, None)] * count + [(None, None)]
    found = optimize.minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x[:-1])


def term_values(values: Array, components: Mapping[str, Mapping[str, float]]) -> dict[str, Array]:
    """Each term's value by row: the weighted mean over its scored components."""
    found = {}
    for term, names in TERMS.items():
        columns = [_column(name) for name in names if components.get(name, {}).get("weight", 0.0) > 0]
        weights = np.array([components[list(BY_NAME)[c]]["weight"] for c in columns])
        there = ~np.isnan(values[:, columns])
        total = (there * weights).sum(axis=1)
        scored = np.nansum(values[:, columns] * weights, axis=1)
        found[term] = np.where(total > 0, scored / np.maximum(total, 1e-12), math.nan)
    return found


def fit_thresholds(data: Data, structure: Array, appearance: Array, allowed: float) -> dict[str, float]:
    """Find the pair of thresholds that lets most right candidates pass among those that let `allowed` wrong ones.

    Of equally good pairs the lowest sum: an honest fit is never refused for nothing. Shares are `balanced`.
    """
    weights = balanced(data)
    right, wrong = weights * data.right, weights * data.wrong
    right, wrong = right / right.sum(), wrong / wrong.sum()
    steps = np.unique(np.quantile(structure[data.right], np.linspace(0, 0.35, 36)))
    steps = np.concatenate([np.linspace(0.3, steps[0], 8, endpoint=False), steps])
    best, kept = (-1.0, 0.0), (float(steps[0]), 1.0)
    for low in steps:
        above = structure > low
        # The lowest second threshold that few enough of the wrong ones pass.
        rising = np.sort(appearance[above & (wrong > 0)])
        shares = np.cumsum(wrong[above & (wrong > 0)][np.argsort(appearance[above & (wrong > 0)])][::-1])[::-1]
        over = np.flatnonzero(shares > allowed)
        other = float(rising[over[-1]]) if len(over) else float(np.quantile(appearance[data.right], 0.005))
        score = (round(float(right @ (above & (appearance > other))), 4), -(low + other))
        if score > best:
            best, kept = score, (float(low), other)
    return {"structure": kept[0], "appearance": kept[1]}


def _fallback(data: Data, judged: Mapping[str, Array], thresholds: Mapping[str, float], allowed: float) -> float:
    """Threshold of the appearance that is judged without a network, given that of structure."""
    weights = balanced(data) * data.wrong
    passing = judged["structure"] > thresholds["structure"]
    order = np.argsort(judged["appearance_without_network"])[::-1]
    shares = np.cumsum((weights * passing)[order] / weights.sum())
    over = int(np.searchsorted(shares, allowed, side="right"))
    return float(judged["appearance_without_network"][order[min(over, len(order) - 1)]])


def passes(structure: Array, appearance: Array, thresholds: Mapping[str, float]) -> npt.NDArray[np.bool_]:
    """The decision on pictures alone."""
    return (structure > thresholds["structure"]) & (appearance > thresholds["appearance"])


def _column(name: str) -> int:
    return list(BY_NAME).index(name)
