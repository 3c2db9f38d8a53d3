"""Lattices and bands: whether a picture repeats, on which vectors, and the waves that carry it.

The autocorrelation tells *whether* (threshold on its strongest peak beyond the first zero crossing), `basis` on which
lattice. Vectors are (dx, dy) in pixels, dx to the right and dy *down*; angles are counter-clockwise as seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import fft, ndimage

from evaluators.functional.basis import explained, find_basis, has_ridge
from evaluators.functional.correlation import (
    HIGHPASS_SHARE,
    LONGEST_LAG,
    PEAKS,
    WORKING_SIDE,
    Correlation,
    autocorrelation,
    peak_strength,
    peaks,
    shrunk,
    valley,
)
from evaluators.functional.orientation import TRUSTED_COHERENCE, orientation

__all__ = ["Bands", "Harmonic", "Lattice", "autocorrelation", "find_bands", "find_lattice", "harmonics"]

Array = npt.NDArray[np.floating[Any]]
Vector = tuple[float, float]

REGULAR, IRREGULAR = 0.25, 0.20
"""Strength from which a picture repeats (no false alarm on 37 stochastic photos), and below which it does not."""

LATTICE_SHARE = 0.5
"""What a lattice's points must reach of the strongest peak; else that peak belongs to bands, not to a lattice."""

FINE_PX = 8.0
"""Below this period the pixels of the reduced picture are too coarse to tell a lattice from its multiples."""

EDGE_WINDOW_DEG = np.arange(-10, 10)
"""Edges up to ten degrees off a row are taken to run along it."""

BANDED = 0.5
"""Strength from which bands may hide a lattice."""

FEW_CELLS, STRENGTH_OF_FEW = 3.0, 0.35
"""Two cells repeat by chance more easily than ten: where fewer than these fit, the evidence must be stronger."""

ALONG_BANDS_RAD = float(np.radians(4))
UPRIGHT_RAD = float(np.radians(3))
_STEPS = np.stack(np.meshgrid(np.arange(-5.0, 6.0), np.arange(-5.0, 6.0), indexing="ij"), axis=-1).reshape(-1, 2)


@dataclass(frozen=True)
class Bands:
    """Repetition in one direction. `period_px`; `angle_rad` in (−π/2, π/2]: along the bands, counter-clockwise."""

    strength: float
    period_px: float
    angle_rad: float
    count: float


@dataclass(frozen=True)
class Lattice:
    """A lattice of repetition.

    `vectors`: along a row, then to the next row, px. `strength`: autocorrelation at the lattice's first points, in
    [0, 1]. `offset` in [0, 1): shift of a row against the one before it, in periods (½ in a running bond).
    `angle_rad` in (−π/2, π/2]: direction of the rows, counter-clockwise. `periods`: length of the row vector and the
    distance between rows, px. `counts`: periods along a row that fit the picture's side, and rows that do.
    """

    strength: float
    vectors: tuple[Vector, Vector]
    offset: float
    angle_rad: float
    periods: tuple[float, float]
    counts: tuple[float, float]

    @property
    def regular(self) -> bool:
        """Whether the evidence alone decides; otherwise (0.20 to 0.25) try both kinds."""
        return self.strength >= REGULAR


class Harmonic(NamedTuple):
    """One wave: luma ≈ mean + Σ amplitude·cos(2π(u·x + v·y) + phase), x to the right, y down, both in [0, 1]."""

    u: float
    v: float
    amplitude: float
    phase_rad: float


def _line_energy(detail: Array, along: Array, spacing: float, bins: int = 24) -> float:
    """Share of the variance that lines along a direction, repeated at a spacing, explain."""
    height, width = detail.shape
    across = np.array([-along[1], along[0]]) / np.hypot(*along)
    distance = np.arange(width)[None] * across[0] + np.arange(height)[:, None] * across[1]
    index = (np.floor(distance / spacing * bins) % bins).astype(int).ravel()
    counts = np.bincount(index, minlength=bins)
    means = np.bincount(index, detail.ravel(), minlength=bins) / np.maximum(counts, 1)
    return float(np.average(means**2, weights=counts) / max(float(detail.var()), 1e-12))


