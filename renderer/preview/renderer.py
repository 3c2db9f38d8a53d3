"""The preview as a renderer: the same requests and results as Blender's."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from types import TracebackType

import numpy as np

from renderer.preview.contract import CENTRE, FloatArray
from renderer.preview.engine import Kernel, PreviewEngine
from renderer.preview.errors import PreviewUnsupported
from renderer.preview.support import unsupported
from renderer.protocol import RenderMessage, RenderRequest, RenderResult

# Sub-pixel places of one request never exceed this many a side: beyond it the difference is below Cycles' own noise.
_MAX_GRID = 8
# Lanes of one launch; larger batches are split to bound memory (about 100 bytes a lane).
_MAX_LANES = 4_194_304


class PreviewRenderer:
    """Renders through Dr.Jit in this process; requests of one structure are one batch.

    With more than one sample a pixel is averaged over a regular grid of places, about as many as samples. What the
    preview does not draw is a result with status "error" and one message for each obstacle.
    """

    def __init__(self, engine: PreviewEngine | None = None) -> None:
        self.engine = engine if engine is not None else PreviewEngine()

    def __enter__(self) -> PreviewRenderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def render(self, request: RenderRequest) -> RenderResult:
        """Render one request; see `render_many`."""
        return self.render_many([request])[0]

    def render_many(self, requests: Sequence[RenderRequest]) -> list[RenderResult]:
        """Render all, in the order given."""
        results: dict[int, RenderResult] = {}
        groups: dict[tuple[object, ...], list[tuple[int, Kernel]]] = {}
        for index, request in enumerate(requests):
            reasons = unsupported(request.graph, request.channels, request.view)
            if reasons:
                messages = tuple(
                    RenderMessage("error", f"{kind}: {text}", node or None) for node, kind, text in reasons
                )
                results[index] = RenderResult("error", messages=messages, engine="preview")
                continue
            kernel = self.engine.compile(request.graph)
            settings = request.settings
            key = (
                kernel.plan.structure,
                request.channels,
                settings.resolution,
                settings.samples,
                settings.patch_size_m,
            )
            groups.setdefault(key, []).append((index, kernel))
        for members in groups.values():
            self._render_group(requests, members, results)
        return [results[index] for index in range(len(requests))]

    def close(self) -> None:
        """Nothing to stop: the preview has no process of its own."""

    def _render_group(
        self, requests: Sequence[RenderRequest], members: list[tuple[int, Kernel]], results: dict[int, RenderResult]
    ) -> None:
        request = requests[members[0][0]]
        size = max(1, _MAX_LANES // request.settings.resolution**2)
        for start in range(0, len(members), size):
            part = members[start : start + size]
            begin = time.perf_counter()
            try:
                pictures = self._pictures(request, np.concatenate([kernel.theta({}) for _, kernel in part], axis=1))
            except PreviewUnsupported as error:
                pictures = None
                failed = RenderResult("error", messages=(RenderMessage("error", str(error)),), engine="preview")
            seconds = (time.perf_counter() - begin) / len(part)
            for place, (index, _) in enumerate(part):
                if pictures is None:
                    results[index] = failed
                    continue
                channels = {name: picture[place] for name, picture in pictures.items()}
                results[index] = RenderResult(
                    "ok",
                    channels,
                    engine="preview",
                    device="CPU",
                    blender_version=requests[index].graph.blender_version,
                    seconds=seconds,
                )

    def _pictures(self, request: RenderRequest, theta: FloatArray) -> dict[str, FloatArray]:
        settings = request.settings
        structure = self.engine.compile(request.graph).plan.structure
        total: dict[str, FloatArray] = {}
        places = sample_places(settings.samples)
        for place in places:
            found = self.engine.run(
                structure, request.channels, theta, settings.resolution, settings.patch_size_m, place
            )
            for name in request.channels:
                picture = np.asarray(found[name])
                total[name] = picture if name not in total else total[name] + picture
        if len(places) > 1:
            total = {name: picture / np.float32(len(places)) for name, picture in total.items()}
            if "normal" in total:
                size = np.linalg.norm(total["normal"], axis=-1, keepdims=True)
                total["normal"] = total["normal"] / np.where(size > 0, size, np.float32(1.0))
        return total


def sample_places(samples: int) -> list[tuple[float, float]]:
    """Places inside a pixel for a number of samples: the centre for one, else a regular grid over the pixel."""
    side = min(_MAX_GRID, math.isqrt(max(1, samples)))
    if side == 1:
        return [CENTRE]
    steps = [(index + 0.5) / side for index in range(side)]
    return [(x, y) for y in steps for x in steps]
