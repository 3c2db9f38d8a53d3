"""Light that shaders send to the camera of the flat view under its sun."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drjit.auto.ad import Array3f

from renderer.preview.evaluation import Inputs

RADIANCE: Mapping[str, Callable[[Inputs, Array3f], Array3f]] = {}
REQUIRED: Mapping[str, Mapping[str, float]] = {}
