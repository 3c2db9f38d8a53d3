"""Differences put into words of the field, with the numbers they rest on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from evaluators.comparison import Comparison
from evaluators.functional.lattice import Lattice
from evaluators.functional.orientation import TRUSTED_COHERENCE
from evaluators.functional.scaling import rescaling
from evaluators.functional.spectrum import BANDS
from evaluators.measure import ring_scale
from evaluators.result import SCALES, Direction, Gap, Scale, TermName

_NEGLIGIBLE = 0.02
"""Relative difference below which a period or share counts as met."""
_VISIBLE_DELTA_E = 2.0
"""Just noticeable in CIE76 Lab for patches side by side (Mahy et al., Color Research and Application 1994: 2.3)."""
_NOTICED_FACTOR = 0.08
"""About the step of the profiles that scales are found by."""
_NOTICED_ANGLE_RAD = np.radians(3)
_TWO_TONES, _SHARE_APART, _JOINTS_SHARE = 0.5, 0.15, 0.4
"""Sureness of two regions, difference of their shares, and share of joints, for regions to be compared by name."""


def gaps_of(component: str, comparison: Comparison, term: TermName) -> list[Gap]:
    """List the gaps behind one component's value, the largest of size 1 − value; none where the value is 1."""
    value = comparison.values[component]
    build = _BUILDERS.get(component)
    if build is None or np.isnan(value) or value >= 1:
        return []
    found = build(comparison)
    largest = max((gap.size for gap in found), default=1.0)
    return [replace(gap, term=term, size=(1 - value) * gap.size / largest) for gap in found]


def _gap(
    scale: Scale,
    channel: str,
    kind: str,
    measured: float,
    target: float,
    unit: str,
    message: str,
    *,
    magnitude: float = 1.0,
    differs: bool = False,
) -> Gap:
    """A gap whose size is still its magnitude among those of one component."""
    direction: Direction = "differs" if differs else ("too_low" if measured < target else "too_high")
    return Gap("structure", scale, channel, kind, direction, magnitude, float(measured), float(target), unit, message)


def _relative(measured: float, target: float) -> str:
    word = "low" if measured < target else "high"
    return f"{abs(measured / target - 1):.0%} too {word}" if target else f"{measured:.3g} instead of none"


def _period_scale(count: float) -> Scale:
    return next(s for s in SCALES if BANDS[s][0] <= count < BANDS[s][1])


def _lattice(c: Comparison) -> list[Gap]:
    reference, candidate = c.reference.lattice, c.candidate.lattice
    if reference is None:
        return []
    across, down = reference.counts
    if candidate is None:
        message = f"macro: no repetition, the reference repeats {across:.1f} × {down:.1f} times across the picture"
        return [_gap("macro", "luma", "lattice_missing", 0.0, reference.strength, "autocorrelation", message)]
    size = c.reference.size
    gaps = []
    for name, kind, period, wanted in (
        ("length of the units along a row", "lattice_period", candidate.periods[0], reference.periods[0]),
        ("height of the rows", "lattice_row_height", candidate.periods[1], reference.periods[1]),
    ):
        if abs(period / wanted - 1) > _NEGLIGIBLE:
            scale = _period_scale(size / wanted)
            message = f"{scale}: {name} {_relative(period, wanted)}"
            unit, magnitude = "share of the picture's side", abs(np.log2(period / wanted))
            gaps.append(_gap(scale, "luma", kind, period / size, wanted / size, unit, message, magnitude=magnitude))
    gaps.extend(_bond_and_angle(candidate, reference))
    return gaps


def _bond_and_angle(candidate: Lattice, reference: Lattice) -> list[Gap]:
    gaps = []
    shift = (candidate.offset - reference.offset + 0.5) % 1 - 0.5
    if abs(shift) > 0.05:
        message = f"macro: rows shifted by {candidate.offset:.2f} of a period instead of {reference.offset:.2f}"
        gaps.append(
            _gap(
                "macro",
                "luma",
                "lattice_offset",
                candidate.offset,
                reference.offset,
                "periods",
                message,
                magnitude=2 * abs(shift),
                differs=True,
            )
        )
    turn = _half_turn(candidate.angle_rad - reference.angle_rad)
    if abs(turn) > _NOTICED_ANGLE_RAD:
        message = f"macro: rows turned by {abs(np.degrees(turn)):.0f}° {_turned(turn)}"
        measured, target = np.degrees(candidate.angle_rad), np.degrees(reference.angle_rad)
        magnitude = abs(turn) / (np.pi / 4)
        gaps.append(
            _gap(
                "macro",
                "luma",
                "lattice_angle",
                measured,
                target,
                "degrees",
                message,
                magnitude=magnitude,
                differs=True,
            )
        )
    return gaps


