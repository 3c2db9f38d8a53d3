"""Assembling the context C*: the parts that an actor reads, from where they live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graph_api import Ban, Lock
from material_agent.context import Constraints, Context, Feedback, Step, Task, ToolState
from material_agent.context_config import PARTS, WHOLE, ContextConfig, Part
from material_agent.context_view import blunt
from material_agent.environment import Environment
from material_agent.events import ContextBuilt
from material_agent.memory import Reflection
from references.analysis import Analysis


@dataclass(frozen=True)
class Brief:
    """What stays the same during one attempt.

    `share` is what the attempt should keep to of each limited resource. `decomposition` (None when it is withheld), its
    `parts` and `told` are what `context_view.view_of` left; `context` says the rest of what the actor is shown.
    """

    task: Task
    decomposition: Analysis | None
    memory: tuple[Reflection, ...] = ()
    bans: tuple[Ban, ...] = ()
    locks: tuple[Lock, ...] = ()
    attempt: int = 1
    attempts_left: int = 0
    share: Mapping[str, float] = field(default_factory=dict)
    force_new_structure: bool = False
    tried: tuple[str, ...] = ()
    parts: tuple[Part, ...] = PARTS
    told: str = ""
    previous: tuple[Step, ...] = ()
    feedback: Feedback | None = None
    context: ContextConfig = WHOLE


def assemble(
    brief: Brief,
    environment: Environment,
    history: Sequence[Step],
    *,
    step: int,
    steps_left: int,
    used: Mapping[str, float],
) -> Context:
    """The context for one turn; `used` is what this attempt has spent of each resource."""
    best = environment.best
    evaluation = environment.evaluation
    if evaluation is not None and brief.context.verdict == "global":
        evaluation = blunt(evaluation)
    state = ToolState(
        graph=environment.graph,
        evaluation=evaluation,
        gaps=evaluation.gaps if evaluation else (),
        edited_since_render=environment.edited_since_render,
        best_reward=best.evaluation.reward if best else None,
        best_graph=best.graph if best else None,
        step=step,
        steps_left=steps_left,
        attempt=brief.attempt,
        attempts_left=brief.attempts_left,
        remaining=environment.remaining,
        share={name: max(0.0, amount - used.get(name, 0.0)) for name, amount in brief.share.items()},
        force_new_structure=brief.force_new_structure,
        tried=brief.tried,
    )
    thresholds = evaluation.thresholds if evaluation else {}
    settings = environment.settings
    constraints = Constraints(brief.bans, brief.locks, settings.max_nodes, settings.tune, settings.search, thresholds)
    return Context(
        brief.task,
        brief.decomposition,
        constraints,
        brief.memory,
        tuple(history),
        state,
        brief.parts,
        brief.told,
        brief.previous,
        brief.feedback,
        brief.context.instruction,
    )


def context_event(context: Context, graph_hash: str) -> ContextBuilt:
    """What the log keeps of a context: which parts were there, and the facts that steer."""
    parts = {
        "task": True,
        "decomposition": context.decomposition is not None,
        **{f"decomposition.{part}": True for part in context.parts if context.decomposition is not None},
        "constraints": True,
        "memory": bool(context.memory),
        "previous": bool(context.previous),
        "feedback": context.feedback is not None,
        "history": bool(context.history),
        "state": True,
    }
    state = context.state
    return ContextBuilt(
        step=state.step + 1,
        graph_hash=graph_hash,
        parts=tuple(name for name, present in parts.items() if present),
        memory=tuple(reflection.id for reflection in context.memory),
        bans=tuple(ban.describe() for ban in context.constraints.bans),
        gaps=tuple(gap.message for gap in state.gaps),
        edited_since_render=state.edited_since_render,
        best_reward=state.best_reward,
        remaining={name: amount for name, amount in state.remaining.items() if name != "seconds"},
    )
