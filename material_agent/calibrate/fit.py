"""Normalisations, weights and thresholds from a table of distances, at one side of comparison."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import optimize

from evaluators.combine import ALIEN
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
RIDGES = (5e-4, 2e-3, 8e-3)
"""Strengths of the pull towards equal weights that are tried."""
INNER_FOLDS = 6
"""Parts, by family, in which a fit holds out materials of its own to choose the ridge and the thresholds by."""
SMALLER = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15)
"""Parts of the wanted share that are tried for the rows fitted on."""
LEAST_VALUES: Mapping[str, tuple[float, ...]] = {
    "palette": (ALIEN, 0.4, 0.5, 0.6, 0.7),
    "lattice": (ALIEN, 0.5, 0.7),
    "scale": (0.0, 0.2, 0.4, 0.6),
}
"""Values tried that a component must be above on its own: a colour, a lattice or a scale that is wrong is seen at once,
and the mean over a term would make up for it by all that is right."""


@dataclass(frozen=True)
class Data:
    """Rows of one size as arrays: `distances` and `own` (N, C) in the order of `BY_NAME`."""

    rows: Sequence[Row]
    distances: Array
    own: Array

    @cached_property
    def right(self) -> npt.NDArray[np.bool_]:
        """Which rows are right candidates."""
        return np.array([row.label == "right" for row in self.rows])

    @cached_property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """Which rows are wrong ones."""
        return np.array([row.label == "wrong" for row in self.rows])

    @cached_property
    def hard(self) -> npt.NDArray[np.bool_]:
        """Which rows are wrong ones that are near."""
        return np.array([row.hard for row in self.rows])

    @cached_property
    def balanced(self) -> Array:
        """Weights that give each material the same say: half of it right, half wrong, of which half hard."""
        weights = np.zeros(len(self.rows))
        groups: dict[tuple[str, str, bool], list[int]] = {}
        for index, row in enumerate(self.rows):
            if row.label != "graded":
                groups.setdefault((row.material, row.label, row.hard), []).append(index)
        for (_, label, _), members in groups.items():
            weights[members] = (1.0 if label == "right" else 0.5) / len(members)
        return np.asarray(weights / max(float(weights.sum()), 1e-12))

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


@dataclass(frozen=True)
class SizeFit:
    """What is fitted at one size: normalisations and thresholds, as the weights file has them."""

    components: Mapping[str, Mapping[str, float]]
    thresholds: Mapping[str, float]


def fit_size(data: Data, wanted: float) -> SizeFit:
    """Fit everything on these rows, so that of new materials about the share `wanted` of the wrong ones passes.

    Thresholds are set, and the ridge is chosen, on values from fits that have not seen the row's family: values of rows
    that were fitted on are better than those of new materials will be.
    """
    best: tuple[float, float, dict[str, float]] | None = None
    for ridge in RIDGES:
        passed, thresholds = fit_thresholds(data, held_out_values(data, ridge), wanted)
        if best is None or passed > best[0] + 1e-3:
            best = passed, ridge, thresholds
    assert best is not None, "there are ridges to try"
    return SizeFit(weighted(data, best[1]), best[2])


def weighted(data: Data, ridge: float) -> dict[str, dict[str, float]]:
    """Normalisations and weights of all components."""
    components = normalisations(data)
    values = component_values(data, components)
    for term, names in (("structure", TERMS["structure"]), ("appearance", TERMS["appearance"])):
        learnt = component_weights(data, values, names, COLOUR_ONLY if term == "structure" else (), ridge)
        components |= {name: components[name] | {"weight": weight} for name, weight in learnt.items()}
    return components


def family_folds(data: Data, count: int) -> npt.NDArray[np.intp]:
    """Which of `count` folds each row is in; a fold holds whole families, so no texture is on both sides."""
    families = sorted({row.family for row in data.rows})
    fold_of = {family: index % count for index, family in enumerate(families)}
    return np.array([fold_of[row.family] for row in data.rows])


def held_out_values(data: Data, ridge: float, folds: int = INNER_FOLDS) -> dict[str, Array]:
    """Values of the terms, and of the components that have a threshold of their own, by fits on the other folds."""
    fold_of = family_folds(data, folds)
    found = {name: np.full(len(data.rows), math.nan) for name in (*TERMS, *LEAST_VALUES)}
    for fold in np.unique(fold_of):
        mask = fold_of == fold
        for name, values in judged_by(data.chosen(mask), weighted(data.chosen(~mask), ridge)).items():
            found[name][mask] = values
    return found


def judged_by(data: Data, components: Mapping[str, Mapping[str, float]]) -> dict[str, Array]:
    """Values of the terms, and of the components that have a threshold of their own, by row."""
    values = component_values(data, components)
    return term_values(values, components) | {name: values[:, _column(name)] for name in LEAST_VALUES}


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
        values[own > BY_NAME[name].most_own, column] = math.nan
    return values


def component_weights(
    data: Data, values: Array, names: Sequence[str], without: Sequence[str], ridge: float
) -> dict[str, float]:
    """Non-negative logistic weights that tell right from wrong, the largest scaled to 1.

    A loss is 1 − value; an unscored one takes the mean of the row's scored ones, as dropping out does.
    """
    known = [name for name in names if not np.isnan(values[:, _column(name)]).all()]
    used = (data.right | data.wrong) & ~data.kinds(*without)
    losses = 1 - values[used][:, [_column(name) for name in known]]
    filled = np.where(np.isnan(losses), np.nanmean(losses, axis=1, keepdims=True), losses)
    weights = data.balanced[used]
    raw = logistic(filled, data.wrong[used], weights / weights.sum(), ridge)
    # What is rarely scored (grain, which only large pictures show) must not outweigh what always is.
    rare = np.isnan(losses).mean(axis=0) > 0.5
    raw = np.where(rare, np.minimum(raw, np.median(raw)), raw)
    return {name: float(w) for name, w in zip(known, raw / raw.max(), strict=True)}


def logistic(losses: Array, wrong: npt.NDArray[np.bool_], weights: Array, ridge: float) -> Array:
    """Weights (C,), each at least `_LEAST`, of a ridge-regularised logistic regression with non-negative weights."""
    signs = np.where(wrong, 1.0, -1.0)
    count = losses.shape[1]

    def cost(parameters: Array) -> tuple[float, Array]:
        w, bias = parameters[:-1], parameters[-1]
        margin = signs * (losses @ w - bias)
        slack = np.logaddexp(0, -margin)
        pull = -signs * weights / (1 + np.exp(np.clip(margin, -50, 50)))
        spread = w - w.mean()
        gradient = np.append(losses.T @ pull + 2 * ridge * spread, -pull.sum())
        return float(weights @ slack + ridge * spread @ spread), gradient

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


def fit_thresholds(data: Data, values: Mapping[str, Array], wanted: float) -> tuple[float, dict[str, float]]:
    """Find the thresholds that let most right candidates pass among those that let few enough wrong ones.

    Returns the share of the right ones that pass, and the thresholds. Thresholds chosen among many let more of the new
    wrong ones pass than of those that they were chosen on; so they are set for that smaller share with which, family by
    family held out, `wanted` is kept. Shares are `balanced`.
    """
    everything = np.ones(len(data.rows), dtype=bool)
    best, own = (-1.0, 0.0), dict[str, float]()
    judged, tried = data.right | data.wrong, set[bytes]()
    for least in sorted(itertools.product(*LEAST_VALUES.values()), key=sum):
        some = {name: value for name, value in zip(LEAST_VALUES, least, strict=True) if value > 0}
        through = above(values, some)
        if through[judged].tobytes() in tried:
            continue  # smaller ones refuse the same
        tried.add(through[judged].tobytes())
        passed, *_ = _fit_pair(data, values, wanted / 2, through, everything)
        score = (round(passed, 3), -sum(some.values()))
        if score > best:
            best, own = score, some
    eligible = above(values, own)
    shares = [wanted * part for part in SMALLER]
    allowed = next((share for share in shares if _kept(data, values, share, eligible) <= wanted), shares[-1])
    passed, low, other = _fit_pair(data, values, allowed, eligible, everything)
    thresholds = {"structure": low, "appearance": other} | own
    return passed, thresholds | {"appearance_without_network": _fallback(data, values, thresholds, allowed)}


def _kept(data: Data, values: Mapping[str, Array], allowed: float, eligible: npt.NDArray[np.bool_]) -> float:
    """Share of the wrong ones that pass thresholds set on the other families."""
    fold_of = family_folds(data, INNER_FOLDS)
    passed = np.zeros(len(data.rows), dtype=bool)
    for fold in np.unique(fold_of):
        _, low, other = _fit_pair(data, values, allowed, eligible, fold_of != fold)
        through = eligible & (values["structure"] > low) & (values["appearance"] > other)
        passed |= through & (fold_of == fold)
    wrong = data.balanced * data.wrong
    return float(wrong @ passed / wrong.sum())


def _fit_pair(
    data: Data,
    values: Mapping[str, Array],
    allowed: float,
    eligible: npt.NDArray[np.bool_],
    used: npt.NDArray[np.bool_],
) -> tuple[float, float, float]:
    """Share of the right ones that pass, and the thresholds of structure and appearance, by the rows that are `used`.

    Of equally good pairs the one with the least sum: an honest fit is never refused for nothing.
    """
    structure, appearance = values["structure"], values["appearance"]
    right, wrong = (data.balanced * (label & used) for label in (data.right, data.wrong))
    right, wrong = right / right.sum(), wrong / wrong.sum()
    steps = np.unique(np.quantile(structure[data.right], np.linspace(0, 0.35, 36)))
    steps = np.concatenate([np.linspace(0.3, steps[0], 8, endpoint=False), steps])
    best, kept = (-1.0, 0.0), (float(steps[0]), 1.0)
    order = np.argsort(-appearance, kind="stable")
    for low in steps:
        through = eligible & (structure > low)
        # The lowest second threshold that few enough of the wrong ones pass.
        over = np.flatnonzero(np.cumsum((wrong * through)[order]) > allowed)
        other = float(appearance[order[over[0]]]) if len(over) else float(np.quantile(appearance[data.right], 0.005))
        score = (round(float(right @ (through & (appearance > other))), 4), -(low + other))
        if score > best:
            best, kept = score, (float(low), other)
    return best[0], *kept


def _fallback(data: Data, values: Mapping[str, Array], thresholds: Mapping[str, float], allowed: float) -> float:
    """Threshold of the appearance that is judged without a network, given all the others."""
    weights = data.balanced * data.wrong
    passing = above(values, {name: value for name, value in thresholds.items() if name != "appearance"})
    order = np.argsort(values["appearance_without_network"])[::-1]
    shares = np.cumsum((weights * passing)[order] / weights.sum())
    over = int(np.searchsorted(shares, allowed, side="right"))
    return float(values["appearance_without_network"][order[min(over, len(order) - 1)]])


def above(values: Mapping[str, Array], thresholds: Mapping[str, float]) -> npt.NDArray[np.bool_]:
    """Which rows are above all thresholds where they are scored: the decision on pictures alone."""
    passed = np.ones(len(next(iter(values.values()))), dtype=bool)
    for name, threshold in thresholds.items():
        if name != "appearance_without_network":
            passed &= np.isnan(values[name]) | (values[name] > threshold)
    return passed


def _column(name: str) -> int:
    return list(BY_NAME).index(name)
