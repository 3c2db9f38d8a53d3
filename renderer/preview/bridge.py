"""From torch tensors to pictures and back again with gradients; torch is imported by Dr.Jit, not by us."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import drjit as dr
import numpy as np
from drjit.auto.ad import Float, TensorXf, UInt32

from renderer.preview.contract import CENTRE, CHANNEL_SIZE, FloatArray
from renderer.preview.evaluation import padded
from renderer.preview.program import Lanes, Program, packed, scalars_of
from renderer.preview.structure import Structure


def differentiable(
    structure: Structure,
    theta: FloatArray,
    rows: Sequence[range],
    tensors: Sequence[Any],
    resolution: int,
    channels: tuple[str, ...],
    patch_size_m: float,
) -> dict[str, Any]:
    """Pictures of `theta` (rows, settings) as tensors that know how they depend on `tensors`.

    Tensor i holds the rows `rows[i]` of the table, setting by setting.
    """
    settings = theta.shape[1]
    octaves, stride = structure.octaves(theta), padded(structure.rows)
    base = packed(theta)
    program, lanes = Program(structure, channels), Lanes(settings, resolution)
    places = [(np.arange(settings)[:, None] * stride + np.array(own)).astype(np.uint32).ravel() for own in rows]

    def pictures(*tensors: Any) -> tuple[Any, ...]:
        table = Float(base)
        for place, tensor in zip(places, tensors, strict=True):
            dr.scatter(table, tensor.array, UInt32(place))
        flat = program.trace(table, scalars_of(patch_size_m, CENTRE), lanes.arrays(), octaves)
        shape = (settings, resolution, resolution)
        return tuple(TensorXf(array, (*shape, CHANNEL_SIZE[name])) for name, array in zip(channels, flat, strict=True))

    found = dr.wrap(source="torch", target="drjit")(pictures)(*tensors)
    return dict(zip(channels, found, strict=True))
