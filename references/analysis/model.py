"""What an analysis says: what was measured, apart from what is inferred from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluators.functional.cell import Cell
from evaluators.functional.lattice import Bands, Harmonic, Lattice
from evaluators.functional.light import Light
from evaluators.functional.orientation import Orientation
from evaluators.functional.palette import ColorAxis, Palette
from evaluators.functional.regions import Split
from evaluators.functional.rings import Rings
from evaluators.functional.shapes import Blobs, Lines
from evaluators.functional.spectrum import RadialPeak, Slope

SCHEMA_VERSION = 1

Structure = Literal[
    "layered_noise", "cells", "brick", "tile", "checks", "wave_grain", "veins_cracks", "stamped_lattice"
]
STRUCTURES: tuple[Structure, ...] = (
    "layered_noise",
    "cells",
    "brick",
    "tile",
    "checks",
    "wave_grain",
    "veins_cracks",
    "stamped_lattice",
)


Family = Literal[
    "bricks", "tiles", "checks", "weave", "studs", "wood_grain", "rings", "marble_veins", "cracks", "scratches",
    "cells", "pebbles", "speckle", "rust_layers", "plaster",
]  # fmt: skip
FAMILIES: tuple[Family, ...] = (
    "bricks", "tiles", "checks", "weave", "studs", "wood_grain", "rings", "marble_veins", "cracks", "scratches",
    "cells", "pebbles", "speckle", "rust_layers", "plaster",
)  # fmt: skip


@dataclass(frozen=True)
class LumaStatistics:
    """Luma of the display-referred picture: `mean`, `contrast` (standard deviation), `skewness`, 64-bin histogram."""

    mean: float
    contrast: float
    skewness: float
    histogram: tuple[float, ...]


@dataclass(frozen=True)
class Regions:
    """The split in two with statistics: `minority_color` and `majority_color` are mean sRGB colours in [0, 1]."""

    split: Split
    minority_color: tuple[float, float, float]
    majority_color: tuple[float, float, float]
    minority_contrast: float
    majority_contrast: float
    minority_blobs: Blobs
    majority_blobs: Blobs


@dataclass(frozen=True)
class Measured:
    """Measurements, each by an estimator of `evaluators.functional`.

    `size_px`: side of the picture measured. `polar_log_power` (16, 8): see `spectrum`. `harmonics` are waves of the
    position along the main colour axis, scaled to [0, 1] between its 1st and 99th percentile. `bands` is only looked
    for when there is no lattice, `cell` only there is when one was found; `tone_exchange` (see `cell`) is 0 without.
    """

    size_px: int
    patch_size_m: float
    palette: Palette
    color_axis: ColorAxis
    luma: LumaStatistics
    lattice: Lattice | None
    bands: Bands | None
    cell: Cell | None
    orientation: Orientation
    anisotropy: Mapping[str, Orientation]
    polar_log_power: npt.NDArray[np.float32]
    slope: Slope
    energies: Mapping[str, float]
    dominant: RadialPeak
    harmonics: tuple[Harmonic, ...]
    regions: Regions
    lines: Lines
    rings: Rings
    light: Light
    tone_exchange: float


@dataclass(frozen=True)
class Hypothesis:
    """A structure that may have made the picture, its probability among all of them, and the evidence for it."""

    structure: Structure
    probability: float
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class FamilyHypothesis:
    """What a picture may show, the `structure` that makes such things, and its probability among all families.

    Over the families of one structure the probabilities sum to that structure's.
    """

    family: Family
    structure: Structure
    probability: float
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Cue:
    """A guess about a channel that one picture cannot show: `value` in the channel's range, `confidence` in [0, 1]."""

    channel: Literal["roughness", "height", "metallic"]
    kind: str
    value: float
    confidence: float
    reason: str


@dataclass(frozen=True)
class Inferred:
    """Conclusions: `hypotheses` and the finer `families`, most probable first, and `cues`."""

    hypotheses: tuple[Hypothesis, ...]
    cues: tuple[Cue, ...]
    families: tuple[FamilyHypothesis, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """The visual decomposition of a reference: measured and inferred, kept apart."""

    measured: Measured
    inferred: Inferred
    schema_version: int = SCHEMA_VERSION

    @property
    def palette(self) -> Palette:
        """The palette."""
        return self.measured.palette

    @property
    def color_axis(self) -> ColorAxis:
        """The main colour axis."""
        return self.measured.color_axis

    @property
    def lattice(self) -> Lattice | None:
        """The lattice of repetition, if there is one."""
        return self.measured.lattice

    @property
    def orientation(self) -> Orientation:
        """The dominant direction."""
        return self.measured.orientation

    @property
    def slope(self) -> Slope:
        """The spectral slope."""
        return self.measured.slope

    @property
    def energies(self) -> Mapping[str, float]:
        """The shares of variance by scale."""
        return self.measured.energies

    @property
    def harmonics(self) -> tuple[Harmonic, ...]:
        """The strongest waves."""
        return self.measured.harmonics

    @property
    def regions(self) -> Regions:
        """The split in two regions."""
        return self.measured.regions

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The structures, most probable first."""
        return self.inferred.hypotheses

    @property
    def families(self) -> tuple[FamilyHypothesis, ...]:
        """What the picture may show, most probable first."""
        return self.inferred.families

    @property
    def cues(self) -> tuple[Cue, ...]:
        """The guesses about unseen channels."""
        return self.inferred.cues

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries, lists and numbers (six significant digits), without masks."""
        return {
            "schema": f"analysis/{self.schema_version}",
            "measured": _plain(self.measured),
            "inferred": _plain(self.inferred),
        }


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items() if not _is_mask(v)}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _is_mask(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.bool_
