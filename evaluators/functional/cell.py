"""The mean cell of a lattice: what repeats, without what varies from cell to cell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from evaluators.functional.lattice import Lattice

Array = npt.NDArray[np.floating[Any]]


class Cell(NamedTuple):
    """The mean cell and what it is made of.

    `mean` (N, N): the field, mean-free, averaged over all cells: one whole row of the lattice from one column to the
    next, first axis across the row. `explained`: share of the field's variance (its slow light removed) that the mean
    cell explains. `additive`: share of the mean cell that a row profile plus a column profile explain (near 1 for
    straight lines and bands).
    `row_share` and `column_share`: what each of the two explains of the mean cell. `row_duty` and `column_duty` in
    [0, 0.5]: share of each profile on the smaller side of its middle value; small for joints, ½ for equal bands.
    `joints_dark`: whether that smaller side is dark.
    """

    mean: npt.NDArray[np.float32]
    explained: float
    additive: float
    row_share: float
    column_share: float
    row_duty: float
    column_duty: float
    joints_dark: bool


def phases(shape: tuple[int, ...], lattice: Lattice) -> tuple[Array, Array]:
    """Position of each pixel in its cell: (along rows, across rows), each (H, W) in [0, 1)."""
    inverse = np.linalg.inv(np.array(lattice.vectors))
    x, y = np.arange(shape[1])[None] + 0.5, np.arange(shape[0])[:, None] + 0.5
    along, across = (x * inverse[0, k] + y * inverse[1, k] for k in (0, 1))
    return along % 1.0, across % 1.0


def mean_cell(field: Array, lattice: Lattice, bins: int = 32) -> Cell:
    """Fold a field (H, W) on its lattice."""
    field = np.asarray(field, dtype=np.float32)
    # A box of whole cells takes the slow light away and leaves what repeats.
    detail = field - ndimage.uniform_filter(field, size=round(3 * max(lattice.periods)), mode="reflect")
    along, across = phases(field.shape, lattice)
    index = ((across * bins).astype(int) * bins + (along * bins).astype(int)).ravel()
    counts = np.bincount(index, minlength=bins * bins)
    sums = np.bincount(index, detail.ravel(), minlength=bins * bins)
    filled = counts > 0
    mean = np.where(filled, sums / np.maximum(counts, 1), 0.0).reshape(bins, bins)
    mean = np.asarray(mean - mean.mean())
    variance = float(np.mean(mean**2))
    mean = _upright(mean, lattice.offset)
    rows, columns = mean.mean(axis=1), mean.mean(axis=0)
    row_duty, row_dark = _duty(rows)
    column_duty, column_dark = _duty(columns)
    row_share, column_share = (float(np.mean(p**2)) / max(variance, 1e-12) for p in (rows, columns))
    return Cell(
        mean=mean.astype(np.float32),
        explained=min(variance / max(float(detail.var()), 1e-12), 1.0),
        additive=min(row_share + column_share, 1.0),
        row_share=min(row_share, 1.0),
        column_share=min(column_share, 1.0),
        row_duty=row_duty,
        column_duty=column_duty,
        joints_dark=row_dark if row_share >= column_share else column_dark,
    )


def _upright(mean: Array, offset: float) -> Array:
    """Shear a folded cell so that its columns are perpendicular to the rows, each row whole.

    Where one row ends is not known beforehand: it is where columns come out strongest.
    """
    bins = len(mean)
    best, strongest = mean, -1.0
    offset -= np.round(offset)
    for start in range(bins if abs(offset) > 0.5 / bins else 1):
        lean = np.round(((np.arange(bins) - start) % bins) * offset).astype(int)
        sheared = np.stack([np.roll(line, shift) for line, shift in zip(mean, lean, strict=True)])
        strength = float(np.mean(sheared.mean(axis=0) ** 2))
        if strength > strongest:
            best, strongest = np.roll(sheared, -start, axis=0), strength
    return best


def _duty(profile: Array) -> tuple[float, bool]:
    low, high = float(profile.min()), float(profile.max())
    dark = profile < (low + high) / 2
    is_dark = bool(dark.mean() <= 0.5)
    part = dark if is_dark else ~dark
    return float(part.mean()), is_dark


def tone_exchange(field: Array, lattice: Lattice, bins: int = 24) -> float:
    """How far some half step of the lattice turns a field (H, W) into its negative, as a correlation in [−1, 1].

    Near 1 for a chequer, whose half step exchanges its two tones; a mean cell with joints has little of it.
    """
    field = np.asarray(field, dtype=np.float32)
    detail = field - ndimage.uniform_filter(field, size=round(3 * max(lattice.periods)), mode="reflect")
    along, across = phases(field.shape, lattice)
    index = ((across * bins).astype(int) % bins * bins + (along * bins).astype(int) % bins).ravel()
    counts = np.bincount(index, minlength=bins * bins)
    sums = np.bincount(index, detail.ravel(), minlength=bins * bins)
    mean = (sums / np.maximum(counts, 1)).reshape(bins, bins)
    mean = mean - mean.mean()
    power = float(np.sum(mean**2))
    if power < 1e-12:
        return 0.0
    half = bins // 2
    steps = ((half, 0), (0, half), (half, half))
    return max(-float(np.sum(mean * np.roll(mean, step, (0, 1)))) / power for step in steps)
