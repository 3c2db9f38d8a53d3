"""Verdicts as records: what events and results say about an evaluation, with NaN written as null."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from evaluators.result import Evaluation, Gap, TermResult


class Record(BaseModel):
    """Base of every versioned record: immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GapRecord(Record):
    """One difference between candidate and reference, as `evaluators.result.Gap`."""

    term: str
    scale: str
    channel: str
    kind: str
    direction: str
    size: float
    measured: float | None
    target: float | None
    unit: str
    message: str
    suggests: tuple[str, ...] = ()


class TermRecord(Record):
    """One term; `value` is null when unscored, and `reason` then says why."""

    value: float | None
    higher_is_better: bool = True
    reason: str = ""
    by_scale: dict[str, float | None] = {}
    by_channel: dict[str, float | None] = {}
    numbers: dict[str, float | None] = {}


class EvaluationRecord(Record):
    """A verdict of the committed evaluator; `gaps` are ordered, largest first."""

    reward: float | None
    success: bool
    failures: tuple[str, ...] = ()
    terms: dict[str, TermRecord] = {}
    gaps: tuple[GapRecord, ...] = ()
    thresholds: dict[str, float] = {}
    weights: dict[str, float] = {}


def evaluation_record(evaluation: Evaluation) -> EvaluationRecord:
    """The record of a verdict."""
    return EvaluationRecord(
        reward=_number(evaluation.reward),
        success=evaluation.success,
        failures=tuple(evaluation.failures),
        terms={name: _term(term) for name, term in evaluation.terms.items()},
        gaps=tuple(_gap(gap) for gap in evaluation.gaps),
        thresholds=dict(evaluation.thresholds),
        weights=dict(evaluation.weights),
    )


def _term(term: TermResult) -> TermRecord:
    return TermRecord(
        value=_number(term.value),
        higher_is_better=term.higher_is_better,
        reason=term.reason,
        by_scale=_numbers(term.by_scale),
        by_channel=_numbers(term.by_channel),
        numbers=_numbers(term.numbers),
    )


def _gap(gap: Gap) -> GapRecord:
    return GapRecord(
        term=gap.term,
        scale=gap.scale,
        channel=gap.channel,
        kind=gap.kind,
        direction=gap.direction,
        size=gap.size,
        measured=_number(gap.measured),
        target=_number(gap.target),
        unit=gap.unit,
        message=gap.message,
        suggests=tuple(gap.suggests),
    )


def _numbers(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _number(value) for name, value in values.items()}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
