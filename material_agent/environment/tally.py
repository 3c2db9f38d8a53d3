"""What one attempt did: the counts that the budget term and the stop rules rest on."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.result import Facts


@dataclass
class Tally:
    """Counts of one attempt.

    `useless`: edits that left the graph's content as it was, and repeats of a question whose answer was known.
    `since_progress`: actions since the attempt's best reward last rose.
    """

    observations: int = 0
    rejected: int = 0
    useless: int = 0
    samples_pixels: int = 0
    since_progress: int = 0

    def facts(self, node_count: int, problems: tuple[str, ...] = ()) -> Facts:
        """These counts as the evaluator's facts about a graph with `node_count` nodes."""
        return Facts(
            compile_ok=not problems,
            compile_messages=problems,
            node_count=node_count,
            rejected_actions=self.rejected,
            useless_actions=self.useless,
            samples_pixels=self.samples_pixels,
        )
