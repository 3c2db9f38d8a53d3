"""Derivatives of a kernel against central differences, pixel by pixel where the picture is smooth.

Every pixel has its own step: the widest of a few over which differences agree with those over a quarter and over a
sixteenth of it. Where none does the picture jumps or bends there, and the pixel is left out; the share that is compared
is reported, so that a node without any smooth pixel shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_api.catalog import load_catalog
from graph_api.model import Graph
from renderer.preview.contract import FloatArray, Key
from renderer.preview.engine import Kernel

STEPS = (6.4e-2, 1.6e-2, 4e-3, 1e-3, 2.5e-4, 6.25e-5)
"""Of the value, at least of one: from wide enough for float32 to narrow against the cells of a fine texture."""
# Differences that agree this far are an eighth of a percent from the derivative: the error falls with the step squared.
_AGREE = 0.02
# Values up to which a texture is tame enough for differences, by input.
_TAME = {"Scale": 4.0, "Detail": 0.7, "Distortion": 0.3, "Lacunarity": 2.0, "Detail Scale": 1.0}
# Differences are uncertain by this much, before they are divided by the step: sines of large phases, in Wave and Magic,
# are rounded that much coarser than their values.
_ROUNDING = 4e-6
# What of that is left in a sum over pixels, whose errors partly cancel.
_TYPICAL = 0.1


Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Slope:
    """The derivative by one parameter along one direction.

    `expected`, `found`: the weighted sum over smooth pixels of differences and of derivatives. `size`: the same sum
    of magnitudes, what an error is measured against. `floor`: the error that rounding alone may make. `smooth`: the
    share of pixels compared. `finite`: whether the derivative over all pixels, smooth or not, is finite.
    """

    key: Key
    expected: float
    found: float
    size: float
    floor: float
    smooth: float
    finite: bool

    @property
    def error(self) -> float:
        """Distance from the differences, beyond rounding, in parts of `size`."""
        apart = max(0.0, abs(self.expected - self.found) - self.floor)
        return apart / self.size if self.size > 0 else float(apart > 0)


def differentiable(kernel: Kernel, subject: str) -> list[Key]:
    """The parameters that derivatives are checked by: the subject's numbers, and the places of what feeds it.

    Whole numbers have no derivative.
    """
    kind = load_catalog().node(kernel.plan.structure.steps[kernel.plan.nodes.index(subject)].type)
    whole = {name for name, prop in kind.properties.items() if prop.type == "int"} if kind is not None else set()
    return [
        (node, key)
        for node, key in kernel.parameters
        if (node == subject and key not in whole) or (node.startswith("map ") and key == "Location")
    ]


def slopes(
    kernel: Kernel, keys: Sequence[Key], rng: np.random.Generator, resolution: int = 16, channel: str = "base_color"
) -> list[Slope]:
    """The derivatives of a channel by each of `keys`, at the graph's own values, along random directions."""
    base = {key: np.array(kernel.parameter(*key).default).reshape(kernel.parameter(*key).shape) for key in keys}
    directions = {key: rng.choice([-1.0, 1.0], value.shape) * rng.uniform(0.5, 1.0, value.shape)
                  for key, value in base.items()}  # fmt: skip
    sizes = {key: max(1.0, float(np.abs(value).max())) for key, value in base.items()}
    offsets = [sign * step for step in STEPS for sign in (1.0, -1.0)] + [0.0]
    count = len(keys)
    moved = {}
    for index, key in enumerate(keys):
        rows = np.repeat(base[key][None], len(offsets) * count, 0)
        for place, offset in enumerate(offsets):
            rows[len(offsets) * index + place] += offset * sizes[key] * directions[key]
        moved[key] = rows
    drawn = kernel.evaluate(moved, resolution, (channel,))[channel].astype(np.float64)
    drawn = drawn.reshape(count, len(offsets), *drawn.shape[1:])
    weights = rng.uniform(0.5, 1.5, drawn.shape[2:])
    own, cotangents, wide = [], [], []
    for index, key in enumerate(keys):
        differences, rounding, smooth = _differences(drawn[index], sizes[key])
        own.append((np.where(smooth, weights * differences, 0.0), rounding, smooth))
        cotangents.append(np.where(smooth, weights, 0.0))
        wide.append(weights)
    at = {key: np.repeat(base[key][None], count, 0) for key in keys}
    partial = kernel.gradient(at, {channel: _floats(cotangents)}, resolution)
    whole = kernel.gradient(at, {channel: _floats(wide)}, resolution)
    found = []
    for index, (key, (terms, rounding, smooth)) in enumerate(zip(keys, own, strict=True)):
        derivative = float((np.asarray(partial[key][index], np.float64) * directions[key]).sum())
        # Where all pixels are one value their errors are one too, and nothing cancels.
        share = _TYPICAL if np.ptp(drawn[index][-1], axis=(0, 1)).max() > 0 else 1.0
        floor = share * float(np.where(smooth, rounding, 0.0).sum()) + 1e-6
        finite = bool(np.isfinite(whole[key][index]).all())
        total, size = float(terms.sum()), float(np.abs(terms).sum())
        found.append(Slope(key, total, derivative, size, floor, float(smooth.mean()), finite))
    return found


def tamed(graph: Graph, subject: str) -> Graph:
    """The graph with wide coordinates and a subject of low frequency, so that differences can follow it."""
    made = graph
    for node in graph.nodes.values():
        inputs = dict(node.inputs)
        if node.id == subject and "ShaderNodeTex" in node.type:
            inputs |= {name: min(float(inputs[name]), most) for name, most in _TAME.items() if name in inputs}  # type: ignore[arg-type]
        made = made.with_node(replace(node, inputs=inputs))
    return made


def _differences(drawn: Numbers, size: float) -> tuple[Numbers, Numbers, Numbers]:
    """Of pictures up and down each step and in the middle: the differences, their rounding, where to trust them."""
    pairs, middle_value = drawn[:-1].reshape(len(STEPS), 2, *drawn.shape[1:]), drawn[-1]
    slopes_by_step = [(pair[0] - pair[1]) / (2 * step * size) for pair, step in zip(pairs, STEPS, strict=True)]
    noise = [
        _ROUNDING * np.maximum(1.0, np.abs(pair[0])) / (step * size) for pair, step in zip(pairs, STEPS, strict=True)
    ]
    best, rounding, smooth = slopes_by_step[-1], noise[-1], np.zeros(slopes_by_step[0].shape, bool)
    for index in range(len(STEPS) - 2):
        middle, error = slopes_by_step[index + 1], noise[index + 1]
        agrees = _alike(slopes_by_step[index], middle, error) & _alike(middle, slopes_by_step[index + 2], 4 * error)
        # A bend in the very middle looks alike over every step, but not from both sides.
        (up, down), step = pairs[index + 2], STEPS[index + 2] * size
        agrees &= _alike((up - middle_value) / step, (middle_value - down) / step, 8 * error)
        new = agrees & ~smooth
        best, rounding = np.where(new, middle, best), np.where(new, error, rounding)
        smooth = smooth | agrees
    return best, rounding, smooth


def _alike(a: Numbers, b: Numbers, rounding: Numbers) -> Numbers:
    alike: Numbers = np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= _AGREE * np.abs(a) + rounding)
    return alike


def _floats(pictures: Sequence[Numbers]) -> FloatArray:
    return np.stack(pictures).astype(np.float32)
