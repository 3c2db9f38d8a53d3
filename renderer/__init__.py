"""renderer: graphs to float pictures, in Blender processes that stay up. Importing it never imports bpy."""

from renderer.cache import RenderCache
from renderer.client import BlenderPool
from renderer.errors import BlenderUnavailable, DeviceUnavailable, PoolClosed, RendererError
from renderer.protocol import (
    Channel,
    FloatArray,
    Renderer,
    RenderMessage,
    RenderRequest,
    RenderResult,
    RenderSettings,
    Status,
    View,
)

__all__ = [
    "BlenderPool",
    "BlenderUnavailable",
    "Channel",
    "DeviceUnavailable",
    "FloatArray",
    "PoolClosed",
    "RenderCache",
    "RenderMessage",
    "RenderRequest",
    "RenderResult",
    "RenderSettings",
    "Renderer",
    "RendererError",
    "Status",
    "View",
]