def _half_turn(angle_rad: float) -> float:
    """Fold an angle between undirected lines into (−π/2, π/2]."""
    return float((angle_rad + np.pi / 2) % np.pi - np.pi / 2)


def _turned(angle_rad: float) -> str:
    return "counter-clockwise" if angle_rad > 0 else "clockwise"


def _orientation(c: Comparison) -> list[Gap]:
    gaps = []
    for scale in SCALES:
        got, want = c.candidate.orientations[scale], c.reference.orientations[scale]
        if max(got.coherence, want.coherence) < TRUSTED_COHERENCE:
            continue
        if min(got.coherence, want.coherence) >= TRUSTED_COHERENCE:
            turn = _half_turn(got.angle_rad - want.angle_rad)
            if abs(turn) > _NOTICED_ANGLE_RAD:
                message = f"{scale}: grain turned by {abs(np.degrees(turn)):.0f}° {_turned(turn)}"
                measured, target = np.degrees(got.angle_rad), np.degrees(want.angle_rad)
                magnitude = 2 * abs(np.sin(turn)) * min(got.coherence, want.coherence)
                gaps.append(
                    _gap(
                        scale,
                        "luma",
                        "orientation",
                        measured,
                        target,
                        "degrees",
                        message,
                        magnitude=magnitude,
                        differs=True,
                    )
                )
        if abs(got.coherence - want.coherence) > 0.1:
            word = "too isotropic" if got.coherence < want.coherence else "too directional"
            message = f"{scale}: {word}, coherence {got.coherence:.2f} instead of {want.coherence:.2f}"
            magnitude = abs(got.coherence - want.coherence)
            gaps.append(
                _gap(
                    scale, "luma", "coherence", got.coherence, want.coherence, "coherence", message, magnitude=magnitude
                )
            )
    return gaps


def _spectrum(scale: Scale, c: Comparison) -> list[Gap]:
    rings = ring_scale(c.reference.size)[scale]
    got, want = (float(m.polar[rings].mean()) for m in (c.candidate, c.reference))
    decibels = 10 / np.log(10) * (got - want)
    if abs(decibels) < 1:
        message = f"{scale}: energy is right but spread differently over directions"
        return [_gap(scale, "luma", "spectrum_shape", got, want, "log power", message, differs=True)]
    word = "too weak" if decibels < 0 else "too strong"
    message = f"{scale}: detail {word} by {abs(decibels):.1f} dB"
    return [_gap(scale, "luma", "band_power", got, want, "log power", message)]


def _energies(c: Comparison) -> list[Gap]:
    scale = max(SCALES, key=lambda s: abs(c.candidate.energies[s] - c.reference.energies[s]))
    got, want = c.candidate.energies[scale], c.reference.energies[scale]
    message = f"{scale}: holds {got:.0%} of the variance instead of {want:.0%}"
    return [_gap(scale, "luma", "band_energy", got, want, "share of variance", message)]


def _slope(c: Comparison) -> list[Gap]:
    got, want = c.candidate.slope.beta, c.reference.slope.beta
    word = "steep" if got > want else "flat"
    message = f"micro: spectrum too {word} by {abs(got - want):.1f}"
    return [_gap("micro", "luma", "spectral_slope", got, want, "exponent of f", message)]


def _texture(scale: Scale, part: str, kind: str, c: Comparison) -> list[Gap]:
    distance, own = c.distances[f"texture_{part}"], c.self_distances[f"texture_{part}"]
    message = f"{scale}: texture differs by {distance:.2f}, the reference's own parts by {own:.2f}"
    return [_gap(scale, "rgb", kind, distance, own, "feature distance", message, differs=True)]


def _scaling(c: Comparison) -> list[Gap]:
    found = rescaling(c.candidate.octaves, c.reference.octaves, c.reference.size)
    if abs(found.factor - 1) < _NOTICED_FACTOR:
        return []
    word = f"{found.factor:.2f} times too fine" if found.factor > 1 else f"{1 / found.factor:.2f} times too coarse"
    return [_gap("global", "luma", "pattern_scale", found.factor, 1.0, "times as fine", f"the whole pattern {word}")]


def _grain(c: Comparison) -> list[Gap]:
    got, want = c.candidate.grain, c.reference.grain
    message = f"micro: grain at the limit of the picture {_relative(got, want)}"
    return [_gap("micro", "luma", "grain", got, want, "standard deviation of luma", message)]


