"""What the evaluator is given and what it says: plain data, no renderer, no graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

Scale = Literal["macro", "meso", "micro", "global"]
SCALES: tuple[Scale, ...] = ("macro", "meso", "micro")
"""The scales of a picture, coarse to fine; "global" is for what has none."""
Direction = Literal["too_low", "too_high", "differs"]
FloatArray = npt.NDArray[np.float32]
TermName = Literal["structure", "appearance", "physical", "compile", "budget"]
UNSCORED = math.nan


@dataclass(frozen=True)
class Facts:
    """What is known about a candidate besides its pictures.

    `samples_pixels` is the sum of samples × pixels over the renders that led here; all counts are of one attempt.
    """

    compile_ok: bool = True
    compile_messages: tuple[str, ...] = ()
    node_count: int = 0
    rejected_actions: int = 0
    useless_actions: int = 0
    samples_pixels: int = 0


@dataclass(frozen=True)
class Candidate:
    """A rendered material: `channels` as in `renderer.RenderResult` (row 0 at the top, beauty scene-linear)."""

    channels: Mapping[str, FloatArray]
    facts: Facts = Facts()


@dataclass(frozen=True)
class Gap:
    """One difference between candidate and reference.

    `kind` is a stable key ("lattice_period", "spectral_slope", "contrast", "palette", "orientation", …); `size` in
    [0, 1] ranks gaps against each other; `measured` and `target` are in `unit`. `suggests` are the graph changes that
    such a gap calls for, in words of the field.
    """

    term: TermName
    scale: Scale
    channel: str
    kind: str
    direction: Direction
    size: float
    measured: float
    target: float
    unit: str
    message: str
    suggests: tuple[str, ...] = ()


@dataclass(frozen=True)
class TermResult:
    """One term: `value` in [0, 1], or NaN when unscored, with the reason."""

    name: TermName
    value: float
    higher_is_better: bool = True
    reason: str = ""
    by_scale: Mapping[str, float] = field(default_factory=dict)
    by_channel: Mapping[str, float] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    uses: tuple[str, ...] = ()

    @property
    def scored(self) -> bool:
        """Whether the term has a value."""
        return not math.isnan(self.value)


@dataclass(frozen=True)
class Evaluation:
    """The verdict: `reward` R in [−λb, 1], the terms, the decision with its reasons, the gaps, largest first."""

    reward: float
    terms: Mapping[str, TermResult]
    success: bool
    failures: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
