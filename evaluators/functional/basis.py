"""The basis of a lattice, chosen by what whole lattices explain of an autocorrelation.

Picking two peaks is noisy: the shortest may be accidental, the strongest belong to a multiple of the period. So: among
the lattices that pairs of peaks span, the densest of those that explain nearly as much as the best; then refined by
least squares over all their points, halved and thirded where the new points are strong too, doubled where half of the
points are weak.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.functional.correlation import PEAKS, Correlation, peaks, valley

Array = npt.NDArray[np.floating[Any]]

COSET_SHARE = 0.8
"""A finer lattice is taken when its new points are at least this strong against the ones it had already."""

_GRID = np.stack(np.meshgrid(np.arange(-12.0, 13.0), np.arange(-12.0, 13.0), indexing="ij"), axis=-1).reshape(-1, 2)

RIDGE_SHARE = 0.85
"""Two peaks are separate where the valley between them is below this share of the lower one."""


def reduced(basis: Array) -> Array:
    """Gauss-reduced basis (2, 2): the two shortest vectors of the lattice."""
    u, v = basis
    for _ in range(64):
        if u @ u > v @ v:
            u, v = v, u
        steps = np.round(float(u @ v) / float(u @ u))
        if steps == 0:
            break
        v = v - steps * u
    return np.array([u, v])


def lattice_points(basis: Array, longest: float, shift: Array | None = None) -> Array:
    """Lattice points (N, 2) of one half plane up to a length, without 0; `shift` (in basis units) gives a coset."""
    grid = _GRID if shift is None else _GRID + shift
    points = grid @ basis
    upper = (points[:, 1] > 1e-6) | ((np.abs(points[:, 1]) <= 1e-6) & (points[:, 0] > 0))
    length = np.hypot(*points.T)
    return np.asarray(points[upper & (length <= longest)])


def explained(correlation: Correlation, basis: Array, shift: Array | None = None) -> float:
    """Average the autocorrelation over a lattice, or its coset at `shift`, the near points weighing more."""
    points = lattice_points(basis, correlation.longest, shift)
    if len(points) == 0:
        return 0.0
    weight = np.exp(-np.hypot(points[:, 0], points[:, 1]) / correlation.longest)
    # A lattice in a photograph is not exact: look a pixel around, unless its points lie too close for that.
    reach = 1 if np.hypot(basis[:, 0], basis[:, 1]).min() >= 8 else 0
    return float(weight @ correlation.at(points, reach) / weight.sum())


_HALVES = np.array([[0.5, 0.0], [0.0, 0.5], [0.5, 0.5]])
_THIRDS = np.array([[1 / 3, 0.0], [0.0, 1 / 3], [1 / 3, 1 / 3], [1 / 3, -1 / 3]])


def _finer(basis: Array, shift: Array) -> Array:
    """Join `basis` and the point `shift` (halves or thirds of it) into the lattice that they generate."""
    order = 2 if np.any(np.abs(shift) == 0.5) else 3
    integers = np.vstack([np.eye(2) * order, np.round(shift * order)]).astype(int)
    # Euclid on the first column, then on the second: a Hermite form of three integer rows.
    rows = [list(row) for row in integers]
    basis_rows = []
    for column in range(2):
        while sum(1 for row in rows if row[column]) > 1:
            rows.sort(key=lambda row: (row[column] == 0, abs(row[column])))
            pivot = rows[0]
            for row in rows[1:]:
                factor = row[column] // pivot[column]
                row[0], row[1] = row[0] - factor * pivot[0], row[1] - factor * pivot[1]
        index = next(i for i, row in enumerate(rows) if row[column])
        basis_rows.append(rows.pop(index))
    return reduced(np.array(basis_rows, dtype=np.float64) / order @ basis)


def _coarser(basis: Array) -> Iterator[tuple[Array, Array]]:
    """Sublattices of index 2 and 3, each with one point (in its own units) of the coset that it gives up."""
    u, v = basis
    for pair in (
        (2 * u, v),
        (u, 2 * v),
        (u + v, u - v),
        (3 * u, v),
        (u, 3 * v),
        (u + v, v - 2 * u),
        (u - v, v + 2 * u),
    ):
        coarse = reduced(np.array(pair))
        for point in (u, v):
            units = point @ np.linalg.inv(coarse)
            if np.abs(units - np.round(units)).max() > 0.1:
                yield coarse, units
                break


def _refined(correlation: Correlation, basis: Array) -> Array:
    """Least squares of the basis over the peaks near its points, from the near ones outwards."""
    for share in (0.35, 0.6, 1.0, 1.0):
        inverse = np.linalg.inv(basis)
        shortest = float(np.hypot(*reduced(basis)[0]))
        reach = int(np.clip(round(shortest * 0.2), 1, 5))
        longest = max(share * correlation.longest, float(np.hypot(*reduced(basis)[1])) * 1.05)
        found = [(p, correlation.peak_near(p, reach)) for p in lattice_points(basis, longest)]
        pairs = [(np.round(p @ inverse), q) for p, q in found if q is not None]
        if len(pairs) < 2:
            continue
        steps, seen = np.array([p for p, _ in pairs]), np.array([q for _, q in pairs])
        weight = np.clip(correlation.at(seen, 0), 0.0, None)[:, None]
        if np.linalg.matrix_rank(steps * (weight > 0)) < 2:
            continue
        basis = np.linalg.lstsq(steps * weight, seen * weight, rcond=None)[0]
    return basis


def find_basis(correlation: Correlation, shortest: float) -> Array | None:
    """Find the densest lattice whose points are all about equally strong peaks; None without two directions."""
    shifts, values = peaks(correlation, PEAKS)
    if len(shifts) < 2:
        return None
    keep = (values >= 0.4 * values.max()) & (np.hypot(*shifts.T) >= shortest)
    shifts = shifts[keep]
    # The strongest may all be far ones; the basis is among the near ones.
    shifts = shifts[np.argsort(np.hypot(shifts[:, 0], shifts[:, 1]), kind="stable")]
    options = [
        (explained(correlation, basis), basis)
        for basis in _spanned(shifts[:20])
        if _separate(correlation, basis, shortest)
    ]
    # Where every lattice is explained by less than nothing there is none.
    if max((on for on, _ in options), default=0.0) <= 0:
        return None
    # Any sublattice of the lattice explains as much with fewer points: the densest that still does is nearest to it.
    enough = COSET_SHARE * max(on for on, _ in options)
    basis = min((basis for on, basis in options if on >= enough), key=lambda b: abs(float(np.linalg.det(b))))
    basis = _refined(correlation, basis)
    for _ in range(4):
        changed = _one_step(correlation, basis, shortest)
        if changed is None:
            break
        basis = _refined(correlation, changed)
    return reduced(basis)


def _spanned(shifts: Array) -> list[Array]:
    """Lattices, as reduced bases, that pairs of shifts (N, 2) span, each once: most pairs of a grid span the same."""
    first, second = np.triu_indices(len(shifts), 1)
    u, v = shifts[first], shifts[second]
    wide = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) >= 0.1 * np.hypot(*u.T) * np.hypot(*v.T)
    bases = _reduced_pairs(np.stack([u[wide], v[wide]], axis=1))
    # A vector and its opposite span the same.
    flip = (bases[..., 1] < 0) | ((bases[..., 1] == 0) & (bases[..., 0] < 0))
    alike = np.where(flip[..., None], -bases, bases)
    _, once = np.unique(alike.reshape(-1, 4).round(6), axis=0, return_index=True)
    return [bases[index] for index in np.sort(once)]


def _reduced_pairs(pairs: Array) -> Array:
    """`reduced` of many bases (N, 2, 2) at once."""
    u, v = pairs[:, 0].astype(np.float64), pairs[:, 1].astype(np.float64)
    for _ in range(64):
        swap = ((u * u).sum(axis=1) > (v * v).sum(axis=1))[:, None]
        u, v = np.where(swap, v, u), np.where(swap, u, v)
        steps = np.round((u * v).sum(axis=1) / (u * u).sum(axis=1))
        if not steps.any():
            break
        v = v - steps[:, None] * u
    return np.stack([u, v], axis=1)


def _separate(correlation: Correlation, basis: Array, shortest: float) -> bool:
    """Whether a valley parts shift 0 from both vectors: along a ridge (grain, a joint) any step would do."""
    peaks = correlation.at(basis, 1)
    lengths = np.hypot(basis[:, 0], basis[:, 1])
    return bool(lengths.min() >= shortest) and all(
        valley(correlation, vector) <= RIDGE_SHARE * peak for vector, peak in zip(basis, peaks, strict=True)
    )


def has_ridge(correlation: Correlation, basis: Array) -> bool:
    """Whether no valley parts shift 0 from some lattice point: then these are bands, and the basis is accidental."""
    steps = np.stack(np.meshgrid(np.arange(-3, 4), np.arange(4), indexing="ij"), axis=-1).reshape(-1, 2)
    points = steps[np.gcd(steps[:, 0], steps[:, 1]) == 1] @ basis
    near = points[np.hypot(points[:, 0], points[:, 1]) <= correlation.longest]
    values = correlation.at(near, 1)
    return any(
        valley(correlation, point) > RIDGE_SHARE * value for point, value in zip(near, values, strict=True) if value > 0
    )


def _one_step(correlation: Correlation, basis: Array, shortest: float) -> Array | None:
    """Take a finer lattice whose new points are strong too, else a coarser one when half of the points are weak."""
    on = explained(correlation, basis)
    options = []
    for shift in (*_HALVES, *_THIRDS):
        new = explained(correlation, basis, shift)
        finer = _finer(basis, shift)
        if new >= COSET_SHARE * on and _separate(correlation, finer, shortest):
            options.append((new, finer))
    if options:
        return max(options, key=lambda option: option[0])[1]
    for coarse, units in _coarser(basis):
        if np.hypot(coarse[:, 0], coarse[:, 1]).max() > correlation.longest:
            continue
        kept = explained(correlation, coarse)
        given_up = explained(correlation, coarse, units)
        if given_up < (COSET_SHARE - 0.1) * kept:
            return coarse
    return None
