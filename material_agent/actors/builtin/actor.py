"""The built-in actor: measure, race hypotheses, build, render, edit by the largest gap, finish honestly.

Its `act` is called once for each turn. Everything that reaches the graph is a typed action of a turn; the bench serves
the search between two turns. One object lives for one attempt; what it knows of earlier ones is `context.memory`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_api.actions import Action, Finish, Note, Render
from material_agent.actors.base import Turn
from material_agent.actors.builtin.calibrate import measure_surface
from material_agent.actors.builtin.measurements import measure
from material_agent.actors.builtin.plan import ALWAYS, Plan, make_plan
from material_agent.actors.builtin.prior import fitted
from material_agent.actors.builtin.proposal import Builder, Proposal, transition
from material_agent.actors.builtin.prune import prune
from material_agent.actors.builtin.repair import Repair, Repairer
from material_agent.actors.builtin.search import COST, Scored, Searcher, race, refine
from material_agent.context import Context, Evaluation
from material_agent.observation import Bench, Trial

MAPS = ("beauty", "base_color", "roughness", "metallic", "normal", "height")
FALLBACK_ALLOWANCE = 900.0
PRIOR, LATTICE = 0.05, 0.04
"""What full evidence, and holding a measured lattice, are worth against the reward: metrics forgive arrangement."""
LEADERS, LEADERS_RESOLUTION = 4, 256
"""Of each structure in the race, so many are put before the full judge, whose order is another."""
RACE, SHARES, NEAR = 0.3, (0.15, 0.12, 0.12), 0.08
"""Shares of the allowance for the race and for each finalist's refinement; the rest is for edits by the gaps.

