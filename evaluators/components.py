"""The single differences between two pictures, each a distance that is 0 for identical pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluators.calibration import Normalisation
from evaluators.functional.lattice import Lattice
from evaluators.functional.orientation import Orientation
from evaluators.functional.scaling import CLEAR_NEPERS, rescaling
from evaluators.functional.texture import statistics_distance
from evaluators.measure import GRAIN, Measurement, ring_scale
from evaluators.result import SCALES, Scale

FloatArray = npt.NDArray[np.float32]
Distance = Callable[[Measurement, Measurement], float]
"""(candidate, reference) → distance ≥ 0; NaN where the reference gives nothing to compare."""
CONTRAST_FLOOR = 1 / 255
"""Added to both sides of a ratio of contrasts: one code value of an 8-bit picture."""
GRAIN_FLOOR = CONTRAST_FLOOR / 4
"""The same for grain: what rounding to 8 bits leaves is 1/√12 of a code value."""

SETTLED_SCALE = 0.1
"""Where the quarters of a reference differ in scale by more (patches of rust, scratches), its scale cannot be told."""


@dataclass(frozen=True)
class Component:
    """One distance: the term it counts for, the scale and channel it is about, and how it is measured.

    It is unscored for a reference whose own quarters are further apart than `most_own`.
    """

    name: str
    term: Literal["structure", "appearance"]
    scale: Scale
    channel: str
    distance: Distance
    deep: bool = False
    most_own: float = math.inf


def spectrum_distance(scale: str, candidate: Measurement, reference: Measurement) -> float:
    """Mean absolute difference of log power over the rings of a scale; NaN when the size has no such ring."""
    rings = ring_scale(reference.size)[scale]
    if not len(rings):
        return float("nan")
    return float(np.abs(candidate.polar[rings] - reference.polar[rings]).mean())


def steerable_distance(candidate: Measurement, reference: Measurement) -> float:
    """Mean absolute difference of steerable statistics: log energies in nepers, correlations as they are."""
    return float(np.abs(candidate.steerable - reference.steerable).mean())


def energy_distance(candidate: Measurement, reference: Measurement) -> float:
    """Share of the variance that sits at another scale than in the reference, in [0, 1]."""
    return moved_energy(candidate.energies, reference.energies)


def moved_energy(energies: Mapping[str, float], reference: Mapping[str, float]) -> float:
    """`energy_distance` of the shares by scale alone."""
    return sum(abs(energies[scale] - share) for scale, share in reference.items()) / 2


def slope_distance(candidate: Measurement, reference: Measurement) -> float:
    """Absolute difference of the spectral exponent β."""
    return abs(candidate.slope.beta - reference.slope.beta)


def scale_distance(candidate: Measurement, reference: Measurement) -> float:
    """How surely the candidate is coarser or finer as a whole, in [0, 1].

    The share of the difference of the two energies by octave that a change of scale explains, in full from a factor of
    1.5 on.
    """
    found = rescaling(candidate.octaves, reference.octaves, reference.size)
    return max(found.explained, 0.0) * min(abs(math.log(found.factor)) / CLEAR_NEPERS, 1.0)


def orientation_distance(candidate: Measurement, reference: Measurement) -> float:
    """Largest difference over scales of the orientation vectors coherence·(cos 2θ, sin 2θ), in [0, 2]."""
    return max(
        abs(_orientation_vector(candidate.orientations[s]) - _orientation_vector(reference.orientations[s]))
        for s in reference.orientations
    )


def _orientation_vector(orientation: Orientation) -> complex:
    return complex(orientation.coherence * np.exp(2j * orientation.angle_rad))


def lattice_distance(candidate: Measurement, reference: Measurement) -> float:
    """Difference of two lattices in [0, 1]; NaN for a reference without one, 1 for a candidate without one."""
    if reference.lattice is None:
        return float("nan")
    if candidate.lattice is None:
        return 1.0
    return lattice_difference(candidate.lattice, reference.lattice)


def lattice_difference(candidate: Lattice, reference: Lattice) -> float:
    """How far the reference's two vectors are from points of the candidate's lattice and the reverse, in [0, 1].

    Each vector is expressed in the other basis; its distance to the nearest whole, non-zero combination is measured in
    the other lattice's terms (½ is as far as a point can be). Taken both ways and the worse of the two, so that a
    lattice twice as fine is as wrong as one twice as coarse. The choice of basis does not matter.
    """
    one = np.array(candidate.vectors, dtype=np.float64)
    other = np.array(reference.vectors, dtype=np.float64)
    return max(_misfit(one, other), _misfit(other, one))


def _misfit(vectors: npt.NDArray[np.float64], basis: npt.NDArray[np.float64]) -> float:
    if abs(np.linalg.det(basis)) < 1e-9:
        return 1.0
    coordinates = vectors @ np.linalg.inv(basis)
    whole = np.round(coordinates)
    misses = np.abs(coordinates - whole).max(axis=1)
    misses[(whole == 0).all(axis=1)] = 0.5
    return float(min(1.0, 2 * misses.max()))


def grain_distance(candidate: Measurement, reference: Measurement) -> float:
    """Absolute log ratio of the contrasts finer than the compared size; NaN where either picture does not show it."""
    return abs(float(np.log((candidate.grain + GRAIN_FLOOR) / (reference.grain + GRAIN_FLOOR))))


def deep_distance(scale: str, candidate: Measurement, reference: Measurement) -> float:
    """Texture distance at a scale; NaN without a network."""
    if scale not in candidate.deep or scale not in reference.deep:
        return float("nan")
    return float(statistics_distance(candidate.deep[scale], reference.deep[scale])[0])


def palette_distance(candidate: Measurement, reference: Measurement) -> float:
    """Sliced Wasserstein distance of the Lab colours, in ΔE."""
    return float(np.abs(candidate.lab_quantiles - reference.lab_quantiles).mean())


def contrast_distance(candidate: Measurement, reference: Measurement) -> float:
    """Absolute log ratio of the standard deviations of luma."""
    return abs(float(np.log((candidate.contrast + CONTRAST_FLOOR) / (reference.contrast + CONTRAST_FLOOR))))


COMPONENTS: tuple[Component, ...] = (
    Component("lattice", "structure", "macro", "luma", lattice_distance),
    Component("orientation", "structure", "macro", "luma", orientation_distance),
    *(Component(f"spectrum_{s}", "structure", s, "luma", partial(spectrum_distance, s)) for s in SCALES),
    Component("scale", "structure", "global", "luma", scale_distance, most_own=SETTLED_SCALE),
    Component("energies", "structure", "global", "luma", energy_distance),
    Component("slope", "structure", "micro", "luma", slope_distance),
    Component("steerable", "structure", "meso", "luma", steerable_distance),
    Component("grain", "structure", "micro", "luma", grain_distance),
    *(Component(f"texture_{s}", "appearance", s, "rgb", partial(deep_distance, s), deep=True) for s in SCALES),
    Component("texture_grain", "appearance", "micro", "rgb", partial(deep_distance, GRAIN), deep=True),
    Component("palette", "appearance", "global", "colour", palette_distance),
    Component("contrast", "appearance", "global", "luma", contrast_distance),
)
BY_NAME: Mapping[str, Component] = {component.name: component for component in COMPONENTS}


def distances(candidate: Measurement, reference: Measurement) -> dict[str, float]:
    """All components' distances, by name; NaN where there is nothing to compare."""
    return {component.name: component.distance(candidate, reference) for component in COMPONENTS}