def _edge_directions(detail: Array) -> Array:
    """Share of the gradient energy by the direction of the edge, counter-clockwise: (180,), one degree each."""
    dx = ndimage.gaussian_filter(detail, 1.0, order=(0, 1))
    dy = -ndimage.gaussian_filter(detail, 1.0, order=(1, 0))
    energy = (dx**2 + dy**2).ravel().astype(np.float64)
    degrees = np.degrees(np.arctan2(dy, dx).ravel() + np.pi / 2).astype(int) % 180
    return np.bincount(degrees, energy, minlength=180) / max(float(energy.sum()), 1e-12)


def _rows(detail: Array, basis: Array, longest: float) -> tuple[Array, Array]:
    """Find the row vector, where lines and edges run along, and the shortest step to the next row.

    The same lattice has many bases. Lines that go through (the bed joints of a bond) and edges that run along a vector
    speak for it, a leaning cell speaks against it, and an upright one is taken unless all speaks against that.
    """
    area = abs(float(np.linalg.det(basis)))
    directions = _edge_directions(detail)
    options = []
    for i, j in np.ndindex(9, 5):
        if np.gcd(i - 4, j) != 1 or (j == 0 and i < 4):
            continue
        row = np.array([i - 4, j]) @ basis
        length = float(np.hypot(*row))
        if length > 2 * longest:
            continue
        angle = float(np.arctan2(-row[1], row[0]))
        edges = float(np.take(directions, round(np.degrees(angle)) + EDGE_WINDOW_DEG, mode="wrap").sum())
        sine = area / length / float(np.hypot(*_step_to_next_row(basis, row)))
        from_axis = abs((angle + np.pi / 4) % (np.pi / 2) - np.pi / 4)
        bonus = 3.0 if from_axis < UPRIGHT_RAD and sine > np.cos(UPRIGHT_RAD) else 1.0
        options.append((0.4 + 2 * edges, sine * bonus, row))
    best, row = -1.0, options[0][2]
    # Lines explain at most all of the variance: an option that even so falls short of the best need not be measured.
    for spoken, factor, option in sorted(options, key=lambda option: -(option[0] + 1) * option[1]):
        if (spoken + 1) * factor <= best:
            break
        value = (spoken + _line_energy(detail, option, area / float(np.hypot(*option)))) * factor
        if value > best:
            best, row = value, option
    row = row if row[0] > 1e-9 or (abs(row[0]) <= 1e-9 and row[1] < 0) else -row
    step = _step_to_next_row(basis, row)
    rectangular = abs(float(step @ row)) / float(row @ row) < 0.08
    if rectangular and abs(row[1]) > abs(row[0]) and abs(step[0]) > abs(step[1]):
        # A grid has rows in both directions: take the ones nearer to horizontal.
        row, step = (step if step[0] > 0 else -step), row
    return row, step if step[1] > 0 or (step[1] == 0 and step[0] > 0) else -step


def _step_to_next_row(basis: Array, row: Array) -> Array:
    steps = _STEPS @ basis
    crosses = np.abs(row[0] * steps[:, 1] - row[1] * steps[:, 0])
    area = abs(float(np.linalg.det(basis)))
    beside = steps[np.abs(crosses - area) < 0.01 * area]
    return np.asarray(beside[np.argmin((beside * beside).sum(axis=1))])


def find_lattice(luma: Array) -> Lattice | None:
    """Find the lattice on which luma (H, W) repeats, or None when the evidence is below 0.20.

    Looked for at 256 px first, at full size when that finds nothing, or only a fine weave.
    """
    luma = np.asarray(luma, dtype=np.float32)
    side = min(luma.shape)
    if side < 16:
        return None
    small = shrunk(luma, WORKING_SIDE)
    found = _lattice_at(small, luma.shape)
    if side > WORKING_SIDE and (found is None or min(found.periods) * WORKING_SIDE / side < FINE_PX):
        found = _lattice_at(luma, luma.shape) or found
    found = found or _lattice_between_bands(small, luma.shape)
    few = found is not None and min(found.counts) < FEW_CELLS and found.strength < STRENGTH_OF_FEW
    return None if few else found


