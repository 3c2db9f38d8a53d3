"""Compile: whether the graph gave a picture at all; a gate, not a grade."""

from __future__ import annotations

from evaluators.comparison import Comparison
from evaluators.result import Candidate, TermName, TermResult


class Compile:
    """1 when the graph compiled and gave a finite picture, else 0, with the messages."""

    name: TermName = "compile"
    higher_is_better = True

    def score(self, candidate: Candidate, comparison: Comparison | None) -> TermResult:
        """Judge by the facts and by whether there was a picture to compare."""
        facts = candidate.facts
        if not facts.compile_ok:
            return TermResult(self.name, 0.0, reason="; ".join(facts.compile_messages) or "the graph does not compile")
        if comparison is None:
            return TermResult(self.name, 0.0, reason="the graph compiles but gave no finite beauty picture")
        return TermResult(self.name, 1.0)
