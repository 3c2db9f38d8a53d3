"""How an environment renders and judges: the one place that turns a graph into pictures and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from evaluators.result import Candidate, Evaluation
from graph_api.model import Graph
from renderer.protocol import CHANNELS, Channel, Renderer, RenderRequest, RenderResult, RenderSettings, View

__all__ = ["CHANNELS", "Judge", "Scene", "Settings"]


class Judge(Protocol):
    """The committed evaluator, as the environment uses it."""

    def evaluate(self, candidate: Candidate) -> Evaluation:
        """Give the verdict on a rendered candidate."""
        ...

    def evaluate_many(self, candidates: Sequence[Candidate]) -> list[Evaluation]:
        """Give the verdict on each, the same as `evaluate` would, on all cores."""
        ...

    def screen(
        self, images: Iterable[npt.NDArray[np.float32]], *, linear: bool = False, deep: bool = False
    ) -> npt.NDArray[np.float32]:
        """Score pictures (H, W, 3) cheaply, each in [0, 1]: display-referred sRGB, or scene-linear beauties.

        `deep`: by texture statistics too, where there is a network.
        """
        ...


@dataclass(frozen=True)
class Settings:
    """What is the same for every render of a run.

    `resolution` in pixels and `samples` per pixel are those of an actor's renders; a search brings its own resolution.
    `timeout_s` is the safety stop of one render. `tune`: whether an actor may ask for a search; `search`: whether it
    may try candidates between two actions. `enforce`: whether bans are rules of the graph API, or words.
    """

    resolution: int = 256
    samples: int = 1
    device: str = "CPU"
    timeout_s: float = 60.0
    max_nodes: int = 80
    tune: bool = True
    search: bool = True
    enforce: bool = True


@dataclass(frozen=True)
class Scene:
    """A renderer with the settings of a task: patch size, samples, device.

    `sketcher`: draws what is only searched over and never reported; None for the renderer itself.
    """

    renderer: Renderer
    settings: Settings
    patch_size_m: float
    sketcher: Renderer | None = None

    def render(self, graph: Graph, view: View, channels: Sequence[Channel]) -> RenderResult:
        """Render one view at the settings' resolution."""
        return self.renderer.render(
            self._request(graph, view, channels, self.settings.resolution, self.settings.samples)
        )

    def render_many(
        self, graphs: Sequence[Graph], channels: Sequence[Channel], resolution: int, *, sketch: bool = False
    ) -> list[RenderResult]:
        """Render the flat view of each graph at `resolution`, one sample.

        As a `sketch` by the sketcher, if there is one; a sketch may have more channels than asked for.
        """
        renderer = self.renderer
        if sketch and self.sketcher is not None:
            # One set of channels is one kernel for each structure; the other channels cost next to nothing.
            renderer, channels = self.sketcher, CHANNELS if "beauty" in channels else channels
        return renderer.render_many([self._request(graph, "flat", channels, resolution, 1) for graph in graphs])

    def cost(self, resolution: int | None = None) -> int:
        """Samples × pixels of one render: an actor's, or a search's at `resolution`."""
        if resolution is not None:
            return resolution**2
        return self.settings.resolution**2 * self.settings.samples

    def _request(
        self, graph: Graph, view: View, channels: Sequence[Channel], resolution: int, samples: int
    ) -> RenderRequest:
        settings = RenderSettings(
            resolution=resolution,
            samples=samples,
            patch_size_m=self.patch_size_m,
            device=self.settings.device,
            timeout_s=self.settings.timeout_s,
        )
        return RenderRequest(graph, view, tuple(channels), settings)
