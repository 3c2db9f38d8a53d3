"""What makes two renders the same: the key under which a result may be reused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graph_api.model import Graph, Value
from renderer.protocol import RenderRequest

RENDERER_VERSION = "1"


def graph_digest(graph: Graph) -> str:
    """Content hash of everything in a graph that a render can depend on."""
    body = {
        "version": graph.blender_version,
        "nodes": {
            node.id: [node.type, _plain(node.inputs), _plain(node.properties), _plain(node.outputs)]
            for node in graph.nodes.values()
        },
        "links": sorted((link.src, link.src_socket, link.dst, link.dst_socket) for link in graph.links),
        "files": [_stamp(path) for path in sorted(set(image_paths(graph)))],
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def request_key(request: RenderRequest, blender_version: str) -> str:
    """Key of a request: graph, view, the settings that change pixels, Blender's and our own version. Not channels."""
    settings = request.settings
    parts = (
        graph_digest(request.graph),
        request.view,
        settings.resolution,
        settings.samples,
        settings.patch_size_m,
        settings.device.upper(),
        blender_version,
        RENDERER_VERSION,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def image_paths(graph: Graph) -> list[str]:
    """Texts among the properties that name an existing file, such as an image texture's picture."""
    texts = (value for node in graph.nodes.values() for value in node.properties.values() if isinstance(value, str))
    return [text for text in texts if ("/" in text or "\\" in text) and Path(text).is_file()]


def _stamp(path: str) -> list[Any]:
    """A picture that was edited in place must not be found under its old key."""
    status = Path(path).stat()
    return [path, status.st_size, status.st_mtime_ns]


def _plain(values: Mapping[str, Value]) -> dict[str, Any]:
    return {
        key: value if isinstance(value, (bool, int, float, str, tuple)) else asdict(value)
        for key, value in values.items()
    }