How far behind plain noise may be and still be a finalist.
"""
CLOSE, TRIAL = 0.12, 0.1
"""Structures so near in reward are compared after a first edit each, which may spend this share of the allowance."""
DEMANDED, JUDGED = 0.15, 3
"""Share of the allowance for the branch that a reflection asks for, and how much of it is for the verdict."""
POLISH = 0.15
"""At most this share of the allowance is for the numbers of the finished graph, tuned together."""
PROGRESS = 0.005
"""A smaller rise of the reward does not pay for the nodes of an edit."""
PRUNING, LOSS = 0.03, 0.002
"""Share of the allowance that is kept to look for nodes that do not pay, and the reward that their absence may cost."""


@dataclass(frozen=True)
class Options:
    """`structures`: the only ones to consider (empty: all). `edits`: at most so many edits by gaps.

    `branches`: whether an edit may add a branch, or only move numbers. `allowance`: evaluations to spend when the
    context names no share.
    """

    structures: tuple[str, ...] = ()
    edits: int = 4
    branches: bool = True
    allowance: float = FALLBACK_ALLOWANCE


class BuiltinActor:
    """The model-free actor. Deterministic from `seed` and the context."""

    name = "builtin"

    def __init__(self, seed: int = 0, options: Options | None = None) -> None:
        """`seed` drives every draw of the attempt."""
        self.options = options or Options()
        self._rng = np.random.default_rng(seed)
        self._searcher: Searcher | None = None
        self._current: Proposal | None = None
        self._pending: Repair | None = None
        self._reward: float | None = None
        self._edits = 0
        self._polished, self._polish, self._pruning = False, 0.0, 0.0
        self._least: float | None = None
        self._start: frozenset[str] = frozenset()
        self._stale_view = False
        self._refused: set[str] = set()

    def act(self, context: Context, bench: Bench) -> Turn:
        """One turn: build first, then edits by the gaps, then the end."""
        if self._current is None:
            return self._build(context, bench)
        if self._pending is not None:
            return self._decide(context)
        return self._edit_or_end(context)

    def _build(self, context: Context, bench: Bench) -> Turn:
        self._measured = measured = measure(context)
        plan = make_plan(context, measured, self.options.structures)
        allowance = self._allowance(context)
        self._polish, self._pruning = POLISH * allowance, PRUNING * allowance
        surface = measure_surface(context, bench)
        builder = Builder(context.state.graph, measured, surface)
        self._start = frozenset(context.state.graph.nodes)
        searcher = self._searcher = Searcher(bench, builder, self._rng, allowance)
        said: list[str] = [plan.reason]
        # What a reflection demands is built whatever the choice costs.
        kept = DEMANDED * allowance if plan.overlay else 0.0
        searcher.left -= kept
        chosen, why = self._choose(searcher, plan, allowance - kept, said)
        searcher.left += kept
        if chosen is None:
            reason = f"{plan.reason}; no candidate could be built and rendered: {why}"
            self._current = None
            return Turn((Finish("unfinished", reason),), reason)
        if plan.overlay:
            chosen = self._demanded(chosen, plan.overlay, searcher, kept - JUDGED)
        self._current = chosen.proposal
        edits = builder.edits(chosen.proposal)
        searcher.standing = edits
        said.append(why)
        note = Note(f"Built {chosen.proposal.structure.title.lower()}: {why}.")
        actions: list[Action] = [*edits, note, Render("flat", MAPS)]
        return Turn(tuple(actions), ". ".join(said), chosen.proposal.structure.name)

    def _allowance(self, context: Context) -> float:
        share = context.state.share.get("candidates", context.state.remaining.get("candidates", self.options.allowance))
        return max(0.0, float(share))

    def _choose(self, searcher: Searcher, plan: Plan, allowance: float, said: list[str]) -> tuple[Scored | None, str]:
        found = race(searcher, plan.entries, plan.evidence, RACE * allowance, said.append)
        if not found and searcher.left >= COST:
            return None, "every hypothesis failed to render"
        if not found:
            # No budget for a single picture: the values that such a structure usually takes must do.
            usual = fitted(searcher.builder, plan.entries[0])
            return Scored(usual, 0.0, Trial((), True, 0.0)), f"{usual.structure.name} by its evidence alone"
        # The screen is blind to much: the full judge says which structures deserve the refinement.
        leaders = [item.proposal for scored in found.values() for item in scored[:LEADERS]]
        first = searcher.judge(leaders, LEADERS_RESOLUTION)
        leading = _best_by_structure(first) or {name: scored[0] for name, scored in found.items()}
        refined = list(first[:1])
        for start, share in zip(_finalists(leading), SHARES, strict=False):
            refined += refine(searcher, start, share * allowance)[:2]
        judged = searcher.judged(refined)
        # Correcting the colours may turn the order of the two best structures round.
        two = list(_best_by_structure(judged).values())[:2]
        judged += searcher.judge([fresh for item in two for fresh in searcher.corrected(item)])
        judged.sort(key=lambda item: -item.score)
        # The preview chooses who is rendered, Blender who is chosen.
        best_two = [scored.proposal for scored in _best_by_structure(judged).values()][:2]
        judged = searcher.judge(best_two, sketch=False) or judged
        if not judged:
            best = max((scored[0] for scored in found.values()), key=lambda item: item.score)
            return (
                best,
                f"{best.proposal.structure.name} by the screen ({best.score:.3f}); no budget for the full judge",
            )
        best, edited = self._after_edits(judged, plan, searcher, allowance)
        table = ", ".join(f"{item.proposal.structure.name} {item.score:.3f}" for item in judged)
        return best, f"the full evaluator ranks {table}{edited}; chosen {best.proposal.structure.name}"

    def _after_edits(
        self, judged: list[Scored], plan: Plan, searcher: Searcher, allowance: float
    ) -> tuple[Scored, str]:
        """The preferred of two structures: each after its first edit, when they are near, for edits gain unequally."""
        best = _preferred(judged, plan)
        near = [
            (item, verdict)
            for item in judged
            if (verdict := item.trial.evaluation) is not None and item.score > judged[0].score - CLOSE
        ]
        if len(near) < 2 or any(verdict.success for _, verdict in near):
            return best, ""
        repairer = self._repairer(searcher)
        after = []
        for item, verdict in near:
            repair = repairer.propose(item.proposal, verdict, verdict.gaps, set(), TRIAL * allowance, PROGRESS)
            after.append(item if repair is None else replace(item, proposal=repair.proposal, score=repair.score))
        after.sort(key=lambda item: -item.score)
        table = ", ".join(f"{item.proposal.structure.name} {item.score:.3f}" for item in after)
        return _preferred(after, plan), f", after a first edit {table}"

    def _demanded(self, chosen: Scored, name: str, searcher: Searcher, allowance: float) -> Scored:
        """With the branch that a reflection asks for, tuned; kept whether or not it pays: the next verdict will say."""
        repairer = self._repairer(searcher)
        judged = searcher.judge(repairer.tuned(chosen.proposal, name, allowance))
        return judged[0] if judged else chosen

    def _edit_or_end(self, context: Context) -> Turn:
        state = context.state
        assert self._searcher is not None and self._current is not None, "built before edited"
        evaluation = state.evaluation
        if evaluation is None or state.edited_since_render:
            if self._stale_view:
                return self._end(context, "the render of the present graph failed twice")
            self._stale_view = True
            return Turn((Render("flat", MAPS),), "the present graph has no verdict yet")
        self._stale_view = False
        self._reward = evaluation.reward
        if self._least is not None:
            return self._prune_or_end(context, evaluation, "no cut that was tried is without loss")
        if evaluation.success or self._left() < 4 * COST:
            why = "the evaluator accepts it" if evaluation.success else "no budget is left"
            return self._prune_or_end(context, evaluation, why)
        repairer = self._repairer(self._searcher)
        repair = None
        # What is refused makes room for the next moves of the same gaps.
        while repair is None and self._edits < self.options.edits and self._slice() >= 4 * COST:
            repair = repairer.propose(self._current, evaluation, state.gaps, self._refused, self._slice(), PROGRESS)
            self._edits += 1
        if repair is None and not self._polished:
            self._polished = True
            repair = repairer.polish(self._current, evaluation, min(self._left(), self._polish), PROGRESS)
        if repair is None:
            return self._prune_or_end(context, evaluation, "no edit that the gaps call for raised the reward")
        self._pending = repair
        edits = transition(self._searcher.standing, self._searcher.builder.edits(repair.proposal))
        return Turn((*edits, Render("flat", MAPS)), repair.reason, repair.proposal.structure.name)

    def _repairer(self, searcher: Searcher) -> Repairer:
        return Repairer(searcher, self._measured, branches=self.options.branches)

    def _slice(self) -> float:
        kept = 0.0 if self._polished else self._polish
        return max(0.0, self._left() - kept) / max(1, self.options.edits - self._edits)

    def _left(self) -> float:
        assert self._searcher is not None, "built before edited"
        return max(0.0, self._searcher.left - self._pruning)

    def _prune_or_end(self, context: Context, evaluation: Evaluation, why: str) -> Turn:
        """Take nodes away that do not pay and have the smaller graph judged; end where all of them do.

        All cuts together may cost `LOSS`.
        """
        assert self._searcher is not None, "built before pruned"
        self._least = evaluation.reward - LOSS if self._least is None else self._least
        graph, wanted = context.state.graph, _demanded_nodes(context)
        cut = prune(self._searcher, graph, evaluation, self._start, wanted, self._least)
        if cut is None:
            return self._end(context, why)
        reason = (
            f"{why}; {', '.join(cut.gone)} do not pay: without them the reward is {cut.reward:.3f} "
            f"after {evaluation.reward:.3f}, so they are removed"
        )
        return Turn((*cut.edits, Render("flat", MAPS)), reason)

    def _decide(self, context: Context) -> Turn:
        """Keep the pending edit if the reward rose; otherwise undo it by typed actions."""
        repair, searcher = self._pending, self._searcher
        assert repair is not None and searcher is not None and self._current is not None, "an edit is pending"
        self._pending = None
        evaluation = context.state.evaluation
        before = self._reward if self._reward is not None else -1.0
        fresh = evaluation is not None and not context.state.edited_since_render
        if evaluation is not None and fresh and evaluation.reward > before + PROGRESS / 2:
            self._current = repair.proposal
            searcher.standing = searcher.builder.edits(repair.proposal)
            return self._edit_or_end(context)
        edits = transition(searcher.builder.edits(repair.proposal), searcher.standing)
        self._refused.add(repair.move)
        seen = "was not judged" if evaluation is None else f"brought {evaluation.reward:.3f} after {before:.3f}"
        return Turn((*edits, Render("flat", MAPS)), f"undone: {repair.move} against {repair.gap.kind} {seen}")

    def _end(self, context: Context, why: str) -> Turn:
        evaluation = context.state.evaluation
        if evaluation is not None and evaluation.success and not context.state.edited_since_render:
            reason = f"every term is above its threshold, reward {evaluation.reward:.3f}"
            return Turn((Finish("success", reason),), reason)
        failures = "; ".join(evaluation.failures[:3]) if evaluation is not None else "no verdict"
        reason = f"{why + ': ' if why else ''}{failures or 'the evaluation budget is spent'}"
        return Turn((Finish("unfinished", reason),), reason)


def _demanded_nodes(context: Context) -> set[str]:
    """Nodes of the kind that the last reflection asked for: the next verdict is to say what they are worth."""
    wanted = context.memory[-1].graph_change.pattern if context.memory else None
    if wanted is None:
        return set()
    nodes = context.state.graph.nodes.values()
    return {n.id for n in nodes if wanted.type in ("", n.type) and wanted.role in ("", n.role)}


def _best_by_structure(judged: Sequence[Scored]) -> dict[str, Scored]:
    """The best candidate of each structure, in the order of `judged`, which is best first."""
    best: dict[str, Scored] = {}
    for item in judged:
        best.setdefault(item.proposal.structure.name, item)
    return best


def _finalists(leading: Mapping[str, Scored]) -> list[Scored]:
    """The two best structures, and plain noise where it is near: it often gains most from refinement."""
    names = list(leading)
    chosen = names[:2]
    if ALWAYS in names[2:] and leading[ALWAYS].score > leading[names[0]].score - NEAR:
        chosen.append(ALWAYS)
    return [leading[name] for name in chosen]


def _preferred(judged: Sequence[Scored], plan: Plan) -> Scored:
    """The best by reward and evidence together; a measured lattice is held at near parity."""

    def rank(item: Scored) -> float:
        structure = item.proposal.structure
        holds = plan.lattice_wanted and bool(structure.needs)
        return item.score + PRIOR * plan.evidence.get(structure.name, 0.0) + (LATTICE if holds else 0.0)

    return max(judged, key=rank)
