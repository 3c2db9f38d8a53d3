"""Scores that are cheap enough for every candidate of a search: without weights, or with deep statistics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluators.calibration import Calibration, SizeCalibration
from evaluators.components import CONTRAST_FLOOR, component_shares, moved_energy, value_of
from evaluators.functional.color import luma as to_luma
from evaluators.functional.spectrum import polar_log_power, scale_energies, spectral_slope
from evaluators.functional.steerable import steerable_statistics
from evaluators.functional.texture import DeepTexture, TextureStatistics, statistics_distance
from evaluators.functional.transport import sliced_quantiles
from evaluators.measure import ANGULAR_BINS, GRAIN, RADIAL_BINS, colour_points, deep_sides, ring_scale
from evaluators.pictures import middle, resize_srgb
from evaluators.target import Target

FloatArray = npt.NDArray[np.float32]
_COMPONENTS = ("spectrum_macro", "spectrum_meso", "spectrum_micro", "palette", "contrast")
_COLOUR_SAMPLES, _DIRECTIONS, _QUANTILES = 32 * 32, 16, 64
DEEP_SIDE = 128
"""Of a larger picture the fine features are seen in its middle alone, which costs a quarter."""


class Screen:
    """Spectrum by scale, colours and contrast of one target at one size, by the calibration's own normalisations.

    Colours are compared on 1,024 pixels, 16 directions and 64 quantiles, which is within a few per cent of the full
    distance at a tenth of its cost.
    """

    def __init__(self, target: Target, calibration: SizeCalibration, size: int) -> None:
        self._rules = {k: v for k, v in calibration.components.items() if k in _COMPONENTS and v.weight > 0}
        self._rings = {f"spectrum_{scale}": rings for scale, rings in ring_scale(size).items()}
        own = target.self_distances(size, None)
        self._floors = {name: rule.floor(own[name]) for name, rule in self._rules.items()}
        image = resize_srgb(target.image, size)[None]
        self._polar = polar_log_power(to_luma(image), RADIAL_BINS, ANGULAR_BINS)
        self._colours = _colours(image)
        self._contrast = _contrast(to_luma(image))

    def score(self, images: FloatArray) -> FloatArray:
        """Scores (B,) in [0, 1] of sRGB images (B, size, size, 3)."""
        total, weight = np.zeros(len(images)), 0.0
        for name, values in self.values(images).items():
            total += self._rules[name].weight * values
            weight += self._rules[name].weight
        return (total / weight).astype(np.float32)

    def values(self, images: FloatArray) -> dict[str, npt.NDArray[np.float64]]:
        """Values (B,) in [0, 1] of the components that count."""
        grey = to_luma(images)
        polar = np.abs(polar_log_power(grey, RADIAL_BINS, ANGULAR_BINS) - self._polar)
        measured = {
            "palette": np.abs(_colours(images) - self._colours).mean(axis=(1, 2)),
            "contrast": np.abs(np.log(_contrast(grey) / self._contrast)),
            **{name: polar[:, rings].mean(axis=(1, 2)) for name, rings in self._rings.items() if len(rings)},
        }
        return {
            name: _values(measured[name], self._floors[name], rule.ceiling)
            for name, rule in self._rules.items()
            if name in measured
        }


class TextureScreen:
    """The components of `Screen`, and the deep and steerable statistics: near the judge's order at half its cost.

    Components are weighted within their terms, and the terms with one another, as the judge weights them. Left out is
    what costs most or is seldom scored: lattice, orientation, scale and contrast of the grain. Fine
    features of a picture over 128 px are those of its middle; so are those of the grain, which pictures of twice the
    size show.
    """

    def __init__(self, target: Target, calibration: Calibration, size: int, network: DeepTexture) -> None:
        rules = calibration.at(size).components
        self._screen, self._network = Screen(target, calibration.at(size), size), network
        self._weights, self._rules = calibration.weights, rules
        self._reference, own = target.measurement(size, network), target.self_distances(size, network)
        self._floors = {name: rule.floor(own[name]) for name, rule in rules.items()}

    def score(self, images: FloatArray, grains: FloatArray | None) -> FloatArray:
        """Scores (B,) in [0, 1] of sRGB images (B, size, size, 3); each is the same in any batch.

        `grains` (B, `DEEP_SIDE`, `DEEP_SIDE`, 3): the middle of each at twice the resolution, where there is one.
        """
        grey = to_luma(images)
        measured = {
            "steerable": np.abs(steerable_statistics(grey).vector() - self._reference.steerable).mean(axis=1),
            "slope": np.array([abs(spectral_slope(one).beta - self._reference.slope.beta) for one in grey]),
            "energies": np.array([moved_energy(scale_energies(one), self._reference.energies) for one in grey]),
        }
        for scale, statistics in self._statistics(images, grains).items():
            measured[f"texture_{scale}"] = statistics_distance(statistics, self._reference.deep[scale])
        found = {k: _values(v, self._floors[k], self._rules[k].ceiling) for k, v in measured.items()}
        found |= self._screen.values(images)
        shares = component_shares(found, self._weights, self._rules)
        return np.asarray(sum(share * found[name] for name, share in shares.items()), dtype=np.float32)

    def _statistics(self, images: FloatArray, grains: FloatArray | None) -> dict[str, TextureStatistics]:
        sides = deep_sides(images.shape[1])
        seen = {scale: middle(resize_srgb(images, side), DEEP_SIDE) for scale, side in sides.items()}
        if grains is not None and GRAIN in self._reference.deep:
            seen[GRAIN] = grains
        return {scale: self._network.statistics(part) for scale, part in seen.items()}


def _values(distances: npt.ArrayLike, floor: float, ceiling: float) -> npt.NDArray[np.float64]:
    return np.array([value_of(float(d), floor, ceiling) for d in np.asarray(distances)])


def _colours(images: FloatArray) -> FloatArray:
    return sliced_quantiles(colour_points(images, _COLOUR_SAMPLES), _DIRECTIONS, _QUANTILES, stepped=True)


def _contrast(grey: FloatArray) -> FloatArray:
    return np.asarray(grey.std(axis=(1, 2)) + CONTRAST_FLOOR, dtype=np.float32)
