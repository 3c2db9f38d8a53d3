"""A small vector that says what a reference is like, for finding reflections on similar ones."""

from __future__ import annotations

import numpy as np

from references.analysis import Analysis


def reference_features(analysis: Analysis) -> tuple[float, ...]:
    """Nine numbers of about unit range.

    Shares of variance at macro, meso and micro scale; spectral slope / 3; lattice strength (0 without a lattice);
    coherence of the dominant direction; mean palette colour, sRGB.
    """
    energies = analysis.energies
    palette = analysis.palette
    mean = np.average(np.asarray(palette.colors, np.float64), axis=0, weights=np.asarray(palette.shares, np.float64))
    values = (
        *(energies.get(scale, 0.0) for scale in ("macro", "meso", "micro")),
        analysis.slope.beta / 3.0,
        analysis.lattice.strength if analysis.lattice else 0.0,
        analysis.orientation.coherence,
        *mean,
    )
    return tuple(float(np.nan_to_num(value)) for value in values)
