"""What is known of the bundled references, and how far a measurement is from it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def lattice_error(found: npt.ArrayLike, true: npt.ArrayLike) -> float:
    """Largest relative error of the true vectors (2, 2) when written in the found ones, in units of their length.

    Any two bases of one lattice agree; infinite for a lattice that is a multiple or a part of the true one. Both in the
    same units and axes.
    """
    found_vectors, true_vectors = np.asarray(found, np.float64), _reduced(np.asarray(true, np.float64))
    steps = np.round(true_vectors @ np.linalg.inv(found_vectors))
    if abs(round(float(np.linalg.det(steps)))) != 1:
        return math.inf
    difference = true_vectors - steps @ found_vectors
    return float((np.hypot(*difference.T) / np.hypot(*true_vectors.T)).max())


def direction_error_deg(found_rad: float, true_deg: float) -> float:
    """Angle between two undirected lines, in degrees, in [0, 90]."""
    return float(abs((math.degrees(found_rad) - true_deg + 90.0) % 180.0 - 90.0))


def _reduced(basis: Array) -> Array:
    """The two shortest vectors of a lattice (Gauss)."""
    u, v = sorted(basis, key=lambda w: float(w @ w))
    for _ in range(64):
        steps = round(float(u @ v) / float(u @ u))
        v = v - steps * u
        if float(v @ v) >= float(u @ u):
            break
        u, v = v, u
    return np.array([u, v])
