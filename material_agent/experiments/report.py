"""The report of an experiment, in Markdown: question, methods from the plan, tests, arms, plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from material_agent.batch.store import Store
from material_agent.errors import MissingExtra
from material_agent.experiments import plots
from material_agent.experiments.contrasts import Answer, arm_summary, by_reference, pooled
from material_agent.experiments.outcomes import OUTCOMES
from material_agent.experiments.plan import Plan
from material_agent.experiments.statistics import Comparison

if TYPE_CHECKING:
    from material_agent.experiments.run import ExperimentResult

REPORT = "report.md"
SHOWN = (
    "first_success", "success", "first_reward", "reward", "reward_area", "truth_reward", "false_positive", "renders",
    "actions", "nodes", "editable",
)  # fmt: skip
COSTS = (
    "tokens", "money_usd", "invalid_share", "useless_share", "valid", "gap_closed", "blamed_gap_closed", "change_made",
    "ban_respected", "helped",
)  # fmt: skip
SCALES = tuple(f"{term}{scale}" for term in ("structure", "appearance") for scale in ("", "_macro", "_meso", "_micro"))
FLOOR, CEILING = 0.05, 0.95
"""Shares of success from which nothing can be told apart."""
_PLOTS = "plots"


def write_report(result: ExperimentResult, store: Store) -> None:
    """Write `report.md` and its plots; without matplotlib the report says that they are missing."""
    pictures, note = _draw(result, store)
    store.write(
        REPORT,
        "\n".join(
            [*_head(result), *_tests(result), *_arms(result), *_references(result), *pictures, note, ""]
        ).encode(),
    )


def methods(plan: Plan) -> str:
    """What was done, in a paragraph, from the plan alone."""
    file = plan.file
    arms = len(plan.arms)
    units = arms * len(file.references) * file.seeds
    design = (
        " × ".join(f"{name} ({' | '.join(levels)})" for name, levels in file.factors.items())
        if file.factors
        else "arms " + ", ".join(arm.id for arm in plan.arms)
    )
    shared = ", ".join(f"{name} = {_plain(value)}" for name, value in sorted(file.run.items()))
    primary = [test for test in file.tests if test.primary]
    others = len(file.tests) - len(primary)
    actors = ", ".join(dict.fromkeys(arm.actor for arm in plan.arms))
    level = file.run.get("accept_reward")
    accepted = "its calibrated thresholds" if level is None else f"a reward of at least {level}"
    words = {
        "design": design,
        "references": len(file.references),
        "seeds": f"{file.seeds} seed{'s' if file.seeds > 1 else ''}",
        "units": units,
        "actors": actors,
        "shared": shared or "the defaults",
        "names": ", ".join(file.references),
        "side": file.side,
        "accepted": accepted,
        "level": f"{1 - file.statistics.alpha:.0%}",
        "resamples": file.statistics.resamples,
        "primary": len(primary),
        "others": others,
        "sha256": plan.sha256,
    }
    text = files("material_agent.experiments").joinpath("methods.txt").read_text("utf-8")
    return Template(text).substitute(words).strip()


def _head(result: ExperimentResult) -> list[str]:
    file = result.plan.file
    successes = [values["success"] or 0.0 for places in result.scores.values() for values in places.values()]
    share = sum(successes) / len(successes) if successes else 0.0
    place = (
        "at the floor"
        if share < FLOOR
        else "at the ceiling"
        if share > CEILING
        else "neither at the floor nor at the ceiling"
    )
    lines = [f"# {file.title}", "", file.question, "", "## Methods", "", methods(result.plan), ""]
    lines += [file.notes.strip(), ""] if file.notes else []
    lines += ["## Results", "", f"{share:.0%} of all units ended with a success: {place}. "
              f"{len(result.failed)} units had no result and count as failures."]  # fmt: skip
    lines += [f"Without a result: {', '.join(result.failed[:10])}."] if result.failed else []
    return [*lines, ""]


def _tests(result: ExperimentResult) -> list[str]:
    alpha = result.plan.file.statistics.alpha
    lines: list[str] = []
    for primary, title in ((True, "### Primary tests"), (False, "### Exploratory tests")):
        chosen = [answer for answer in result.answers if answer.test.primary is primary]
        if chosen:
            lines += [title, "", *_test_table(chosen, alpha), ""]
    return lines


def _test_table(answers: Sequence[Answer], alpha: float) -> list[str]:
    lines = [
        "| test | comparison | measure | difference | interval | g | p | p (Holm) | pairs up / same / down | verdict |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for answer in answers:
        test, found = answer.test, answer.found
        scope = "".join(f", {name} = {level}" for name, level in test.within.items())
        pair = f"{test.to} − {test.versus}{scope}" + (f", between levels of {test.moderator}" if test.moderator else "")
        figures = " | ".join(_figures(found, answer.p_adjusted))
        title = OUTCOMES[test.measure].title
        lines.append(f"| {test.id}: {test.claim} | {pair} | {title} | {figures} | {answer.verdict(alpha)} |")
    return lines


def _figures(found: Comparison | None, p_adjusted: float) -> list[str]:
    if found is None:
        return ["–"] * 6
    return [
        f"{found.difference:+.3f}",
        f"[{found.low:+.3f}, {found.high:+.3f}]",
        f"{found.effect:+.2f}",
        f"{found.p:.4f}",
        f"{p_adjusted:.4f}",
        f"{found.better} / {found.same} / {found.worse}",
    ]


def _arms(result: ExperimentResult) -> list[str]:
    lines = ["### Arms", "", "Means over references, with intervals for the first four.", ""]
    lines += _arm_table(result, SHOWN, intervals=4)
    lines += ["", "Cost, validity and uptake; renders for each success and false ones among the accepted are sums.", ""]
    ratios = pooled(result.rows, result.plan.arms)
    lines += _arm_table(result, COSTS, extra={"renders_per_success": ratios, "false_share": ratios})
    lines += ["", "Structure and appearance of the selected material, by scale.", ""]
    return [*lines, *_arm_table(result, SCALES), ""]


def _arm_table(
    result: ExperimentResult,
    measures: Sequence[str],
    *,
    intervals: int = 0,
    extra: Mapping[str, Mapping[str, Mapping[str, float | None]]] | None = None,
) -> list[str]:
    more = extra or {}
    names = [*more, *measures]
    lines = ["| arm | units | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for row in arm_summary(result.plan, result.scores, measures):
        pooled_cells = [_number(table[row["arm"]][name]) for name, table in more.items()]
        cells = [_cell(row[name], with_interval=place < intervals) for place, name in enumerate(measures)]
        lines.append(f"| {row['arm']} | {row['units']} | {' | '.join([*pooled_cells, *cells])} |")
    return lines


def _references(result: ExperimentResult) -> list[str]:
    arms = [arm.id for arm in result.plan.arms]
    lines = ["### References", "", "Best reward by reference, mean over seeds.", ""]
    lines += ["| reference | " + " | ".join(arms) + " |", "|---|" + "---|" * len(arms)]
    for name, found in by_reference(result.scores, "reward").items():
        lines.append(f"| {name} | {' | '.join(_number(found.get(arm)) for arm in arms)} |")
    return [*lines, ""]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _cell(found: dict[str, float] | None, *, with_interval: bool) -> str:
    if found is None:
        return "–"
    text = f"{found['mean']:.3g}"
    return f"{text} [{found['low']:.2f}, {found['high']:.2f}]" if with_interval else text


def _draw(result: ExperimentResult, store: Store) -> tuple[list[str], str]:
    plan = result.plan
    measure = next((test.measure for test in plan.file.tests if test.primary), "reward")
    try:
        drawn: dict[str, tuple[str, bytes | None]] = {
            "tests": ("Tests with their intervals", plots.forest(result.answers, plan.file.statistics.alpha)),
            "learning": ("Learning curves", plots.learning_curves(plan, result.rows)),
            "interactions": ("Interactions", plots.interaction_plots(plan, result.scores, measure)),
            "cost": ("Cost against quality", plots.cost_against_quality(plan, result.scores)),
        }
    except MissingExtra as error:
        return [], f"The plots are missing: {error}"
    lines = ["## Plots", ""]
    for name, (title, data) in drawn.items():
        if data is not None:
            store.write(f"{_PLOTS}/{name}.png", data)
            lines += [f"![{title}]({_PLOTS}/{name}.png)", ""]
    return lines, ""


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_plain(item)}" for name, item in value.items()) + "}"
    return str(value)
