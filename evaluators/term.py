"""What every term of the reward is."""

from __future__ import annotations

from typing import Protocol

from evaluators.comparison import Comparison
from evaluators.result import Candidate, TermName, TermResult


class Term(Protocol):
    """One judgement. A comparison is absent when the candidate has no usable picture: the term is then unscored."""

    @property
    def name(self) -> TermName:
        """Key of the term in weights, thresholds and results."""
        ...

    @property
    def higher_is_better(self) -> bool:
        """False only for a cost."""
        ...

    def score(self, candidate: Candidate, comparison: Comparison | None) -> TermResult:
        """Judge; never raises for what a material does."""
        ...