def _palette(c: Comparison) -> list[Gap]:
    got, want = c.candidate.lab_mean, c.reference.lab_mean
    gaps = []
    lightness = float(got[0] - want[0])
    if abs(lightness) > _VISIBLE_DELTA_E:
        message = f"colour: {abs(lightness):.0f} ΔE too {'dark' if lightness < 0 else 'bright'}"
        gaps.append(_gap("global", "colour", "lightness", got[0], want[0], "L*", message, magnitude=abs(lightness)))
    chroma_got, chroma_want = (float(np.hypot(lab[1], lab[2])) for lab in (got, want))
    shift = float(np.hypot(*(got[1:] - want[1:])))
    if abs(chroma_got - chroma_want) > _VISIBLE_DELTA_E:
        word = "pale" if chroma_got < chroma_want else "saturated"
        message = f"colour: {abs(chroma_got - chroma_want):.0f} ΔE too {word}"
        magnitude = abs(chroma_got - chroma_want)
        gaps.append(_gap("global", "colour", "chroma", chroma_got, chroma_want, "C*", message, magnitude=magnitude))
    hue_part = float(np.sqrt(max(shift**2 - (chroma_got - chroma_want) ** 2, 0.0)))
    if hue_part > _VISIBLE_DELTA_E:
        hues = [float(np.degrees(np.arctan2(lab[2], lab[1]))) for lab in (got, want)]
        message = f"colour: hue {hues[0]:.0f}° instead of {hues[1]:.0f}°, {hue_part:.0f} ΔE off"
        gaps.append(
            _gap("global", "colour", "hue", hues[0], hues[1], "degrees", message, magnitude=hue_part, differs=True)
        )
    spread_got, spread_want = (float(np.linalg.norm(m.lab_std)) for m in (c.candidate, c.reference))
    if abs(spread_got - spread_want) > _VISIBLE_DELTA_E:
        word = "few" if spread_got < spread_want else "many"
        message = f"colour: spread of {spread_got:.0f} ΔE instead of {spread_want:.0f}, too {word} different colours"
        magnitude = abs(spread_got - spread_want)
        gaps.append(
            _gap("global", "colour", "palette_spread", spread_got, spread_want, "ΔE", message, magnitude=magnitude)
        )
    gaps.extend(_tones(c, lightness))
    if not gaps:
        distance = c.distances["palette"]
        message = f"colour: right on average, but distributed differently by {distance:.1f} ΔE"
        gaps.append(_gap("global", "colour", "palette", distance, 0.0, "ΔE", message, differs=True))
    return gaps


def _tones(c: Comparison, lightness: float) -> list[Gap]:
    """One of two regions is off in lightness by more than the picture as a whole."""
    got, want = c.candidate.tones, c.reference.tones
    if min(got.sure, want.sure) < _TWO_TONES or abs(got.share - want.share) > _SHARE_APART:
        return []
    joints = c.reference.lattice is not None and want.share < _JOINTS_SHARE
    gaps = []
    for name, channel, one, other in (
        ("joints" if joints else "smaller region", "colour", got.smaller, want.smaller),
        ("units between the joints" if joints else "larger region", "colour", got.larger, want.larger),
    ):
        off = float(one[0] - other[0])
        if abs(off) > _VISIBLE_DELTA_E and abs(off - lightness) > _VISIBLE_DELTA_E:
            message = f"colour: {name} {abs(off):.0f} ΔE too {'dark' if off < 0 else 'bright'}"
            gaps.append(
                _gap("global", channel, "region_lightness", one[0], other[0], "L*", message, magnitude=abs(off))
            )
    return gaps


def _contrast(c: Comparison) -> list[Gap]:
    got, want = c.candidate.contrast, c.reference.contrast
    message = f"contrast {_relative(got, want)}: {got:.3f} instead of {want:.3f}"
    return [_gap("global", "luma", "contrast", got, want, "standard deviation of luma", message)]


_BUILDERS: dict[str, Callable[[Comparison], list[Gap]]] = {
    "lattice": _lattice,
    "orientation": _orientation,
    "spectrum_macro": partial(_spectrum, "macro"),
    "spectrum_meso": partial(_spectrum, "meso"),
    "spectrum_micro": partial(_spectrum, "micro"),
    "energies": _energies,
    "slope": _slope,
    "scale": _scaling,
    "grain": _grain,
    "texture_grain": partial(_texture, "micro", "grain", "grain_texture"),
    "texture_macro": partial(_texture, "macro", "macro", "texture"),
    "texture_meso": partial(_texture, "meso", "meso", "texture"),
    "texture_micro": partial(_texture, "micro", "micro", "texture"),
    "palette": _palette,
    "contrast": _contrast,
}
