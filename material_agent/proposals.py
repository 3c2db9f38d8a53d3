"""What an actor may propose: the graph's own actions, a search over named parameters, and calls that are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from graph_api import ActionRejected, action_to_json
from graph_api.actions import Action

Goal = Literal["reward", "structure", "appearance"]
GOALS: tuple[Goal, ...] = get_args(Goal)
BUDGETS = (16, 240)
"""The least and the most candidates of one search."""
MOST_PARAMETERS = 12


@dataclass(frozen=True)
class Tune:
    """Let a search set numbers: `parameters` of the graph as "node.Socket", towards `goal`, with `budget` candidates.

    Models guess numbers badly and a search finds them well. Every float, vector or colour input without a link may be
    named; a link or a property may not. The best values are kept when they beat the present ones, else nothing changes.
    """

    op: ClassVar[str] = "tune"
    parameters: tuple[str, ...]
    goal: Goal = "reward"
    budget: int = 48


@dataclass(frozen=True)
class BadCall:
    """A call that is no action: an unknown tool (`kind` "tool"), or arguments that cannot be read ("argument").

    `op` is the name that was called, `text` what was said, `error` what is wrong with it. It costs one action.
    """

    op: str
    text: str
    error: str
    kind: Literal["tool", "argument"] = "argument"


Proposed = Action | Tune | BadCall


def proposed_to_json(proposed: Proposed) -> dict[str, Any]:
    """A proposal for the log, `{"op": …, fields}`; a call that is none keeps its text under `call`."""
    if isinstance(proposed, BadCall):
        return {"op": proposed.op, "call": proposed.text}
    if isinstance(proposed, Tune):
        return {
            "op": proposed.op,
            "parameters": list(proposed.parameters),
            "goal": proposed.goal,
            "budget": proposed.budget,
        }
    return action_to_json(proposed)


def tune_schema() -> dict[str, Any]:
    """Name, description and parameters (a JSON schema) of `tune`, as `graph_api.action_schema` gives them."""
    parameters = {
        "type": "object",
        "properties": {
            "parameters": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": MOST_PARAMETERS,
                "description": 'inputs to search over, each "node.Socket", such as "noise.Scale"',
            },
            "goal": {"type": "string", "enum": list(GOALS), "default": "reward"},
            "budget": {"type": "integer", "minimum": BUDGETS[0], "maximum": BUDGETS[1], "default": 48},
        },
        "required": ["parameters"],
        "additionalProperties": False,
    }
    return {"name": Tune.op, "description": " ".join((Tune.__doc__ or "").split()), "parameters": parameters}


def tune_from_json(data: Mapping[str, Any]) -> Tune:
    """The search that a model or a client wrote; a single name may come as text, the budget as numeric text.

    Raises `ActionRejected` (code `bad_action`) with what is wrong.
    """
    unknown = [str(key) for key in data if key not in ("op", "parameters", "goal", "budget")]
    if unknown:
        known = ("parameters", "goal", "budget")
        raise ActionRejected("bad_action", "fields of tune", ", ".join(unknown), known=known)
    names = data.get("parameters")
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise ActionRejected("bad_action", 'a list of "node.Socket" as tune.parameters', repr(names)[:80])
    if len(names) > MOST_PARAMETERS:
        raise ActionRejected("bad_action", f"at most {MOST_PARAMETERS} parameters", str(len(names)))
    goal = data.get("goal", "reward")
    if goal not in GOALS:
        raise ActionRejected("bad_action", "a goal of tune", repr(goal)[:80], known=GOALS)
    return Tune(tuple(names), goal, _budget(data.get("budget", 48)))


def _budget(raw: object) -> int:
    try:
        wanted = int(float(raw))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ActionRejected("bad_action", "a number of candidates as tune.budget", repr(raw)[:80]) from None
    return min(max(wanted, BUDGETS[0]), BUDGETS[1])
