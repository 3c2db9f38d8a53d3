"""The figures of an observation, by the names under which evidence may cite them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from material_agent.events import EvaluationRecord, evaluation_record
from material_agent.observation import Observation

RELATIVE, ABSOLUTE = 0.01, 1e-3  # a reflection may round to three digits, and no further


def figures(verdict: EvaluationRecord) -> dict[str, tuple[float, ...]]:
    """Name → values of a verdict.

    `reward`; `<term>`; `<term>.<scale>`, `<term>.<channel>`, `<term>.<number>`; for gaps `<kind>` and
    `<kind>.measured`, `<kind>.target`, `<kind>.size`. A gap kind can occur at several scales, hence several values.
    """
    found: defaultdict[str, list[float]] = defaultdict(list)

    def add(name: str, value: float | None) -> None:
        if value is not None:
            found[name].append(value)

    add("reward", verdict.reward)
    for name, term in verdict.terms.items():
        add(name, term.value)
        for group in (term.by_scale, term.by_channel, term.numbers):
            for key, value in group.items():
                add(f"{name}.{key}", value)
    for gap in verdict.gaps:
        add(gap.kind, gap.measured)
        add(f"{gap.kind}.measured", gap.measured)
        add(f"{gap.kind}.target", gap.target)
        add(f"{gap.kind}.size", gap.size)
    return {name: tuple(values) for name, values in found.items()}


def observation_figures(observation: Observation) -> dict[str, tuple[float, ...]]:
    """The figures of an observation; none when nothing was judged in it."""
    return {} if observation.evaluation is None else figures(evaluation_record(observation.evaluation))


def agrees(claimed: float, known: tuple[float, ...]) -> bool:
    """Whether a claimed figure is one of those that were seen, up to rounding."""
    return any(abs(claimed - value) <= ABSOLUTE + RELATIVE * abs(value) for value in known)


Figures = Mapping[str, Mapping[str, tuple[float, ...]]]
