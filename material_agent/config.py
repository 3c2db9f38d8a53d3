"""What a run is asked to do."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from material_agent.budget import Resource
from material_agent.context_config import ContextConfig

QualityName = Literal["draft", "normal", "high"]
MemoryWindow = Literal["1", "3", "all", "retrieved"]


SMALLEST_RESOLUTION, LARGEST_RESOLUTION = 256, 512
"""Bounds of the side that a run's renders take from their reference, px."""


class Quality(BaseModel):
    """A level of effort in counts; `seconds` is a safety stop for the whole run and never a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    candidates_per_attempt: int = Field(gt=0)
    renders_per_attempt: int = Field(gt=0)
    actions_per_attempt: int = Field(gt=0)
    steps_per_attempt: int = Field(gt=0)
    no_progress_actions: int = Field(gt=0)
    seconds: float = Field(gt=0)


class RunConfig(BaseModel):
    """The settings of one run; the same settings on the same machine give the same graph and score.

    `reference`: path of a picture or name of a bundled one; `crop`, `scale`, `mask` and `flatten` as
    `references.Preparation.parse` reads them, a scale going before `patch_size_m`. `out`: the run folder. `limits`
    overrides what the quality level sets for the whole run. `step_resolution` is the side in pixels of an actor's
    renders, `report_resolution` that of the final one; None for the reference's own, at most 512: pixels of one size
    show the same grain. `jobs`: Blender workers; results do not depend on it.
    `shared_memory`: a database that several runs share; without it memory lives in the run folder.
    `network`: whether the evaluator uses its deep statistics ("off": weight-free ones only).
    `no_progress_actions`: K of the stop rule, None for the quality level's.
    `tune`: whether an actor may ask for a search over numbers that it names.
    `start`: a material to refine (`FILE.blend[:MATERIAL]`, a graph `.json` or a run folder) in the place of the plain
    start graph. `locks` and `only` say what of it must stay: see `graph_api.locking.locks_for`.
    `context`: what the actor is given to read. `inner` "one_shot": one turn, after which the graph is rendered and
    judged without the actor; it needs `search` off, because candidates show renders and scores. `search`: whether an
    actor may try candidates between two actions. `bans` "advisory": told, not enforced. `truth`: the graph behind the
    reference, a bundled name or a graph `.json`; with `judge` "oracle" it takes the evaluator's place. `accept_reward`:
    a reward from which a material that compiles is accepted, in the place of the calibrated thresholds (which are for
    pictures of 256 px). `artifacts` "figures": events, graph and result only, as an experiment needs them.
    `search_engine`: what draws the candidates of a search ("auto": the preview where it is installed and can, else
    Blender). What is judged in full and reported is always Blender's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: str
    crop: str | None = None
    scale: str | None = None
    mask: Path | None = None
    flatten: bool = False
    out: Path
    goal: str = "Rebuild the material of this picture as an editable, physically plausible node graph."
    seed: int = Field(default=0, ge=0)
    quality: QualityName = "normal"
    attempts: int = Field(default=3, ge=1, le=100)
    memory_window: MemoryWindow = "3"
    shared_memory: Path | None = None
    jobs: int = Field(default=2, ge=1, le=256)
    limits: dict[Resource, float] = {}
    patch_size_m: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    step_resolution: int | None = Field(default=None, ge=32, le=4096)
    report_resolution: int | None = Field(default=None, ge=32, le=8192)
    samples: int = Field(default=1, ge=1, le=65536)
    device: str = "CPU"
    render_timeout_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    max_nodes: int = Field(default=80, ge=2)
    network: Literal["auto", "off"] = "auto"
    max_steps: int | None = Field(default=None, ge=1)
    no_progress_actions: int | None = Field(default=None, ge=1)
    tune: bool = True
    search_engine: Literal["auto", "blender"] = "auto"
    context: ContextConfig = ContextConfig()
    inner: Literal["react", "one_shot"] = "react"
    search: bool = True
    bans: Literal["enforced", "advisory"] = "enforced"
    judge: Literal["evaluator", "oracle"] = "evaluator"
    truth: str = ""
    accept_reward: float | None = Field(default=None, gt=0, lt=1)
    artifacts: Literal["all", "figures"] = "all"
    start: str = ""
    locks: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _locks_have_a_start(self) -> RunConfig:
        if (self.locks or self.only) and not self.start:
            raise ValueError("locks need a material to start from")
        return self

    @model_validator(mode="after")
    def _arms_are_possible(self) -> RunConfig:
        if self.inner == "one_shot" and self.search:
            raise ValueError('inner = "one_shot" needs search = false: candidates show renders and scores')
        if self.judge == "oracle" and not self.truth:
            raise ValueError('judge = "oracle" needs the truth, a bundled name or a graph .json')
        return self

    @property
    def effort(self) -> Quality:
        """The counts behind the quality level."""
        return qualities()[self.quality]

    def resolutions(self, side: int) -> tuple[int, int]:
        """Sides in pixels of an actor's and of the final renders, for a reference of `side` px."""
        own = min(max(side, SMALLEST_RESOLUTION), LARGEST_RESOLUTION)
        return self.step_resolution or own, self.report_resolution or own

    def run_limits(self) -> dict[str, float]:
        """The ledger's limits for the whole run: the quality level's, scaled by attempts, under `limits`."""
        effort = self.effort
        defaults: dict[str, float] = {
            "candidates": effort.candidates_per_attempt * self.attempts,
            "renders": effort.renders_per_attempt * self.attempts,
            "actions": effort.actions_per_attempt * self.attempts,
            "seconds": effort.seconds,
        }
        return defaults | {str(name): limit for name, limit in self.limits.items()}


@cache
def qualities() -> dict[str, Quality]:
    """The quality levels, by name."""
    data = json.loads(files("material_agent").joinpath("data/qualities.json").read_text("utf-8"))
    return {name: Quality.model_validate(counts) for name, counts in data.items()}


def attempt_seed(seed: int, attempt: int) -> int:
    """The seed of one attempt, in [0, 2³²): independent streams that depend on the run's seed and the number alone."""
    digest = hashlib.sha256(f"{seed}/{attempt}".encode()).digest()
    return int.from_bytes(digest[:4], "big")
