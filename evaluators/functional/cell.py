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

    `mean` (N, N): the field averaged over all cells, rows across the lattice's rows, columns along them. `explained`:
    share of the field's variance (its slow light removed) that the mean cell explains. `additive`: share of the mean
    cell that a row profile plus a column profile explain (1 for grids of straight lines, 0 for a checkerboard).
    `row_share` and `column_share`: what each of the two explains of the mean cell. `row_duty` and `column_duty` in
    [0, 0.5]: share of each profile on the smaller side of its middle value; small for joints, ½ for equal bands.
    `joints_dark`: whether that smaller side is dark. `origin` in [0, 1)²: where in the cell (across rows, along rows)
    the smaller sides have their middles, as phases from the picture's top left corner.
    """

    mean: npt.NDArray[np.float32]
    explained: float
    additive: float
    row_share: float
    column_share: float
    row_duty: float
    column_duty: float
    joints_dark: bool
    origin: tuple[float, float]


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
    # The step to the next row leans by the offset: undo it, so that columns are perpendicular to the rows.
    variance = float(mean[filled.reshape(bins, bins)].var())
    noise = float(detail.var())
    rows, columns = mean.mean(axis=1) - mean.mean(), mean.mean(axis=0) - mean.mean()
    row_duty, row_dark, row_origin = _duty(rows)
    column_duty, column_dark, column_origin = _duty(columns)
    row_share, column_share = (float(np.mean(p**2)) / max(variance, 1e-12) for p in (rows, columns))
    return Cell(
        mean=mean.astype(np.float32),
        explained=min(variance / max(noise, 1e-12), 1.0),
        additive=min(row_share + column_share, 1.0),
        row_share=min(row_share, 1.0),
        column_share=min(column_share, 1.0),
        row_duty=row_duty,
        column_duty=column_duty,
        joints_dark=row_dark if row_share >= column_share else column_dark,
        origin=(row_origin, column_origin),
    )


def _duty(profile: Array) -> tuple[float, bool, float]:
    low, high = float(profile.min()), float(profile.max())
    dark = profile < (low + high) / 2
    is_dark = bool(dark.mean() <= 0.5)
    part = dark if is_dark else ~dark
    angle = 2 * np.pi * (np.arange(len(profile)) + 0.5) / len(profile)
    centre = float(np.angle(np.sum(part * np.exp(1j * angle)))) / (2 * np.pi) % 1.0
    return float(part.mean()), is_dark, centre
