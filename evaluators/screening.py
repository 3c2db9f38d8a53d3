"""A weight-free score that is cheap enough for every candidate of a search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluators.calibration import SizeCalibration
from evaluators.components import CONTRAST_FLOOR, value_of
from evaluators.functional.color import luma as to_luma
from evaluators.functional.spectrum import polar_log_power
from evaluators.functional.transport import sliced_quantiles
from evaluators.measure import ANGULAR_BINS, RADIAL_BINS, colour_points, ring_scale
from evaluators.pictures import resize_srgb
from evaluators.target import Target

FloatArray = npt.NDArray[np.float32]
_COMPONENTS = ("spectrum_macro", "spectrum_meso", "spectrum_micro", "palette", "contrast")
_COLOUR_SAMPLES, _DIRECTIONS, _QUANTILES = 32 * 32, 16, 64


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
        grey = to_luma(images)
        polar = np.abs(polar_log_power(grey, RADIAL_BINS, ANGULAR_BINS) - self._polar)
        measured = {
            "palette": np.abs(_colours(images) - self._colours).mean(axis=(1, 2)),
            "contrast": np.abs(np.log(_contrast(grey) / self._contrast)),
            **{name: polar[:, rings].mean(axis=(1, 2)) for name, rings in self._rings.items() if len(rings)},
        }
        total, weight = np.zeros(len(images)), 0.0
        for name, rule in self._rules.items():
            if name in measured:
                values = [value_of(float(d), self._floors[name], rule.ceiling) for d in measured[name]]
                total += rule.weight * np.array(values)
                weight += rule.weight
        return (total / weight).astype(np.float32)


def _colours(images: FloatArray) -> FloatArray:
    return sliced_quantiles(colour_points(images, _COLOUR_SAMPLES), _DIRECTIONS, _QUANTILES, stepped=True)


def _contrast(grey: FloatArray) -> FloatArray:
    return np.asarray(grey.std(axis=(1, 2)) + CONTRAST_FLOOR, dtype=np.float32)