def component_shares(
    names: Iterable[str], weights: Mapping[str, float], rules: Mapping[str, Normalisation]
) -> dict[str, float]:
    """What each component counts where these alone are seen: weighted within their terms, and those by `weights`.

    They sum to 1; a component without weight is left out.
    """
    counted = [name for name in names if name in rules and rules[name].weight > 0]
    totals: dict[str, float] = {}
    for name in counted:
        totals[BY_NAME[name].term] = totals.get(BY_NAME[name].term, 0.0) + rules[name].weight
    whole = sum(weights[term] for term in totals)
    terms = {name: BY_NAME[name].term for name in counted}
    return {name: weights[term] * rules[name].weight / totals[term] / whole for name, term in terms.items()}


def value_of(distance: float, floor: float, ceiling: float) -> float:
    """Turn a distance into a value: 1 at or below the floor, .037 at the ceiling, falling towards 0 beyond it.

    Between the two it is the gap closed, 1 − (d − floor)/(ceiling − floor). Below .1 it goes over into an exponential,
    so that a search far away still sees which of two bad pictures is the nearer.
    """
    if np.isnan(distance):
        return float("nan")
    closed = 1 - (distance - floor) / max(ceiling - floor, 1e-9)
    if closed >= _KNEE:
        return float(min(closed, 1.0))
    return float(_KNEE * np.exp((closed - _KNEE) / _KNEE))


_KNEE = 0.1
