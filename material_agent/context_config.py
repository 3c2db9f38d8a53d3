"""Which context an actor is given: the parts, their order and detail, what memory is, and how many tokens there are."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from material_agent.errors import BadInput

Part = Literal["structure", "lattice", "orientation", "spectrum", "palette", "regions", "light", "cues"]
PARTS: tuple[Part, ...] = get_args(Part)
"""Of the visual decomposition, in the order in which they are told and in which a token budget is spent.

`structure`: hypotheses and families. `lattice`: repetition, its cell and harmonics. `orientation`: directions, lines
and rings. `spectrum`: slope, energies by scale, the dominant size. `palette`: colours, colour axis, luma. `regions`:
the split in two. `light`: the light over the picture. `cues`: guesses about roughness, height and metal.
"""
MemoryKind = Literal["none", "reflections", "trajectory", "scalar"]


class ContextConfig(BaseModel):
    """One configuration of the context; the default is everything there is.

    `instruction`: "expert" tells a model how such graphs are made, "generic" only what the actions are. `parts`: of the
    decomposition, in order; none is the raw picture. `detail`: "brief" leaves two digits, the two likeliest hypotheses
    and no tables. `verdict`: "scales" tells terms and gaps by scale and channel, "global" the reward alone. `memory`:
    what crosses attempts: nothing, reflections, the last attempt's trajectory as it was, or its reward with a
    difference picture. `tokens`: for the decomposition; parts that no longer fit are left out, the last ones first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    instruction: Literal["expert", "generic"] = "expert"
    parts: tuple[Part, ...] = PARTS
    detail: Literal["full", "brief"] = "full"
    verdict: Literal["scales", "global"] = "scales"
    memory: MemoryKind = "reflections"
    tokens: int | None = Field(default=None, ge=1)

    @field_validator("parts")
    @classmethod
    def _each_once(cls, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        if len(set(parts)) != len(parts):
            raise ValueError("expected each part once")
        return parts


WHOLE = ContextConfig()
"""Everything there is."""
RAW = ContextConfig(instruction="generic", parts=())
"""The picture and a generic instruction, and nothing that was measured."""


def load_context(path: Path) -> ContextConfig:
    """Read a configuration from a TOML file with the fields above, at its top or in a table `context`.

    Raises `BadInput` naming what is wrong.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"expected a context configuration as TOML, got {path}: {error}") from error
    table = data.get("context", data)
    try:
        return ContextConfig.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "its top"
        raise BadInput(f"expected a context configuration in {path}, got at {where}: {first['msg']}") from error


def context_toml(config: ContextConfig, comment: str = "") -> str:
    """The configuration as the text of such a file; `comment` says where it comes from."""
    lines = [f"# {line}" for line in comment.splitlines()] + ["[context]"]
    for name, value in config.model_dump(mode="json").items():
        if isinstance(value, list):
            lines.append(f"{name} = [{', '.join(f'{item!r}' for item in value)}]".replace("'", '"'))
        elif isinstance(value, str):
            lines.append(f'{name} = "{value}"')
        elif value is not None:
            lines.append(f"{name} = {value}")
    return "\n".join(lines) + "\n"
