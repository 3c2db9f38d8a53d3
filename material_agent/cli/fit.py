"""`material-agent fit`."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from material_agent.cli.exits import Exit
from material_agent.cli.options import Jobs, Json, Output, PatchSize
from material_agent.cli.output import Reply
from material_agent.errors import BadInput

if TYPE_CHECKING:
    from material_agent.config import RunConfig
    from material_agent.fit import RunResult

_RUNS = Path("runs")
_SHOWN = (("material", "blend"), ("comparison", "comparison"), ("report", "report"))


class QualityName(StrEnum):
    """The levels of effort."""

    draft = "draft"
    normal = "normal"
    high = "high"


class MemoryName(StrEnum):
    """How much of memory an attempt is told."""

    one = "1"
    three = "3"
    all = "all"
    retrieved = "retrieved"


def fit(
    reference: Annotated[str, typer.Argument(help="A picture, or the name of a bundled reference.")],
    output: Output = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same graph and score.")] = 0,
    quality: Annotated[QualityName, typer.Option(help="How many candidates may be tried.")] = QualityName.normal,
    attempts: Annotated[int, typer.Option(min=1, max=100, help="Attempts at most.")] = 3,
    memory: Annotated[MemoryName, typer.Option(help="Reflections that an attempt is given.")] = MemoryName.three,
    shared_memory: Annotated[
        Path | None, typer.Option(help="A database of reflections that several runs share.", show_default=False)
    ] = None,
    jobs: Jobs = 2,
    patch_size: PatchSize = 1.0,
    actor: Annotated[str, typer.Option(help="builtin, or scripted:FILE.")] = "builtin",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the interrupted run in the output folder.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in the output folder.")] = False,
    max_nodes: Annotated[int, typer.Option(min=2, help="Nodes in the graph, at most.")] = 80,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Steps of an attempt.", show_default=False)] = None,
    max_actions: Annotated[int | None, typer.Option(min=0, help="Actions of the run.", show_default=False)] = None,
    max_renders: Annotated[int | None, typer.Option(min=0, help="Renders of the run.", show_default=False)] = None,
    max_candidates: Annotated[
        int | None, typer.Option(min=0, help="Candidates that searches may try in the run.", show_default=False)
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds after which the run stops, as a safety.", show_default=False)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")] = False,
    json: Json = False,
) -> Reply:
    """Fit a material to a picture. Exit code 1 when the best result is not accepted; it is kept all the same."""
    limits = {"actions": max_actions, "renders": max_renders, "candidates": max_candidates, "seconds": time_limit}
    settings: dict[str, Any] = {
        "reference": reference,
        "out": output or _folder(reference, resume=resume),
        "seed": seed,
        "quality": quality.value,
        "attempts": attempts,
        "memory_window": memory.value,
        "shared_memory": shared_memory,
        "jobs": jobs,
        "patch_size_m": patch_size,
        "max_nodes": max_nodes,
        "max_steps": max_steps,
        "limits": {name: value for name, value in limits.items() if value is not None},
    }
    config = _config(settings)
    result = _run(config, actor, resume=resume, overwrite=overwrite, quiet=quiet)
    data = {"folder": config.out, "result": result.model_dump(mode="json")}
    return Reply("fit", data, _text(config.out, result), Exit(result.exit_code))


def _run(config: RunConfig, actor: str, *, resume: bool, overwrite: bool, quiet: bool) -> RunResult:
    from contextlib import nullcontext

    from material_agent.api import fit_material
    from material_agent.cli.progress import display

    with nullcontext() if quiet else display(config) as progress:
        return fit_material(config, actor=actor, progress=progress, resume=resume, overwrite=overwrite)


def _config(settings: dict[str, Any]) -> RunConfig:
    from pydantic import ValidationError

    from material_agent.config import RunConfig

    try:
        return RunConfig.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{name}: expected another value ({first['msg']}), got {first['input']!r}") from error


def _folder(reference: str, *, resume: bool) -> Path:
    """`runs/NAME`, or the first of `runs/NAME-2`, … that is free; with `resume` the last one in use."""
    stem = re.sub(r"[^\w.-]+", "-", Path(reference).stem).strip("-.") or "run"
    number, folder, last = 1, _RUNS / stem, _RUNS / stem
    while folder.exists():
        number, last, folder = number + 1, folder, _RUNS / f"{stem}-{number + 1}"
    return last if resume else folder


def _text(folder: Path, result: RunResult) -> str:
    reward = "no material was judged" if result.reward is None else f"reward {result.reward:.3f}"
    verdict = "accepted" if result.success else f"not accepted ({result.reason})"
    lines = [f"{reward}, {verdict}"]
    lines += [f"{label:<12}{folder / result.files[key]}" for label, key in _SHOWN if key in result.files]
    if result.outcome == "interrupted":
        lines.append("to go on: the same command with --resume and -o " + str(folder))
    return "\n".join(lines)
