"""One task of a client: an environment on a picture, its steps, and its folder in the workspace."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evaluators import Evaluator, Target
from evaluators.result import Evaluation
from graph_api import load_catalog, start_graph, to_json, to_python
from graph_api.actions import Render
from graph_api.catalog import nearest_version
from graph_api.model import Graph
from material_agent.budget import Ledger
from material_agent.context import Task
from material_agent.environment import Best, Environment, Settings
from material_agent.errors import BadInput
from material_agent.events import EventLog
from material_agent.fit import RunFolder
from material_agent.mcp.watch import Watch, WatchedRenderer
from material_agent.observation import FloatArray, Observation
from material_agent.proposals import Proposed, proposed_to_json
from references import load_reference
from references.analysis import Analysis, analyze
from renderer.protocol import Renderer

FOLDER = "tasks"
"""Where tasks lie in the workspace."""
LIMITS: Mapping[str, float] = {"actions": 20_000, "renders": 2000, "candidates": 20_000}
"""What one task may spend; a client that loops ends there."""


@dataclass(frozen=True)
class Step:
    """One step of a task: what was done, what was answered, and the graph after it."""

    number: int
    proposed: dict[str, object]
    observation: Observation
    graph: Graph


@dataclass
class OpenTask:
    """A task that is being worked on. Calls of one task come one after the other; tasks know nothing of each other."""

    id: str
    picture: str
    task: Task
    decomposition: Analysis
    environment: Environment
    renderer: WatchedRenderer
    ledger: Ledger
    log: EventLog
    steps: list[Step] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    used: float = 0.0

    def step(self, proposed: Proposed, watch: Watch) -> Observation:
        """Do one action. Raises `BudgetExhausted`, and `CallCancelled` with the graph as it was."""
        self.renderer.watch = watch
        return self._noted(proposed_to_json(proposed), self.environment.step(proposed))

    def verdict(self, watch: Watch) -> tuple[Observation | None, Evaluation | None]:
        """The verdict on the present graph; it is rendered for it when it was edited since."""
        if not self.environment.edited_since_render:
            return None, self.environment.evaluation
        seen = self.step(Render("flat", ("beauty",)), watch)
        return seen, seen.evaluation

    def revert(self, number: int) -> Observation:
        """Go back to the graph after step `number`, 0 for the start. Raises `BadInput` for a step that was not."""
        if not 0 <= number < len(self.steps):
            raise BadInput(f"expected a step of the task, got {number}; known: 0 to {len(self.steps) - 1}")
        seen = self.environment.restore(self.steps[number].graph)
        return self._noted({"op": "revert", "step": number}, seen)

    def close(self) -> None:
        """Close the log; the folder stays."""
        self.log.close()

    def _noted(self, proposed: dict[str, object], seen: Observation) -> Observation:
        self.steps.append(Step(len(self.steps), proposed, seen, self.environment.graph))
        return seen


class _Keeper:
    """Pictures of renders, and the best graph so far, in the task's folder."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._best: Best | None = None

    def save_picture(self, name: str, attempt: int, channel: str, pixels: FloatArray) -> str:
        """Write one channel as PNG."""
        return self._folder.write_channel(f"renders/{name}.png", channel, pixels)

    def judged(self, candidate: Best) -> None:
        """Keep the best graph on disk."""
        if candidate.beats(self._best):
            self._best = candidate
            self._folder.write_json("graph.json", to_json(candidate.graph))
            self._folder.write_text("material.py", to_python(candidate.graph))


def open_task(
    name: str,
    source: str | Path,
    *,
    root: Path,
    renderer: Renderer,
    blender: str,
    goal: str,
    patch_size_m: float,
    settings: Settings,
    network: str = "auto",
) -> OpenTask:
    """Begin a task on a picture, at the start graph; its folder is `root`/tasks/`name`.

    Raises the errors of the reference and of the evaluator for a picture that cannot be used.
    """
    reference = load_reference(str(source))
    decomposition = analyze(reference, patch_size_m=patch_size_m)
    judge = Evaluator(
        Target.from_image(reference.image_srgb),
        network="off" if network == "off" else "auto",
        patch_size_m=patch_size_m,
    )
    folder = RunFolder(root / FOLDER / name)
    ledger = Ledger(LIMITS)
    log = EventLog(folder.events, ledger)
    task = Task(reference.sha256[:12], reference.image_srgb, patch_size_m, goal)
    watched = WatchedRenderer(renderer)
    environment = Environment(task, watched, judge, ledger, log, settings, _Keeper(folder))
    version = nearest_version(blender)
    load_catalog(version)
    first = environment.reset(start_graph(version))
    opened = OpenTask(name, str(source), task, decomposition, environment, watched, ledger, log)
    opened.steps.append(Step(0, {"op": "open_task"}, first, environment.graph))
    return opened
