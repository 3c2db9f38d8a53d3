"""Appearance: deep texture statistics at three scales, the distribution of colours, contrast."""

from __future__ import annotations

from dataclasses import replace

from evaluators.comparison import Comparison
from evaluators.components import COMPONENTS
from evaluators.result import UNSCORED, Candidate, TermName, TermResult
from evaluators.terms.statistical import weighted_term

_WEIGHT_FREE = tuple(c.name for c in COMPONENTS if c.term == "appearance" and not c.deep)
_DEEP = tuple(c.name for c in COMPONENTS if c.term == "appearance" and c.deep)
FALLBACK = ("steerable", *_WEIGHT_FREE)
"""What stands in for the deep statistics when the network cannot be used."""


class Appearance:
    """How the material looks."""

    name: TermName = "appearance"
    higher_is_better = True

    def score(self, candidate: Candidate, comparison: Comparison | None) -> TermResult:
        """Judge the display-referred picture; without a network by steerable statistics, colour and contrast."""
        del candidate
        if comparison is None:
            return TermResult(self.name, UNSCORED, reason="no picture to compare")
        if not comparison.network_problem:
            return weighted_term(self.name, comparison, (*_DEEP, *_WEIGHT_FREE), ("EfficientNet-Lite0", *_WEIGHT_FREE))
        result = weighted_term(self.name, comparison, FALLBACK, FALLBACK)
        return replace(result, reason=f"without a network: {comparison.network_problem}")
