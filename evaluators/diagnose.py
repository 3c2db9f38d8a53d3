"""Which differences matter most, and what they call for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluators.data import load_table
from evaluators.result import Gap, TermResult

_COARSE_FIRST = {"macro": 0, "global": 1, "meso": 2, "micro": 3}


def rank_gaps(terms: Mapping[str, TermResult], weights: Mapping[str, float]) -> tuple[Gap, ...]:
    """All terms' gaps with their suggestions: the largest loss of reward first, coarse scales before fine ones."""
    suggestions = load_table("suggestions.json")
    gaps = [
        replace(gap, suggests=tuple(suggestions.get(f"{gap.kind}:{gap.direction}", suggestions.get(gap.kind, ()))))
        for term in terms.values()
        for gap in term.gaps
    ]
    return tuple(
        sorted(
            gaps,
            key=lambda gap: (
                -round(gap.size * weights.get(gap.term, 0.0), 6),
                _COARSE_FIRST[gap.scale],
                gap.channel,
                gap.kind,
                gap.message,
            ),
        )
    )
