"""The built-in policy without a search: it writes the graph from its context and corrects it by the gaps' own numbers.

Where a run allows no candidates between two actions, this is the built-in actor: a structure drawn by the evidence, its
parameters at their measurements, colours fitted to the values that such structures usually take. Each attempt draws
anew. With renders to look at it makes one edit at a time and takes back what did not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_api import ActionRejected, apply
from graph_api.actions import AddNode, Edit, Finish, Render
from graph_api.model import Graph
from material_agent.actors.base import Turn
from material_agent.actors.builtin.actor import MAPS, BuiltinActor
from material_agent.actors.builtin.hints import COLOR, recoloured, stepped
from material_agent.actors.builtin.measurements import Measurements, measure
from material_agent.actors.builtin.overlay import lay_over, moves_for, overlays
from material_agent.actors.builtin.plan import CONTENDERS, make_plan
from material_agent.actors.builtin.prior import fitted, usual_surface
from material_agent.actors.builtin.proposal import Builder, Proposal, transition
from material_agent.actors.builtin.repair import SCALINGS, branch_parameters
from material_agent.actors.builtin.search import draw
from material_agent.actors.builtin.structure import structures
from material_agent.actors.refine import batches
from material_agent.context import Context, Evaluation, Gap
from material_agent.observation import Bench
from material_agent.proposals import BUDGETS, Proposed, Tune

LOOK = Render("flat", MAPS)
TEMPERATURE = 0.2
"""Of the draw among structures, in units of their evidence."""
SPREAD, STEP = 0.06, 0.2
"""Of the first values, so that a retry is another material; and of a step that no number guides."""
PROGRESS = 0.0025
POOR, DISCOUNT = 0.55, 2.0
"""Below this reward the structure of the last attempt is held responsible and loses this much evidence."""
MOST_TUNES, TUNE_BUDGET = 2, 48


@dataclass(frozen=True)
class Trial:
    """An edit that waits for its verdict: what it was, the proposal and the beliefs behind it."""

    move: str
    proposal: Proposal
    measured: Measurements


class DirectActor:
    """One attempt without a bench. Deterministic from `seed` and the context."""

    name = "builtin"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._current: Proposal | None = None
        self._sent: list[Edit] = []
        self._trial: Trial | None = None
        self._reward = -1.0
        self._refused: set[str] = set()
        self._looks = 0
        self._redraw = False

    def act(self, context: Context, bench: Bench) -> Turn:
        """One turn: the graph first, then an edit and a look at a time, then the end."""
        if self._current is None:
            return self._build(context)
        evaluation = context.state.evaluation
        if evaluation is None or context.state.edited_since_render:
            self._looks += 1
            return Turn((LOOK,), "no verdict yet") if self._looks < 2 else self._end(context, "no render came back")
        self._take_in(context, evaluation)
        if evaluation.success:
            return Turn((Finish("success", f"accepted at reward {evaluation.reward:.3f}"),))
        if context.state.share.get("renders", 1.0) < 1 or context.state.steps_left <= 1:
            return self._end(context, "no render is left")
        return self._edit(context)

    def _build(self, context: Context) -> Turn:
        self._measured = _believed(context)
        self._start = context.state.graph
        chosen, why, overlay = self._chosen(context)
        builder = self._builder(self._measured, context.task.patch_size_m)
        proposal = fitted(builder, draw(chosen, self._rng, SPREAD))
        laid = lay_over(proposal, overlays()[overlay], self._measured) if overlay else None
        if laid is not None:
            proposal = fitted(builder, laid)
        self._current = proposal
        self._sent = builder.edits(proposal)
        searches = self._searches(context, self._sent, MOST_TUNES)
        actions: tuple[Proposed, ...] = (*self._sent, *searches, LOOK)
        return Turn(actions, why, proposal.structure.name)

    def _chosen(self, context: Context) -> tuple[Proposal, str, str]:
        """A structure drawn by its evidence among those that memory leaves, why, and a branch to lay over it."""
        only: tuple[str, ...] = ()
        if not self._measured.hypotheses and not context.memory:
            only = tuple(self._rng.permutation(sorted(structures()))[: 2 * CONTENDERS].tolist())
        plan = make_plan(context, self._measured, only, macro_branches=True)
        entries = list(plan.entries)
        tried = context.state.tried
        if plan.overlay and tried and not context.state.force_new_structure:
            # A reflection that blames a branch claims that the structure is right.
            entries = [item for item in entries if item.structure.name == tried[-1]] or entries
        evidence = np.array([plan.evidence.get(item.structure.name, 0.0) for item in entries])
        evidence -= [DISCOUNT if _failed_with(context, item.structure.macro_type) else 0.0 for item in entries]
        odds = np.exp((evidence - evidence.max()) / TEMPERATURE)
        index = int(self._rng.choice(len(entries), p=odds / odds.sum()))
        why = f"{plan.reason}; drawn {entries[index].structure.name} at odds {odds[index] / odds.sum():.2f}"
        return entries[index], why, plan.overlay

    def _take_in(self, context: Context, evaluation: Evaluation) -> None:
        """Keep the last edit when it helped and nothing of it was refused; else its move is not tried again."""
        trial, self._trial = self._trial, None
        refused = _refused(context)
        if refused:
            # What was refused is not in the graph, and no later edit may count on it.
            self._sent = [edit for edit in self._sent if edit not in refused]
        if trial is None:
            self._reward = evaluation.reward
            self._redraw = bool(refused)
        elif evaluation.reward > self._reward + PROGRESS and not refused:
            self._current, self._measured, self._reward = trial.proposal, trial.measured, evaluation.reward
        else:
            self._refused.add(trial.move)

    def _edit(self, context: Context) -> Turn:
        assert self._current is not None, "built before edited"
        moves = self._moves(context.state.gaps)
        if self._redraw:
            # Something of the first graph was refused: its values are drawn anew before anything is corrected.
            moves, self._redraw = [(None, "redraw"), *moves], False
        for gap, move in moves:
            trial = self._tried(context, gap, move)
            if trial is None:
                self._refused.add(move)
                continue
            builder = self._builder(trial.measured, context.task.patch_size_m)
            edits = builder.edits(trial.proposal)
            actions = transition(self._sent, edits)
            searches = self._searches(context, actions, 1) if move.startswith("tune") else ()
            if not actions and not searches:
                self._refused.add(move)
                continue
            self._trial, self._sent = trial, edits
            against = "" if gap is None else f" against {gap.message} ({gap.kind}, {gap.scale})"
            return Turn((*actions, *searches, LOOK), f"{move}{against}", trial.proposal.structure.name)
        return self._end(context, "no edit is left to try")

    def _moves(self, gaps: Sequence[Gap]) -> list[tuple[Gap | None, str]]:
        """What the gaps call for, largest first; without gaps, everything in an order of chance."""
        if not gaps:
            blind = ["tune:macro", "tune:meso", "tune:micro", "tune:shading", *sorted(overlays())]
            order = self._rng.permutation(len(blind))
            return [(None, blind[k]) for k in order if blind[k] not in self._refused]
        found: list[tuple[Gap | None, str]] = []
        for gap in gaps:
            numeric = "recolor" if gap.kind in COLOR else f"step:{gap.kind}"
            for move in (numeric, *moves_for(gap)):
                if move not in self._refused and move not in {known for _, known in found}:
                    found.append((gap, move))
        return found

    def _tried(self, context: Context, gap: Gap | None, move: str) -> Trial | None:
        """What a move makes of the present proposal; None where it does not apply."""
        assert self._current is not None, "built before edited"
        current, measured = self._current, self._measured
        kind, _, part = move.partition(":")
        if kind == "recolor":
            measured, values = recoloured(measured, current.values, context.state.gaps)
            changed: Proposal | None = replace(current, values=values)
        elif kind == "step":
            step = None if gap is None else stepped(current.structure, current.values, gap)
            changed = None if step is None else current.with_values(step)
        elif move in overlays():
            changed = lay_over(current, overlays()[move], measured)
        elif kind == "redraw":
            changed = draw(current, self._rng, STEP)
        elif kind == "scale":
            known = part in current.values
            changed = current.with_values({part: current.values[part] * SCALINGS[0]}) if known else None
        else:
            names = branch_parameters(current.structure, part) if part else set(current.values)
            changed = draw(current, self._rng, STEP, lambda item: item.name in names) if names else None
        if changed is None:
            return None
        return Trial(move, fitted(self._builder(measured, context.task.patch_size_m), changed), measured)

    def _searches(self, context: Context, edits: Sequence[Edit], most: int) -> tuple[Tune, ...]:
        """Searches over the free numbers of the graph as it will be, where the run allows to ask for them."""
        share = context.state.share.get("candidates", float(TUNE_BUDGET * most))
        budget = int(min(share / most, TUNE_BUDGET))
        if not context.constraints.tune or budget < BUDGETS[0]:
            return ()
        graph = _after(context.state.graph, edits)
        found = [*batches(replace(context, state=replace(context.state, graph=graph)))]
        return tuple(Tune(names, "reward", budget) for names in found[:most])

    def _builder(self, measured: Measurements, patch_m: float) -> Builder:
        return Builder(self._start, measured, usual_surface(patch_m))

    def _end(self, context: Context, why: str) -> Turn:
        evaluation = context.state.evaluation
        failures = "; ".join(evaluation.failures[:3]) if evaluation is not None else "no verdict"
        return Turn((Finish("unfinished", f"{why}: {failures}"),), why)


class Builtin:
    """The built-in actor: with a bench it searches, without one it writes directly."""

    name = "builtin"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._chosen: BuiltinActor | DirectActor | None = None

    def act(self, context: Context, bench: Bench) -> Turn:
        """As the policy that fits the run's constraints."""
        if self._chosen is None:
            self._chosen = BuiltinActor(self._seed) if context.constraints.search else DirectActor(self._seed)
        return self._chosen.act(context, bench)


