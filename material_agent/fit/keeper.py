"""The keeper of the best: what is the best material of the run so far is on disk at every moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluators.result import Facts
from graph_api import content_hash, to_json, to_python
from graph_api.model import Graph
from material_agent.context import Task
from material_agent.environment import Best
from material_agent.events import BestUpdated, EvaluationRecord, Log, evaluation_record
from material_agent.fit.folder import RunFolder
from material_agent.observation import FloatArray
from renderer import BlendFileError

BlendWriter = Callable[[Graph, Path], object]


@dataclass(frozen=True)
class Kept:
    """The best of the run as it is kept, also over a resume."""

    graph: Graph
    facts: Facts
    attempt: int
    observation: str
    evaluation: EvaluationRecord

    @property
    def rank(self) -> tuple[bool, float]:
        """What better means: acceptance first, then the reward."""
        reward = self.evaluation.reward
        return self.evaluation.success, float("-inf") if reward is None else reward


class Keeper:
    """Records pictures and the best; the environment's `Recorder`.

    The event comes first, because a resume restores from it; then graph, script and comparison, each replaced whole.
    The .blend file takes a Blender start, so it is written beside the run, always for the newest best; without a writer
    of it (an experiment's run) no pictures and scripts are kept either.
    """

    def __init__(
        self, folder: RunFolder, task: Task, log: Log, write_blend: BlendWriter | None, kept: Kept | None = None
    ) -> None:
        self.kept = kept
        self._folder = folder
        self._task = task
        self._log = log
        self._blend = _Latest(self.write_blend)
        self._write_blend = write_blend

    def save_picture(self, name: str, attempt: int, channel: str, pixels: FloatArray) -> str:
        """Write one channel of an observation as PNG; returns the path inside the run folder."""
        if self._write_blend is None:
            return ""
        return self._folder.write_channel(f"attempts/{attempt}/{name}.png", channel, pixels)

    def judged(self, candidate: Best) -> None:
        """Keep a judged render when it is the best of the run."""
        kept = Kept(
            candidate.graph,
            candidate.facts,
            candidate.attempt,
            candidate.observation,
            evaluation_record(candidate.evaluation),
        )
        if self.kept is not None and kept.rank <= self.kept.rank:
            return
        self.kept = kept
        event = BestUpdated(
            observation=kept.observation,
            graph_hash=content_hash(kept.graph),
            graph=to_json(kept.graph),
            facts=asdict(kept.facts),
            evaluation=kept.evaluation,
        )
        self._log.write(event, kept.attempt)
        if self._write_blend is None:
            self._folder.write_json("graph.json", to_json(kept.graph))
            return
        self.write_graph(kept.graph)
        self._folder.write_comparison("comparison.png", self._task.image_srgb, candidate.channels["beauty"])
        self._blend.put(kept.graph)

    def write_graph(self, graph: Graph) -> None:
        """Write `graph.json` and `material.py`."""
        self._folder.write_json("graph.json", to_json(graph))
        self._folder.write_text("material.py", to_python(graph))

    def write_blend(self, graph: Graph) -> None:
        """Write `material.blend`."""
        writer = self._write_blend
        if writer is not None:
            self._folder.write("material.blend", lambda path: writer(graph, path))

    def close(self) -> str:
        """Wait until the newest best is in the .blend file; returns what went wrong, empty when nothing did."""
        return self._blend.close()


class _Latest:
    """Does a slow thing in the background for the newest item only."""

    def __init__(self, work: Callable[[Graph], None]) -> None:
        self._work = work
        self._changed = threading.Condition()
        self._item: Graph | None = None
        self._thread: threading.Thread | None = None
        self._problem = ""

    def put(self, item: Graph) -> None:
        with self._changed:
            self._item = item
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="blend-writer", daemon=True)
                self._thread.start()

    def close(self) -> str:
        thread = self._thread
        if thread is not None:
            thread.join()
        return self._problem

    def _run(self) -> None:
        while True:
            with self._changed:
                item, self._item = self._item, None
                if item is None:
                    self._thread = None
                    return
            try:
                self._work(item)
                self._problem = ""
            except (BlendFileError, OSError) as error:
                self._problem = str(error)
