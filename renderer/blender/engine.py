"""Renders graphs inside this process with Cycles. One engine per process: Blender is global state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_api.model import Graph
from renderer.blender.build import TreeBuilder, structure
from renderer.blender.capture import LogCapture, messages_from_log
from renderer.blender.passes import Instrument
from renderer.blender.studio import Studio, studio_data, with_nodes
from renderer.blender.types import Bpy
from renderer.protocol import RenderMessage, RenderRequest, RenderResult, RenderSettings, Status

Array = npt.NDArray[np.float32]
COUNTED = (
    "materials",
    "meshes",
    "objects",
    "scenes",
    "images",
    "lights",
    "cameras",
    "worlds",
    "node_groups",
    "textures",
)


class Engine:
    """Blender, set up once: one material that every graph is built into, and the studio that shows it."""

    def __init__(self, threads: int, capture: LogCapture | None = None) -> None:
        import bpy  # noqa: PLC0415

        bpy.ops.wm.read_factory_settings(use_empty=True)
        import cycles  # noqa: PLC0415

        self._bpy = bpy
        self._capture = capture
        self._passes: dict[str, Array] = {}
        self._material = with_nodes(bpy.data.materials.new("material"))
        self._studio = Studio(self._material, threads)
        self._builder = TreeBuilder(self._material.node_tree)
        self._built: tuple[Any, ...] | None = None
        self._graph: Graph | None = None
        self._instrument: Instrument | None = None
        self._readback(cycles.CyclesRender)
        self.version = ".".join(map(str, bpy.app.version))

    def _readback(self, engine: Bpy) -> None:
        """Read the float passes straight from the render result: exact, no files, view transform not involved."""
        original, passes = engine.render, self._passes

        def render(self: Bpy, depsgraph: Bpy) -> None:
            original(self, depsgraph)
            for layer in self.get_result().layers:
                for item in layer.passes:
                    width, height = layer_size(self)
                    pixels = np.empty(width * height * item.channels, np.float32)
                    item.rect.foreach_get(pixels)
                    passes[item.name] = pixels.reshape(height, width, item.channels)[::-1]

        engine.render = render

    def render(self, request: RenderRequest) -> RenderResult:
        """Render one request; Blender's refusals are in the result."""
        device, notes = resolve_device(self._bpy, request.settings)
        if device is None:
            return RenderResult("error", messages=notes, blender_version=self.version)
        settings = replace(request.settings, device=device)
        problems = [*notes, *self._prepare(request)]
        if any(message.level == "error" for message in problems):
            self._built = None
            return self._result("compile_error", {}, problems, device)
        scene = self._studio.scene(request.view, request.channels, settings)
        self._passes.clear()
        try:
            self._bpy.ops.render.render(scene=scene.name)
        except RuntimeError as error:
            problems.append(RenderMessage("error", " ".join(str(error).split())))
        problems += self._log_messages(request.graph)
        if "Combined" not in self._passes:
            return self._result("error", {}, problems, device)
        return self._result("ok", self._channels(request), problems, device)

    def _prepare(self, request: RenderRequest) -> list[RenderMessage]:
        """Bring the material to the request's graph: an update of values where the structure stayed, else a build."""
        graph = request.graph
        sphere = request.view == "sphere"
        key = (structure(graph), request.channels, sphere)
        if self._built == key and self._graph is not None and self._instrument is not None:
            problems = self._builder.update(self._graph, graph)
            self._instrument.refresh()
        else:
            problems = self._builder.build(graph)
            self._instrument = Instrument(self._material.node_tree, sphere=sphere)
            if not problems:
                channels = tuple(name for name in request.channels if name != "beauty")
                problems = self._instrument.add(channels)
        self._built, self._graph = key, graph
        return problems

    def _log_messages(self, graph: Graph) -> list[RenderMessage]:
        text = self._capture.text() if self._capture is not None else ""
        return messages_from_log(text, tuple(graph.nodes)) if text else []

    def _channels(self, request: RenderRequest) -> dict[str, Array]:
        pictures: dict[str, Array] = {}
        for name in request.channels:
            raw = self._passes["Combined" if name == "beauty" else name]
            pictures[name] = _FINISH[name](raw)
        if request.view == "tilt" and "normal" in pictures:
            pictures["normal"] = unrotate(pictures["normal"], studio_data()["tilt"]["subject"]["rotation_deg"][0])
        self._passes.clear()
        return pictures

    def _result(
        self, status: Status, pictures: dict[str, Array], messages: list[RenderMessage], device: str
    ) -> RenderResult:
        counts = {name: len(getattr(self._bpy.data, name)) for name in COUNTED}
        return RenderResult(
            status=status,
            channels=pictures,
            messages=tuple(messages),
            device=device,
            blender_version=self.version,
            info={"data_blocks": counts},
        )


def layer_size(engine: Bpy) -> tuple[int, int]:
    """Width and height in pixels of the render that `engine` is at."""
    return engine.resolution_x, engine.resolution_y


def resolve_device(bpy: Bpy, settings: RenderSettings) -> tuple[str | None, tuple[RenderMessage, ...]]:
    """The device that will really render; None when a demanded one is absent."""
    wanted = settings.device.upper()
    if wanted == "CPU":
        return "CPU", ()
    preferences = bpy.context.preferences.addons["cycles"].preferences
    try:
        found = [device.name for device in preferences.get_devices_for_type(wanted) if device.type == wanted]
    except (ValueError, TypeError):
        found = []
    if found:
        preferences.compute_device_type = wanted
        return wanted, ()
    text = f"expected a Cycles device of type {wanted}, got none on this machine; known: CPU"
    if settings.require_device:
        return None, (RenderMessage("error", text),)
    return "CPU", (RenderMessage("warning", f"{text}; rendered on the CPU"),)


def unrotate(normal: Array, angle_deg: float) -> Array:
    """World to tangent space of a patch that was turned by `angle_deg` about X. Background (0, 0, 1) stays as it is."""
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    matrix = np.array([[1, 0, 0], [0, c, s], [0, -s, c]], np.float32)
    background = (normal == np.array([0, 0, 1], np.float32)).all(axis=-1, keepdims=True)
    return np.where(background, normal, normal @ matrix.T).astype(np.float32)


def _normal(raw: Array) -> Array:
    """Unit length; what the picture shows beside the subject has no normal and becomes (0, 0, 1)."""
    normal = np.array(raw[..., :3], np.float32, order="C")
    length = np.sqrt(np.einsum("...i,...i->...", normal, normal))
    missing = length == 0
    if missing.any():
        normal[missing] = (0.0, 0.0, 1.0)
        length[missing] = 1.0
    normal /= length[..., None]
    return normal


def _color(raw: Array) -> Array:
    return np.ascontiguousarray(raw[..., :3])


def _unit(raw: Array) -> Array:
    """Cycles clamps these inputs itself; the channel shows what the shader used."""
    return np.clip(raw[..., :1], 0.0, 1.0)


def _plain(raw: Array) -> Array:
    return np.ascontiguousarray(raw[..., :1])


_FINISH = {
    "beauty": _color,
    "base_color": _color,
    "roughness": _unit,
    "metallic": _unit,
    "normal": _normal,
    "height": _plain,
}
