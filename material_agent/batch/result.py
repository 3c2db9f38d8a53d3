"""What became of a task: the record that lies in its folder, crosses processes and fills the summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError

from material_agent.batch.config import TaskSpec
from material_agent.events import Record
from material_agent.fit import RunResult

TASK_VERSION = 1
RECORD = "task.json"
LEARNT = "learnt.json"  # the reflections of a task that could not write them into the shared memory itself
Status = Literal["accepted", "not_accepted", "failed"]
Kind = Literal["", "reference", "input", "environment", "system", "crash", "time_limit", "internal"]


class TaskResult(Record):
    """The outcome of one task.

    `status`: "failed" means that there is no result; `kind` and `reason` then say why, `reason` otherwise what keeps
    the material from being accepted. `reward`, `terms` and `failures` are those of the final verdict; None stands for
    unscored. `files`: sha256 by path inside the folder, of everything that makes the result complete. `settings` and
    `fingerprint`: what it rests on. `seconds` and `tries` are for people; nothing is computed from them.
    """

    schema_version: int = TASK_VERSION
    id: str
    name: str
    folder: str
    status: Status
    kind: Kind = ""
    reason: str = ""
    reward: float | None = None
    reseeded: float | None = None
    terms: dict[str, float | None] = Field(default_factory=dict)
    failures: tuple[str, ...] = ()
    structure: str = ""
    attempts: int = 0
    nodes: int = 0
    graph_hash: str = ""
    seed: int = 0
    sha256: str = ""
    outcome: str = ""
    seconds: float = 0.0
    tries: int = 1
    settings: dict[str, Any] = Field(default_factory=dict)
    fingerprint: str = ""
    versions: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether there is a result, accepted or not."""
        return self.status != "failed"

    def slim(self) -> TaskResult:
        """The result without what only its record needs: a batch keeps thousands of them."""
        return self.model_copy(update={"settings": {}, "versions": {}})

    @property
    def verdict(self) -> tuple[object, ...]:
        """What two ways of doing the same task must agree on, to the last bit."""
        return self.status, self.reward, self.reseeded, self.terms, self.failures, self.graph_hash, self.structure


def failed(spec: TaskSpec, kind: Kind, reason: str, seconds: float = 0.0, tries: int = 1) -> TaskResult:
    """The result of a task that has none."""
    return TaskResult(
        id=spec.id,
        name=spec.item.name,
        folder=spec.folder,
        status="failed",
        kind=kind,
        reason=" ".join(reason.split()),
        seed=spec.config.seed,
        sha256=spec.sha256,
        seconds=round(seconds, 3),
        tries=tries,
        settings=dict(spec.settings),
        fingerprint=spec.fingerprint,
    )


def completed(spec: TaskSpec, run: RunResult, files: Mapping[str, str]) -> TaskResult:
    """The result of a task whose run came to its end."""
    verdict = run.final.evaluation if run.final else run.best.evaluation if run.best else None
    of_best = [one.structure for one in run.attempts if run.best and one.number == run.best.attempt]
    return TaskResult(
        id=spec.id,
        name=spec.item.name,
        folder=spec.folder,
        status="accepted" if run.success else "not_accepted",
        reason="" if run.success else " ".join(run.reason.split()),
        reward=run.reward,
        reseeded=run.final.reseeded.reward if run.final and run.final.reseeded else None,
        terms={name: term.value for name, term in verdict.terms.items()} if verdict else {},
        failures=tuple(verdict.failures) if verdict and not run.success else (),
        structure=of_best[0] if of_best else "",
        attempts=len(run.attempts),
        nodes=run.best.nodes if run.best else 0,
        graph_hash=run.best.graph_hash if run.best else "",
        seed=spec.config.seed,
        sha256=run.reference.sha256,
        outcome=run.outcome,
        seconds=run.seconds,
        settings=dict(spec.settings),
        fingerprint=spec.fingerprint,
        versions=dict(run.versions),
        files=dict(files),
    )


def read_record(data: bytes | None) -> TaskResult | None:
    """The record in a file's content; None for no file, a cut one, or one of another version."""
    if data is None:
        return None
    try:
        return TaskResult.model_validate_json(data)
    except ValidationError:
        return None
