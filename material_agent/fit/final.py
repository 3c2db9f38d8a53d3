"""The last word on the best graph: rendered at the report's resolution, judged again, and re-seeded as a check."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluators.result import Candidate, Evaluation
from graph_api import reseed
from graph_api.model import Graph
from material_agent.budget import Ledger
from material_agent.config import RunConfig, attempt_seed
from material_agent.context import Task
from material_agent.environment import Judge
from material_agent.events import evaluation_record
from material_agent.fit.folder import RunFolder
from material_agent.fit.keeper import Kept
from material_agent.fit.result import FinalRecord
from renderer.protocol import CHANNELS, Channel, Renderer, RenderRequest, RenderResult, RenderSettings, View

TRIES = 2  # a worker may be lost to the machine; a second loss is the graph's
RESEED_RANGE = (2.0, 9.0)  # far enough from the origin for another sample, near enough for float32 coordinates


@dataclass(frozen=True)
class Finals:
    """Renders and judges the best graph for the record. These renders are charged, but no limit stops them."""

    config: RunConfig
    task: Task
    renderer: Renderer
    judge: Judge
    ledger: Ledger
    folder: RunFolder
    resolution: int

    def run(self, kept: Kept) -> tuple[FinalRecord | None, str]:
        """The final record with maps and views written, or None with the reason."""
        flat = self._render(kept.graph, "flat", CHANNELS)
        if not flat.ok:
            said = "; ".join(message.text for message in flat.messages)
            return None, f"the final render failed: {flat.status}{': ' + said if said else ''}"
        if self.config.artifacts == "figures":
            verdict = evaluation_record(self._judged(flat, kept))
            return FinalRecord(resolution=self.resolution, samples=self.config.samples, evaluation=verdict), ""
        for channel, pixels in flat.channels.items():
            self.folder.write_channel(f"maps/{channel}.png", channel, pixels)
        self.folder.write_comparison("comparison.png", self.task.image_srgb, flat.channels["beauty"])
        views: tuple[View, ...] = ("tilt", "sphere")
        for view in views:
            picture = self._render(kept.graph, view, ("beauty",))
            if picture.ok:
                self.folder.write_channel(f"views/{view}.png", "beauty", picture.channels["beauty"])
        offset = self._offset()
        moved = self._render(reseed(kept.graph, offset), "flat", CHANNELS)
        record = FinalRecord(
            resolution=self.resolution,
            samples=self.config.samples,
            evaluation=evaluation_record(self._judged(flat, kept)),
            reseeded=evaluation_record(self._judged(moved, kept)) if moved.ok else None,
            offset=offset,
        )
        return record, ""

    def _judged(self, result: RenderResult, kept: Kept) -> Evaluation:
        return self.judge.evaluate(Candidate(result.channels, kept.facts))

    def _render(self, graph: Graph, view: View, channels: tuple[Channel, ...]) -> RenderResult:
        settings = RenderSettings(
            resolution=self.resolution,
            samples=self.config.samples,
            patch_size_m=self.config.patch_size_m,
            device=self.config.device,
            timeout_s=self.config.render_timeout_s,
        )
        for _ in range(TRIES):
            self.ledger.charge(renders=1, samples_pixels=settings.resolution**2 * settings.samples)
            result = self.renderer.render(RenderRequest(graph, view, channels, settings))
            if result.status not in ("crashed", "timeout"):
                break
        return result

    def _offset(self) -> tuple[float, float, float]:
        # Attempts count from 1, so 0 is a stream of its own.
        generator = np.random.default_rng(attempt_seed(self.config.seed, 0))
        x, y, z = (float(value) for value in generator.uniform(*RESEED_RANGE, size=3))
        return x, y, z
