"""The energy tables inside a kernel: linear interpolation on their grids.

A table is stored by cells, each with the values of all its corners, so that one place takes one or two packet reads
instead of up to eight single ones.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import drjit as dr
import numpy as np
from drjit.auto.ad import Array4f, Float, UInt32

from renderer.preview.ggx_tables import load
from renderer.preview.ops import lerp, minimum, saturate

_NAMES = ("E", "E_avg", "s")
_PACKET = 4
_ALIGNMENT = 64


class EnergyTables:
    """The three tables as arrays of the back end."""

    def __init__(self, arrays: tuple[Float, Float, Float]) -> None:
        self._arrays = arrays
        self._sizes = [load()[name].shape[0] for name in _NAMES]

    @staticmethod
    def arrays() -> tuple[Float, Float, Float]:
        """The committed tables by cells, loaded."""
        made = tuple(Float(aligned(_by_cells(load()[name]))) for name in _NAMES)
        dr.eval(made)
        return made

    def energy(self, roughness: Float, cosine: Float) -> Float:
        """Albedo of a white lobe."""
        return self._read(0, (roughness, cosine))

    def average(self, roughness: Float) -> Float:
        """Its mean over all directions."""
        return self._read(1, (roughness,))

    def share(self, roughness: Float, cosine: Float, ratio: Float) -> Float:
        """Where the lobe's mean dielectric reflectance lies between normal incidence and one."""
        return self._read(2, (roughness, cosine, ratio))

    def _read(self, table: int, place: tuple[Float, ...]) -> Float:
        """Multilinear interpolation."""
        size = self._sizes[table]
        scaled = [saturate(x) * float(size - 1) for x in place]
        below = [minimum(dr.floor(dr.detach(x)), float(size - 2)) for x in scaled]
        rests = [x - b for x, b in zip(scaled, below, strict=True)]
        cell = UInt32(0)
        for b in below:
            cell = cell * (size - 1) + UInt32(b)
        packets = max(1, 2 ** len(place) // _PACKET)
        found = [dr.gather(Array4f, self._arrays[table], cell * packets + packet) for packet in range(packets)]
        values = [packet[index] for packet in found for index in range(_PACKET)][: 2 ** len(place)]
        for rest in reversed(rests):
            values = [lerp(a, b, rest) for a, b in zip(values[::2], values[1::2], strict=True)]
        return values[0]


def aligned(numbers: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A flat copy that begins at a multiple of a vector's size.

    Dr.Jit uses numpy's memory in place. From memory that is not aligned it reads no packets but number by number, and
    it compiles a kernel of its own for it.
    """
    raw = np.empty(numbers.nbytes + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    buffer = raw[start : start + numbers.nbytes].view(np.float32)
    buffer[:] = numbers.ravel()
    return buffer


def _by_cells(table: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Cells in row-major order, each with its corners, the last axis fastest, padded to whole packets."""
    axes = table.ndim
    cells = [table[tuple(slice(c, table.shape[0] - 1 + c) for c in corner)] for corner in product((0, 1), repeat=axes)]
    joined = np.stack(cells, axis=-1)
    width = max(_PACKET, joined.shape[-1])
    padded = np.zeros((*joined.shape[:-1], width), np.float32)
    padded[..., : joined.shape[-1]] = joined
    return padded.ravel()
