"""From torch tensors to pictures and back again with gradients; torch is imported by Dr.Jit, not by us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import drjit as dr
import numpy as np
from drjit.auto.ad import Float, TensorXf, UInt32

from renderer.preview.engine import CENTRE, CHANNEL_SIZE, Key
from renderer.preview.evaluation import padded
from renderer.preview.program import Lanes, Program, packed, scalars_of

if TYPE_CHECKING:
    from renderer.preview.engine import Kernel


def differentiable(
    kernel: Kernel, params: Mapping[Key, Any], resolution: int, channels: tuple[str, ...], patch_size_m: float
) -> dict[str, Any]:
    """Pictures as tensors that know how they depend on `params`."""
    values = {key: tensor.detach().cpu().numpy() for key, tensor in params.items()}
    theta = kernel.theta(values)
    settings, structure = theta.shape[1], kernel.plan.structure
    octaves = structure.octaves(theta)
    stride = padded(structure.rows)
    base = packed(theta)
    program, lanes = Program(structure, channels), Lanes(settings, resolution)
    places = {key: _places(kernel, key, settings, stride) for key in params}

    def pictures(*tensors: Any) -> tuple[Any, ...]:
        table = Float(base)
        for key, tensor in zip(places, tensors, strict=True):
            dr.scatter(table, tensor.array, UInt32(places[key]))
        flat = program.trace(table, scalars_of(patch_size_m, CENTRE), lanes.arrays(), octaves)
        shape = (settings, resolution, resolution)
        return tuple(TensorXf(array, (*shape, CHANNEL_SIZE[name])) for name, array in zip(channels, flat, strict=True))

    found = dr.wrap(source="torch", target="drjit")(pictures)(*params.values())
    return dict(zip(channels, found, strict=True))


def _places(kernel: Kernel, key: Key, settings: int, stride: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Where a parameter's numbers lie in the packed table, setting by setting."""
    parameter = kernel.parameter(*key)
    if parameter.curve is not None:
        raise KeyError(f"{key[0]}.{key[1]}: curve points have no derivative; search them")
    rows = parameter.row + np.arange(len(parameter.default))
    return (np.arange(settings)[:, None] * stride + rows).astype(np.uint32).ravel()
