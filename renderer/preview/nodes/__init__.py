"""The node types that the preview draws, by Blender's type identifier; one module for each family."""

from __future__ import annotations

from collections.abc import Mapping

from renderer.preview.evaluation import NodeSpec
from renderer.preview.nodes import (
    brick,
    bump,
    color,
    constants,
    convert,
    coordinates,
    curves,
    math,
    mix,
    noise,
    patterns,
    ramp,
    vector_math,
    voronoi,
    wave,
)

_FAMILIES = (
    brick, bump, color, constants, convert, coordinates, curves, math, mix, noise, patterns, ramp, vector_math, voronoi,
    wave,
)  # fmt: skip
NODES: Mapping[str, NodeSpec] = {name: spec for family in _FAMILIES for name, spec in family.TABLE.items()}

__all__ = ["NODES"]
