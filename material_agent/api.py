"""One call from a picture to a material: the built-in parts put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from material_agent.actors.cast import Cast, cast_for
from material_agent.actors.models import LLMSettings
from material_agent.config import RunConfig
from material_agent.events import Event
from material_agent.fit import RunResult, run_fit
from material_agent.reports import write_report

if TYPE_CHECKING:
    from references import Reference
    from renderer import BlenderPool

__all__ = ["Cast", "LLMSettings", "cast_for", "fit_material"]


def fit_material(
    config: RunConfig,
    *,
    actor: str = "builtin",
    reflector: str = "",
    models: LLMSettings | None = None,
    reference: Reference | None = None,
    run_id: str = "",
    renderer: BlenderPool | None = None,
    progress: Callable[[Event], None] | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> RunResult:
    """Fit a material to the picture `config.reference` and write everything to the folder `config.out`.

    `actor`, `reflector` and `models` as in `cast_for`. The other arguments, and what is raised, are those of `run_fit`.
    """
    # The built-in actor builds from nothing; a material that exists is refined.
    named = "refine" if config.start and actor == "builtin" else actor
    chosen = cast_for(named, reflector, models)
    try:
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
    finally:
        chosen.close()
