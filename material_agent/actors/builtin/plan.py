"""Which hypotheses enter the race, and why: evidence of the analysis, bans, and what reflections ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from graph_api.rules import Ban
from material_agent.actors.builtin.lattices import LATTICES
from material_agent.actors.builtin.measurements import Measurements
from material_agent.actors.builtin.overlay import overlays
from material_agent.actors.builtin.proposal import Proposal
from material_agent.actors.builtin.search import start_values
from material_agent.actors.builtin.structure import NodeSpec, Structure, structures
from material_agent.context import Context
from material_agent.errors import ActorError

ALWAYS = "layered_noise"
"""Plain noise is always in the race: on stochastic materials it beats specialised structures surprisingly often."""
PERIODIC, IRREGULAR = (*LATTICES, "harmonics"), 0.3
"""Needs of the structures that repeat, and the weight of the others where a lattice was measured."""
CONTENDERS, WEAK = 4, 0.4
"""At most so many structures race; one with less than this share of the leader's evidence would only cost."""


@dataclass(frozen=True)
class Plan:
    """The proposals that start the race, what was decided and why; `overlay`: a branch that a reflection demands.

    `evidence` in [0, 1] by structure: what the analysis says for it before anything is rendered.
    """

    entries: tuple[Proposal, ...]
    reason: str
    lattice_wanted: bool
    evidence: Mapping[str, float] = field(default_factory=dict)
    overlay: str = ""


def weights(measured: Measurements) -> Mapping[str, float]:
    """Each structure's evidence: the sum of its hypotheses' probabilities times the structure's own weights.

    What cannot hold a lattice counts little where there surely is one: cells look like studs to every statistic.
    """
    found = {}
    for name, item in structures().items():
        if measured.has(item.needs):
            weight = sum(weight * measured.hypotheses.get(kind, 0.0) for kind, weight in item.evidence.items())
            found[name] = weight * (IRREGULAR if measured.regular and item.needs not in PERIODIC else 1.0)
    return found


def make_plan(
    context: Context, measured: Measurements, only: tuple[str, ...] = (), *, macro_branches: bool = False
) -> Plan:
    """The race of this attempt. A reflection's wanted pattern comes first, bans and used structures drop out.

    `macro_branches`: a reflection that blames a branch may ask for a macro texture over the same structure too.
    """
    ranked = sorted(weights(measured).items(), key=lambda item: (-item[1], item[0]))
    names = [name for name, _ in ranked if not only or name in only]
    banned = {name for name in names if breaks(structures()[name], context.constraints.bans)}
    reflection = context.memory[-1] if context.memory else None
    wanted = reflection.graph_change.pattern if reflection is not None else None
    notes = []
    open_names = [name for name in names if name not in banned]
    if banned:
        notes.append(f"banned: {', '.join(sorted(banned))}")
    if context.state.force_new_structure:
        fresh = [name for name in open_names if name not in context.state.tried]
        if fresh:
            notes.append(f"two attempts without progress, so not {', '.join(context.state.tried)} again")
            open_names = fresh
    overlay = ""
    if reflection is not None and wanted is not None:
        # Who bans a value blames a branch; who bans a node, the structure.
        overlay = _overlay_for(wanted, branch=macro_branches and reflection.forbidden_op.kind == "param")
        if not overlay:
            open_names = [name for name in open_names if holds(structures()[name].nodes, wanted)] or open_names
        notes.insert(0, f"follows reflection {reflection.id}: {reflection.graph_change.text}")
    table = dict(ranked)
    chosen = [name for name in open_names[:CONTENDERS] if table[name] >= WEAK * table[open_names[0]]]
    if not chosen:
        raise ActorError(f"expected a structure that no ban forbids, got none; {'; '.join(notes)}")
    if ALWAYS in open_names and ALWAYS not in chosen:
        chosen = [*chosen[: CONTENDERS - 1], ALWAYS]
    entries = [entry for name in chosen for entry in _entries(structures()[name], measured)]
    race_text = ", ".join(f"{name} {table[name]:.2f}" for name in chosen)
    reason = f"hypotheses by evidence: {race_text}" + (f"; {'; '.join(notes)}" if notes else "")
    return Plan(tuple(entries), reason, measured.regular, {name: min(table[name], 1.0) for name in chosen}, overlay)


def _overlay_for(wanted: Ban, *, branch: bool) -> str:
    """The overlay whose texture is what a reflection wants beside the structure; "" for a pattern of the structure."""
    if wanted.role == "macro" and not branch:
        return ""
    return next((name for name, item in overlays().items() if holds(item.nodes, wanted)), "")


def _entries(structure: Structure, measured: Measurements) -> list[Proposal]:
    """One proposal for each lattice worth trying, or one, and for each of the structure's starts."""
    lattices: tuple[Mapping[str, float] | None, ...] = measured.lattices_for(structure.needs) or (None,)
    if measured.loose and structure.needs in LATTICES:
        # What was only estimated may be searched.
        structure = replace(structure, parameters=tuple(replace(p, hard=False) for p in structure.parameters))
    return [
        Proposal(structure, {**start_values(structure, measured, lattice), **start})
        for lattice in lattices
        for start in structure.starts
    ]


def breaks(structure: Structure, bans: tuple[Ban, ...]) -> bool:
    """Whether building the structure at all would hit a node ban (other kinds depend on values)."""
    return any(ban.kind == "node" and holds(structure.nodes, ban) for ban in bans)


def holds(nodes: Sequence[NodeSpec], pattern: Ban) -> bool:
    """Whether there is a node of the pattern's type and role."""
    return any(
        (not pattern.type or node.type == pattern.type) and (not pattern.role or node.role == pattern.role)
        for node in nodes
    )
