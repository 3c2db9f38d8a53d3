"""A candidate beside the reference, both measured at one size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from evaluators.calibration import SizeCalibration
from evaluators.components import BY_NAME, distances, value_of
from evaluators.measure import Measurement


@dataclass(frozen=True)
class Comparison:
    """Two measurements, the reference's own self-distances, and the calibration for their size.

    `network_problem` says why there are no deep statistics, and is empty when there are.
    """

    candidate: Measurement
    reference: Measurement
    self_distances: Mapping[str, float]
    calibration: SizeCalibration
    network_problem: str = ""

    @cached_property
    def distances(self) -> Mapping[str, float]:
        """Distance by component; NaN where there is nothing to compare."""
        return distances(self.candidate, self.reference)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """Value in [0, 1] by component; NaN where there is nothing to compare or no calibration."""
        return {name: self._value(name, distance) for name, distance in self.distances.items()}

    def _value(self, name: str, distance: float) -> float:
        normalisation = self.calibration.components.get(name)
        if normalisation is None or self.self_distances[name] > BY_NAME[name].most_own:
            return float("nan")
        return value_of(distance, normalisation.floor(self.self_distances[name]), normalisation.ceiling)

    def weight(self, name: str) -> float:
        """How much a component counts within its term."""
        normalisation = self.calibration.components.get(name)
        return 0.0 if normalisation is None else normalisation.weight
