"""Who acts and who reflects, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from material_agent.actors.base import ActorFactory, Reflector
from material_agent.actors.models import LLMSettings, ModelSpec, parse_model
from material_agent.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from material_agent.actors.llm import Client

KNOWN = "builtin, refine, scripted:FILE, PROVIDER:MODEL"


@dataclass(frozen=True)
class Cast:
    """Who acts and who reflects in a run; `close` lets go of what they hold."""

    actor: ActorFactory
    reflector: Reflector
    close: Callable[[], None] = field(default=lambda: None)


def cast_for(actor: str, reflector: str = "", models: LLMSettings | None = None) -> Cast:
    """The actor and the reflector behind their names.

    An actor is "builtin", "refine" (searches the numbers of a start material), "scripted:FILE" for a file of turns, or
    "PROVIDER:MODEL" for a language model; a reflector is
    "builtin" or "PROVIDER:MODEL", and without a name the actor's own. `models` says how models are asked.

    Raises `BadInput` for other names and for a script or recording that cannot be read, `MissingExtra` when a model is
    named and the library is not installed.
    """
    models = models or LLMSettings()
    kind, _, argument = actor.partition(":")
    if kind in LOCAL:
        if bool(argument) != (kind == "scripted"):
            raise BadInput(f"expected an actor, got {actor!r}; known: {KNOWN}")
        chosen = LOCAL[kind](argument)
    elif argument:
        chosen = _model(parse_model(actor, models.base_url), models)
    else:
        raise BadInput(f"expected an actor, got {actor!r}; known: {KNOWN}")
    return chosen if reflector in ("", actor) else _with_reflector(chosen, reflector, models)


def _with_reflector(chosen: Cast, name: str, models: LLMSettings) -> Cast:
    if name == "builtin":
        return replace(chosen, reflector=_builtin("").reflector)
    if name.startswith("scripted") or ":" not in name:
        raise BadInput(f"expected a reflector, got {name!r}; known: builtin, PROVIDER:MODEL")
    # Two models on one tape would answer each other's questions.
    own = replace(models, record=_beside(models.record), replay=_beside(models.replay))
    other = _model(parse_model(name, models.base_url), own)

    def close() -> None:
        chosen.close()
        other.close()

    return Cast(chosen.actor, other.reflector, close)


def _beside(path: Path | None) -> Path | None:
    return None if path is None else path.with_name(f"{path.stem}.reflector{path.suffix}")


def _builtin(_: str) -> Cast:
    from material_agent.actors.builtin import Builtin, BuiltinReflector  # noqa: PLC0415 - a script needs no search

    return Cast(lambda setup: Builtin(setup.seed), BuiltinReflector())


def _refine(_: str) -> Cast:
    from material_agent.actors.builtin import BuiltinReflector  # noqa: PLC0415
    from material_agent.actors.refine import RefineActor  # noqa: PLC0415

    return Cast(RefineActor, BuiltinReflector())


def _scripted(file: str) -> Cast:
    from material_agent.actors.scripted import load_script  # noqa: PLC0415

    script = load_script(Path(file))
    return Cast(script.actor, script.reflector())


def _model(spec: ModelSpec, models: LLMSettings) -> Cast:
    client = open_client(spec, models)
    from material_agent.actors.llm import LLMActors, LLMReflector  # noqa: PLC0415

    return Cast(LLMActors(client), LLMReflector(client), client.close)


def open_client(spec: ModelSpec, models: LLMSettings) -> Client:
    """A client for one model. Raises `MissingExtra` without the library, `BadInput` for what cannot be asked."""
    missing = [name for name in ("pydantic_ai", "genai_prices", "openai") if find_spec(name) is None]
    if missing:
        raise MissingExtra("llm", f"the model {spec.label}")
    from material_agent.actors.llm import Client  # noqa: PLC0415 - takes a second to import

    return Client(spec, models)


LOCAL: Mapping[str, Callable[[str], Cast]] = {"builtin": _builtin, "refine": _refine, "scripted": _scripted}
