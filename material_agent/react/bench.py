"""The bench that an actor is given: the environment's, or none."""

from __future__ import annotations

from collections.abc import Sequence

from graph_api.actions import Edit
from material_agent.environment import Bench, Environment, Trial
from material_agent.errors import ActorError
from material_agent.observation import Judging


class NoBench:
    """Stands where a run has no search: nothing can be tried between two actions."""

    def try_many(
        self,
        candidates: Sequence[Sequence[Edit]],
        *,
        resolution: int = 128,
        channels: tuple[str, ...] = ("beauty",),
        judge: Judging = "screen",
    ) -> list[Trial]:
        """Raises `ActorError`, whatever is asked."""
        raise ActorError(
            "expected an actor that tries nothing between two actions, because the search of this run is off"
        )


def bench_for(environment: Environment) -> Bench:
    """The environment itself where its settings allow a search."""
    return environment if environment.settings.search else NoBench()
