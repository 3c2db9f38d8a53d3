"""One renderer over two engines: the preview where it draws the request, Blender for everything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Literal

from renderer.preview import PreviewRenderer, unsupported
from renderer.protocol import Renderer, RenderMessage, RenderRequest, RenderResult


class Router:
    """Sends each request to the engine that can answer it; `RenderResult.engine` tells which one did.

    `blender`: a renderer, or a function that makes one when the first request needs it. `preview`: likewise; by
    default the preview is used when Dr.Jit and LLVM are installed. A request that goes to Blender only because the
    preview does not draw it carries the reasons as messages of level "info".
    """

    def __init__(self, blender: Renderer | Callable[[], Renderer], preview: PreviewRenderer | None = None) -> None:
        self._make = blender if callable(blender) else None
        self._blender: Renderer | None = None if callable(blender) else blender
        self._preview = preview

    def __enter__(self) -> Router:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def engine_for(self, request: RenderRequest) -> tuple[Literal["preview", "blender"], tuple[str, ...]]:
        """The engine that will answer, and why it is not the preview."""
        reasons = unsupported(request.graph, request.channels, request.view)
        if not reasons:
            return "preview", ()
        return "blender", tuple(f"{node} ({kind}): {text}" if node else text for node, kind, text in reasons)

    def render(self, request: RenderRequest) -> RenderResult:
        """Render one request with the engine that can."""
        return self.render_many([request])[0]

    def render_many(self, requests: Sequence[RenderRequest]) -> list[RenderResult]:
        """Render all, in the order given: one batch for the preview, one for Blender."""
        choices = [self.engine_for(request) for request in requests]
        results: dict[int, RenderResult] = {}
        mine = [index for index, (engine, _) in enumerate(choices) if engine == "preview"]
        if mine:
            for index, result in zip(mine, self._previews().render_many([requests[i] for i in mine]), strict=True):
                results[index] = result
        # What the preview refuses after all, because of a value it cannot know before, goes to Blender as well.
        rest = [index for index in range(len(requests)) if index not in results or not results[index].ok]
        if rest:
            for index, result in zip(rest, self._pool().render_many([requests[i] for i in rest]), strict=True):
                notes = tuple(RenderMessage("info", f"rendered by Blender: {text}") for text in choices[index][1])
                results[index] = replace(result, messages=(*result.messages, *notes))
        return [results[index] for index in range(len(requests))]

    def close(self) -> None:
        """Stop every process; safe to call twice."""
        if self._blender is not None:
            self._blender.close()

    def _previews(self) -> PreviewRenderer:
        if self._preview is None:
            self._preview = PreviewRenderer()
        return self._preview

    def _pool(self) -> Renderer:
        if self._blender is None:
            assert self._make is not None
            self._blender = self._make()
        return self._blender
