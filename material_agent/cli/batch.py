"""`material-agent batch`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from material_agent.cli.exits import Exit
from material_agent.cli.fit import folder_name
from material_agent.cli.fit_options import (
    Attempts,
    MaxActions,
    MaxCandidates,
    MaxNodes,
    MaxRenders,
    MaxSteps,
    MemoryName,
    QualityLevel,
    QualityName,
    Quiet,
    Seed,
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
    ReflectorName,
    Tools,
    Vision,
    model_limits,
    model_settings,
)
from material_agent.cli.options import CropArea, Flatten, Json, PatchSize, PictureScale
from material_agent.cli.output import Reply
from material_agent.errors import BadInput

if TYPE_CHECKING:
    from material_agent.batch import BatchConfig, BatchResult, Engine

_BATCHES = Path("batches")
_SHOWN = 10  # failures that the text names; the summary has them all


class EngineName(StrEnum):
    """Where tasks run."""

    local = "local"
    ray = "ray"


EngineChoice = Annotated[EngineName, typer.Option("--engine", help="local, or ray for a cluster.")]
ClusterAddress = Annotated[
    str | None,
    typer.Option("--address", help="The Ray cluster: auto, HOST:6379 or ray://HOST:10001.", show_default=False),
]


def batch(
    references: Annotated[
        list[str],
        typer.Argument(help='Folders, manifests, pictures, patterns such as "photos/*.jpg", bundled names, "bundled".'),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="A folder, or a URL; by default batches/NAME of the first.", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    quality: QualityLevel = QualityName.normal,
    attempts: Attempts = 3,
    memory: Annotated[
        MemoryName | None,
        typer.Option(
            help="Reflections that an attempt is given; by default 3, shared ones retrieved.", show_default=False
        ),
    ] = None,
    share_memory: Annotated[
        bool, typer.Option("--share-memory", help="Offer reflections of similar references to later tasks.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Tasks at once; the results do not depend on it.", show_default=False),
    ] = None,
    engine: EngineChoice = EngineName.local,
    address: ClusterAddress = None,
    cpus_per_task: Annotated[int, typer.Option(min=1, help="Cores that a task takes on a Ray cluster.")] = 1,
    patch_size: PatchSize = 1.0,
    crop: CropArea = None,
    scale: PictureScale = None,
    flatten: Flatten = False,
    actor: ActorName = "builtin",
    reflector: ReflectorName = "",
    base_url: BaseUrl = "",
    vision: Vision = None,
    tools: Tools = None,
    context_tokens: ContextTokens = 24_000,
    model_timeout: ModelTimeout = 180.0,
    no_tune: NoTune = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Do results of other settings again, instead of refusing them.")
    ] = False,
    max_nodes: MaxNodes = 80,
    max_steps: MaxSteps = None,
    max_actions: MaxActions = None,
    max_renders: MaxRenders = None,
    max_candidates: MaxCandidates = None,
    time_limit: Annotated[
        float | None, typer.Option(min=1, help="Seconds after which a task stops, as a safety.", show_default=False)
    ] = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_money: MaxMoney = None,
    quiet: Quiet = False,
    json: Json = False,
) -> Reply:
    """Fit a material to every reference; what is complete in the output is kept, so the same command goes on."""
    from material_agent.batch import BatchConfig
    from material_agent.config import RunConfig

    chosen = engine_of(engine, address, cpus_per_task)
    run = {
        "reference": "",
        "out": Path(),
        "quality": quality.value,
        "attempts": attempts,
        "memory_window": (memory or (MemoryName.retrieved if share_memory else MemoryName.three)).value,
        "patch_size_m": patch_size,
        "crop": crop,
        "scale": scale,
        "flatten": flatten,
        "max_nodes": max_nodes,
        "max_steps": max_steps,
        "tune": not no_tune,
        "limits": {
            **limits(max_actions, max_renders, max_candidates),
            **model_limits(max_calls, max_tokens, max_money),
        },
    }
    settings = {
        "references": tuple(references),
        "out": output or str(_BATCHES / folder_name(references[0])),
        "run": validated(RunConfig, run),
        "actor": actor,
        "reflector": reflector,
        "models": model_settings(base_url, None, None, context_tokens, model_timeout, vision, tools),
        "seed": seed,
        "jobs": jobs,
        "share_memory": share_memory,
        "time_limit_s": time_limit,
    }
    config = validated(BatchConfig, settings)
    result = _run(config, chosen, overwrite=overwrite, quiet=quiet)
    return Reply("batch", _data(result), _text(result), _code(result))


def engine_of(name: EngineName, address: str | None, cpus: int) -> Engine | None:
    """The engine that the options name, None for the processes of this machine.

    Raises `BadInput` for an address of a cluster that is not asked for.
    """
    if address is not None and name is not EngineName.ray:
        raise BadInput("expected --engine ray with --address, got --engine local")
    if name is EngineName.local:
        return None
    from material_agent.batch.ray_engine import RayEngine

    return RayEngine(address, cpus)


def _run(config: BatchConfig, engine: Engine | None, *, overwrite: bool, quiet: bool) -> BatchResult:
    from material_agent.api import cast_for
    from material_agent.batch import Listener, run_batch
    from material_agent.cli.batch_progress import display

    cast_for(
        config.actor, config.reflector, config.models
    ).close()  # a name or a script that cannot be used is one error, not one for each reference
    if quiet:
        return run_batch(config, engine=engine, listener=Listener(), overwrite=overwrite)
    with display() as listener:
        return run_batch(config, engine=engine, listener=listener, overwrite=overwrite)


def _code(result: BatchResult) -> Exit:
    if result.interrupted:
        return Exit.INTERRUPTED
    everything = result.accepted == len(result.results) and not result.failed
    return Exit.SUCCESS if everything else Exit.NOT_ACCEPTED


def _data(result: BatchResult) -> dict[str, object]:
    return {
        "output": result.out,
        "counts": {
            "references": len(result.results) + len(result.faults) + len(result.pending),
            "accepted": result.accepted,
            "not_accepted": len(result.results) - result.accepted - result.failed + len(result.faults),
            "failed": result.failed,
            "pending": len(result.pending),
            "kept": result.kept,
        },
        "results": [one.model_dump(mode="json", exclude={"files", "settings", "versions"}) for one in result.results],
        "faults": [fault._asdict() for fault in result.faults],
        "pending": result.pending,
        "notes": result.notes,
    }


def _text(result: BatchResult) -> str:
    done = len(result.results) + len(result.faults)
    lines = [f"{result.accepted} of {done + len(result.pending)} accepted, {result.failed} without a result"]
    bad = [*result.faults, *((one.name, one.reason) for one in result.results if not one.complete)]
    lines += [f"  {name}: {reason}" for name, reason in bad[:_SHOWN]]
    if len(bad) > _SHOWN:
        lines.append(f"  … and {len(bad) - _SHOWN} more, in summary.csv")
    lines += [f"gallery     {result.out}/index.html", f"summary     {result.out}/summary.csv"]
    if result.pending:
        lines.append(f"{len(result.pending)} left to do: the same command goes on")
    return "\n".join(lines)
