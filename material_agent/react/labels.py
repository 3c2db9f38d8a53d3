"""What kind of failure an attempt was: one label of ReAct's failure table, by stated rules.

The rules are tried in order, the first that holds gives the label. They use only what the environment recorded.
Source of the table: Yao et al., ReAct (ICLR 2023), section on failure modes, as adapted to tools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from graph_api.actions import Finish, Render
from material_agent.context import Step
from material_agent.proposals import BadCall
from material_agent.react.stop import Stop

Label = Literal[
    "planning",
    "tool_choice",
    "argument",
    "uninformative_observation",
    "loop",
    "early_finish",
    "untrustworthy_observation",
]
MANY = 0.25  # a share of the actions from which a kind of mistake is the attempt's mark
FEW = 3  # below this number a share says nothing


@dataclass(frozen=True)
class Trace:
    """What the rules look at: the steps, how they ended, and the share in [0, 1] of its allowance that was used.

    The allowance is turns, or candidates of a search, whichever was used more.
    """

    steps: Sequence[Step]
    stop: Stop
    used: float

    def count(self, holds: Callable[[Step], bool]) -> int:
        """How many steps fulfil a condition."""
        return sum(1 for step in self.steps if holds(step))


def _untrustworthy(trace: Trace) -> str:
    renders = [step.observation for step in trace.steps if isinstance(step.action, Render)]
    failed = sum(1 for seen in renders if seen.status == "error")
    if renders and (renders[-1].status == "error" or failed > len(renders) / 2):
        return f"{failed} of {len(renders)} renders failed, the last one {renders[-1].status}"
    return ""


def _loop(trace: Trace) -> str:
    return trace.stop.reason if trace.stop.kind == "loop" else ""


def _early_finish(trace: Trace) -> str:
    ends = [step.observation.status for step in trace.steps if isinstance(step.action, Finish)]
    refused = ends.count("rejected")
    if refused:
        return f"finish was asked for {refused} times before the evidence was there"
    if trace.stop.kind == "finished" and trace.used < MANY:
        return f"gave up after {trace.used:.0%} of its turns and candidates"
    return ""


def _refused(trace: Trace, ops: Sequence[str]) -> tuple[int, int]:
    refused = trace.count(lambda step: step.action.op in ops and step.observation.status == "rejected")
    return refused, trace.count(lambda step: step.action.op != "note")


def _tool_choice(trace: Trace) -> str:
    refused, total = _refused(trace, ("add_node", "remove_node"))
    refused += trace.count(lambda step: isinstance(step.action, BadCall) and step.action.kind == "tool")
    idle = trace.count(lambda step: any("changed nothing" in text for text in step.observation.messages))
    if refused + idle >= max(FEW, MANY * total):
        return f"{refused} of {total} actions chose what does not exist, {idle} changed nothing"
    return ""


def _argument(trace: Trace) -> str:
    refused, total = _refused(trace, ("set_param", "connect", "disconnect", "render", "tune"))
    return f"{refused} of {total} actions had wrong arguments" if refused >= max(FEW, MANY * total) else ""


def _uninformative(trace: Trace) -> str:
    judged = [step.observation.evaluation for step in trace.steps if step.observation.evaluation is not None]
    if not judged:
        return "no render was judged"
    if not any(evaluation.gaps for evaluation in judged):
        return f"none of {len(judged)} verdicts named a gap"
    return ""


def _planning(trace: Trace) -> str:
    return f"actions and observations were sound, and the structure did not get there ({trace.stop.kind})"


RULES: tuple[tuple[Label, Callable[[Trace], str]], ...] = (
    ("untrustworthy_observation", _untrustworthy),
    ("loop", _loop),
    ("early_finish", _early_finish),
    ("argument", _argument),
    ("tool_choice", _tool_choice),
    ("uninformative_observation", _uninformative),
    ("planning", _planning),
)


def label_failure(trace: Trace) -> tuple[Label, str]:
    """The label of a failed attempt, and the fact that it rests on."""
    return next((label, fact) for label, rule in RULES if (fact := rule(trace)))
