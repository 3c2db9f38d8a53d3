"""Options of a run that `fit` and `batch` share, and the configuration that they add up to."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from material_agent.errors import BadInput

if TYPE_CHECKING:
    from pydantic import BaseModel

    Model = TypeVar("Model", bound=BaseModel)


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


Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same graph and score.")]
QualityLevel = Annotated[QualityName, typer.Option(help="How many candidates may be tried.")]
Attempts = Annotated[int, typer.Option(min=1, max=100, help="Attempts at most.")]
MaxNodes = Annotated[int, typer.Option(min=2, help="Nodes in the graph, at most.")]
MaxSteps = Annotated[int | None, typer.Option(min=1, help="Steps of an attempt.", show_default=False)]
MaxActions = Annotated[int | None, typer.Option(min=0, help="Actions of the run.", show_default=False)]
MaxRenders = Annotated[int | None, typer.Option(min=0, help="Renders of the run.", show_default=False)]
MaxCandidates = Annotated[
    int | None, typer.Option(min=0, help="Candidates that searches may try in the run.", show_default=False)
]
RunTimeLimit = Annotated[
    float | None, typer.Option(min=0, help="Seconds after which the run stops, as a safety.", show_default=False)
]
ContextFile = Annotated[
    Path | None,
    typer.Option(
        "--context", metavar="FILE", help="What the actor is told, as TOML; by default everything.", show_default=False
    ),
]
Start = Annotated[
    str,
    typer.Option(
        metavar="MATERIAL",
        help="Refine this material: FILE.blend[:NAME], a graph .json or a run folder.",
        show_default=False,
    ),
]
Locked = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT",
        help="Must not change: NODE, NODE.SOCKET, color, roughness, metallic, relief.",
        show_default=False,
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(metavar="CHANNEL", help="Nothing but this channel may change.", show_default=False),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]


def limits(
    actions: int | None, renders: int | None, candidates: int | None, seconds: float | None = None
) -> dict[str, float]:
    """The limits that were set."""
    asked = {"actions": actions, "renders": renders, "candidates": candidates, "seconds": seconds}
    return {name: value for name, value in asked.items() if value is not None}


def validated(model: type[Model], settings: dict[str, Any]) -> Model:
    """The configuration. Raises `BadInput` naming the first setting that is wrong."""
    from pydantic import ValidationError

    try:
        return model.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{name}: expected another value ({first['msg']}), got {first['input']!r}") from error
