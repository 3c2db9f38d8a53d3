"""The best that was seen, and who keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from evaluators.result import Evaluation, Facts
from graph_api.model import Graph
from material_agent.observation import FloatArray

PROGRESS = 1e-3  # a smaller rise of the reward is a change of the budget term, not of the material


@dataclass(frozen=True)
class Best:
    """The best that was rendered and judged: the graph, the verdict, where it was seen and what it looked like."""

    graph: Graph
    evaluation: Evaluation
    observation: str
    attempt: int
    facts: Facts
    channels: Mapping[str, FloatArray]

    def beats(self, other: Best | None) -> bool:
        """Whether this is better: acceptance first, then the reward."""
        if other is None:
            return True
        mine, theirs = self.evaluation, other.evaluation
        return (mine.success, mine.reward) > (theirs.success, theirs.reward)


class Recorder(Protocol):
    """Where pictures go, and who is told about every judged render."""

    def save_picture(self, name: str, attempt: int, channel: str, pixels: FloatArray) -> str:
        """Write one channel as PNG under a name; returns the path inside the run folder."""
        ...

    def judged(self, candidate: Best) -> None:
        """Hear of a judged render; keeps it when it is the best of the run."""
        ...
