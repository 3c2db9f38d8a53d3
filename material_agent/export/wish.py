"""What is wanted of an export besides the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from renderer import RenderSettings

MAPS_TIMEOUT_S = 600.0
Convention = Literal["opengl", "directx"]


@dataclass(frozen=True)
class Wish:
    """What to write besides the graph.

    `name`: the material's name in Blender. `resolution`: side of maps in pixels. `samples`: places that each pixel of
    a map is the mean of; with one, sharp edges of the relief fall between the pixels. `patch_size_m`: side in metres of
    the patch that maps and the .blend file show. `bits`: of PNG maps, 8 or 16. `exr`: also write the exact floats.
    `normal`: whether green of the normal map means up (opengl) or down (directx). `pictures`: files to pack into a
    .blend, by the name they get there.
    """

    name: str = "Material"
    resolution: int = 1024
    patch_size_m: float = 1.0
    bits: int = 8
    exr: bool = False
    normal: Convention = "opengl"
    pictures: Mapping[str, Path] = field(default_factory=dict)
    samples: int = 8

    @property
    def settings(self) -> RenderSettings:
        """The settings of a render of maps."""
        return RenderSettings(self.resolution, self.samples, self.patch_size_m, timeout_s=MAPS_TIMEOUT_S)