def find_bands(luma: Array) -> Bands | None:
    """Find repetition in at least one direction, or None: the shortest shift that is nearly as good as the best one.

    For a picture with a lattice this is one of its rows; ask `find_lattice` first.
    """
    luma = np.asarray(luma, dtype=np.float32)
    side = min(luma.shape)
    small = shrunk(luma, WORKING_SIDE)
    values = autocorrelation(small, HIGHPASS_SHARE * min(small.shape))
    correlation = Correlation(values, LONGEST_LAG * min(small.shape))
    strength = peak_strength(values)
    if strength < IRREGULAR:
        return None
    shifts, heights = peaks(correlation, PEAKS)
    good = [
        p for p, v in zip(shifts, heights, strict=True) if v >= 0.75 * strength and valley(correlation, p) <= 0.5 * v
    ]
    # The autocorrelation of bands is bands without the noise: its direction is sharper than any single peak's.
    along = orientation(values)
    shortest = min(good, key=lambda p: float(p @ p))
    normal = np.array([np.sin(along.angle_rad), np.cos(along.angle_rad)])
    period = abs(float(shortest @ normal)) if along.coherence > TRUSTED_COHERENCE else float(np.hypot(*shortest))
    period *= side / min(small.shape)
    angle = along.angle_rad if along.coherence > TRUSTED_COHERENCE else float(np.arctan2(shortest[0], shortest[1]))
    angle = (angle + np.pi / 2) % np.pi - np.pi / 2
    return Bands(strength, period, angle, side / period)


def _correlated(luma: Array) -> tuple[Correlation, float]:
    side = min(luma.shape)
    values = autocorrelation(luma, HIGHPASS_SHARE * side)
    return Correlation(values, LONGEST_LAG * side), peak_strength(values)


def _basis_of(correlation: Correlation, peak: float) -> Array | None:
    basis = find_basis(correlation, shortest=3.0)
    if basis is None or explained(correlation, basis) < LATTICE_SHARE * peak:
        return None
    return None if has_ridge(correlation, basis) else basis


def _lattice_at(luma: Array, full: tuple[int, ...]) -> Lattice | None:
    correlation, peak = _correlated(luma)
    basis = _basis_of(correlation, peak) if peak >= IRREGULAR else None
    return None if basis is None else _lattice_of(luma, full, correlation, basis, peak)


def _lattice_between_bands(luma: Array, full: tuple[int, ...]) -> Lattice | None:
    """Find a lattice that strong bands hide: long bricks, whose bed joints outweigh the few others.

    What is constant along the bands is taken out; what is left must repeat on a lattice that the whole picture has as
    well, and that has rows along the bands.
    """
    whole, peak = _correlated(luma)
    along = orientation(luma)
    if peak < BANDED or along.coherence < TRUSTED_COHERENCE:
        return None
    rest, rest_peak = _correlated(_without_bands(luma, along.angle_rad))
    basis = _basis_of(rest, rest_peak) if rest_peak >= REGULAR else None
    if basis is None or explained(whole, basis) < peak:
        return None
    lines = np.array([[1, 0], [0, 1], [1, 1], [1, -1], [2, 1], [2, -1], [1, 2], [1, -2]]) @ basis
    turned = np.abs((np.arctan2(-lines[:, 1], lines[:, 0]) - along.angle_rad + np.pi / 2) % np.pi - np.pi / 2)
    return _lattice_of(luma, full, whole, basis, peak) if turned.min() < ALONG_BANDS_RAD else None


