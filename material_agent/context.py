"""The context C*: the one object that every actor reads, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evaluators.result import Evaluation, Gap
from graph_api.model import Graph
from graph_api.rules import Ban, Lock
from material_agent.context_config import PARTS, Part
from material_agent.memory.reflection import Reflection
from material_agent.observation import Observation
from material_agent.proposals import Proposed
from references.analysis import Analysis

# Actors read what the context holds from here, and import neither references nor evaluators.
__all__ = ["Analysis", "Constraints", "Context", "Evaluation", "Feedback", "Gap", "Step", "Task", "ToolState"]


@dataclass(frozen=True)
class Task:
    """What is asked: the picture (sRGB, float32, (H, W, 3), row 0 at the top), its size in metres, the goal."""

    id: str
    image_srgb: npt.NDArray[np.float32]
    patch_size_m: float
    goal: str


@dataclass(frozen=True)
class Constraints:
    """What binds the actor: enforced by the graph API, told here so that nobody runs into it blindly.

    `tune`: whether a search may be asked for. `search`: whether candidates may be tried between two actions; without it
    there is no bench.
    """

    bans: tuple[Ban, ...] = ()
    locks: tuple[Lock, ...] = ()
    max_nodes: int = 80
    tune: bool = False
    search: bool = True
    thresholds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One turn of history: the thought (may be empty), the action and what the environment answered."""

    thought: str
    action: Proposed
    observation: Observation


@dataclass(frozen=True)
class Feedback:
    """All that is left of the last attempt where memory is a number and a picture.

    `reward` of its best render (None: nothing was judged), and `difference` (H, W, 3): that render minus the reference,
    display-referred sRGB, in [−1, 1].
    """

    reward: float | None
    difference: npt.NDArray[np.float32]


@dataclass(frozen=True)
class ToolState:
    """Where the attempt stands.

    `evaluation` and `gaps` belong to the last rendered graph, and are stale when `edited_since_render`. `best_reward`
    is the best of this attempt. `remaining` is what the run's ledger has left, `share` what this attempt should keep to
    so that the attempts after it get as much. `force_new_structure`: the last attempts brought no progress, so this one
    must choose a structure that none of `tried` is (structures that earlier attempts reported, in order).
    """

    graph: Graph
    evaluation: Evaluation | None = None
    gaps: tuple[Gap, ...] = ()
    edited_since_render: bool = True
    best_reward: float | None = None
    best_graph: Graph | None = None
    step: int = 0
    steps_left: int = 0
    attempt: int = 1
    attempts_left: int = 0
    remaining: Mapping[str, float] = field(default_factory=dict)
    share: Mapping[str, float] = field(default_factory=dict)
    force_new_structure: bool = False
    tried: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """Task, visual decomposition, constraints, memory, history and tool state.

    Any part may be withheld. `parts` are those of the decomposition that may be read, in their order, `told` the same
    in words (empty: all there is); what is measured on the picture itself counts as the part that it belongs to. A raw
    context has `decomposition` None and no parts. `memory`, `previous` (the steps of the last attempt) and `feedback`
    are what may cross attempts; at most one of them is there. `instruction` names the instruction of a model.
    """

    task: Task
    decomposition: Analysis | None
    constraints: Constraints
    memory: tuple[Reflection, ...]
    history: tuple[Step, ...]
    state: ToolState
    parts: tuple[Part, ...] = PARTS
    told: str = ""
    previous: tuple[Step, ...] = ()
    feedback: Feedback | None = None
    instruction: str = "expert"
