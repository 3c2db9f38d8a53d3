"""What other ways of searching make of the built-in actor's structures: actors that search once, build and end.

All of them have the colours in closed form, the relief and the gloss that ours has, and its budget of evaluations. None
measures the picture's layout, races or edits; noise starts from the measured scale and roughness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from graph_api.actions import Action, Finish, Render
from material_agent.actors.base import Turn
from material_agent.actors.builtin.actor import FALLBACK_ALLOWANCE, MAPS
from material_agent.actors.builtin.calibrate import measure_surface
from material_agent.actors.builtin.lattices import LATTICES
from material_agent.actors.builtin.measurements import measure
from material_agent.actors.builtin.plan import ALWAYS
from material_agent.actors.builtin.proposal import Builder, Proposal
from material_agent.actors.builtin.search import COST, Scored, Searcher, refine, start_values
from material_agent.actors.builtin.structure import Structure, structures
from material_agent.context import Context
from material_agent.observation import Bench

DRAWS, STEPS, MOVE = 256, 200, 0.2
RENDERED = 8
"""So many of the best are rendered by Blender before one is chosen."""
Search = Callable[[Searcher], list[Scored]]


def from_prior(structure: Structure, rng: np.random.Generator) -> Proposal:
    """Every parameter anywhere in its range."""
    return Proposal(structure, {p.name: p.from_unit(rng.uniform()) for p in structure.parameters})


def _kinds(searcher: Searcher) -> list[Structure]:
    """Every structure that can be built, without what a measurement would hold fixed; lattices are drawn as well."""
    return [
        replace(item, parameters=tuple(replace(p, hard=False) for p in item.parameters))
        for item in structures().values()
        if item.needs in LATTICES or searcher.builder.measured.has(item.needs)
    ]


def prior_draws(searcher: Searcher) -> list[Scored]:
    """The best of `DRAWS` draws over all structures; what is left of the budget is for the full judge."""
    kinds = _kinds(searcher)
    count = int(min(DRAWS, (searcher.left - 2 * RENDERED) / COST))
    draws = [from_prior(kinds[searcher.rng.integers(len(kinds))], searcher.rng) for _ in range(count)]
    screened = searcher.screen(draws)
    return searcher.judge([item.proposal for item in screened[: int(searcher.left) - RENDERED]])


def noise_evolution(searcher: Searcher) -> list[Scored]:
    """CMA-ES on the numbers of one template of layered noise, with the whole budget."""
    noise = structures()[ALWAYS]
    start = Proposal(noise, {**start_values(noise, searcher.builder.measured, None), **noise.starts[0]})
    screened = searcher.screen([start])
    return refine(searcher, screened[0], searcher.left - RENDERED) if screened else []


def random_walk(searcher: Searcher) -> list[Scored]:
    """From one draw, `STEPS` moves of up to ±20 % of every parameter, kept when the full judge likes them better."""
    kinds = _kinds(searcher)
    best: list[Scored] = []
    while not best and searcher.left > COST:
        best = searcher.judge(searcher.fit([from_prior(kinds[searcher.rng.integers(len(kinds))], searcher.rng)]))
    for _ in range(STEPS):
        if searcher.left < RENDERED + COST or not best:
            break
        structure = best[0].proposal.structure
        values = {p.name: _moved(best[0].proposal.values[p.name], searcher.rng) for p in structure.parameters}
        inside = {p.name: p.from_unit(p.to_unit(values[p.name])) for p in structure.parameters if not p.sign}
        found = searcher.judge(searcher.fit([best[0].proposal.with_values(inside)]))
        best = sorted([*found, *best], key=lambda item: -item.score)[:RENDERED]
    return best


def _moved(value: float, rng: np.random.Generator) -> float:
    return value * (1 + rng.uniform(-MOVE, MOVE))


SEARCHES: Mapping[str, Search] = {"draws": prior_draws, "evolution": noise_evolution, "walk": random_walk}


class Baseline:
    """Searches once by one of `SEARCHES`, builds the best as Blender renders it, and ends."""

    def __init__(self, search: str, seed: int) -> None:
        """`seed` drives every draw."""
        self.name = search
        self._rng = np.random.default_rng(seed)
        self._built = False

    def act(self, context: Context, bench: Bench) -> Turn:
        """The first turn builds, the second ends."""
        if self._built:
            return Turn((Finish("unfinished", "the search is over"),), "the search is over")
        self._built = True
        builder = Builder(context.state.graph, measure(context), measure_surface(context, bench))
        allowance = float(context.state.share.get("candidates", FALLBACK_ALLOWANCE))
        searcher = Searcher(bench, builder, self._rng, allowance)
        found = SEARCHES[self.name](searcher)
        chosen = searcher.judge([item.proposal for item in found[:RENDERED]], sketch=False) or found
        if not chosen:
            return Turn((Finish("unfinished", "nothing could be built"),), "nothing could be built")
        actions: list[Action] = [*builder.edits(chosen[0].proposal), Render("flat", MAPS)]
        return Turn(tuple(actions), f"best by {self.name}: {chosen[0].score:.3f}", chosen[0].proposal.structure.name)
