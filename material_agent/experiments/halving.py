"""The search for the best context: successive halving over arms on a development split, judged on a held-out one.

Jamieson and Talwalkar, Non-stochastic Best Arm Identification and Hyperparameter Optimization (AISTATS 2016): each rung
gives the arms that are left twice the places, and keeps the better share of them.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from material_agent.batch.engine import Engine
from material_agent.batch.store import Store
from material_agent.context_config import context_toml
from material_agent.errors import BadInput
from material_agent.experiments.contrasts import scores_of
from material_agent.experiments.pictures import Picture, prepare
from material_agent.experiments.plan import Arm, Plan, Search
from material_agent.experiments.statistics import Comparison, compare
from material_agent.experiments.table import csv_of, unit_rows
from material_agent.experiments.units import Unit

FIRST_PLACES = 2
CONTEXT, RECORD, PAGE, TABLE = "context.toml", "contexts.json", "report.md", "attempts.csv"
Place = tuple[Picture, int]


@dataclass(frozen=True)
class Rung:
    """One round: how many places each arm had in all, their mean scores, and who is left."""

    places: int
    scores: Mapping[str, float]
    left: tuple[str, ...]


@dataclass(frozen=True)
class Chosen:
    """The outcome: the best arm, the rounds, and the comparison with the first arm on the held-out split.

    `found` is None when the first arm itself is the best one, or when a side has no result.
    """

    arm: Arm
    baseline: Arm
    rungs: tuple[Rung, ...]
    found: Comparison | None
    runs: int


def search_contexts(plan: Plan, store: Store, run: RunUnits) -> tuple[Chosen | None, list[dict[str, Any]]]:
    """Find the best arm within the plan's budget of runs; None with the rows so far when it was interrupted.

    Writes `context.toml` (what `fit --context` takes), `contexts.json`, the table and a report.
    """
    search = plan.file.search
    place = store.local("")
    if search is None or place is None:
        raise BadInput("expected a plan with a search, and a folder of this machine or a mounted one")
    pictures = prepare([*search.development, *search.held_out], plan.file.side, place, plan.folder)
    development = _places(pictures[: len(search.development)], plan.file.seeds)
    held_out = _places(pictures[len(search.development) :], plan.file.seeds)
    rows: list[dict[str, Any]] = []
    rungs: list[Rung] = []
    left, used, places, done = list(plan.arms), 0, FIRST_PLACES, 0
    while len(left) > 1 and done < len(development):
        wanted = development[done : min(places, len(development))]
        if used + len(wanted) * len(left) > search.budget:
            break
        fresh = run(left, wanted)
        if fresh is None:
            return None, rows
        rows += fresh
        used += len(wanted) * len(left)
        done += len(wanted)
        means = _means(rows, left, search)
        left = sorted(left, key=lambda arm: -means[arm.id])[: max(1, math.ceil(search.keep * len(left)))]
        rungs.append(Rung(done, means, tuple(arm.id for arm in left)))
        places = 2 * done
    if not rungs:
        raise BadInput(f"expected a budget of at least {FIRST_PLACES * len(plan.arms)} runs, got {search.budget}")
    best, baseline = left[0], plan.arms[0]
    judged = run([baseline] if best.id == baseline.id else [baseline, best], held_out)
    if judged is None:
        return None, rows
    rows += judged
    chosen = Chosen(best, baseline, tuple(rungs), _held_out(plan, judged, best, baseline, search), used)
    _write(plan, chosen, rows, store)
    return chosen, rows


class RunUnits:
    """Runs arms on places through the engine; None when it was interrupted."""

    def __init__(self, plan: Plan, store: Store, options: Mapping[str, Any], engine: Engine | None) -> None:
        self._plan, self._store, self._options, self._engine = plan, store, options, engine

    def __call__(self, arms: Sequence[Arm], places: Sequence[Place]) -> list[dict[str, Any]] | None:
        """The rows of these units."""
        from material_agent.experiments.run import run_units  # noqa: PLC0415 - it calls this module

        units = [Unit(arm, picture, seed) for picture, seed in places for arm in arms]
        done = run_units(self._plan, units, self._store, engine=self._engine, **self._options)
        if any(unit.id not in done.results for unit in units):
            return None
        return [row for unit in units for row in unit_rows(self._plan, unit, done.results[unit.id], self._store)]


def _places(pictures: Sequence[Picture], seeds: int) -> list[Place]:
    return [(picture, seed) for seed in range(seeds) for picture in pictures]


def _means(rows: Sequence[Mapping[str, Any]], arms: Sequence[Arm], search: Search) -> dict[str, float]:
    scores = scores_of(rows)
    return {
        arm.id: float(np.mean([values[search.measure] or 0.0 for values in scores[arm.id].values()])) for arm in arms
    }


def _held_out(
    plan: Plan, rows: Sequence[Mapping[str, Any]], best: Arm, baseline: Arm, search: Search
) -> Comparison | None:
    if best.id == baseline.id:
        return None
    scores, pairs = scores_of(rows), defaultdict(list)
    for place, values in scores[best.id].items():
        one, other = values[search.measure], scores[baseline.id][place][search.measure]
        pairs[place[0]].append(None if one is None or other is None else one - other)
    statistics = plan.file.statistics
    return compare(pairs, alpha=statistics.alpha, resamples=statistics.resamples, seed=plan.file.seed)


def _write(plan: Plan, chosen: Chosen, rows: Sequence[Mapping[str, Any]], store: Store) -> None:
    config = plan.config(chosen.arm).context
    comment = (
        f"The best of {len(plan.arms)} contexts of the plan {plan.file.name} ({plan.sha256[:12]}): {chosen.arm.id}."
    )
    store.write(CONTEXT, context_toml(config, comment).encode())
    store.write(TABLE, csv_of(rows).encode())
    data = {
        "schema": {"name": "material-agent/contexts-result", "version": 1},
        "plan": {"name": plan.file.name, "sha256": plan.sha256},
        "chosen": chosen.arm.id,
        "context": config.model_dump(mode="json"),
        "rungs": [asdict(rung) for rung in chosen.rungs],
        "runs": chosen.runs,
        "held_out": None if chosen.found is None else asdict(chosen.found),
    }
    store.write(RECORD, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())
    store.write(PAGE, "\n".join(_page(plan, chosen)).encode())


def _page(plan: Plan, chosen: Chosen) -> list[str]:
    search = plan.file.search
    assert search is not None, "only a plan with a search comes here"
    lines = [f"# {plan.file.title}", "", plan.file.question.strip(), "", f"Plan sha256 {plan.sha256}.", ""]
    lines += [f"| arm | {' | '.join(f'{rung.places} places' for rung in chosen.rungs)} |"]
    lines += ["|---|" + "---|" * len(chosen.rungs)]
    order = sorted(plan.arms, key=lambda arm: [-rung.scores.get(arm.id, -1.0) for rung in reversed(chosen.rungs)])
    for arm in order:
        cells = [f"{rung.scores[arm.id]:.3f}" if arm.id in rung.scores else "–" for rung in chosen.rungs]
        lines.append(f"| {arm.id} | {' | '.join(cells)} |")
    lines += [
        "",
        f"Mean {search.measure} on the development split, over {chosen.runs} runs. Chosen: **{chosen.arm.id}**.",
    ]
    found = chosen.found
    if found is None:
        lines.append("It is the arm that the others were compared with, so that nothing is left to judge.")
    else:
        lines.append(
            f"On the held-out split ({found.references} references, {found.pairs} pairs) it is {found.difference:+.3f} "
            f"[{found.low:+.3f}, {found.high:+.3f}] from {chosen.baseline.id}, p = {found.p:.4f}."
        )
    return [*lines, ""]
