"""The search between two actions: draws over structures, halving, then CMA-ES on the survivors.

All randomness comes from one generator; all candidates go through the bench, which charges them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_api.actions import Edit
from material_agent.actors.builtin.measurements import Measurements, luma_deviation
from material_agent.actors.builtin.proposal import Builder, Proposal, transition
from material_agent.actors.builtin.structure import Parameter, Structure
from material_agent.errors import BudgetExhausted
from material_agent.evolution import strategy
from material_agent.observation import Bench, Judging, Trial

PROBE_RESOLUTION, SCREEN_RESOLUTION, REFINE_RESOLUTION = 64, 128, 256
JUDGE_RESOLUTION = 512
"""At most; the reference's own side where that is less, so that pixels of one size show the same grain."""
RACE_PRIOR = 0.1
"""What full evidence is worth in the race, in units of the screen's score."""
KEPT = 3
"""Candidates that a refinement gives back, at most."""
COST = 2
"""Evaluations for one screened proposal: a probe for the closed-form colours, and the picture."""


@dataclass(frozen=True)
class Scored:
    """A fitted proposal with its score: the screen's, or the full judge's reward."""

    proposal: Proposal
    score: float
    trial: Trial


class Searcher:
    """Assesses proposals on the bench against the graph that stands, whose edits are `standing`."""

    def __init__(self, bench: Bench, builder: Builder, rng: np.random.Generator, allowance: float) -> None:
        """`allowance`: evaluations this searcher may spend."""
        self.bench, self.builder, self.rng = bench, builder, rng
        self.left = allowance
        self.resolution = min(max(builder.measured.side, REFINE_RESOLUTION), JUDGE_RESOLUTION)
        self.standing: list[Edit] = []

    def fit(self, proposals: Sequence[Proposal]) -> list[Proposal]:
        """Probe and fit; what fails to build is dropped."""
        trials = self._try(
            [self.builder.probe(p) for p in proposals], PROBE_RESOLUTION, ("base_color", "height"), "none"
        )
        fitted = []
        for proposal, trial in zip(proposals, trials, strict=False):
            if trial.ok:
                fitted.append(self.builder.fit(proposal, trial.channels["base_color"], trial.channels["height"]))
        return fitted

    def screen(self, proposals: Sequence[Proposal], resolution: int = SCREEN_RESOLUTION) -> list[Scored]:
        """Fit, render and screen; best first. What descends from the result is fitted for the brightness seen here."""
        # Of a budget that is nearly spent, half is for the pictures: a probe alone decides nothing.
        fitted = self.fit(proposals[: int(self.left // COST)])
        trials = self._try([self.builder.edits(p) for p in fitted], resolution, ("beauty",), "texture")
        scored = [Scored(self._exposed(p, t), t.score, t) for p, t in zip(fitted, trials, strict=False) if t.ok]
        return sorted(scored, key=lambda item: -item.score)

    def _exposed(self, proposal: Proposal, trial: Trial) -> Proposal:
        """The proposal with its exposure corrected by the mean that its relief and clipping left."""
        seen = float(np.clip(trial.channels["beauty"], 0, 1).mean())
        wanted = float(self.builder.measured.colors.mean())
        return _scaled(proposal, "exposure", seen / max(wanted, 1e-3))

    def corrected(self, judged: Scored) -> list[Proposal]:
        """Fitted anew for the mean and the contrast that the judged picture, relief and grain included, fell short of.

        In a list, which is empty when it no longer builds.
        """
        seen = luma_deviation(np.clip(judged.trial.channels["beauty"], 0, 1))
        wanted = self.builder.measured.deviation or seen
        exposed = self._exposed(judged.proposal, judged.trial)
        return self.fit([_scaled(exposed, "spread", wanted / max(seen, 1e-4))])

    def judge(
        self, proposals: Sequence[Proposal], resolution: int | None = None, *, sketch: bool = True
    ) -> list[Scored]:
        """Put fitted proposals before the full evaluator, as sketches or as Blender renders; best first.

        At the side of the final picture, unless another `resolution` is named.
        """
        kind: Judging = "sketch" if sketch else "full"
        edits = [self.builder.edits(p) for p in proposals]
        trials = self._try(edits, resolution or self.resolution, ("beauty",), kind)
        scored = [Scored(p, t.score, t) for p, t in zip(proposals, trials, strict=False) if t.ok]
        return sorted(scored, key=lambda item: -item.score)

    def judged(self, found: Sequence[Scored]) -> list[Scored]:
        """Those that have no verdict at the side of the final picture are put before the full judge; best first."""
        known: list[Scored] = []
        open_ones: list[Scored] = []
        for item in found:
            whole = item.trial.evaluation and item.trial.channels["beauty"].shape[0] == self.resolution
            (known if whole else open_ones).append(item)
        return sorted(known + self.judge([item.proposal for item in open_ones]), key=lambda item: -item.score)

    def drawn(self, edits: Sequence[Sequence[Edit]]) -> list[Trial]:
        """Put edits of the graph that stands, drawn by Blender, before the full evaluator, in their order.

        As far as the allowance goes.
        """
        return self._bench(edits, self.resolution, ("beauty",), "full")

    def _try(
        self, edits: Sequence[list[Edit]], resolution: int, channels: tuple[str, ...], judge: Judging
    ) -> list[Trial]:
        return self._bench([transition(self.standing, item) for item in edits], resolution, channels, judge)

    def _bench(
        self, moves: Sequence[Sequence[Edit]], resolution: int, channels: tuple[str, ...], judge: Judging
    ) -> list[Trial]:
        count = int(min(len(moves), self.left))
        if count < 1:
            return []
        self.left -= count
        try:
            return self.bench.try_many(moves[:count], resolution=resolution, channels=channels, judge=judge)
        except BudgetExhausted:
            self.left = 0
            return []


def _scaled(proposal: Proposal, name: str, factor: float) -> Proposal:
    """With a correction of the closed-form colours multiplied, in steps and within bounds that keep it a correction."""
    value = proposal.values.get(name, 1.0) * min(max(factor, 0.7), 1.4)
    return replace(proposal, values={**proposal.values, name: min(max(value, 0.5), 1.6)})


def start_values(structure: Structure, measured: Measurements, lattice: Mapping[str, float] | None) -> dict[str, float]:
    """Each parameter at its measurement where there is one, otherwise at its prior's start."""
    known = {**measured.numbers, **(lattice or {})}
    values = {}
    for item in structure.parameters:
        value = known.get(item.measured, item.start) if item.measured else item.start
        values[item.name] = min(max(float(value), item.low), item.high)
    return values


def free(structure: Structure, only: Callable[[Parameter], bool] | None = None) -> list[Parameter]:
    """The parameters that a search may move."""
    return [p for p in structure.parameters if not p.hard and (only is None or only(p))]


def draw(
    base: Proposal, rng: np.random.Generator, spread: float, only: Callable[[Parameter], bool] | None = None
) -> Proposal:
    """A neighbour of `base`: each free parameter moved by a normal step of `spread` of its range."""
    values = {}
    for item in free(base.structure, only):
        step = rng.normal(0.0, spread)
        if item.sign:
            # Signs are coins, not distances: one draw in five tries the other side.
            values[item.name] = base.values[item.name] * (-1.0 if abs(step) > 1.28 * spread else 1.0)
        else:
            values[item.name] = item.from_unit(_reflect(item.to_unit(base.values[item.name]) + step))
    return base.with_values(values)


def _reflect(position: float) -> float:
    position = abs(position)
    return min(max(2 - position if position > 1 else position, 0.0), 1.0)


def race(
    searcher: Searcher,
    entries: Sequence[Proposal],
    evidence: Mapping[str, float],
    allowance: float,
    say: Callable[[str], None],
) -> dict[str, list[Scored]]:
    """Draws for every entry, then the better half gets more, until two structures are left.

    All that was found, by structure, the survivors of the last round first; each list best first.
    """
    found: dict[str, list[Scored]] = {}
    alive = list(dict.fromkeys(p.structure.name for p in entries))
    rounds = max(1, math.ceil(math.log2(max(len(alive), 2))))
    spread = 0.22
    for turn in range(rounds):
        draws = max(3, int(allowance / rounds / COST / len(alive)))
        batch: list[Proposal] = []
        for name in alive:
            bases = (
                [s.proposal for s in found[name][:3]]
                if name in found
                else [p for p in entries if p.structure.name == name]
            )
            batch += bases[:draws] if name not in found else []
            need = draws - (len(bases[:draws]) if name not in found else 0)
            batch += [draw(bases[k % len(bases)], searcher.rng, spread) for k in range(need)]
        for item in searcher.screen(batch):
            found.setdefault(item.proposal.structure.name, []).append(item)
        for scored in found.values():
            scored.sort(key=lambda item: -item.score)
        ranked = sorted(
            (name for name in alive if name in found),
            key=lambda name: -found[name][0].score - RACE_PRIOR * evidence.get(name, 0.0),
        )
        say(f"round {turn + 1}: " + ", ".join(f"{name} {found[name][0].score:.3f}" for name in ranked))
        alive = ranked[: max(2, math.ceil(len(ranked) / 2))]
        spread *= 0.7
        if not alive:
            break
    return {name: found[name] for name in [*alive, *(name for name in found if name not in alive)]}


def refine(
    searcher: Searcher,
    start: Scored,
    allowance: float,
    only: Callable[[Parameter], bool] | None = None,
    step: float = 0.12,
    screened: float = 0.75,
) -> list[Scored]:
    """CMA-ES on the free continuous parameters around `start`, for about `allowance` evaluations; best first.

    The share `screened` of the generations goes before the texture screen, the last before the full judge, which costs
    twice as much and sees what the screen leaves out. All at the side of the final picture: a smaller one, whose
    points are averages in a larger one, shows another grain.
    """
    items = [p for p in free(start.proposal.structure, only) if not p.sign]
    size = 8
    generations = int(allowance / COST / size)
    if not items or generations < 1:
        return [start]
    x0 = [p.to_unit(start.proposal.values[p.name]) for p in items]
    evolution = strategy(x0, step, size, int(searcher.rng.integers(1, 2**31 - 1)))
    seen: list[Scored] = []
    for generation in range(generations):
        points = evolution.ask()
        batch = [
            replace(
                start.proposal.with_values({p.name: p.from_unit(x) for p, x in zip(items, point, strict=False)}),
                tags=(str(k),),
            )
            for k, point in enumerate(points)
        ]
        last = generation >= min(screened * generations, generations - 1)
        found = searcher.judge(searcher.fit(batch)) if last else searcher.screen(batch, searcher.resolution)
        scored = {int(item.proposal.tags[0]): item for item in found}
        if not scored:
            break
        evolution.tell(points, [1.0 - (scored[k].score if k in scored else 0.0) for k in range(len(points))])
        if last:
            # The screen's scores are not comparable. Few are kept: their channels are large.
            seen += [replace(item, proposal=replace(item.proposal, tags=())) for item in scored.values()]
            seen = sorted(seen, key=lambda item: -item.score)[:KEPT]
    return seen or [start]
