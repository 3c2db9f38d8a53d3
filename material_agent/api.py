"""One call from a picture to a material: the built-in parts put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from material_agent.actors.base import ActorFactory, Reflector
from material_agent.config import RunConfig
from material_agent.errors import BadInput
from material_agent.events import Event
from material_agent.fit import RunResult, run_fit
from material_agent.reports import write_report

if TYPE_CHECKING:
    from references import Reference
    from renderer import BlenderPool

__all__ = ["ACTORS", "Cast", "cast_for", "fit_material"]


class Cast(NamedTuple):
    """Who acts and who reflects in a run."""

    actor: ActorFactory
    reflector: Reflector


def cast_for(name: str) -> Cast:
    """The actor and reflector behind a name: "builtin", or "scripted:FILE" for a file of turns.

    Raises `BadInput` for any other name, and for a script that cannot be read.
    """
    kind, _, argument = name.partition(":")
    if kind not in ACTORS or bool(argument) != (kind == "scripted"):
        raise BadInput(f"expected an actor, got {name!r}; known: builtin, scripted:FILE")
    return ACTORS[kind](argument)


def fit_material(
    config: RunConfig,
    *,
    actor: str = "builtin",
    reference: Reference | None = None,
    run_id: str = "",
    renderer: BlenderPool | None = None,
    progress: Callable[[Event], None] | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> RunResult:
    """Fit a material to the picture `config.reference` and write everything to the folder `config.out`.

    `actor` as in `cast_for`. The other arguments, and what is raised, are those of `run_fit`.
    """
    chosen = cast_for(actor)
    return run_fit(
        config,
        actor_factory=chosen.actor,
        reflector=chosen.reflector,
        reference=reference,
        run_id=run_id,
        renderer=renderer,
        progress=progress,
        report=write_report,
        resume=resume,
        overwrite=overwrite,
    )


def _builtin(_: str) -> Cast:
    from material_agent.actors.builtin import BuiltinActor, BuiltinReflector  # noqa: PLC0415 - a script needs no search

    return Cast(lambda setup: BuiltinActor(setup.seed), BuiltinReflector())


def _scripted(file: str) -> Cast:
    from material_agent.actors.scripted import load_script  # noqa: PLC0415

    script = load_script(Path(file))
    return Cast(script.actor, script.reflector())


ACTORS: Mapping[str, Callable[[str], Cast]] = {"builtin": _builtin, "scripted": _scripted}
