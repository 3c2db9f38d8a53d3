"""Rings: whether a picture's edges run round one centre."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from evaluators.functional.correlation import shrunk

Array = npt.NDArray[np.floating[Any]]

WORKING_SIDE = 192
NO_RINGS = 0.5
"""Concentricity of edges without a centre."""

_REACH = 0.25
"""How far outside the picture a centre may lie, as a share of its side; further off, rings are bands."""


class Rings(NamedTuple):
    """`concentricity`: mean cos² of the angle between gradient and the way to the centre, 0.5 (none) to 1 (rings).

    `centre`: (x, y) in shares of width and height, y down.
    """

    concentricity: float
    centre: tuple[float, float]


def find_rings(luma: Array) -> Rings:
    """Find the point that the gradients of luma (H, W) point at, by least squares over the distances to its lines."""
    luma = shrunk(luma, WORKING_SIDE)
    height, width = luma.shape
    dx, dy = (ndimage.gaussian_filter(luma, 1.5, order=order, mode="nearest") for order in ((0, 1), (1, 0)))
    energy = (dx**2 + dy**2).astype(np.float64)
    total = float(energy.sum())
    middle = Rings(NO_RINGS, (0.5, 0.5))
    if total < 1e-12:
        return middle
    y, x = np.mgrid[0:height, 0:width] + 0.5
    # The line through a pixel along its gradient: n·c = n·p with n across the gradient.
    side = float(min(height, width))
    centre, weight = np.array([width / 2, height / 2]), np.ones_like(energy)
    for _ in range(4):
        xx, xy, yy = (float(np.sum(weight * part)) for part in (dy * dy, -dx * dy, dx * dx))
        matrix = np.array([[xx, xy], [xy, yy]])
        if np.linalg.det(matrix) < 1e-9 * np.trace(matrix) ** 2:
            return middle
        offset = dy * x - dx * y
        right = np.array([float(np.sum(weight * dy * offset)), float(np.sum(weight * -dx * offset))])
        centre = np.linalg.solve(matrix, right)
        # Angles, not distances, are what counts: a far line that misses by as much misses by less.
        weight = 1 / ((x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (0.05 * side) ** 2)
    place = centre / [width, height]
    if np.any(np.abs(place - 0.5) > 0.5 + _REACH):
        return middle
    u, v = x - centre[0], y - centre[1]
    towards = (dx * u + dy * v) ** 2 / np.maximum(u**2 + v**2, 1e-9)
    return Rings(float(towards.sum()) / total, (float(place[0]), float(place[1])))