def _without_bands(luma: Array, angle_rad: float) -> Array:
    """Luma (H, W) without what only depends on the distance across a direction."""
    height, width = luma.shape
    across = np.array([np.sin(angle_rad), np.cos(angle_rad)])
    distance = np.arange(width)[None] * across[0] + np.arange(height)[:, None] * across[1]
    index = np.round(distance - distance.min()).astype(int)
    counts = np.bincount(index.ravel())
    means = np.bincount(index.ravel(), luma.ravel()) / np.maximum(counts, 1)
    return np.asarray(luma - means[index], np.float32)


def _lattice_of(luma: Array, full: tuple[int, ...], correlation: Correlation, basis: Array, peak: float) -> Lattice:
    side = min(luma.shape)
    detail = luma - ndimage.gaussian_filter(luma, HIGHPASS_SHARE * side, mode="reflect")
    row, step = _rows(detail - detail.mean(), basis, correlation.longest)
    row, step = (v * np.array([full[1] / luma.shape[1], full[0] / luma.shape[0]]) for v in (row, step))
    length = float(np.hypot(*row))
    spacing = abs(float(row[0] * step[1] - row[1] * step[0])) / length
    angle = float(np.arctan2(-row[1], row[0]))
    return Lattice(
        strength=min(peak, 1.0),
        vectors=((float(row[0]), float(row[1])), (float(step[0]), float(step[1]))),
        offset=float(step @ row / length**2 % 1.0),
        angle_rad=angle if angle > -np.pi / 2 else angle + np.pi,
        periods=(length, spacing),
        counts=(min(full) / length, min(full) / spacing),
    )


def harmonics(luma: Array, lattice: Lattice | None, n: int = 12, orders: int = 8) -> tuple[Harmonic, ...]:
    """Measure the `n` strongest waves of a field (H, W), strongest first.

    With a lattice: at its reciprocal vectors up to `orders`, so that no energy leaks; without: the peaks of the
    Hann-windowed spectrum. Amplitudes are in the field's units.
    """
    field = np.asarray(luma, dtype=np.float64)
    height, width = field.shape
    window = np.outer(*(np.sin(np.pi * (np.arange(k) + 0.5) / k) ** 2 for k in (height, width)))
    weighted = (field - (field * window).sum() / window.sum()) * window / window.sum()
    if lattice is None:
        waves = _spectral_peaks(weighted, n)
    else:
        reciprocal = np.linalg.inv(np.array(lattice.vectors) / np.array([width, height]))
        # Columns of the inverse are the reciprocal vectors, in cycles per picture.
        waves = [
            tuple(reciprocal @ np.array([i, j]))
            for i in range(-orders, orders + 1)
            for j in range(orders + 1)
            if (j > 0 or i > 0)
        ]
        waves = [(u, v) for u, v in waves if abs(u) < width / 2 and abs(v) < height / 2]
    x, y = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height
    u, v = np.array(waves).reshape(-1, 2).T
    across, down = np.exp(-2j * np.pi * np.outer(u, x)), np.exp(-2j * np.pi * np.outer(v, y))
    coefficient = 2 * np.sum((down @ weighted) * across, axis=1)
    strongest = np.argsort(-np.abs(coefficient), kind="stable")[:n]
    return tuple(
        Harmonic(float(u[k]), float(v[k]), float(np.abs(coefficient[k])), float(np.angle(coefficient[k])))
        for k in strongest
    )


def _spectral_peaks(weighted: Array, n: int) -> list[tuple[float, float]]:
    height, width = weighted.shape
    power = np.abs(fft.fftshift(fft.fft2(weighted)))
    best = power == ndimage.maximum_filter(power, size=3, mode="wrap")
    rows, columns = np.nonzero(best)
    v, u = rows - height // 2, columns - width // 2
    half = (v > 0) | ((v == 0) & (u > 0))
    order = np.argsort(-power[rows, columns][half], kind="stable")[:n]
    return [(float(a), float(b)) for a, b in zip(u[half][order], v[half][order], strict=True)]
