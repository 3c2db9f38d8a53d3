"""What a renderer is asked for and what it answers; plain data, shared by every engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from graph_api.model import Graph

View = Literal["flat", "tilt", "sphere"]
Channel = Literal["beauty", "base_color", "roughness", "metallic", "normal", "height"]
CHANNELS: tuple[Channel, ...] = ("beauty", "base_color", "roughness", "metallic", "normal", "height")
VIEWS: tuple[View, ...] = ("flat", "tilt", "sphere")
FloatArray = npt.NDArray[np.float32]
Status = Literal["ok", "compile_error", "error", "timeout", "crashed"]


@dataclass(frozen=True)
class RenderSettings:
    """How to render.

    `resolution`: side in pixels. `samples`: Cycles samples per pixel. `patch_size_m`: side of the flat patch in
    metres. `device`: "CPU" or a Cycles device type ("CUDA", "OPTIX", "HIP", "METAL", "ONEAPI"). `timeout_s`: safety
    stop for one render. `require_device`: fail instead of falling back to the CPU when `device` is absent.
    """

    resolution: int = 256
    samples: int = 1
    patch_size_m: float = 1.0
    device: str = "CPU"
    timeout_s: float = 60.0
    require_device: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for a figure that no render can have; NaN is none that can."""
        for name in ("resolution", "samples", "timeout_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"expected {name} above 0, got {getattr(self, name)}")
        if not 0 < self.patch_size_m < math.inf:
            raise ValueError(f"expected patch_size_m above 0 and finite, got {self.patch_size_m}")


@dataclass(frozen=True)
class RenderRequest:
    """A graph, a view, the channels wanted and the settings."""

    graph: Graph
    view: View = "flat"
    channels: tuple[Channel, ...] = ("beauty",)
    settings: RenderSettings = RenderSettings()

    def __post_init__(self) -> None:
        """Raises ValueError for a view or channel that there is not."""
        if self.view not in VIEWS:
            raise ValueError(f"expected a view, got {self.view!r}; known: {', '.join(VIEWS)}")
        unknown = [name for name in self.channels if name not in CHANNELS]
        if unknown:
            raise ValueError(f"expected channels, got {', '.join(map(repr, unknown))}; known: {', '.join(CHANNELS)}")


@dataclass(frozen=True)
class RenderMessage:
    """Something Blender or the worker said: `level` is "error", "warning" or "info"."""

    level: str
    text: str
    node: str | None = None
    socket: str | None = None


@dataclass(frozen=True)
class RenderResult:
    """Pictures by channel, or the reason why there are none.

    Arrays are float32 of shape (H, W, C), row 0 at the top: `beauty` and `base_color` C=3, scene-linear Rec. 709;
    `normal` C=3, tangent-space OpenGL (+Y up), unit length, components in [-1, 1]; `roughness` and `metallic` C=1;
    `height` C=1 in metres. A failed render has no pictures.
    """

    status: Status
    channels: Mapping[str, FloatArray] = field(default_factory=dict)
    messages: tuple[RenderMessage, ...] = ()
    engine: str = "cycles"
    device: str = "CPU"
    blender_version: str = ""
    seconds: float = 0.0
    cached: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the pictures may be used."""
        return self.status == "ok"


class Renderer(Protocol):
    """Anything that renders: the Blender pool, the preview, or a router over both."""

    def render(self, request: RenderRequest) -> RenderResult:
        """Render one request; a failure is a result, never an exception."""
        ...

    def render_many(self, requests: Sequence[RenderRequest]) -> list[RenderResult]:
        """Render all, in the order given, as parallel as the renderer can."""
        ...

    def close(self) -> None:
        """Stop every process; safe to call twice."""
        ...
