"""How much light the hollows of a height field get."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
DIRECTIONS, LONGEST = 16, 0.06
"""Directions that are searched for the horizon, and how far, as a share of the side."""


def ambient_occlusion(height: FloatArray, patch_size_m: float, *, wraps: bool) -> FloatArray:
    """The share of a uniform sky that each point of a height field (H, W, 1) in metres sees, (H, W, 1) in [0, 1].

    In each direction the horizon is the steepest rise within reach; a cosine-weighted sky above a horizon of angle h
    gives cos² h of its light. Source: N. Max, "Horizon mapping: shadows for bump-mapped surfaces" (1988). `wraps`:
    whether what lies beyond the border is the map's other side; otherwise it is taken as the border itself.
    """
    field = np.asarray(height[..., 0], dtype=np.float64)
    side = field.shape[0]
    pixel_m = patch_size_m / side
    reach = max(int(side * LONGEST), 1)
    # Steps grow, because far obstacles matter less for each pixel.
    steps = sorted({round(step) for step in np.geomspace(1, reach, min(reach, 12))})
    padded = np.pad(field, reach + 1, mode="wrap") if wraps else np.pad(field, reach + 1, mode="edge")
    light = np.zeros_like(field)
    for index in range(DIRECTIONS):
        angle = 2 * np.pi * index / DIRECTIONS
        slope = np.zeros_like(field)
        for step in steps:
            dx, dy = round(step * np.cos(angle)), round(step * np.sin(angle))
            length = float(np.hypot(dx, dy)) * pixel_m
            if length == 0:
                continue
            top, left = reach + 1 + dy, reach + 1 + dx
            rise = padded[top : top + side, left : left + side] - field
            np.maximum(slope, rise / length, out=slope)
        light += 1.0 / (1.0 + slope**2)  # cos² of the horizon's angle
    return (light / DIRECTIONS)[..., None].astype(np.float32)
