"""renderer: graphs to float pictures, in Blender processes that stay up. Importing it never imports bpy."""

from renderer.blendfile import BlendFileError, ImportedMaterial, export_blend, export_gltf, import_blend
from renderer.cache import RenderCache
from renderer.client import BlenderPool
from renderer.errors import BlenderUnavailable, PoolClosed, RendererError
from renderer.images import Encoded, encode, linear_to_srgb, quantize, srgb_to_linear, write_exr, write_maps, write_png
from renderer.probe import Check, probe
from renderer.protocol import (
    CHANNELS,
    VIEWS,
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
    "CHANNELS",
    "VIEWS",
    "BlendFileError",
    "BlenderPool",
    "BlenderUnavailable",
    "Channel",
    "Check",
    "Encoded",
    "FloatArray",
    "ImportedMaterial",
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
    "encode",
    "export_blend",
    "export_gltf",
    "import_blend",
    "linear_to_srgb",
    "probe",
    "quantize",
    "srgb_to_linear",
    "write_exr",
    "write_maps",
    "write_png",
]
