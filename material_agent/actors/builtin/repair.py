"""Edits from diagnosis: the largest gap names scale and channel, the branch that owns it is changed and tuned alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from material_agent.actors.builtin.measurements import Measurements
from material_agent.actors.builtin.overlay import lay_over, moves_for, overlays
from material_agent.actors.builtin.proposal import Proposal
from material_agent.actors.builtin.search import COST, Scored, Searcher, draw, refine
from material_agent.actors.builtin.structure import Parameter, Structure, shading
from material_agent.context import Evaluation, Gap
from material_agent.observation import Trial

TRIED_GAPS = 4
SCALINGS = (0.55, 0.3, 0.15)
"""Factors of a parameter whose effect only the full judge's picture shows."""


@dataclass(frozen=True)
class Repair:
    """An edit that the bench found better: the gap it answers, the move, the proposal and the reason for the log.

    `score`: the full judge's reward of its sketch.
    """

    gap: Gap
    move: str
    proposal: Proposal
    reason: str
    score: float


class Repairer:
    """Tries the moves that the gaps call for, largest gap first, on the bench."""

    def __init__(self, searcher: Searcher, measured: Measurements, *, branches: bool = True) -> None:
        """`branches`: whether a move may add one."""
        self._searcher, self._measured, self._branches = searcher, measured, branches

    def propose(
        self,
        current: Proposal,
        evaluation: Evaluation,
        gaps: Sequence[Gap],
        refused: set[str],
        allowance: float,
        progress: float,
    ) -> Repair | None:
        """The first move whose best candidate beats the present reward by `progress` before the full judge."""
        moves = self._moves(gaps, refused, current)
        budget = allowance / max(1, min(len(moves), 3)) - 3
        for gap, move in moves[:3]:
            candidates = self.tuned(current, move, budget)
            judged = self._searcher.judge(candidates)
            if judged and judged[0].score > evaluation.reward + progress:
                best = judged[0]
                after = _same(gap, best)
                what = "closed" if after is None else f"now {after.measured:.3g} {after.unit}"
                reason = (
                    f"largest open gap: {gap.message} ({gap.kind}, {gap.scale}); {_describe(move)}; on the bench "
                    f"the reward goes from {evaluation.reward:.3f} to {best.score:.3f} and the gap is {what}"
                )
                return Repair(gap, move, best.proposal, reason, best.score)
            refused.add(move)
        return None

    def polish(self, current: Proposal, evaluation: Evaluation, allowance: float, progress: float) -> Repair | None:
        """All numbers of the graph tuned together; None when the full judge sees less than `progress` in it."""
        start = Scored(current, evaluation.reward, Trial((), True, evaluation.reward))
        judged = refine(self._searcher, start, allowance, step=0.06, screened=0.5)
        if not judged or not evaluation.gaps or judged[0].score <= evaluation.reward + progress:
            return None
        best = judged[0]
        reason = (
            f"no single edit is left: all numbers of the graph tuned together; before the full judge the "
            f"reward goes from {evaluation.reward:.3f} to {best.score:.3f}"
        )
        return Repair(evaluation.gaps[0], "polish", best.proposal, reason, best.score)

    def _moves(self, gaps: Sequence[Gap], refused: set[str], current: Proposal) -> list[tuple[Gap, str]]:
        found: list[tuple[Gap, str]] = []
        for gap in gaps[: 2 * TRIED_GAPS]:
            for move in moves_for(gap):
                known = {m for _, m in found}
                overlay = overlays().get(move)
                closed = overlay is not None and not (self._branches and overlay.measured_in(self._measured))
                if move in refused or move in known or move in current.structure.overlays or closed:
                    continue
                found.append((gap, move))
                break
        return found

    def tuned(self, current: Proposal, move: str, allowance: float) -> list[Proposal]:
        """Fitted candidates of a move: best first by the screen, or all that the screen could not tell apart.

        Moves are an overlay's name, "recolor", "tune", "tune:role" and "scale:parameter".
        """
        searcher = self._searcher
        overlay = overlays().get(move)
        if overlay is not None:
            laid = lay_over(current, overlay, self._measured)
            if laid is None:
                return []
            if overlay.ladder:
                steps = [laid.with_values({name: value}) for name, values in overlay.ladder.items() for value in values]
                return searcher.fit(steps)
            mine = {p.name for p in overlay.parameters} | set(overlay.tune)
            return self._search(laid, lambda p: p.name in mine, allowance, 0.25)
        kind, _, part = move.partition(":")
        if kind == "scale":
            return searcher.fit([current.with_values({part: current.values[part] * f}) for f in SCALINGS])
        names = branch_parameters(current.structure, part) if part else {p.name for p in current.structure.parameters}
        if move == "recolor":
            # The values stay; fitting again uses the exposure and contrast that the picture asks for.
            judged = searcher.judge([current])
            return searcher.corrected(judged[0]) if judged else []
        return self._search(current, lambda p: p.name in names, allowance, 0.12)

    def _search(
        self, base: Proposal, only: Callable[[Parameter], bool], allowance: float, spread: float
    ) -> list[Proposal]:
        searcher = self._searcher
        if not any(only(p) and not p.hard for p in base.structure.parameters):
            return []
        draws = max(2, int(min(10, allowance / 2 / COST)))
        first = replace(base, fit=None)
        starts = [first, *(draw(base, searcher.rng, spread, only) for _ in range(draws - 1))]
        scored = searcher.screen(starts, searcher.resolution)
        if not scored:
            return []
        refined = refine(searcher, scored[0], allowance - draws * COST, only, 0.1)
        return [item.proposal for item in refined[:2]]


def branch_parameters(structure: Structure, role: str) -> set[str]:
    """Names of the parameters that the nodes of a role read; "shading" stands for the shared ones."""
    if role == "shading":
        return set(shading()["parameters"])
    nodes = (*structure.nodes, *structure.finish)
    text = " ".join(str(node.set) for node in nodes if node.role == role)
    return {p.name for p in structure.parameters if p.name in text}


def _same(gap: Gap, scored: Scored) -> Gap | None:
    """The same gap after the edit; None when it is no longer there."""
    evaluation = scored.trial.evaluation
    found = [g for g in evaluation.gaps if g.kind == gap.kind and g.scale == gap.scale] if evaluation else []
    return found[0] if found else None


def _describe(move: str) -> str:
    overlay = overlays().get(move)
    if overlay is not None:
        return f"adds the branch {overlay.title} and tunes it alone"
    kind, _, part = move.partition(":")
    if kind == "scale":
        return f"lowers {part}"
    return f"tunes the {part} branch alone" if part else f"{move}s the whole graph"
