"""What is measured of a run after its end, where it ran: by the oracle, and on the graph. No actor sees any of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.result import Candidate, Facts
from graph_api import from_json
from graph_api.model import Graph
from material_agent.acceptance import accepted
from material_agent.events import AnyEvent, AttemptEnded, effective, read_events
from material_agent.experiments.attempts import attempt_rows
from material_agent.experiments.editable import editability
from material_agent.fit import RunFolder, RunResult
from material_agent.fit.judging import truth_graph
from material_agent.oracle import Oracle
from renderer import Renderer, RenderRequest, RenderSettings
from renderer.protocol import CHANNELS

MEASURES = "measures.json"
PLACES = 2
"""Places of the truth's endless pattern that the oracle compares with."""
_EDIT_SIDE = 64


@dataclass(frozen=True)
class Appraisal:
    """The step after a run: writes `measures.json` into its folder.

    `truth`: the graph behind the reference, as `RunConfig.truth`, empty for a picture whose graph nobody knows.
    `level`: the oracle's reward from which a material counts as right. `editability`: whether it is measured.
    """

    truth: str
    level: float | None
    editability: bool

    def __call__(self, folder: Path, run: RunResult, renderer: Renderer) -> None:
        """Measure the run in `folder`."""
        place = RunFolder(folder)
        events = read_events(place.events).events
        rows = attempt_rows(events)
        judged = self._judged(events, run, renderer)
        data = {
            "rows": [{**row, **word} for row, word in zip(rows, judged, strict=True)],
            "editability": self._editable(place, run, renderer),
            "times": _times(events, run),
            "versions": dict(run.versions),
        }
        place.write_json(MEASURES, data)

    @property
    def key(self) -> Mapping[str, Any]:
        """What results depend on."""
        return {"truth": self.truth, "level": self.level, "editability": self.editability, "places": PLACES}

    def _judged(self, events: Sequence[AnyEvent], run: RunResult, renderer: Renderer) -> list[dict[str, Any]]:
        """The oracle's word on the best graph of each attempt."""
        ended = [event for event in effective(events) if isinstance(event, AttemptEnded)]
        graphs = [from_json(event.best_graph) if event.best_graph else None for event in ended]
        unknown: dict[str, Any] = {"truth_reward": None, "truth_accepted": None, "false_positive": None}
        first = next((graph for graph in graphs if graph is not None), None)
        if not self.truth or first is None:
            return [dict(unknown) for _ in ended]
        settings = _settings(run)
        truth = truth_graph(self.truth, first.blender_version)
        oracle = Oracle(truth, renderer, settings=settings, places=PLACES, network=str(run.config["network"]))
        return [self._word(oracle, graph, renderer, settings) or dict(unknown) for graph in graphs]

    def _word(
        self, oracle: Oracle, graph: Graph | None, renderer: Renderer, settings: RenderSettings
    ) -> dict[str, Any] | None:
        if graph is None:
            return None
        result = renderer.render(RenderRequest(graph, "flat", CHANNELS, settings))
        if not result.ok:
            return None
        verdict = oracle.evaluate(Candidate(result.channels, Facts(node_count=len(graph.nodes))))
        if self.level is not None:
            verdict = accepted(verdict, self.level)
        return {"truth_reward": verdict.reward, "truth_accepted": verdict.success, "false_positive": None}

    def _editable(self, place: RunFolder, run: RunResult, renderer: Renderer) -> dict[str, Any] | None:
        path = place.path("graph.json")
        if not self.editability or not path.is_file():
            return None
        graph = from_json(json.loads(path.read_text("utf-8")))
        settings = RenderSettings(resolution=_EDIT_SIDE, patch_size_m=float(run.config["patch_size_m"]))
        found = editability(graph, renderer, settings)
        return {**vars(found), "share": found.share}


def _settings(run: RunResult) -> RenderSettings:
    side = int(run.config["step_resolution"] or 256)
    return RenderSettings(resolution=side, patch_size_m=float(run.config["patch_size_m"]))


def _times(events: Sequence[AnyEvent], run: RunResult) -> dict[str, float]:
    """Wall time, for people; kept apart from what must come out the same."""
    return {"seconds": run.seconds, "model_seconds": events[-1].spent.get("model_seconds", 0.0) if events else 0.0}
