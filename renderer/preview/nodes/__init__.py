"""The node types that the preview draws, by Blender's type identifier; one module for each family."""

from __future__ import annotations

from collections.abc import Mapping

from renderer.preview.evaluation import NodeSpec
from renderer.preview.nodes import constants, coordinates, math, mix, noise, ramp, vector_math

NODES: Mapping[str, NodeSpec] = {
    name: spec
    for family in (constants, coordinates, math, mix, noise, ramp, vector_math)
    for name, spec in family.TABLE.items()
}

__all__ = ["NODES"]
