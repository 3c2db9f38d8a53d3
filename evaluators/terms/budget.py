"""Budget: what an attempt cost, in counts; never seconds, so that scores do not depend on the machine."""

from __future__ import annotations

from evaluators.comparison import Comparison
from evaluators.data import load_table
from evaluators.result import Candidate, TermName, TermResult


class Budget:
    """A cost in [0, 1): the mean over counts x of x / (x + half), with the halves from a data file."""

    name: TermName = "budget"
    higher_is_better = False

    def score(self, candidate: Candidate, comparison: Comparison | None) -> TermResult:
        """Charge nodes, wasted actions and samples × pixels."""
        del comparison
        facts = candidate.facts
        counts = {
            "nodes": facts.node_count,
            "wasted_actions": facts.rejected_actions + facts.useless_actions,
            "samples_pixels": facts.samples_pixels,
        }
        halves = load_table("budget.json")["half"]
        costs = {f"cost_{key}": count / (count + halves[key]) for key, count in counts.items()}
        value = sum(costs.values()) / len(costs)
        return TermResult(self.name, value, higher_is_better=False, numbers={**costs, **counts})
