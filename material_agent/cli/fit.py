"""`material-agent fit`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from material_agent.cli.exits import Exit
from material_agent.cli.fit_options import (
    Attempts,
    ContextFile,
    Locked,
    MaxActions,
    MaxCandidates,
    MaxNodes,
    MaxRenders,
    MaxSteps,
    MemoryName,
    Only,
    QualityLevel,
    QualityName,
    Quiet,
    RunTimeLimit,
    Seed,
    Start,
    limits,
    validated,
)
from material_agent.cli.models import (
    ActorName,
    BaseUrl,
    ContextTokens,
    MaxCalls,
    MaxMoney,
    MaxTokens,
    ModelTimeout,
    NoTune,
    Record,
    ReflectorName,
    Replay,
    Tools,
    Vision,
    model_limits,
    model_settings,
    spending,
)
from material_agent.cli.options import CropArea, Flatten, Jobs, Json, MaskFile, Output, PatchSize, PictureScale
from material_agent.cli.output import Reply

if TYPE_CHECKING:
    from material_agent.actors.models import LLMSettings
    from material_agent.config import RunConfig
    from material_agent.fit import RunResult

_RUNS = Path("runs")
_SHOWN = (("material", "blend"), ("comparison", "comparison"), ("report", "report"))


def fit(
    reference: Annotated[str, typer.Argument(help="A picture, or the name of a bundled reference.")],
    output: Output = None,
    seed: Seed = 0,
    quality: QualityLevel = QualityName.normal,
    attempts: Attempts = 3,
    context: ContextFile = None,
    memory: Annotated[MemoryName, typer.Option(help="Reflections that an attempt is given.")] = MemoryName.three,
    shared_memory: Annotated[
        Path | None, typer.Option(help="A database of reflections that several runs share.", show_default=False)
    ] = None,
    jobs: Jobs = 2,
    patch_size: PatchSize = 1.0,
    crop: CropArea = None,
    scale: PictureScale = None,
    mask: MaskFile = None,
    flatten: Flatten = False,
    actor: ActorName = "builtin",
    reflector: ReflectorName = "",
    base_url: BaseUrl = "",
    vision: Vision = None,
    tools: Tools = None,
    context_tokens: ContextTokens = 24_000,
    model_timeout: ModelTimeout = 180.0,
    record: Record = None,
    replay: Replay = None,
    no_tune: NoTune = False,
    start: Start = "",
    lock: Locked = None,
    only: Only = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the interrupted run in the output folder.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in the output folder.")] = False,
    max_nodes: MaxNodes = 80,
    max_steps: MaxSteps = None,
    max_actions: MaxActions = None,
    max_renders: MaxRenders = None,
    max_candidates: MaxCandidates = None,
    time_limit: RunTimeLimit = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_money: MaxMoney = None,
    quiet: Quiet = False,
    json: Json = False,
) -> Reply:
    """Fit a material to a picture, or refine one that exists (--start).

    Exit code 1 when the best result is not accepted; it is kept all the same.
    """
    from material_agent.config import RunConfig
    from material_agent.context_config import WHOLE, load_context

    settings: dict[str, Any] = {
        "reference": reference,
        "out": output or _folder(reference, resume=resume),
        "seed": seed,
        "start": start,
        "locks": tuple(lock or ()),
        "only": tuple(only or ()),
        "quality": quality.value,
        "attempts": attempts,
        "context": load_context(context) if context is not None else WHOLE,
        "memory_window": memory.value,
        "shared_memory": shared_memory,
        "jobs": jobs,
        "patch_size_m": patch_size,
        "crop": crop,
        "scale": scale,
        "mask": mask,
        "flatten": flatten,
        "max_nodes": max_nodes,
        "max_steps": max_steps,
        "tune": not no_tune,
        "limits": {
            **limits(max_actions, max_renders, max_candidates, time_limit),
            **model_limits(max_calls, max_tokens, max_money),
        },
    }
    config = validated(RunConfig, settings)
    models = model_settings(base_url, record, replay, context_tokens, model_timeout, vision, tools)
    result = _run(config, actor, reflector, models, resume=resume, overwrite=overwrite, quiet=quiet)
    data = {"folder": config.out, "result": result.model_dump(mode="json")}
    return Reply("fit", data, _text(config.out, result), Exit(result.exit_code))


def _run(
    config: RunConfig,
    actor: str,
    reflector: str,
    models: LLMSettings,
    *,
    resume: bool,
    overwrite: bool,
    quiet: bool,
) -> RunResult:
    from contextlib import nullcontext

    from material_agent.api import fit_material
    from material_agent.cli.progress import display

    with nullcontext() if quiet else display(config) as progress:
        return fit_material(
            config,
            actor=actor,
            reflector=reflector,
            models=models,
            progress=progress,
            resume=resume,
            overwrite=overwrite,
        )


def folder_name(reference: str) -> str:
    """A plain name for a folder, made of a reference's."""
    return re.sub(r"[^\w.-]+", "-", Path(reference).stem).strip("-.") or "run"


def _folder(reference: str, *, resume: bool) -> Path:
    """`runs/NAME`, or the first of `runs/NAME-2`, … that is free; with `resume` the last one in use."""
    stem = folder_name(reference)
    number, folder, last = 1, _RUNS / stem, _RUNS / stem
    while folder.exists():
        number, last, folder = number + 1, folder, _RUNS / f"{stem}-{number + 1}"
    return last if resume else folder


def _text(folder: Path, result: RunResult) -> str:
    reward = "no material was judged" if result.reward is None else f"reward {result.reward:.3f}"
    verdict = "accepted" if result.success else f"not accepted ({result.reason})"
    lines = [f"{reward}, {verdict}"]
    lines += [note for note in result.reference.notes if note.startswith(("hint", "warning"))]
    lines += [f"{label:<12}{folder / result.files[key]}" for label, key in _SHOWN if key in result.files]
    lines += spending(result.spent)
    if result.outcome == "interrupted":
        lines.append("to go on: the same command with --resume and -o " + str(folder))
    return "\n".join(lines)
