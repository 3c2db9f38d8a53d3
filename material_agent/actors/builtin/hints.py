"""Corrections that a gap's own numbers call for: what is measured on the render, and what the reference has.

They need neither a search nor a look at the picture: the verdict names both figures and the unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from skimage.color import lab2rgb, rgb2lab

from material_agent.actors.builtin.measurements import Measurements
from material_agent.actors.builtin.structure import Structure
from material_agent.context import Gap

COLOR = ("lightness", "chroma", "hue", "palette_spread", "contrast")
"""Gaps that one new set of colours answers together."""
_MOST = 2.0
"""A factor of one correction, either way: a larger one is a sign that something else is wrong."""
_GREY = 1.0
"""Chroma below which a hue is noise, CIE Lab."""
# Gap of a lattice → the parameter that it is about, and whether a larger figure calls for a smaller value.
_LATTICE = {"lattice_period": "columns", "lattice_row_height": "rows"}
_ANGLES = {"lattice_angle": "lattice_angle", "orientation": "grain_angle"}


def recoloured(
    measured: Measurements, values: Mapping[str, float], gaps: Sequence[Gap]
) -> tuple[Measurements, dict[str, float]]:
    """Beliefs about the colours, and the corrections `exposure` and `spread`, after the gaps of one verdict."""
    found = {gap.kind: gap for gap in reversed(gaps) if gap.kind in COLOR}
    changed = dict(values)
    if (gap := found.get("lightness")) is not None:
        changed["exposure"] = _within(
            changed.get("exposure", 1.0) * _factor(_luminance(gap.measured), _luminance(gap.target))
        )
    spread = found.get("contrast") or found.get("palette_spread")
    if spread is not None:
        changed["spread"] = _within(changed.get("spread", 1.0) * _factor(spread.target, spread.measured))
    return _tinted(measured, found), changed


def _tinted(measured: Measurements, found: Mapping[str, Gap]) -> Measurements:
    """The believed pixels with the chroma and the hue that the reference is said to have, on average."""
    chroma, hue = found.get("chroma"), found.get("hue")
    if chroma is None and hue is None:
        return measured
    lab = rgb2lab(np.clip(measured.pixels, 0, 1))
    mean = lab[..., 1:].reshape(-1, 2).mean(axis=0)
    length, angle = float(np.hypot(*mean)), math.atan2(mean[1], mean[0])
    if hue is not None:
        angle = math.radians(hue.target)
    elif length < _GREY:
        return measured  # how far from grey is known, but not where to
    wanted = length * _factor(chroma.target, max(chroma.measured, _GREY)) if chroma is not None else length
    if chroma is not None and length < _GREY:
        wanted = chroma.target
    elif chroma is None and length < _GREY:
        wanted = 2 * _GREY
    lab[..., 1:] += wanted * np.array([math.cos(angle), math.sin(angle)]) - mean
    return replace(measured, pixels=np.clip(lab2rgb(lab), 0, 1))


def stepped(structure: Structure, values: Mapping[str, float], gap: Gap) -> dict[str, float] | None:
    """The values after the step that the gap's numbers name; None where they name none of the structure's own."""
    wanted = _LATTICE.get(gap.kind) or _ANGLES.get(gap.kind)
    if wanted is None or not (gap.measured > 0 and gap.target > 0):
        return None
    chosen = [item for item in structure.parameters if wanted in (item.measured, item.name)]
    if not chosen:
        return None
    changed = dict(values)
    for item in chosen:
        if gap.kind in _LATTICE:
            value = changed[item.name] * _factor(gap.measured, gap.target)
        else:
            value = changed[item.name] + math.radians(gap.target - gap.measured)
        changed[item.name] = min(max(value, item.low), item.high)
    return changed


def _luminance(lightness: float) -> float:
    """Relative luminance of CIE L*."""
    return ((lightness + 16) / 116) ** 3 if lightness > 8 else lightness / 903.3


def _factor(wanted: float, got: float) -> float:
    return min(max(wanted / max(got, 1e-4), 1 / _MOST), _MOST)


def _within(value: float) -> float:
    return min(max(value, 0.25), 4.0)