def _believed(context: Context) -> Measurements:
    """What is measured, its colours corrected by the last attempt's difference picture, if there is one."""
    measured = measure(context)
    if context.feedback is None:
        return measured
    shift = context.feedback.difference.mean(axis=(0, 1))
    return replace(measured, pixels=np.clip(measured.pixels - shift, 0.0, 1.0))


def _failed_with(context: Context, macro_type: str) -> bool:
    """Whether the last attempt, where it is there to be read, built on this texture and came to little."""
    steps = context.previous
    rewards = [step.observation.evaluation.reward for step in steps if step.observation.evaluation is not None]
    built = any(isinstance(step.action, AddNode) and step.action.type == macro_type for step in steps)
    return built and bool(rewards) and max(rewards) < POOR


def _refused(context: Context) -> list[Proposed]:
    """What of the last turn was refused: from the end of history back to the look before the last."""
    found: list[Proposed] = []
    for step in reversed(context.history[:-1]):
        if isinstance(step.action, Render):
            break
        if step.observation.status == "rejected":
            found.append(step.action)
    return found


def _after(graph: Graph, edits: Sequence[Edit]) -> Graph:
    """The graph after those of the edits that apply."""
    for edit in edits:
        try:
            graph = apply(graph, edit).graph
        except ActionRejected:
            continue
    return graph
