"""What the environment answers: facts it made itself, never words of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast

import numpy as np
import numpy.typing as npt

from evaluators.result import Evaluation
from graph_api.actions import Edit
from renderer.images import encode, quantize
from renderer.protocol import Channel

FloatArray = npt.NDArray[np.float32]
Status = Literal["ok", "rejected", "error"]


@dataclass(frozen=True)
class Observation:
    """The answer to one action.

    `id` ("a1.o7": attempt 1, observation 7) is what evidence cites. `rejected`: the graph is untouched and another
    action may follow; `error`: the world failed (a render timed out, a worker died). `images` maps a channel to its
    float array as in `renderer.RenderResult`, `image_paths` to the PNG in the run folder. `remaining` is the budget.
    """

    id: str
    op: str
    status: Status
    changed: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    node: str | None = None
    summary: str = ""
    view: str = ""
    images: Mapping[str, FloatArray] = field(default_factory=dict)
    image_paths: Mapping[str, str] = field(default_factory=dict)
    evaluation: Evaluation | None = None
    remaining: Mapping[str, float] = field(default_factory=dict)

    def picture(self, channel: str) -> npt.NDArray[np.uint8]:
        """One of `images` in 8 bits, (H, W, 3) or (H, W), in the channel's usual encoding (sRGB for the beauty)."""
        bits = quantize(encode(cast("Channel", channel), self.images[channel]).pixels).astype(np.uint8)
        return bits[..., 0] if bits.ndim == 3 and bits.shape[2] == 1 else bits


@dataclass(frozen=True)
class Trial:
    """One candidate of a search: the edits, applied to a copy of the current graph under the same rules.

    `score` in [0, 1] is the screen's; with the full judge, `evaluation` holds the verdict and `score` its reward.
    A candidate that breaks a rule or fails to render has `ok` false, score 0 and the reason.
    """

    edits: tuple[Edit, ...]
    ok: bool
    score: float
    reason: str = ""
    channels: Mapping[str, FloatArray] = field(default_factory=dict)
    evaluation: Evaluation | None = None


Judging = Literal["none", "screen", "texture", "sketch", "full"]
"""How candidates are scored: not at all, by the weight-free screen, by the screen that knows texture too, by the full
evaluator on a sketch or on a render.

Sketches are drawn by the preview where it can, renders always by Blender.
"""


class Bench(Protocol):
    """The bulk door of the environment: what a search may use between two actions. Every candidate is charged."""

    def try_many(
        self,
        candidates: Sequence[Sequence[Edit]],
        *,
        resolution: int = 128,
        channels: tuple[str, ...] = ("beauty",),
        judge: Judging = "screen",
    ) -> list[Trial]:
        """Apply, render (flat view, one sample) and score each candidate; the current graph stays as it is.

        Raises `BudgetExhausted` when the ledger has nothing left.
        """
        ...
