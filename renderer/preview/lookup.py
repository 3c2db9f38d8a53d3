"""The energy tables inside a kernel: linear interpolation on their grids."""

from __future__ import annotations

from itertools import product

import drjit as dr
from drjit.auto.ad import Float, UInt32

from renderer.preview.ggx_tables import E_SIZE, S_SIZE, load
from renderer.preview.ops import lerp, minimum, saturate


class EnergyTables:
    """The three tables as arrays of the back end."""

    def __init__(self, arrays: tuple[Float, Float, Float]) -> None:
        self._energy, self._average, self._share = arrays

    @staticmethod
    def arrays() -> tuple[Float, Float, Float]:
        """The committed tables, loaded."""
        tables = load()
        made = tuple(Float(tables[name].ravel()) for name in ("E", "E_avg", "s"))
        dr.eval(made)
        return made

    def energy(self, roughness: Float, cosine: Float) -> Float:
        """Albedo of a white lobe."""
        return _read(self._energy, (roughness, cosine), E_SIZE)

    def average(self, roughness: Float) -> Float:
        """Its mean over all directions."""
        return _read(self._average, (roughness,), E_SIZE)

    def share(self, roughness: Float, cosine: Float, ratio: Float) -> Float:
        """Where the lobe's mean dielectric reflectance lies between normal incidence and one."""
        return _read(self._share, (roughness, cosine, ratio), S_SIZE)


def _read(table: Float, place: tuple[Float, ...], size: int) -> Float:
    """Multilinear interpolation; the last axis is contiguous."""
    scaled = [saturate(x) * float(size - 1) for x in place]
    below = [UInt32(minimum(dr.floor(dr.detach(x)), float(size - 2))) for x in scaled]
    rests = [x - Float(b) for x, b in zip(scaled, below, strict=True)]
    values = []
    for corner in product((0, 1), repeat=len(place)):
        index = UInt32(0)
        for b, step in zip(below, corner, strict=True):
            index = index * size + (b + step)
        values.append(dr.gather(Float, table, index))
    for rest in reversed(rests):
        values = [lerp(a, b, rest) for a, b in zip(values[::2], values[1::2], strict=True)]
    return values[0]
