"""What a user decides about a picture: which part of it, and how large that part is in the world."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from references.errors import ReferenceFault

METRES: dict[str, float] = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
"""Units of a scale, in metres."""

_NUMBER = r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)"
_SCALE = re.compile(rf"\s*{_NUMBER}\s*(px\s*/\s*)?(m|cm|mm|in|ft)?\s*", re.IGNORECASE)
_CROP = re.compile(r"\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*")


@dataclass(frozen=True)
class Crop:
    """A rectangle in pixels of the upright picture: left and top corner, width and height."""

    left: int
    top: int
    width: int
    height: int

    @classmethod
    def parse(cls, text: str) -> Crop:
        """Read "LEFT,TOP,WIDTH,HEIGHT". Raises `ReferenceFault` for anything else."""
        found = _CROP.fullmatch(text)
        if found is None:
            raise ReferenceFault("crop", f"expected LEFT,TOP,WIDTH,HEIGHT in pixels or auto, got {text!r}")
        return cls(*(int(part) for part in found.groups()))

    def __str__(self) -> str:
        return f"{self.left},{self.top},{self.width},{self.height}"


@dataclass(frozen=True)
class Scale:
    """How large the picture is in the world: by `pixels_per_m` of the original file, or the used square's `side_m`."""

    pixels_per_m: float | None = None
    side_m: float | None = None

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read a length ("30cm", "0.3 m", "0.3": the side of the used square) or a resolution ("500 px/m", "20px/cm").

        Raises `ReferenceFault` for anything else, and for sizes that are not finite and positive.
        """
        found = _SCALE.fullmatch(text)
        if found is None:
            units = ", ".join(METRES)
            raise ReferenceFault("scale", f"expected a length such as 30cm or 500px/m (units: {units}), got {text!r}")
        number, per, unit = float(found[1]), found[2], METRES[(found[3] or "m").lower()]
        value = number / unit if per else number * unit
        if not (value > 0 and math.isfinite(value)):
            raise ReferenceFault("scale", f"expected a finite size above 0, got {text!r}")
        return cls(pixels_per_m=value) if per else cls(side_m=value)

    def side_of(self, side_px: int) -> float:
        """Side in metres of a square of `side_px` pixels of the original file."""
        if self.side_m is not None:
            return self.side_m
        assert self.pixels_per_m is not None, "one of the two is set"
        return side_px / self.pixels_per_m


@dataclass(frozen=True)
class Preparation:
    """The choices for one picture.

    `crop`: a rectangle, or "auto" for the most homogeneous square. `mask`: a picture of the same size, light where the
    material is; the square is taken inside it. `flatten`: whether uneven light is taken out.
    """

    crop: Crop | Literal["auto"] | None = None
    scale: Scale | None = None
    mask: Path | None = None
    flatten: bool = False

    @classmethod
    def parse(
        cls, *, crop: str | None = None, scale: str | None = None, mask: str | Path | None = None, flatten: bool = False
    ) -> Preparation:
        """Read the choices as a user writes them. Raises `ReferenceFault` naming the one that cannot be read."""
        area: Crop | Literal["auto"] | None = None
        if crop is not None:
            area = "auto" if crop.strip().lower() == "auto" else Crop.parse(crop)
        return cls(
            crop=area,
            scale=None if scale is None else Scale.parse(scale),
            mask=None if mask is None else Path(mask),
            flatten=flatten,
        )
