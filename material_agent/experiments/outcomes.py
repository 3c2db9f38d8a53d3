"""What a unit (one arm on one reference with one seed) came to, from the rows of its attempts. See docs/experiments.md.

A unit without a result counts as a failure: no success, reward 0. None stands for what a unit cannot say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
Rows = Sequence[Row]


@dataclass(frozen=True)
class Outcome:
    """A measure of a unit: its `title` with unit, whether `higher` is better (None: neither), how it is computed."""

    title: str
    higher: bool | None
    of: Callable[[Rows], float | None]


def _last(name: str) -> Callable[[Rows], float | None]:
    return lambda rows: _number(rows[-1][name])


def _first(name: str) -> Callable[[Rows], float | None]:
    return lambda rows: _number(rows[0][name])


def _sum(name: str) -> Callable[[Rows], float | None]:
    return lambda rows: float(sum(_number(row[name]) or 0.0 for row in rows))


def _mean(name: str) -> Callable[[Rows], float | None]:
    def mean(rows: Rows) -> float | None:
        values = [value for row in rows if (value := _number(row[name])) is not None]
        return sum(values) / len(values) if values else None

    return mean


def _ratio(part: str, whole: str) -> Callable[[Rows], float | None]:
    def ratio(rows: Rows) -> float | None:
        total = _sum(whole)(rows)
        return (_sum(part)(rows) or 0.0) / total if total else None

    return ratio


def _selected(name: str) -> Callable[[Rows], float | None]:
    """A figure of the attempt that the deployed evaluator ranks best; 0 where there is none."""

    def chosen(rows: Rows) -> float | None:
        made = [row for row in rows if row["made"] and row["reward"] is not None]
        if not made:
            return 0.0
        return _number(max(made, key=lambda row: (bool(row["accepted"]), row["reward"]))[name])

    return chosen


def _renders_to_success(rows: Rows) -> float | None:
    """Renders until the first success; without one the whole allowance, whatever was spent of it."""
    spent = 0.0
    for row in rows:
        spent += _number(row["renders"]) or 0.0
        if row["accepted"]:
            return spent
    return _number(rows[-1]["render_limit"]) or spent


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


OUTCOMES: Mapping[str, Outcome] = {
    "first_success": Outcome("success of the first attempt", True, _first("accepted")),
    "success": Outcome("success within all attempts", True, _last("cum_success")),
    "first_reward": Outcome("reward of the first attempt", True, _first("reward_or_0")),
    "reward": Outcome("best reward, by the deployed evaluator", True, _last("selected_reward")),
    "reward_area": Outcome("area under the curve of the best reward over attempts", True, _mean("selected_reward")),
    "truth_reward": Outcome(
        "oracle's reward of the material that the evaluator selected", True, _selected("truth_reward")
    ),
    "truth_success": Outcome("oracle accepts the selected material", True, _selected("truth_accepted")),
    "false_positive": Outcome("selected material accepted, and not by the oracle", False, _selected("false_positive")),
    "renders": Outcome("renders of the actor", False, _sum("renders")),
    "renders_to_success": Outcome("renders to success, the allowance where there is none", False, _renders_to_success),
    "actions": Outcome("actions", False, _sum("actions")),
    "candidates": Outcome("candidates of a search", False, _sum("candidates")),
    "tokens": Outcome("tokens", False, _sum("tokens")),
    "money_usd": Outcome("money, USD", False, _sum("money_usd")),
    "invalid_share": Outcome("share of actions that were refused", False, _ratio("invalid", "actions")),
    "useless_share": Outcome("share of actions without effect", False, _ratio("useless", "actions")),
    "valid": Outcome("share of attempts whose graph compiled", True, _mean("valid")),
    "nodes": Outcome("nodes of the selected graph", None, _selected("nodes")),
    "editable": Outcome(
        "share of exposed parameters that change the picture monotonically and locally", True, _last("editable")
    ),
    "structure": Outcome("structure term of the selected material", True, _selected("structure_term")),
    "appearance": Outcome("appearance term of the selected material", True, _selected("appearance_term")),
    **{
        f"{term}_{scale}": Outcome(f"{term} at the {scale} scale", True, _selected(f"{term}_{scale}"))
        for term in ("structure", "appearance")
        for scale in ("macro", "meso", "micro")
    },
    "gap_closed": Outcome(
        "share of edits after which the largest gap had closed", True, _ratio("gaps_closed", "gaps_faced")
    ),
    "blamed_gap_closed": Outcome(
        "share of reflections whose attributed gap closed in the next attempt", True, _mean("blamed_gap_closed")
    ),
    "change_made": Outcome("share of reflections whose change was made", True, _mean("change_made")),
    "ban_respected": Outcome("share of reflections whose ban was respected", True, _mean("ban_respected")),
    "helped": Outcome("share of reflections after which the reward rose", True, _mean("helped")),
}


def outcomes_of(rows: Rows) -> dict[str, float | None]:
    """Every measure of one unit, from its attempts in order."""
    return {name: outcome.of(rows) for name, outcome in OUTCOMES.items()}
