"""What a run hands back, and writes as `result.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from material_agent.errors import BadInput
from material_agent.events import EvaluationRecord, Record

RESULT_VERSION = 1
Outcome = Literal["success", "unfinished", "interrupted", "failed"]
EXIT_CODES: dict[str, int] = {"success": 0, "unfinished": 1, "failed": 1, "interrupted": 130}


class AttemptSummary(Record):
    """One attempt in short; the events hold the rest."""

    number: int
    outcome: str
    stop: str
    reason: str
    label: str = ""
    reward: float | None = None
    structure: str = ""
    turns: int
    observation: str | None = None


class BestRecord(Record):
    """The best that an actor reached: where it was seen, its graph's content hash, and the verdict there."""

    attempt: int
    observation: str
    graph_hash: str
    nodes: int
    evaluation: EvaluationRecord


class FinalRecord(Record):
    """The last word on the best graph: rendered at the report's resolution and judged again.

    `reseeded` is the verdict on the same graph at another place of its pattern (Mapping location moved by `offset`):
    a check that the match is the material's and not one patch's.
    """

    resolution: int
    samples: int
    evaluation: EvaluationRecord
    reseeded: EvaluationRecord | None = None
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


class ReferenceRecord(Record):
    """The picture that was asked for, by content."""

    id: str
    sha256: str
    size: tuple[int, int]
    notes: tuple[str, ...] = ()


class RunResult(Record):
    """The outcome of a run.

    `success`: the final verdict accepts the material. `files` are paths inside the run folder, by what they are.
    `seconds` is run time over all resumes, for people; nothing is computed from it.
    """

    schema_version: int = RESULT_VERSION
    run: str
    outcome: Outcome
    success: bool
    reason: str
    reference: ReferenceRecord
    actor: str
    reflector: str
    config: dict[str, Any]
    attempts: tuple[AttemptSummary, ...] = ()
    best: BestRecord | None = None
    final: FinalRecord | None = None
    limits: dict[str, float] = Field(default_factory=dict)
    spent: dict[str, float] = Field(default_factory=dict)
    seconds: float = 0.0
    resumes: int = 0
    versions: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """The command line's exit code: 0 success, 1 not accepted, 130 interrupted."""
        return EXIT_CODES[self.outcome]

    @property
    def reward(self) -> float | None:
        """The reward that counts: the final one, else the best one that an actor saw."""
        verdict = self.final.evaluation if self.final else self.best.evaluation if self.best else None
        return verdict.reward if verdict else None


def read_result(path: Path) -> RunResult:
    """The result in a file. Raises `BadInput` for what is none of this version."""
    try:
        return RunResult.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise BadInput(f"expected a result of this version, got {path}: {error.errors()[0]['msg']}") from error
