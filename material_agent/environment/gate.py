"""The gate in front of `finish(success)`: evidence that a machine can check, or a refusal that says what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.result import Evaluation
from graph_api.actions import Finish


@dataclass(frozen=True)
class Evidence:
    """What is known of the present graph.

    `evaluation` is the verdict on the present graph's own render, None when it was edited since or never rendered.
    """

    evaluation: Evaluation | None
    compile_problems: Sequence[str] = ()


def missing_evidence(finish: Finish, evidence: Evidence) -> tuple[str, ...]:
    """What speaks against this finish, one sentence each; an honest end is never refused."""
    if finish.outcome == "unfinished":
        return ()
    if evidence.compile_problems:
        return tuple(f"success refused: the graph does not compile: {text}" for text in evidence.compile_problems)
    if evidence.evaluation is None:
        return ("success refused: no flat render since the last edit; render the graph first",)
    if not evidence.evaluation.success:
        reasons = evidence.evaluation.failures or ("the evaluator did not accept it",)
        return tuple(f"success refused: {text}" for text in reasons)
    return ()
