"""The ledger: everything that a run spends, in one place.

Counts are what bounds a run; seconds are only a safety stop, because results must not depend on the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from material_agent.errors import BadInput, BudgetExhausted

Resource = Literal[
    "actions",
    "renders",
    "candidates",
    "samples_pixels",
    "calls",
    "failed_calls",
    "tokens",
    "money_usd",
    "model_seconds",
    "seconds",
]
RESOURCES: tuple[Resource, ...] = get_args(Resource)


class Ledger:
    """What was spent, and what may be.

    `actions`: steps of an actor. `renders`: renders asked for by an actor. `candidates`: evaluations of a search.
    `samples_pixels`: samples × pixels over both. `calls` (those that failed included), `failed_calls`,
    `tokens`, `money_usd` and `model_seconds` (time until the answers came): of a language model. `seconds`: run time,
    added up over a run and its resumes. A resource without a limit is unlimited.
    """

    def __init__(
        self,
        limits: Mapping[str, float] | None = None,
        spent: Mapping[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start with `spent` on the books; its seconds go on from where they stopped.

        Raises `BadInput` for an unknown resource or a negative figure.
        """
        self._limits = _checked(limits or {})
        self._spent: dict[str, float] = dict.fromkeys(RESOURCES, 0.0) | _checked(spent or {})
        self._clock = clock
        self._seconds_before = self._spent["seconds"]
        self._started = clock()

    @property
    def limits(self) -> dict[str, float]:
        """The limits that were set."""
        return dict(self._limits)

    @property
    def spent(self) -> dict[str, float]:
        """What was spent so far, seconds included."""
        return {**self._spent, "seconds": self._seconds()}

    @property
    def remaining(self) -> dict[str, float]:
        """What is left of every limited resource, never below 0."""
        spent = self.spent
        return {name: max(0.0, limit - spent[name]) for name, limit in self._limits.items()}

    def require(self, **amounts: float) -> None:
        """Check that these amounts may still be spent, and that time is not up; nothing is charged.

        Raises `BudgetExhausted` naming the first resource that would go over its limit.
        """
        spent = self.spent
        for name, amount in _checked(amounts).items():
            limit = self._limits.get(name)
            if limit is not None and spent[name] + amount > limit:
                raise BudgetExhausted(name, spent[name] + amount, limit)
        time_limit = self._limits.get("seconds")
        if time_limit is not None and spent["seconds"] >= time_limit:
            raise BudgetExhausted("seconds", spent["seconds"], time_limit)

    def charge(self, **amounts: float) -> None:
        """Put these amounts on the books, whatever came of what they bought. Never raises for a limit."""
        for name, amount in _checked(amounts).items():
            if name == "seconds":
                raise BadInput("expected a counted resource, got 'seconds', which the ledger measures itself")
            self._spent[name] += amount

    def _seconds(self) -> float:
        return self._seconds_before + self._clock() - self._started


def _checked(amounts: Mapping[Any, float]) -> dict[str, float]:
    for name, amount in amounts.items():
        if name not in RESOURCES:
            raise BadInput(f"expected a budget resource, got {name!r}; known: {', '.join(RESOURCES)}")
        if not amount >= 0:
            raise BadInput(f"expected a budget of {name} at or above 0, got {amount!r}")
    return {name: float(amount) for name, amount in amounts.items()}
