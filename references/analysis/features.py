"""From measurements to evidence: each feature is a value in [0, 1] and a sentence that names the figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evaluators.functional.orientation import Orientation
from evaluators.functional.regions import otsu
from references.analysis.model import Measured


class Feature(NamedTuple):
    """How far a statement holds, in [0, 1], and the statement."""

    value: float
    text: str


def ramp(x: float, low: float, high: float) -> float:
    """Rise from 0 at `low` to 1 at `high`; falls when `low` is the larger."""
    return float(np.clip((x - low) / (high - low), 0.0, 1.0))


def _lattice(m: Measured) -> Feature:
    if m.lattice is None:
        return Feature(0.0, "no lattice")
    along, across = m.lattice.counts
    text = f"repeats on a lattice (autocorrelation {m.lattice.strength:.2f}; {along:.1f} × {across:.1f} cells)"
    return Feature(ramp(m.lattice.strength, 0.15, 0.30), text)


def _no_lattice(m: Measured) -> Feature:
    return Feature(1.0 - _lattice(m).value, "does not repeat on a lattice")


def _bands(m: Measured) -> Feature:
    if m.bands is None:
        return Feature(0.0, "no bands")
    text = f"repeats in one direction (autocorrelation {m.bands.strength:.2f}, {m.bands.count:.1f} bands)"
    return Feature(ramp(m.bands.strength, 0.18, 0.35), text)


def _stagger(m: Measured) -> float:
    if m.lattice is None:
        return 0.0
    return ramp(min(m.lattice.offset, 1.0 - m.lattice.offset), 0.08, 0.2)


def _staggered(m: Measured) -> Feature:
    offset = m.lattice.offset if m.lattice else 0.0
    return Feature(_lattice(m).value * _stagger(m), f"rows are shifted by {offset:.2f} of a period")


def _stacked(m: Measured) -> Feature:
    return Feature(_lattice(m).value * (1.0 - _stagger(m)), "rows are stacked without a shift")


def _joints(m: Measured) -> Feature:
    if m.cell is None:
        return Feature(0.0, "no joints")
    cell = m.cell
    rows = ramp(cell.row_duty, 0.42, 0.28) * ramp(cell.row_share, 0.25, 0.45)
    columns = ramp(cell.column_duty, 0.42, 0.28) * ramp(cell.column_share, 0.25, 0.45)
    tone = "dark" if cell.joints_dark else "light"
    text = f"thin {tone} straight lines between cells ({100 * cell.row_duty:.0f} % of a row)"
    return Feature(max(rows, columns) * ramp(cell.additive, 0.7, 0.85), text)


def _even_bands(m: Measured) -> Feature:
    if m.cell is None:
        return Feature(0.0, "no bands in two directions")
    cell = m.cell
    even = ramp(min(cell.row_duty, cell.column_duty), 0.3, 0.42) * ramp(cell.additive, 0.6, 0.85)
    crossed = ramp(min(cell.row_share, cell.column_share), 0.1, 0.3)
    return Feature(even * crossed, "broad bands cross in two directions")


def _two_tones(m: Measured) -> Feature:
    if m.cell is None:
        return Feature(0.0, "no two-tone cell")
    cell = m.cell
    alternating = (
        ramp(cell.column_share, 0.5, 0.75) * ramp(cell.column_duty, 0.35, 0.45) * ramp(cell.row_share, 0.2, 0.1)
    )
    separation = otsu(cell.mean)[1]
    text = f"two tones alternate from row to row (separation {separation:.2f})"
    exchanged = ramp(m.tone_exchange, 0.9, 0.98) * ramp(cell.explained, 0.7, 0.85)
    return Feature(max(_stagger(m) * alternating, exchanged) * ramp(separation, 0.75, 0.88), text)


def _interlaced(m: Measured) -> Feature:
    if m.cell is None:
        return Feature(0.0, "nothing over and under")
    part_way = ramp(m.tone_exchange, 0.35, 0.5) * ramp(m.tone_exchange, 0.97, 0.9)
    value = _stagger(m) * part_way * ramp(m.cell.additive, 0.88, 0.78) * ramp(m.cell.explained, 0.6, 0.85)
    return Feature(value, "each cell goes over one neighbour and under the next, as threads do")


def _motif(m: Measured) -> Feature:
    if m.cell is None:
        return Feature(0.0, "no motif")
    text = f"straight lines explain only {100 * m.cell.additive:.0f} % of the mean cell"
    return Feature(_lattice(m).value * ramp(m.cell.additive, 0.95, 0.5), text)


def _blocks(m: Measured) -> Feature:
    parts = m.regions.majority_blobs
    shape = ramp(parts.rectangularity, 0.80, 0.90) * ramp(parts.solidity, 0.88, 0.95)
    text = f"{parts.number} rectangular blocks in a {'dark' if m.regions.split.is_dark else 'light'} network"
    return Feature(shape * ramp(parts.number, 3, 8) * ramp(m.regions.split.share, 0.02, 0.06), text)


def _islands(m: Measured) -> Feature:
    parts = max(m.regions.majority_blobs, m.regions.minority_blobs, key=lambda b: b.number * b.solidity)
    clear = ramp(m.regions.split.confidence, 0.0, 0.4)
    shape = ramp(parts.solidity, 0.72, 0.9) * ramp(parts.rectangularity, 0.92, 0.82) * ramp(parts.roundness, 0.4, 0.65)
    return Feature(clear * shape * ramp(parts.number, 4, 15), f"{parts.number} compact separate areas")


def _packed(m: Measured) -> Feature:
    parts = max(m.regions.majority_blobs, m.regions.minority_blobs, key=lambda b: b.number * b.solidity)
    shape = ramp(parts.solidity, 0.85, 0.93) * ramp(parts.rectangularity, 0.88, 0.78)
    value = shape * ramp(parts.number, 17, 24) * ramp(m.regions.split.share, 0.25, 0.38)
    return Feature(value * (1 - _lattice(m).value), f"{parts.number} rounded areas lie side by side")


def _dark_seams(m: Measured) -> Feature:
    text = f"dark lines between lighter areas (line share {m.lines.dark:.2f})"
    return Feature(ramp(m.lines.dark, 0.5, 0.63) * ramp(m.lines.dark / max(m.lines.light, 1e-6), 1.5, 2.2), text)


def _closed_lines(m: Measured) -> Feature:
    parts, split = m.regions.majority_blobs, m.regions.split
    thin = ramp(split.minority_width, 0.025, 0.018) * ramp(split.share, 0.28, 0.2)
    text = f"thin lines close around {parts.number} areas"
    return Feature(thin * ramp(parts.solidity, 0.8, 0.9) * ramp(parts.number, 3, 9), text)


def _strokes(m: Measured) -> Feature:
    parts, split = m.regions.minority_blobs, m.regions.split
    text = f"{parts.number} separate thin strokes, {parts.elongation:.0f} times as long as wide"
    return Feature(ramp(parts.elongation, 5, 9) * ramp(parts.number, 3, 8) * ramp(split.share, 0.25, 0.15), text)


def _spots(m: Measured) -> Feature:
    parts, split = m.regions.minority_blobs, m.regions.split
    few = ramp(split.share, 0.38, 0.26) * ramp(split.confidence, 0.1, 0.3)
    text = f"{parts.number} separate spots on {100 * split.share:.0f} % of the picture"
    return Feature(few * ramp(parts.number, 25, 45) * ramp(parts.solidity, 0.7, 0.8), text)


def _two_regions(m: Measured) -> Feature:
    split = m.regions.split
    text = f"two clearly different regions ({100 * split.share:.0f} % and the rest)"
    return Feature(ramp(split.confidence, 0.3, 0.8), text)


def _rings(m: Measured) -> Feature:
    text = f"edges run round one centre (concentricity {m.rings.concentricity:.2f})"
    return Feature(ramp(m.rings.concentricity, 0.8, 0.93), text)


def _grains(m: Measured) -> Feature:
    cycles, prominence = m.dominant
    isotropic = ramp(m.orientation.coherence, 0.35, 0.2)
    inner = ramp(cycles / m.size_px, 0.25, 0.15) * ramp(cycles, 3, 6)
    text = f"one size dominates ({cycles:.0f} per picture, {prominence:.1f} × the median octave)"
    return Feature(isotropic * inner * ramp(prominence, 2.0, 3.5), text)


def grain_direction(m: Measured) -> Orientation:
    """Find the most coherent orientation over the scales."""
    return max(m.anisotropy.values(), key=lambda o: o.coherence)


def _grain(m: Measured) -> Feature:
    best = grain_direction(m)
    text = f"one direction dominates ({np.degrees(best.angle_rad):.0f}°, coherence {best.coherence:.2f})"
    return Feature(ramp(best.coherence, 0.4, 0.8), text)


def _sparse_lines(m: Measured) -> Feature:
    lines = m.lines
    light = lines.skewness > 0
    share = lines.light if light else lines.dark
    value = (
        ramp(abs(lines.skewness), 0.3, 0.7)
        * ramp(lines.kurtosis, -0.3, 0.7)
        * ramp(share, 0.40, 0.46)
        * ramp(share / max(lines.dark if light else lines.light, 1e-6), 1.1, 1.4)
    )
    text = f"sparse {'light' if light else 'dark'} lines (skewness {lines.skewness:.1f}, line share {share:.2f})"
    return Feature(value, text)


def _power_law(m: Measured) -> Feature:
    text = f"the spectrum follows a power law (β {m.slope.beta:.2f}, r² {m.slope.r2:.2f})"
    return Feature(ramp(m.slope.r2, 0.6, 0.92), text)


FEATURES: dict[str, Callable[[Measured], Feature]] = {
    "lattice": _lattice,
    "no_lattice": _no_lattice,
    "bands": _bands,
    "staggered": _staggered,
    "stacked": _stacked,
    "joints": _joints,
    "even_bands": _even_bands,
    "two_tones": _two_tones,
    "motif": _motif,
    "blocks": _blocks,
    "islands": _islands,
    "grains": _grains,
    "grain": _grain,
    "sparse_lines": _sparse_lines,
    "power_law": _power_law,
    "interlaced": _interlaced,
    "packed": _packed,
    "dark_seams": _dark_seams,
    "closed_lines": _closed_lines,
    "strokes": _strokes,
    "spots": _spots,
    "two_regions": _two_regions,
    "rings": _rings,
}
