"""Editability: how many of the parameters that a graph exposes do to the picture what a person would expect."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_api import ActionRejected, SetParam, apply
from graph_api.knobs import Knob, knobs
from graph_api.model import Graph, Value
from renderer import Renderer, RenderRequest, RenderResult, RenderSettings, linear_to_srgb
from renderer.protocol import Channel

CHANNELS: tuple[Channel, ...] = ("beauty", "base_color", "roughness", "metallic", "height")
STEPS = (0.25, 0.5, 1.0)
"""Of the way from a parameter's value to the place that it is moved to."""
VISIBLE = 0.004
"""Mean absolute change of the display-referred picture that counts as one: one level of 8 bits."""
LOCAL = 0.8
"""Share of a change that one group of channels must carry for the change to be local."""
_GROUPS: tuple[tuple[Channel, ...], ...] = (("base_color",), ("roughness", "metallic"), ("height",))
_SLACK = 0.95
_NUMERIC = (int, float)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Editability:
    """`knobs`: exposed parameters; `visible`, `monotonic`, `local`: how many are each; `good`: all three."""

    knobs: int
    visible: int
    monotonic: int
    local: int
    good: int

    @property
    def share(self) -> float:
        """Good ones among the exposed, 0 without any."""
        return self.good / self.knobs if self.knobs else 0.0


def editability(graph: Graph, renderer: Renderer, settings: RenderSettings) -> Editability:
    """Move every exposed parameter in three steps and look at what changes.

    Monotonic: each step takes the picture further from where it was. Local: of the change, at least four fifths are in
    one of base color, surface (roughness, metallic) and relief (height), each in its own units.
    """
    exposed = [(knob, moved) for knob in knobs(graph) if (moved := _steps(graph, knob))]
    graphs = [graph, *(one for _, steps in exposed for one in steps)]
    results = renderer.render_many([RenderRequest(one, "flat", CHANNELS, settings) for one in graphs])
    total = len(knobs(graph))
    if not results[0].ok:
        return Editability(total, 0, 0, 0, 0)
    visible = monotonic = local = good = 0
    for index in range(len(exposed)):
        steps = results[1 + index * len(STEPS) : 1 + (index + 1) * len(STEPS)]
        if not all(one.ok for one in steps):
            continue
        away = [_distance(results[0], one) for one in steps]
        seen = away[-1] > VISIBLE
        rising = seen and all(after >= _SLACK * before for before, after in itertools.pairwise(away))
        alone = seen and _concentration(results[0], steps[-1]) >= LOCAL
        visible, monotonic, local = visible + seen, monotonic + rising, local + alone
        good += rising and alone
    return Editability(total, visible, monotonic, local, good)


def _steps(graph: Graph, knob: Knob) -> list[Graph]:
    made = []
    for step in STEPS:
        value = _moved(knob, step)
        if value is None:
            return []
        try:
            made.append(apply(graph, SetParam(knob.node, knob.socket, value)).graph)
        except ActionRejected:
            return []
    return made


def _moved(knob: Knob, step: float) -> Value | None:
    """The value after a step towards half as much again, or towards the middle of its range from its upper end."""
    value = knob.value
    if isinstance(value, bool):
        return None
    if isinstance(value, _NUMERIC):
        return _number(float(value), knob, step)
    if isinstance(value, tuple) and all(isinstance(part, _NUMERIC) for part in value):
        numbers = [float(part) for part in value]
        moved = [_number(part, knob, step) for part in numbers]
        return tuple(moved[:3] + numbers[3:]) if len(numbers) > 3 else tuple(moved)
    return None


def _number(value: float, knob: Knob, step: float) -> float:
    target = value * 1.5 if abs(value) > 1e-6 else value + 0.25
    if knob.max is not None and target > knob.max:
        target = value * 0.5
    return value + step * (target - value)


def _picture(result: RenderResult) -> Array:
    return np.clip(linear_to_srgb(result.channels["beauty"]), 0, 1).astype(np.float64)


def _distance(one: RenderResult, other: RenderResult) -> float:
    return float(np.abs(_picture(one) - _picture(other)).mean())


def _concentration(one: RenderResult, other: RenderResult) -> float:
    """Share of the largest group in the sum of the groups' changes, each relative to a visible change of its own."""
    changes = [max(_change(name, one, other) for name in group) for group in _GROUPS]
    total = sum(changes)
    return max(changes) / total if total > 0 else 0.0


def _change(name: Channel, one: RenderResult, other: RenderResult) -> float:
    before, after = (np.asarray(result.channels[name], np.float64) for result in (one, other))
    if name == "height":
        before, after = before - before.mean(), after - after.mean()
        span = max(float(np.ptp(before)), float(np.ptp(after)), 1e-6)
        return float(np.abs(after - before).mean()) / span
    return float(np.abs(after - before).mean())
