"""`material-agent experiment`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from material_agent.cli.batch import ClusterAddress, EngineChoice, EngineName, engine_of
from material_agent.cli.exits import Exit
from material_agent.cli.fit_options import Quiet
from material_agent.cli.options import Json
from material_agent.cli.output import Reply, console

if TYPE_CHECKING:
    from material_agent.batch import TaskResult
    from material_agent.experiments import ExperimentResult

_EXPERIMENTS = Path("experiments")


def experiment(
    plan: Annotated[str, typer.Argument(help="A plan as TOML, or the name of a bundled one.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="A folder; by default experiments/NAME.", show_default=False),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Runs at once; the results do not depend on it.", show_default=False),
    ] = None,
    engine: EngineChoice = EngineName.local,
    address: ClusterAddress = None,
    cpus_per_task: Annotated[int, typer.Option(min=1, help="Cores that a run takes on a Ray cluster.")] = 1,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Do results of other settings again, instead of refusing them.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> Reply:
    """Run a plan of arms, references and seeds, test what it asks, and write a report; the same command goes on."""
    from material_agent.experiments import load_plan, run_experiment
    from material_agent.experiments.run import as_json

    where = engine_of(engine, address, cpus_per_task)
    chosen = load_plan(plan)
    out = output or str(_EXPERIMENTS / chosen.file.name)
    result = run_experiment(
        chosen,
        out,
        jobs=jobs,
        engine=where,
        heard=None if quiet else _say,
        overwrite=overwrite,
    )
    code = Exit.INTERRUPTED if result.pending else Exit.NOT_ACCEPTED if result.failed else Exit.SUCCESS
    return Reply("experiment", {"output": out, **as_json(result)}, _text(result), code)


def _say(done: int, total: int, newest: TaskResult | None) -> None:
    if newest is None:
        console().print(f"{total} units, {done} of them done")
        return
    reward = "" if newest.reward is None else f", reward {newest.reward:.3f}"
    why = f": {newest.reason}" if not newest.complete else ""
    console().print(f"[{done}/{total}] {newest.id}: {newest.status}{reward}{why}", markup=False)


def _text(result: ExperimentResult) -> str:
    alpha = result.plan.file.statistics.alpha
    lines = [f"{result.plan.file.title} (plan {result.plan.sha256[:12]})"]
    for answer in result.answers:
        found = answer.found
        figures = "" if found is None else (
            f"{found.difference:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p {answer.p_adjusted:.4f}"
        )  # fmt: skip
        lines.append(f"  {answer.test.id} {answer.test.measure}: {figures} {answer.verdict(alpha)}")
    if result.chosen is not None:
        lines.append(f"chosen      {result.chosen.arm.id}: {result.out}/context.toml, for fit --context")
    if result.failed:
        lines.append(f"{len(result.failed)} units without a result, counted as failures")
    if result.pending:
        lines.append(f"{len(result.pending)} units left to do: the same command goes on")
    else:
        lines.append(f"report      {result.out}/report.md")
    lines.append(f"table       {result.out}/attempts.csv")
    return "\n".join(lines)
