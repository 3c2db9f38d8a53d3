"""An experiment from start to end: its units through the batch engine, then table, tests and report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import ValidationError

from material_agent.actors.cast import cast_for
from material_agent.batch.config import TaskSpec, default_jobs
from material_agent.batch.engine import Engine, LocalEngine
from material_agent.batch.plan import look_over
from material_agent.batch.plan import pictures as with_pictures
from material_agent.batch.progress import TaskProgress
from material_agent.batch.result import TaskResult
from material_agent.batch.store import Store, open_store
from material_agent.errors import BadInput
from material_agent.experiments.contrasts import Answer, Scores, answers_of, arm_summary, pooled, scores_of
from material_agent.experiments.halving import Chosen, RunUnits, search_contexts
from material_agent.experiments.outcomes import OUTCOMES
from material_agent.experiments.pictures import prepare
from material_agent.experiments.plan import Plan
from material_agent.experiments.table import csv_of, parquet_of, times, unit_rows
from material_agent.experiments.units import Unit, actor_of, task_of, units_of
from material_agent.fit.interrupt import terminate_as_interrupt
from renderer import BlenderUnavailable

TABLE, TIMES, RESULT, PARQUET, PLAN = "attempts.csv", "times.csv", "experiment.json", "attempts.parquet", "plan.json"
RESULT_VERSION = 1
Heard = Callable[[int, int, TaskResult | None], None]
"""Told after each unit: how many are over, of how many, and the newest."""


@dataclass(frozen=True)
class ExperimentResult:
    """What an experiment came to: the table's rows, what each arm reached, and the answers of the tests.

    `failed`: units without a result, which count as failures; `pending`: those that an interruption left. `chosen`: of
    a search for a context.
    """

    plan: Plan
    out: str
    rows: tuple[dict[str, Any], ...]
    scores: Scores
    answers: tuple[Answer, ...]
    failed: tuple[str, ...]
    pending: tuple[str, ...]
    kept: int
    notes: tuple[str, ...] = ()
    chosen: Chosen | None = None


def run_experiment(
    plan: Plan,
    out: str,
    *,
    jobs: int | None = None,
    engine: Engine | None = None,
    heard: Heard | None = None,
    overwrite: bool = False,
) -> ExperimentResult:
    """Run what is not done of a plan and write table, result and report to the folder `out`.

    A plan with a search is one for the best context: see `halving`.

    Results that are complete and intact are kept, so that the same call goes on after an interruption, and gives the
    same table whenever and however often it was interrupted. Raises `BadInput`, `BlenderUnavailable`.
    """
    with ExitStack() as stack:
        store = open_store(out)
        place = store.local("")
        if place is None:
            raise BadInput(f"expected a folder of this machine or a mounted one for an experiment, got {out}")
        stack.enter_context(store.locked())
        for arm in plan.arms:
            cast_for(actor_of(plan, arm), arm.reflector, plan.models).close()
        options = {"jobs": jobs, "heard": heard, "overwrite": overwrite}
        if plan.file.search is not None:
            chosen, rows = search_contexts(plan, store, RunUnits(plan, store, options, engine))
            return _searched(plan, out, rows, chosen)
        units = units_of(plan, prepare(plan.file.references, plan.file.side, place, plan.folder))
        done = run_units(plan, units, store, engine=engine, **options)  # type: ignore[arg-type]
        result = conclude(plan, out, units, done, store)
        write(result, units, done, store)
    return result


def _searched(plan: Plan, out: str, rows: Sequence[dict[str, Any]], chosen: Chosen | None) -> ExperimentResult:
    failed = tuple(dict.fromkeys(row["unit"] for row in rows if row["status"] == "failed"))
    pending = () if chosen is not None else ("the search",)
    return ExperimentResult(plan, out, tuple(rows), scores_of(rows), (), failed, pending, 0, chosen=chosen)


@dataclass(frozen=True)
class Done:
    """Results by unit, how many were there before, and what is to be said about that."""

    results: dict[str, TaskResult]
    kept: int
    notes: tuple[str, ...]


def run_units(
    plan: Plan,
    units: Sequence[Unit],
    store: Store,
    *,
    jobs: int | None,
    engine: Engine | None,
    heard: Heard | None,
    overwrite: bool,
) -> Done:
    """Have every unit done that is not; an interruption leaves what is complete."""
    chosen = engine or LocalEngine(min(jobs or default_jobs(), max(1, len(units))))
    try:
        tasks = [task_of(plan, unit, store, chosen.portion) for unit in units]
    except ValidationError as error:
        raise BadInput(f"expected settings that every reference allows, got {error.errors()[0]['msg']}") from error
    looked = look_over(tasks, store, overwrite=overwrite)
    results = {name: result.slim() for name, result in looked.kept.items()}
    hear = heard or _unheard
    hear(len(results), len(tasks), None)
    todo: Sequence[TaskSpec] = looked.todo
    try:
        with terminate_as_interrupt(), closing(chosen.run(_specs(todo, chosen), _silent)) as over:  # type: ignore[type-var]
            for result in over:
                results[result.id] = result.slim()
                hear(len(results), len(tasks), result)
                if result.kind == "environment" and not any(one.complete for one in results.values()):
                    raise BlenderUnavailable(result.reason)
    except KeyboardInterrupt:
        pass
    return Done(results, len(looked.kept), looked.notes)


def conclude(plan: Plan, out: str, units: Sequence[Unit], done: Done, store: Store) -> ExperimentResult:
    """Table and tests from the results that there are; nothing is tested before every unit is over."""
    rows = [
        row for unit in units if unit.id in done.results for row in unit_rows(plan, unit, done.results[unit.id], store)
    ]
    pending = tuple(unit.id for unit in units if unit.id not in done.results)
    scores = scores_of(rows)
    return ExperimentResult(
        plan=plan,
        out=out,
        rows=tuple(rows),
        scores=scores,
        answers=() if pending else tuple(answers_of(plan, scores)),
        failed=tuple(unit.id for unit in units if unit.id in done.results and not done.results[unit.id].complete),
        pending=pending,
        kept=done.kept,
        notes=done.notes,
    )


def write(result: ExperimentResult, units: Sequence[Unit], done: Done, store: Store) -> None:
    """Everything that is made of the results; of an unfinished experiment the table alone."""
    store.write(PLAN, _json({"sha256": result.plan.sha256, **result.plan.file.model_dump(mode="json")}))
    store.write(TABLE, csv_of(result.rows).encode())
    store.write(TIMES, csv_of([times(unit, done.results.get(unit.id), store) for unit in units]).encode())
    if result.pending:
        return
    parquet = parquet_of(result.rows)
    if parquet is not None:
        store.write(PARQUET, parquet)
    store.write(RESULT, _json(as_json(result)))
    from material_agent.experiments.report import write_report  # noqa: PLC0415 - plots load slowly

    write_report(result, store)


def as_json(result: ExperimentResult) -> dict[str, Any]:
    """The result for programs: the same whenever the plan is run."""
    plan, ratios = result.plan, pooled(result.rows, result.plan.arms)
    return {
        "schema": {"name": "material-agent/experiment-result", "version": RESULT_VERSION},
        "plan": {"name": plan.file.name, "title": plan.file.title, "sha256": plan.sha256},
        "units": len({row["unit"] for row in result.rows}),
        "failed": list(result.failed),
        "pending": list(result.pending),
        "tests": [
            {
                **answer.test.model_dump(mode="json"),
                "verdict": answer.verdict(plan.file.statistics.alpha),
                "p_adjusted": answer.p_adjusted,
                "comparison": None if answer.found is None else asdict(answer.found),
            }
            for answer in result.answers
        ],
        "chosen": result.chosen.arm.id if result.chosen else None,
        "arms": [{**row, **ratios[row["arm"]]} for row in arm_summary(plan, result.scores, list(OUTCOMES))],
    }


def _specs(todo: Sequence[TaskSpec], engine: Engine) -> Any:
    return with_pictures(todo) if engine.far else iter(todo)


def _silent(task: str, state: TaskProgress) -> None:
    """Units are short; what happens inside is in their logs."""


def _unheard(done: int, total: int, newest: TaskResult | None) -> None:
    """Nobody listens."""


def _json(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
