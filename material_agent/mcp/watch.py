"""Watching one call: how far it is, and whether it is still wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from material_agent.errors import MaterialAgentError
from renderer.protocol import Renderer, RenderRequest, RenderResult

Report = Callable[[int, str], None]


class CallCancelled(MaterialAgentError):
    """Nobody waits for this call any more; what it had begun is left as it was before."""


@dataclass
class Watch:
    """One call of a tool: `report` is told after each render, `cancelled` ends it before the next one."""

    report: Report = field(default=lambda done, text: None)
    cancelled: threading.Event = field(default_factory=threading.Event)
    renders: int = 0

    def check(self) -> None:
        """Raise `CallCancelled` when the call was cancelled."""
        if self.cancelled.is_set():
            raise CallCancelled("cancelled by the client")

    def rendered(self, count: int) -> None:
        """Count renders and report them."""
        self.renders += count
        self.report(self.renders, f"{self.renders} renders")


class WatchedRenderer:
    """A renderer of one task over a pool that all share; between two renders it looks at the call's watch."""

    def __init__(self, inner: Renderer) -> None:
        self._inner = inner
        self.watch = Watch()

    def render(self, request: RenderRequest) -> RenderResult:
        """Render one request."""
        return self.render_many([request])[0]

    def render_many(self, requests: Sequence[RenderRequest]) -> list[RenderResult]:
        """Render all; raises `CallCancelled` before the first when nobody waits any more."""
        self.watch.check()
        results = self._inner.render_many(requests)
        self.watch.rendered(len(results))
        return results

    def close(self) -> None:
        """The pool is not this task's to close."""
