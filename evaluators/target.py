"""The reference: measured once at each size at which something is compared with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluators.components import distances
from evaluators.errors import EvaluatorError
from evaluators.functional.light import find_light, flattened
from evaluators.functional.texture import DeepTexture
from evaluators.measure import Measurement, measure
from evaluators.pictures import (
    SMALLEST_SIDE,
    as_srgb,
    centre_square,
    grain_crop,
    largest_square,
    quadrants,
    resize_srgb,
)
from evaluators.threads import one_thread

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Target:
    """A reference picture: `image` (N, N, 3), display-referred sRGB in [0, 1], row 0 at the top.

    `notes` say what was done to it, or should be. Measurements are made when first asked for and kept.
    """

    image: FloatArray
    notes: tuple[str, ...] = ()
    _measured: dict[tuple[int, bool], Measurement] = field(default_factory=dict, repr=False, compare=False)
    _self_distances: dict[tuple[int, bool], dict[str, float]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_image(
        cls, image: npt.ArrayLike, mask: npt.ArrayLike | None = None, *, flatten: bool | Literal["auto"] = False
    ) -> Target:
        """Make a target of a picture (H, W), (H, W, 1) or (H, W, 3) in sRGB, float in [0, 1] or unsigned integer.

        What counts is the central square, or, with a `mask` (H, W) that is true on the material, the largest square
        wholly inside the mask. `flatten` takes smooth uneven light out of it (`functional.light`), "auto" where it
        is found. Raises `EvaluatorError` for a picture or square under 32 px a side.
        """
        picture = as_srgb(image, "a reference picture")
        if mask is None:
            return cls._lit_evenly(centre_square(picture), flatten, ())
        inside = np.asarray(mask, dtype=bool)
        if inside.shape != picture.shape[:2]:
            raise EvaluatorError(f"a mask of the picture's shape {picture.shape[:2]}", f"shape {inside.shape}")
        top, left, side = largest_square(inside)
        if side < SMALLEST_SIDE:
            raise EvaluatorError(f"a mask that holds a square of {SMALLEST_SIDE} px", f"at most {side} px")
        notes = (f"judged by the largest square inside the mask, {side}×{side} px at ({left}, {top})",)
        return cls._lit_evenly(picture[top : top + side, left : left + side], flatten, notes)

    @classmethod
    def _lit_evenly(cls, square: FloatArray, flatten: bool | Literal["auto"], notes: tuple[str, ...]) -> Target:
        light = find_light(square)
        change = f"light changed by {light.range_stops:.2f} stops"
        if flatten is True or (flatten == "auto" and light.uneven):
            return cls(flattened(square, light), (*notes, f"{change}, which was taken out"))
        if light.uneven:
            notes = (*notes, f"{change}: judged as part of the material; flatten the reference if it is not")
        return cls(square, notes)

    @property
    def side(self) -> int:
        """Side of the compared square, px."""
        return int(self.image.shape[0])

    @one_thread()
    def measurement(self, size: int, network: DeepTexture | None) -> Measurement:
        """Measure the reference at `size` px."""
        key = (size, network is not None)
        if key not in self._measured:
            self._measured[key] = measure_whole(self.image, size, network)
        return self._measured[key]

    @one_thread()
    def self_distances(self, size: int, network: DeepTexture | None) -> dict[str, float]:
        """Distances between opposite quarters of the reference, each at `size` px, averaged over both diagonals."""
        key = (size, network is not None)
        if key not in self._self_distances:
            parts = [measure_part(part, size, network) for part in quadrants(self.image)]
            one, other = distances(parts[1], parts[0]), distances(parts[3], parts[2])
            self._self_distances[key] = {name: (one[name] + other[name]) / 2 for name in one}
        return self._self_distances[key]


def measure_whole(
    picture: FloatArray, size: int, network: DeepTexture | None, *, look_for_lattice: bool = True
) -> Measurement:
    """Measure a square sRGB picture (S, S, 3) at `size` px, with its grain where it has twice as many pixels."""
    return measure(
        resize_srgb(picture, size), network, look_for_lattice=look_for_lattice, grain=grain_crop(picture, size)
    )


def measure_part(part: FloatArray, size: int, network: DeepTexture | None) -> Measurement:
    """Measure a quarter (S, S, 3) of a picture at `size` px; what has that many pixels is the whole's grain, too."""
    picture = resize_srgb(part, size)
    return measure(picture, network, look_for_lattice=True, grain=picture if part.shape[0] >= size else None)
