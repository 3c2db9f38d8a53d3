"""What a batch is asked to do, and what each of its tasks is told."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from material_agent.actors.models import LLMSettings
from material_agent.config import RunConfig
from references import SetItem

if TYPE_CHECKING:
    from material_agent.fit import RunResult
    from renderer import Renderer

# What may differ between a batch and its resume without changing a result. Of the limits, only that of time is free.
FREE = ("reference", "out", "jobs", "seed", "patch_size_m", "shared_memory", "render_timeout_s")
# What an answer depends on, of how a model is asked; patience and bookkeeping are free.
MODEL_SETTINGS = (
    "base_url",
    "max_output_tokens",
    "context_tokens",
    "pictures",
    "vision",
    "native_tools",
    "temperature",
)
MEMORY_PER_JOB_MB = 2500.0  # a worker with its Blender, at the end of a run at 512 px, with room to breathe


class BatchConfig(BaseModel):
    """The settings of a batch.

    `references`: folders, manifests, pictures, patterns such as "photos/*.jpg", names of bundled references, or
    "bundled". `out`: a folder, or the URL of one that fsspec can write to. `run`: what each run is asked to do; its
    reference, folder, workers and seed are set for each task, and its crop, scale and flattening are for the references
    that bring none of their own. `seed`: each task derives its own from this and its id.
    `actor`, `reflector`, `models`: who acts and reflects, as in `fit_material`; a model's key is looked for where the
    task runs. `jobs`: tasks at once, None for what cores and memory carry; results do not depend on it. `share_memory`:
    reflections are offered to later tasks. `time_limit_s`: for each task, a safety that no result should meet.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    references: tuple[str, ...] = Field(min_length=1)
    out: str
    run: RunConfig
    actor: str = "builtin"
    reflector: str = ""
    models: LLMSettings = LLMSettings()
    seed: int = Field(default=0, ge=0)
    jobs: int | None = Field(default=None, ge=1, le=4096)
    share_memory: bool = False
    time_limit_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @property
    def settings(self) -> dict[str, Any]:
        """What results depend on, beside the reference: a change of any of these makes other results."""
        data = self.run.model_dump(mode="json", exclude=set(FREE))
        data["limits"] = {name: limit for name, limit in data["limits"].items() if name != "seconds"}
        patch_size = self.run.patch_size_m
        kind, _, argument = self.actor.partition(":")
        # A script is what it says, wherever it lies.
        actor = f"scripted:{_digest_of(Path(argument))}" if kind == "scripted" else self.actor
        return {
            **data,
            "actor": actor,
            "seed": self.seed,
            "patch_size_m": patch_size,
            "share_memory": self.share_memory,
        }


class Afterwards(Protocol):
    """What else is done with a run that has ended, where it ran; it can be pickled."""

    def __call__(self, folder: Path, run: RunResult, renderer: Renderer) -> None:
        """Look at the run in `folder`, and write files beside its own."""
        ...


@dataclass(frozen=True)
class TaskSpec:
    """One task, complete: whoever gets it can do it, in another process or on another machine.

    `picture`, `mask`: the files' bytes, when the machine that does the task may not have the files. `memory`: the
    reflections to start from, when the tasks share none by way of a file. `threads`: of each Blender worker.
    `store`: folder or URL of the batch; `folder`: that of the run inside it. `fingerprint`: what the result depends on.
    `afterwards`: a step between the run's end and its record.
    """

    item: SetItem
    config: RunConfig
    actor: str
    reflector: str
    models: LLMSettings
    store: str
    folder: str
    settings: Mapping[str, Any]
    fingerprint: str
    threads: int
    sha256: str = ""
    time_limit_s: float | None = None
    picture: bytes | None = None
    mask: bytes | None = None
    memory: bytes | None = None
    afterwards: Afterwards | None = None

    @property
    def id(self) -> str:
        """The reference's id in the batch."""
        return self.item.id


def task_seed(seed: int, reference_id: str) -> int:
    """The seed of one task, in [0, 2³²): it depends on the batch's seed and the reference's id alone."""
    digest = hashlib.sha256(f"{seed}/{reference_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def fingerprint(settings: Mapping[str, Any], reference_id: str, picture: Mapping[str, Any]) -> str:
    """A hash of everything that a task's result depends on, short of the installed versions."""
    what = {"settings": settings, "id": reference_id, "picture": picture}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def default_jobs() -> int:
    """Tasks at once that this machine carries: one for each core that has memory for a task."""
    import psutil  # noqa: PLC0415 - only for this

    room = int(psutil.virtual_memory().available / 2**20 / MEMORY_PER_JOB_MB)
    return max(1, min(cores(), room))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Share:
    """What one of several tasks at once gets: Blender workers, Cycles threads in each, threads of its own."""

    workers: int
    render_threads: int
    threads: int


def share(jobs: int, available: int | None = None) -> Share:
    """Share the cores out between `jobs` tasks.

    As in a single run, Cycles gets twice its share, since a worker leaves its core idle while it synchronises.
    """
    total = available or cores()
    workers = max(1, total // jobs)
    return Share(workers, min(total, max(1, 2 * total // (jobs * workers))), max(1, total // jobs))


def _digest_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
