"""Weights, score normalisations and thresholds, from a data file that a committed script wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from evaluators.errors import EvaluatorError

SCHEMA = 1


@dataclass(frozen=True)
class Normalisation:
    """How one component's distance becomes a value, and how much the value counts within its term.

    The floor is the reference's own self-distance, held within [`floor_low`, `floor_high`]; `ceiling` is the median
    distance between unrelated materials.
    """

    floor_low: float
    floor_high: float
    ceiling: float
    weight: float

    def floor(self, self_distance: float) -> float:
        """Return the floor for a reference; a NaN self-distance takes the middle of the bounds."""
        if self_distance != self_distance:  # noqa: PLR0124  (NaN)
            return (self.floor_low + self.floor_high) / 2
        return min(max(self_distance, self.floor_low), self.floor_high)


@dataclass(frozen=True)
class SizeCalibration:
    """Calibration at one side of comparison: normalisations by component, and thresholds by term.

    `thresholds` also has "appearance_without_network", for when the deep statistics are unavailable.
    """

    components: Mapping[str, Normalisation]
    thresholds: Mapping[str, float]


@dataclass(frozen=True)
class Calibration:
    """All of it: `weights` λ by term, `sizes` by side in px, and `made_by`: command, date, data and figures."""

    weights: Mapping[str, float]
    thresholds: Mapping[str, float]
    sizes: Mapping[int, SizeCalibration]
    made_by: Mapping[str, Any] = field(default_factory=dict)

    def at(self, size: int) -> SizeCalibration:
        """Return the calibration for a side in px."""
        try:
            return self.sizes[size]
        except KeyError:
            known = ", ".join(str(s) for s in sorted(self.sizes))
            raise EvaluatorError(f"a calibration for one of the sides {known} px", f"{size} px") from None

    def thresholds_at(self, size: int) -> dict[str, float]:
        """Thresholds of all positive terms for a side in px."""
        return {**self.thresholds, **self.at(size).thresholds}


def load_calibration(path: Path | None = None) -> Calibration:
    """Read a calibration, by default the committed one; raises `EvaluatorError` for a file that is none."""
    return _default() if path is None else _parse(path.read_text(encoding="utf-8"), str(path))


@lru_cache(maxsize=1)
def _default() -> Calibration:
    source = resources.files("evaluators") / "weights" / "default.json"
    return _parse(source.read_text(encoding="utf-8"), "evaluators/weights/default.json")


def _parse(text: str, where: str) -> Calibration:
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise EvaluatorError(f"{where} of schema {SCHEMA}", f"schema {data['schema']}")
        return Calibration(
            weights={str(k): float(v) for k, v in data["weights"].items()},
            thresholds={str(k): float(v) for k, v in data["thresholds"].items()},
            sizes={
                int(size): SizeCalibration(
                    components={name: Normalisation(**numbers) for name, numbers in entry["components"].items()},
                    thresholds={str(k): float(v) for k, v in entry["thresholds"].items()},
                )
                for size, entry in data["sizes"].items()
            },
            made_by=data["made_by"],
        )
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise EvaluatorError(f"a calibration file at {where}", f"{type(error).__name__}: {error}") from error
