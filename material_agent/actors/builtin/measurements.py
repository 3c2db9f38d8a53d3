"""What the analysis measured, as the numbers that structures start from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage

from material_agent.actors.builtin.color import ordered_colors, second_axis, srgb_to_linear
from material_agent.actors.builtin.lattices import LATTICES, readings, staggered_readings
from material_agent.context import Context

Array = npt.NDArray[np.floating[Any]]
HARMONICS = 15
_SAMPLE = 128
_FEWEST = 64
_COLOURFUL = 0.02
"""Deviation off one ramp, scene-linear, from which a second direction of colour shows."""
_CONCENTRIC = 0.8
"""Of edges that run round a centre: .5 is none, and stones and cells stay below .7."""
_GENERIC: Array = np.repeat(np.linspace(0.25, 0.7, 4096).reshape(64, 64, 1), 3, axis=2)
"""Pixels (64, 64, 3), sRGB, for a picture whose colours are withheld: greys from dark to light."""
_COHERENT, _TWO_REGIONS, _BLOCKS, _STACKED = 0.2, 0.15, 0.4, 0.05


@dataclass(frozen=True)
class Regions:
    """The picture in two: `figure` and `ground` are masks (of `Measurements.pixels`) of what surely belongs to each.

    Between them lie the borders, whose pixels mix both colours. `share`: area of the figure, borders included.
    """

    figure: npt.NDArray[np.bool_]
    ground: npt.NDArray[np.bool_]
    share: float


@dataclass(frozen=True)
class Measurements:
    """Starting values by name, hypotheses by weight, the lattices worth trying, and colours by region.

    `numbers` holds only what was measured. `lattices`: alternative values for columns, rows, offset and angle, best
    first; `staggered`: the same lattice as rows shifted by half an element. `pixels` (H, W, 3): a sample of the
    picture, sRGB. `regions`: None when the picture has but one. `loose`: the lattice was estimated from sizes, not
    found. `deviation`: of linear luma, see `luma_deviation`; 0 if unknown. `side`: of the picture's square, px.
    """

    numbers: Mapping[str, float]
    hypotheses: Mapping[str, float]
    lattices: tuple[Mapping[str, float], ...]
    pixels: Array
    regions: Regions | None = None
    regular: bool = False
    loose: bool = False
    deviation: float = 0.0
    side: int = 512
    staggered: tuple[Mapping[str, float], ...] = ()

    def has(self, need: str) -> bool:
        """Whether what a structure needs was measured."""
        known = {kind: bool(self.lattices_for(kind)) for kind in LATTICES}
        known |= {"": True, "harmonics": "u0" in self.numbers, "centre": "centre_x" in self.numbers}
        return known.get(need, False)

    def lattices_for(self, need: str) -> tuple[Mapping[str, float], ...]:
        """The lattices worth trying for a structure with this need; none where it needs no lattice."""
        return readings(self.lattices, self.staggered, need)

    @cached_property
    def colors(self) -> Array:
        """Colours of the whole picture, ordered dark to light (LEVELS, 3), scene-linear."""
        return ordered_colors(self.pixels.reshape(-1, 3))

    @cached_property
    def second_axis(self) -> Array:
        """The main axis (3,) of the colours off the ramp, scene-linear, one deviation long."""
        return second_axis(self.pixels.reshape(-1, 3))

    def region_colors(self, figure_share: float) -> tuple[Array, Array]:
        """Ordered colours of ground and figure.

        By the measured regions where there are two; otherwise the darker `figure_share` of the picture is the figure.
        """
        if self.regions is not None:
            return self._measured_colors
        luma = self.pixels @ np.array([0.2126, 0.7152, 0.0722])
        dark = luma <= np.quantile(luma, min(max(figure_share, 0.01), 0.5))
        return self._colors_of(~dark), self._colors_of(dark)

    @cached_property
    def _measured_colors(self) -> tuple[Array, Array]:
        assert self.regions is not None, "asked only with two regions"
        return self._colors_of(self.regions.ground), self._colors_of(self.regions.figure)

    def _colors_of(self, mask: npt.NDArray[np.bool_]) -> Array:
        return ordered_colors(self.pixels[mask]) if mask.sum() >= _FEWEST else self.colors


def _thumbnail(image: Array) -> Array:
    """At most _SAMPLE² pixels of the picture, by taking every n-th: colours must not be averaged."""
    step = max(1, min(image.shape[:2]) // (2 * _SAMPLE))
    return np.asarray(image[::step, ::step], dtype=np.float64)


def luma_deviation(linear: Array) -> float:
    """Deviation of the luma of a scene-linear picture (H, W, 3) at 256 px, where the evaluator judges contrast."""
    luma = np.asarray(linear, dtype=np.float32) @ np.array([0.2126, 0.7152, 0.0722], dtype=np.float32)
    return float(np.asarray(Image.fromarray(luma).resize((256, 256), Image.Resampling.BOX)).std())


def _blob_scale(luma: Array) -> float:
    """Features per picture: from the centroid of the power spectrum above one cycle, in the log of frequency."""
    side = min(luma.shape)
    square = luma[:side, :side] - luma[:side, :side].mean()
    window = np.hanning(side)
    power = np.abs(np.fft.fft2(square * window[:, None] * window[None])) ** 2
    f = np.fft.fftfreq(side) * side
    radius = np.hypot(f[:, None], f[None])
    keep = (radius > 1.5) & (radius < side / 3)
    # Power per octave, so that a slope of -2 weighs all octaves alike.
    weight = power[keep]
    return float(np.exp((weight * np.log(radius[keep])).sum() / max(weight.sum(), 1e-12)))


def measure(context: Context) -> Measurements:
    """Measure from the context, of the picture itself only what belongs to a part that may be read.

    Without its palette the picture is taken for a grey one; what is not measured has no number.
    """
    image = np.asarray(context.task.image_srgb, dtype=np.float64)
    luma = image @ np.array([0.2126, 0.7152, 0.0722])
    numbers: dict[str, float] = {}
    if "spectrum" in context.parts:
        numbers["blob_scale"] = min(max(_blob_scale(luma), 1.6), 60.0)
    pixels, deviation = _GENERIC, 0.0
    if "palette" in context.parts:
        centred = luma - luma.mean()
        numbers["polarity"] = 1.0 if float((centred**3).mean()) > 0 else -1.0
        pixels, deviation = _thumbnail(image), luma_deviation(srgb_to_linear(image))
        off_ramp = float(np.linalg.norm(second_axis(pixels.reshape(-1, 3))))
        if off_ramp > _COLOURFUL:
            numbers["second_axis"] = min(off_ramp, 1.0)
    if context.decomposition is None:
        return Measurements(numbers, {}, (), pixels, deviation=deviation, side=min(luma.shape))
    return replace(_from_analysis(context, numbers, pixels), deviation=deviation, side=min(luma.shape))


def _from_analysis(context: Context, numbers: dict[str, float], pixels: Array) -> Measurements:
    analysis = context.decomposition
    assert analysis is not None, "asked only with a decomposition"
    measured = analysis.measured
    lattice, split = measured.lattice, measured.regions.split
    if "spectrum" in context.parts:
        numbers["fractal_roughness"] = min(max(measured.slope.gain_per_octave, 0.3), 0.95)
        numbers["blob_scale"] = min(max(measured.dominant.cycles, 1.6), 60.0)
    grain = max(measured.anisotropy.values(), key=lambda item: item.coherence)
    if grain.coherence > _COHERENT:
        numbers["grain_angle"] = float(grain.angle_rad)
    if measured.rings.concentricity > _CONCENTRIC:
        numbers["centre_x"], numbers["centre_y"] = measured.rings.centre[0], 1.0 - measured.rings.centre[1]
    hypotheses: dict[str, float] = {item.structure: float(item.probability) for item in analysis.inferred.hypotheses}
    hypotheses["two_regions"] = split.confidence
    regions = _regions(split.minority, pixels.shape) if split.confidence > _TWO_REGIONS else None
    lattices: tuple[Mapping[str, float], ...] = ()
    staggered: tuple[Mapping[str, float], ...] = ()
    loose = False
    if lattice is not None:
        staggered = staggered_readings(np.array(lattice.vectors) / measured.size_px)
        height, width = context.task.image_srgb.shape[:2]
        side = min(height, width)
        columns, rows = lattice.counts[0] * width / side, lattice.counts[1] * height / side
        offset = lattice.offset % 1.0
        offset = 0.0 if min(offset, 1.0 - offset) < _STACKED else offset
        lattices = ({"columns": columns, "rows": rows, "offset": offset, "lattice_angle": float(lattice.angle_rad)},)
    elif max(hypotheses.get("brick", 0.0), hypotheses.get("tile", 0.0)) > _BLOCKS:
        # Blocks without an exact lattice, as in perspective: their size is a start, not a constraint.
        loose = True
        rows = 1.0 / max(split.majority_width + split.minority_width, 0.01)
        lattices = ({"columns": rows / 3, "rows": rows, "offset": 0.5, "lattice_angle": float(grain.angle_rad)},)
    if lattices:
        numbers["joint"] = min(max(split.minority_width * lattices[0]["rows"] / 2, 0.01), 0.25)
    if lattice is not None and measured.harmonics:
        numbers.update(_waves(measured.harmonics))
    regular = lattice is not None and lattice.regular
    return Measurements(numbers, hypotheses, lattices, pixels, regions, regular, loose, staggered=staggered)


def _waves(harmonics: Sequence[tuple[float, float, float, float]]) -> Mapping[str, float]:
    """The motif as a sum of cosines of unit deviation, so that weights of noise mean the same for every reference."""
    waves = harmonics[:HARMONICS]
    total = math.sqrt(sum(amplitude**2 for _, _, amplitude, _ in waves) / 2) or 1.0
    numbers = {}
    for index in range(HARMONICS):
        u, v, amplitude, phase_rad = waves[index] if index < len(waves) else (0.0, 0.0, 0.0, 0.0)
        # Pictures count rows downward, Blender's UV upward.
        numbers[f"u{index}"], numbers[f"v{index}"] = u, -v
        numbers[f"phase{index}"] = phase_rad + 2 * math.pi * v
        numbers[f"amplitude{index}"] = amplitude / total
    return numbers


def _regions(figure: npt.NDArray[np.bool_], shape: tuple[int, ...]) -> Regions:
    sure, rest = (_inside(mask) for mask in (figure, ~figure))
    return Regions(_like(sure, shape), _like(rest, shape), float(figure.mean()))


def _inside(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The mask without its border pixels; thin lines, of which nothing would be left, keep them."""
    inner = ndimage.binary_erosion(mask, border_value=1)
    return np.asarray(inner if inner.sum() >= 0.1 * mask.sum() else mask)


def _like(mask: npt.NDArray[np.bool_], shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    rows = (np.arange(shape[0]) * mask.shape[0] // shape[0])[:, None]
    columns = (np.arange(shape[1]) * mask.shape[1] // shape[1])[None]
    return np.asarray(mask[rows, columns])
