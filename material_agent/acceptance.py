"""A judge that accepts from a stated reward on, for pictures for which no thresholds were calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.result import Candidate, Evaluation
from material_agent.environment import Judge


def accepted(evaluation: Evaluation, level: float) -> Evaluation:
    """The verdict with its decision replaced: it compiles and its reward is at least `level`, in (0, 1)."""
    compiled = "compile" in evaluation.terms and evaluation.terms["compile"].value > 0
    failures = [f"compile: {evaluation.terms['compile'].reason or 'failed'}"] if not compiled else []
    if evaluation.reward < level:
        failures.append(f"reward: {evaluation.reward:.3f} is below {level:.3f}")
    return replace(evaluation, success=not failures, failures=tuple(failures), thresholds={"reward": level})


@dataclass(frozen=True)
class Accepting:
    """`judge` with the decision of `accepted` at `level`."""

    judge: Judge
    level: float

    def evaluate(self, candidate: Candidate) -> Evaluation:
        """The verdict on a rendered candidate."""
        return accepted(self.judge.evaluate(candidate), self.level)

    def evaluate_many(self, candidates: Sequence[Candidate]) -> list[Evaluation]:
        """The verdict on each."""
        return [accepted(evaluation, self.level) for evaluation in self.judge.evaluate_many(candidates)]

    def screen(self, *args: Any, **settings: Any) -> npt.NDArray[np.float32]:
        """The judge's own scores, asked for as the judge wants it."""
        return self.judge.screen(*args, **settings)
